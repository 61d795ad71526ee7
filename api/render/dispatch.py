"""Dispatch of an admitted request as a job to a worker."""

from __future__ import annotations

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket
from api.jobs.queued import refuse_if_drained, run_queued
from api.ports import Ports
from api.render.request import RenderRequest
from shared.identifiers import new_id
from shared.jobs.records import JobOutcome, PinnedTemplate, Purpose, RenderJob


def dispatch(
    ticket: Ticket,
    request: RenderRequest,
    *,
    body: Body,
    template: PinnedTemplate | None,
    purpose: Purpose,
    request_id: str,
    ports: Ports,
) -> JobOutcome:
    """Queue a job and return its outcome, by the ticket's deadline.

    Raises:
        ServiceError: 504 at the deadline, 503 if the queue is drained; the job is not metered after either.
    """
    cell = ports.cell(ticket.meter.account_id)
    refuse_if_drained(purpose, cell)
    job_id = g.job_id = new_id("job")
    ports.traces.set_attributes(job=job_id)
    ahead = cell.clock_ahead()
    job = RenderJob(
        id=job_id,
        request_id=request_id,
        workspace_id=ticket.principal.state.workspace_id,
        meter=ticket.meter,
        body_kind=request.kind,
        body=cell.claims.store_stream(job_id, body.file, body.size),
        charset=request.charset,
        template=template,
        flow=request.flow,
        admitted_at=ticket.admitted_at + ahead,
        deadline=ticket.deadline + ahead,
        purpose=purpose,
        traceparent=ports.traces.traceparent(),
        is_fetched_for=True,
        output=request.output,
    )
    return run_queued(job, ports, deadline=ticket.deadline, budget_seconds=ports.render_budget)
