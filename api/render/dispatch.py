"""Making the job of an admitted request, and running it in a worker."""

from __future__ import annotations

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket
from api.jobs.queued import refuse_if_drained, run_queued
from api.ports import Ports
from api.render.request import RenderRequest
from shared.identifiers import new_id
from shared.jobs import JobOutcome, PinnedTemplate, Purpose, RenderJob


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
    """Queue a job and give how it ended; the answer comes by the ticket's deadline.

    Raises:
        ServiceError: 504 at the deadline, 503 where workers take nothing from the queue; nothing
            of the job is metered after either.
    """
    cell = ports.cell(ticket.meter.account_id)
    refuse_if_drained(purpose, cell)
    job_id = g.job_id = new_id("job")
    ports.traces.tell(job=job_id)
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
    )
    return run_queued(job, cell, deadline=ticket.deadline, budget_seconds=ports.render_budget)
