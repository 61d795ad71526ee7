"""Answering with a PDF, with findings, or with what a worker found wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from flask import Response

from api.exchange import write_json
from api.pdf import write_pdf_headers
from api.ports import Cell
from shared.errors import ServiceError
from shared.jobs import JobOutcome


def write_findings(outcome: JobOutcome) -> Response:
    """Answer with what a validation found.

    Raises:
        ServiceError: why there was none.
    """
    _raise_error(outcome)
    assert outcome.findings is not None  # what a validation that succeeded gives
    return write_json(outcome.findings)


def write_pdf(outcome: JobOutcome, cell: Cell) -> Response:
    """Answer with the PDF.

    Raises:
        ServiceError: what the worker found instead.
    """
    _raise_error(outcome)
    claim = outcome.pdf
    assert claim is not None  # a success has a PDF
    headers = write_pdf_headers(
        outcome.job_id,
        size=claim.size,
        pages=outcome.pages,
        filename=outcome.filename,
        timings=outcome.timings,
    )
    return Response(_started(cell.replies.fetch_pdf(claim)), 200, headers)


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


def _started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Fetch the first piece now, so that what fails there can still be said with a status."""
    return chain([next(pieces)], pieces)
