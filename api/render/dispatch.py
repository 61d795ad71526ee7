"""Queueing an admitted job and waiting for its outcome, within its budget."""

from __future__ import annotations

from typing import Final

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket
from api.ports import Ports
from api.render.request import RenderRequest
from shared.clock import epoch
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.identifiers import new_id
from shared.jobs import JobOutcome, PinnedTemplate, Purpose, RenderJob

_DOING: Final = {Purpose.RENDER: "render", Purpose.VALIDATE: "validation"}


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
        ServiceError: 504 at the deadline; nothing of the job is metered after it.
    """
    job_id = g.job_id = new_id("job")
    ports.traces.tell(job=job_id)
    job = RenderJob(
        id=job_id,
        request_id=request_id,
        workspace_id=ticket.principal.state.workspace_id,
        meter=ticket.meter,
        body_kind=request.kind,
        body=ports.claims.store_stream(job_id, body.file, body.size),
        charset=request.charset,
        template=template,
        flow=request.flow,
        admitted_at=ticket.admitted_at,
        deadline=ticket.deadline,
        purpose=purpose,
        traceparent=ports.traces.traceparent(),
    )
    published = ports.broker.publish(job)
    outcome = ports.replies.wait(
        job_id,
        timeout_seconds=ticket.deadline - epoch(),
        between=lambda: ports.broker.requeue_forgotten(published),
    )
    # The last word is said in one atomic step: either the job ended before it, or never will.
    outcome = outcome or ports.replies.abandon(job_id)
    if outcome is None:
        raise _timed_out(purpose, ports.render_budget)
    return outcome


def _timed_out(purpose: Purpose, budget_seconds: float) -> ServiceError:
    return ServiceError(
        504,
        f"The {_DOING[purpose]} took longer than {budget_seconds:g} s, its time budget, and was stopped; the "
        "document is too large, or remote assets are too slow.",
        kind=ErrorKind.TIMEOUT,
        code=ErrorCode.RENDER_TIMEOUT,
    )
