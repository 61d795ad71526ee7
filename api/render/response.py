"""Answering with a PDF, with findings, or with what a worker found wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Final
from urllib.parse import quote

from flask import Response

from api.exchange import write_json
from api.ports import Ports
from shared.errors import ServiceError
from shared.jobs import JobOutcome

DEFAULT_FILENAME: Final = "example.pdf"
_STAGES: Final = ("queue", "merge", "layout", "finish")
_MAX_FILENAME: Final = 200
_UNSAFE: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f"\\/:*?<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]'
)
_ATTR_CHARS: Final = "!#$&+^`|~"  # RFC 8187, attr-char, besides what `quote` never touches


def write_findings(outcome: JobOutcome) -> Response:
    """Answer with what a validation found.

    Raises:
        ServiceError: why there was none.
    """
    _raise_error(outcome)
    assert outcome.findings is not None  # what a validation that succeeded gives
    return write_json(outcome.findings)


def write_pdf(outcome: JobOutcome, ports: Ports) -> Response:
    """Answer with the PDF.

    Raises:
        ServiceError: what the worker found instead.
    """
    _raise_error(outcome)
    claim = outcome.pdf
    assert claim is not None  # a success has a PDF
    headers = {
        "Content-Type": "application/pdf",
        "Content-Length": str(claim.size),
        "Content-Disposition": write_disposition(outcome.filename or DEFAULT_FILENAME),
        "X-Page-Count": str(outcome.pages),
        "X-Job-Id": outcome.job_id,
        "Server-Timing": _write_timings(outcome),
    }
    return Response(_started(ports.replies.fetch_pdf(claim)), 200, headers)


def _raise_error(outcome: JobOutcome) -> None:
    error = outcome.error
    if error is None:
        return
    raise ServiceError(
        error.status,
        error.message,
        kind=error.kind,
        code=error.code,
        data=error.data,
        stack_trace=error.stack_trace,
        headers={"Retry-After": "2"} if error.status == 503 else {},
    )


def write_disposition(filename: str) -> str:
    """Write an inline disposition as RFC 6266 says; no name can end the header or leave its folder."""
    name = _clean(filename)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    if plain == name:
        return f'inline; filename="{name}"'
    fallback = _clean(plain)
    return f"inline; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHARS)}"


def _clean(filename: str) -> str:
    safe = _UNSAFE.sub("_", filename.encode("utf-8", "replace").decode())
    stem = safe.removesuffix(".pdf").strip(" .")[:_MAX_FILENAME]
    return f"{stem}.pdf" if stem else DEFAULT_FILENAME


def _write_timings(outcome: JobOutcome) -> str:
    return ", ".join(
        f"{stage};dur={outcome.timings[stage]:.1f}" for stage in _STAGES if stage in outcome.timings
    )


def _started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Fetch the first piece now, so that what fails there can still be said with a status."""
    return chain([next(pieces)], pieces)
