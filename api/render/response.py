"""Answering with a PDF, with findings, or with what a worker found wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from flask import Response

from api.exchange import write_json
from api.jobs.queued import raise_failure
from api.pdf import write_pdf_headers
from api.ports import Cell
from shared.clock import now
from shared.jobs import JobOutcome, Meter
from shared.metering import PageEvent


def write_findings(outcome: JobOutcome) -> Response:
    """Answer with what a validation found.

    Raises:
        ServiceError: why there was none.
    """
    raise_failure(outcome)
    assert outcome.findings is not None  # what a validation that succeeded gives
    return write_json(outcome.findings)


def write_pdf(
    outcome: JobOutcome, meter: Meter, cell: Cell, *, filename: str | None = None
) -> Response:
    """Answer with the PDF, under a name of the client's if it gives one, and keep in mind what it counts until the ledger has it.

    Raises:
        ServiceError: what the worker found instead.
    """
    raise_failure(outcome)
    claim = outcome.pdf
    assert claim is not None  # a success has a PDF
    headers = write_pdf_headers(
        outcome.job_id,
        size=claim.size,
        pages=outcome.pages,
        filename=filename or outcome.filename,
        timings=outcome.timings,
        warnings=outcome.warnings,
    )
    pieces = _started(cell.replies.fetch_pdf(claim))
    # Not before: what fails until here is answered with an error.
    cell.recall.note(_event(outcome, meter))
    return Response(pieces, 200, headers)


def _event(outcome: JobOutcome, meter: Meter) -> PageEvent:
    return PageEvent(
        outcome.job_id, meter.account_id, meter.period, meter.allowance, outcome.pages, now()
    )


def _started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Fetch the first piece now, so that what fails there can still be said with a status."""
    return chain([next(pieces)], pieces)
