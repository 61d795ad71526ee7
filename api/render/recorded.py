"""Renders that go on record: answered before they are done, or safe to repeat by their key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from flask import Response, g

from api.admission.body import Body
from api.admission.gate import Ticket
from api.exchange import write_json
from api.jobs.accepting import accept_job, as_accepted, make_record, store_body
from api.jobs.idempotency import check_repeated, under_way
from api.jobs.preference import AsyncPreference
from api.jobs.queued import drained, refuse_if_drained
from api.jobs.reading import await_end, find_record, no_result, poll_job, write_result
from api.ports import Cell, Ports
from api.render.request import RenderRequest
from shared.clock import epoch, now
from shared.db.idempotency import FirstCall, find_first_call, free_key
from shared.db.jobs import JobRecord, JobStatus, write_job
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.identifiers import new_id
from shared.job_flow import LIFETIME_SECONDS
from shared.job_intake import KeyedCall
from shared.jobs import Lane, PinnedTemplate, Purpose, RenderJob
from shared.queue.broker import queue_of_job
from shared.queue.states import OVERDUE

# Answers that are not kept for a key: the render was not done, and may be when it is asked again.
_NOT_KEPT: Final = (402, 503)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A render that may be accepted."""

    ticket: Ticket
    asked: RenderRequest
    body: Body
    template: PinnedTemplate | None
    request_id: str


def render_on_record(
    filename: str | None,
    admit: Callable[[], Admitted],
    prefer: AsyncPreference | None,
    call: KeyedCall | None,
    ports: Ports,
) -> Response:
    """Answer a call: as its first one was where it repeats one, else with a job of its own.

    Without `prefer` it is answered when the render has ended; with it at the latest when the time to
    wait is over, by the result or 202.

    Raises:
        ServiceError: 409 while the first call is under way, 422 when it was another request;
            504 when nobody waits for the render any more; 503 while its queue is drained.
    """
    if (
        call is not None
        and (repeated := _answer_repeated(call, prefer, filename, ports)) is not None
    ):
        return repeated
    admitted = admit()
    lane = Lane.INTERACTIVE if prefer is None else Lane.BATCH
    if lane is Lane.INTERACTIVE:
        cell = ports.cell(admitted.ticket.meter.account_id)
        refuse_if_drained(Purpose.RENDER, cell)
    job = _make_job(admitted, lane, ports)
    record = make_record(
        job,
        user_id=admitted.ticket.principal.state.user_id,
        template=None if admitted.asked.template is None else str(admitted.asked.template),
    )
    first = accept_job(job, record, call, ports)
    if first is not None:
        assert call is not None
        return _answer_repeated(call, prefer, filename, ports) or _refuse_race()
    if prefer is not None:
        return _answer_async(record, prefer, filename, ports)
    return _answer_waiting(job, admitted.ticket.deadline, filename, ports)


def write_accepted(record: JobRecord, prefer: AsyncPreference) -> Response:
    """Answer 202 with the record of a job that has been accepted."""
    headers = {"Location": f"/v2/jobs/{record.id}", "Preference-Applied": prefer.applied}
    return write_json(write_job(record), 202, headers=headers)


def _answer_async(
    accepted: JobRecord, prefer: AsyncPreference, filename: str | None, ports: Ports
) -> Response:
    """Answer with the result if it comes within the time to wait, else with the job."""
    if not prefer.wait_seconds:
        return write_accepted(accepted, prefer)
    record = poll_job(accepted, ports, seconds=prefer.wait_seconds)
    if record is None:
        raise _removed()
    if not record.status.is_final:
        return write_accepted(record, prefer)
    answer = write_result(record, ports, filename=filename)
    answer.headers["Preference-Applied"] = prefer.applied
    return answer


def _make_job(admitted: Admitted, lane: Lane, ports: Ports) -> RenderJob:
    ticket, asked = admitted.ticket, admitted.asked
    job_id = g.job_id = new_id("job")
    ports.traces.tell(job=job_id)
    is_awaited = lane is Lane.INTERACTIVE
    ahead = ports.cell(ticket.meter.account_id).clock_ahead()
    return RenderJob(
        id=job_id,
        request_id=admitted.request_id,
        workspace_id=ticket.principal.state.workspace_id,
        meter=ticket.meter,
        body_kind=asked.kind,
        body=store_body(job_id, admitted.body.file, admitted.body.size, ports),
        charset=asked.charset,
        template=admitted.template,
        flow=asked.flow,
        admitted_at=ticket.admitted_at + ahead,
        deadline=ahead + (ticket.deadline if is_awaited else ticket.admitted_at + LIFETIME_SECONDS),
        lane=lane,
        is_recorded=True,
        budget_seconds=None if is_awaited else ports.render_budget,
        traceparent=ports.traces.traceparent(),
    )


def _answer_waiting(
    job: RenderJob, deadline: float, filename: str | None, ports: Ports
) -> Response:
    cell = ports.cell(job.meter.account_id)
    record = await_end(
        job.id,
        ports,
        seconds=deadline - epoch(),
        between=lambda: _withdraw_if_drained(job, cell),
    )
    if record is not None and not record.status.is_final:
        # The last word is said in one step: it ended before it, or nothing of it is metered.
        cell.job_flow.end_early(job.id, OVERDUE)
        record = find_record(job.id, ports)
    if record is None:
        raise _removed()
    return write_result(record, ports, filename=filename)


def _withdraw_if_drained(job: RenderJob, cell: Cell) -> None:
    """Take a render back that no worker is going to come for, as one without a key is.

    Raises:
        ServiceError: 503; the same call is done anew when it is sent again.
    """
    with suppress(Unavailable):
        queue = queue_of_job(job)
        if cell.drains.holds(queue) and cell.job_flow.withdraw(job.id):
            raise drained(Purpose.RENDER)


def _answer_repeated(
    call: KeyedCall, prefer: AsyncPreference | None, filename: str | None, ports: Ports
) -> Response | None:
    """Answer as the first call was; None when the key stands for nothing, or no more."""
    with ports.database.snapshot() as session:
        first = find_first_call(session, call.key, at=now())
    if first is None:
        return None
    check_repeated(first, call.fingerprint)
    record = _get_first(first, ports)
    if record.lane is Lane.BATCH:
        return _answer_async(as_accepted(record), prefer or AsyncPreference(0), filename, ports)
    if not record.status.is_final:
        raise under_way()
    if _is_kept(record):
        return write_result(record, ports, filename=filename)
    with ports.database.session() as session:
        free_key(session, call.key, job_id=record.id)
    return None


def _get_first(first: FirstCall, ports: Ports) -> JobRecord:
    record = find_record(first.job_id or "", ports)
    if record is None:
        raise _removed()
    return record


def _is_kept(record: JobRecord) -> bool:
    if record.status is JobStatus.CANCELLED:
        raise no_result(record)
    return (record.error or {}).get("statusCode") not in _NOT_KEPT


def _removed() -> ServiceError:
    return ServiceError(
        410, "The job of this Idempotency-Key has been removed.", kind=ErrorKind.NOT_FOUND
    )


def _refuse_race() -> Response:
    raise under_way()
