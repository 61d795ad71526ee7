"""The response headers of a PDF, for every route that returns one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from shared.zip_files import DEFAULT_FILENAME, sanitize_filename

_STAGES: Final = ("queue", "merge", "layout", "finish")
_ATTR_CHARS: Final = (
    "!#$&+^`|~"  # RFC 8187, attr-char, without the characters that `quote` never escapes
)


def write_pdf_headers(
    job_id: str,
    *,
    pages: int,
    filename: str | None,
    timings: Mapping[str, float] | None,
    warnings: Sequence[Mapping[str, Any]] | None,
) -> dict[str, str]:
    """Return the headers of a PDF, with the number of warnings and their codes, which are bounded."""
    found = warnings or ()
    headers = {
        "Content-Type": "application/pdf",
        "Content-Disposition": write_content_disposition(filename or DEFAULT_FILENAME),
        "X-Page-Count": str(pages),
        "X-Job-Id": job_id,
        "X-Warning-Count": str(sum(each["count"] for each in found)),
    }
    if timings:
        headers["Server-Timing"] = write_server_timing(timings)
    if found:
        headers["X-Warning-Codes"] = ", ".join(each["code"] for each in found)
    return headers


def write_invoice_headers(filename: str | None) -> dict[str, str]:
    """Return the headers in which the XML of an electronic invoice differs from the PDF."""
    name = (filename or "invoice").removesuffix(".pdf")
    return write_attachment_headers("application/xml", name, ".xml", default="invoice.xml")


def write_attachment_headers(
    media_type: str, filename: str, extension: str, *, default: str = DEFAULT_FILENAME
) -> dict[str, str]:
    """Return the headers of a file that is not shown in a browser."""
    disposition = write_content_disposition(
        filename, kind="attachment", extension=extension, default=default
    )
    return {"Content-Type": media_type, "Content-Disposition": disposition}


def write_content_disposition(
    filename: str, *, kind: str = "inline", extension: str = ".pdf", default: str = DEFAULT_FILENAME
) -> str:
    """Return a Content-Disposition value (RFC 6266) whose file name is safe in a header and a folder."""
    clean = partial(sanitize_filename, extension=extension, default=default)
    name = clean(filename)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    if plain == name:
        return f'{kind}; filename="{name}"'
    return f"{kind}; filename=\"{clean(plain)}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHARS)}"


def write_server_timing(timings: Mapping[str, float]) -> str:
    """Return the milliseconds of the stages as a `Server-Timing` value."""
    return ", ".join(f"{stage};dur={timings[stage]:.1f}" for stage in _STAGES if stage in timings)
