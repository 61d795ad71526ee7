"""The headers of an answer that is a PDF, whichever route gives it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

DEFAULT_FILENAME: Final = "example.pdf"
_STAGES: Final = ("queue", "merge", "layout", "finish")
_MAX_FILENAME: Final = 200
_UNSAFE: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f"\\/:*?<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]'
)
_ATTR_CHARS: Final = "!#$&+^`|~"  # RFC 8187, attr-char, besides what `quote` never touches


def write_pdf_headers(
    job_id: str,
    *,
    size: int,
    pages: int,
    filename: str | None,
    timings: Mapping[str, float],
    warnings: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """Write the headers of a PDF (interface.md, POST /v2/pdf; contract.md 5)."""
    headers = {
        "Content-Type": "application/pdf",
        "Content-Length": str(size),
        "Content-Disposition": write_disposition(filename or DEFAULT_FILENAME),
        "X-Page-Count": str(pages),
        "X-Job-Id": job_id,
        "Server-Timing": _write_timings(timings),
        "X-Warning-Count": "0",
    }
    if warnings:
        headers |= write_warning_headers(warnings)
    return headers


def write_warning_headers(warnings: Sequence[Mapping[str, Any]] | None) -> dict[str, str]:
    """Write how many warnings a render had, and the codes of its record, which bounds them."""
    found = warnings or ()
    headers = {"X-Warning-Count": str(sum(each["count"] for each in found))}
    if found:
        headers["X-Warning-Codes"] = ", ".join(each["code"] for each in found)
    return headers


def write_disposition(filename: str) -> str:
    """Write an inline disposition as RFC 6266 says; no name can end the header or leave its folder."""
    name = clean_filename(filename)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    if plain == name:
        return f'inline; filename="{name}"'
    fallback = clean_filename(plain)
    return f"inline; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHARS)}"


def clean_filename(filename: str) -> str:
    """Give a name that is safe in a header, a folder and an archive, and ends in .pdf."""
    safe = _UNSAFE.sub("_", filename.encode("utf-8", "replace").decode())
    stem = safe.removesuffix(".pdf").strip(" .")[:_MAX_FILENAME]
    return f"{stem}.pdf" if stem else DEFAULT_FILENAME


def _write_timings(timings: Mapping[str, float]) -> str:
    return ", ".join(f"{stage};dur={timings[stage]:.1f}" for stage in _STAGES if stage in timings)
