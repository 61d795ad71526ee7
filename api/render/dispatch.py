"""Queueing an admitted job and waiting for its outcome, within its budget."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket
from api.ports import Cell, Ports
from api.render.request import RenderRequest
from shared.clock import epoch
from shared.errors import ErrorCode, ErrorKind, ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs import JobOutcome, PinnedTemplate, Purpose, RenderJob
from shared.queue.broker import Published
from shared.queue.names import INTERACTIVE, VALIDATE

_DOING: Final = {Purpose.RENDER: "render", Purpose.VALIDATE: "validation"}
_QUEUES: Final = {Purpose.RENDER: INTERACTIVE, Purpose.VALIDATE: VALIDATE}
# A drained queue is an operator's doing: minutes, rather than the seconds of a restart.
_DRAINED_RETRY_SECONDS: Final = 30


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
    published = cell.broker.publish(job)
    outcome = cell.replies.wait(
        job_id,
        timeout_seconds=ticket.deadline - epoch(),
        between=lambda: _look_after(published, purpose, cell),
    )
    # The last word is said in one atomic step: either the job ended before it, or never will.
    outcome = outcome or cell.replies.abandon(job_id)
    if outcome is None:
        raise _timed_out(purpose, ports.render_budget)
    return outcome


def refuse_if_drained(purpose: Purpose, cell: Cell) -> None:
    """Refuse what would wait for a worker in vain.

    Raises:
        ServiceError: 503, the operator has drained the queue of this kind of work.
    """
    if cell.drains.holds(_QUEUES[purpose]):
        raise drained(purpose)


def _look_after(published: Published, purpose: Purpose, cell: Cell) -> None:
    """Queue a job again that was forgotten; take it back when no worker is going to come for it."""
    # Without Redis there is nothing to look after: who waits finds that out by himself.
    with suppress(Unavailable):
        if cell.drains.holds(published.queue) and cell.broker.withdraw(published):
            raise drained(purpose)
    cell.broker.requeue_forgotten(published)


def drained(purpose: Purpose) -> ServiceError:
    """Make the refusal of what would wait in a drained queue."""
    return ServiceError(
        503,
        f"No {_DOING[purpose]} is begun at the moment, while the service is looked after; try again later.",
        kind=ErrorKind.UNAVAILABLE,
        headers={"Retry-After": str(_DRAINED_RETRY_SECONDS)},
    )


def _timed_out(purpose: Purpose, budget_seconds: float) -> ServiceError:
    return ServiceError(
        504,
        f"The {_DOING[purpose]} took longer than {budget_seconds:g} s, its time budget, and was stopped; the "
        "document is too large, or remote assets are too slow.",
        kind=ErrorKind.TIMEOUT,
        code=ErrorCode.RENDER_TIMEOUT,
    )
