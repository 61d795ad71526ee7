"""Responses of renders and validations: the PDF, the findings, or the worker's error."""

from __future__ import annotations

from flask import Response

from api.admission.gate import Ticket
from api.http import start_stream, write_json
from api.jobs.queued import raise_failure
from api.pdf_headers import write_invoice_headers, write_pdf_headers
from api.render.request import RenderRequest
from shared.clock import now
from shared.jobs.records import JobOutcome, RenderOutput
from shared.usage.metering import UsageEvent


def write_findings(outcome: JobOutcome) -> Response:
    """Return the findings of a validation.

    Raises:
        ServiceError: the validation failed.
    """
    raise_failure(outcome)
    assert outcome.findings is not None  # set by every validation that succeeded
    return write_json(outcome.findings)


def write_rendered(outcome: JobOutcome, ticket: Ticket, asked: RenderRequest) -> Response:
    """Return the PDF or XML response, and remember its usage event until the ledger has recorded it.

    The file name of the request overrides the document's own.

    Raises:
        ServiceError: the render failed.
    """
    raise_failure(outcome)
    claim = outcome.pdf
    assert claim is not None  # a success has a PDF
    headers = write_pdf_headers(
        outcome.job_id,
        pages=outcome.pages,
        filename=asked.filename or outcome.filename,
        timings=outcome.timings,
        warnings=outcome.warnings,
    )
    headers["Content-Length"] = str(claim.size)
    if asked.output is RenderOutput.INVOICE:
        headers |= write_invoice_headers(asked.filename or outcome.filename)
    chunks = start_stream(ticket.cell.replies.fetch_pdf(claim))
    # Only now: an error before this line becomes an error response.
    event = UsageEvent.of(ticket.meter, outcome.job_id, pages=outcome.pages, at=now())
    ticket.cell.usage_replay.store(event)
    response = Response(chunks, 200, headers)
    response.headers.add("Vary", "Accept")
    return response
