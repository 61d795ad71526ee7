"""Recorded renders: asynchronous ones, and those with an idempotency key."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from flask import Response

from api.admission.body import Body
from api.admission.gate import Ticket, admit
from api.auth.guard import Principal
from api.http import write_json
from api.jobs.accepting import (
    AsyncPreference,
    accept_job,
    as_accepted,
    check_repeated,
    make_record,
    mark_replayed,
    store_body,
    under_way,
)
from api.jobs.queued import (
    ImagesOverdueError,
    await_place,
    drained,
    make_job,
    name_job,
    place_left_on_failure,
    refuse_if_drained,
    resume_suspended,
    untaken,
)
from api.jobs.reading import await_end, find_record, no_result, write_result
from api.operations.model import current_query
from api.ports import Cell, Ports
from api.render.request import Order, RenderRequest, find_order, find_template
from shared.clock import epoch, now
from shared.errors import ServiceError, Unavailable
from shared.jobs.idempotency import FirstCall, find_first_call, release_key
from shared.jobs.intake import KeyedCall
from shared.jobs.lifecycle import LIFETIME_SECONDS
from shared.jobs.records import BodyKind, Lane, OutcomeStatus, PinnedTemplate, Purpose, RenderJob
from shared.jobs.repository import JobRecord, JobStatus, write_job
from shared.queue.admission_places import PlaceRequest, PlaceState
from shared.queue.broker import queue_of_job
from shared.queue.names import queue_for
from shared.queue.states import OVERDUE

_LOOK_SECONDS: Final = 1.0
_WITH_RECORD: Final = (BodyKind.JSON, BodyKind.INVOICE)  # bodies that have values by path


@dataclass(frozen=True, slots=True)
class RecordedRender:
    """A render that is recorded; `respond` answers it."""

    principal: Principal
    asked: RenderRequest
    body: Body
    prefer: AsyncPreference | None
    ports: Ports

    def respond(self, call: KeyedCall | None) -> Response:
        """Return the response of the first call if this one repeats it, else a new one.

        Without `prefer` the response is sent when the render has ended. With it, the result is sent if it is
        ready within the time to wait, else 202.

        Raises:
            ServiceError: 409 while the first call is in progress; 422, it was a different request; 503, no
                worker was free by the deadline, or the queue is drained.
        """
        if call is not None and (repeated := self._answer_repeated(call)) is not None:
            return repeated
        principal, asked, ports = self.principal, self.asked, self.ports
        template = find_template(asked, principal, ports)
        order = find_order(principal, ports, has_record=asked.kind in _WITH_RECORD)
        ticket = admit(principal, asked.allowance, template, ports)
        job_id = name_job(ports)
        if self.prefer is not None:
            job, record = self._make_job(job_id, ticket, template, order, Lane.BATCH)
            if accept_job(job, record, call, ports) is None:
                return self._answer_async(record, self.prefer)
        else:
            with place_left_on_failure(job_id, ticket.cell):
                _await_place(job_id, ticket)
                job, record = self._make_job(job_id, ticket, template, order, Lane.INTERACTIVE)
                if accept_job(job, record, call, ports) is None:
                    return self._answer_waiting(job, ticket)
                ticket.cell.places.release(job_id)
        assert call is not None
        repeated = self._answer_repeated(call)
        if repeated is None:
            raise under_way()
        return repeated

    def _make_job(
        self,
        job_id: str,
        ticket: Ticket,
        template: PinnedTemplate | None,
        order: Order | None,
        lane: Lane,
    ) -> tuple[RenderJob, JobRecord]:
        asked, ports, is_awaited = self.asked, self.ports, lane is Lane.INTERACTIVE
        body = store_body(job_id, self.body.file, self.body.size, ports)
        job = make_job(job_id, ticket, Purpose.RENDER, asked.kind, body, ports).replace(
            charset=asked.charset,
            template=template,
            flow=asked.flow,
            lane=lane,
            is_recorded=True,
            is_fetched_for=is_awaited,
            paths=order.destination.settings.paths if order else (),
        )
        if not is_awaited:
            deadline = job.admitted_at + LIFETIME_SECONDS
            job = job.replace(deadline=deadline, budget_seconds=ports.settings.render_budget)
        record = make_record(
            job,
            user_id=self.principal.state.user_id,
            template=None if asked.template is None else str(asked.template),
        )
        if order is not None:
            record = record.replace(deliver_to=order.destination.id, send_at=order.send_at)
        return job, record.replace(subject=current_query().get("subject"))

    def _answer_async(self, accepted: JobRecord, prefer: AsyncPreference) -> Response:
        """Return the result if it is ready within the time to wait, else the job."""
        if not prefer.wait_seconds:
            return write_accepted(accepted, prefer)
        record = await_end(
            lambda: find_record(accepted.id, self.ports), self.ports, seconds=prefer.wait_seconds
        )
        if record is None:
            raise _removed()
        if not record.status.is_final:
            return write_accepted(record, prefer)
        answer = write_result(record, self.ports, filename=self.asked.filename)
        answer.headers["Preference-Applied"] = prefer.applied
        return answer

    def _answer_waiting(self, job: RenderJob, ticket: Ticket) -> Response:
        cell = ticket.cell
        try:
            _await_reply(job, ticket, self.ports)
        except ImagesOverdueError:
            cell.jobs.end_early(job.id, OVERDUE)
        except Unavailable:
            pass  # the record also has the end
        record = await_end(
            lambda: find_record(job.id, self.ports),
            self.ports,
            seconds=ticket.deadline - epoch(),
            between=lambda: _renew_or_withdraw(job, cell),
            until=lambda: False,  # a shutdown does not shorten the wait
        )
        if record is not None and not record.status.is_final:
            # Ending it is atomic: the job has either ended before, or is not metered.
            cell.jobs.end_overdue(job.id)
            record = find_record(job.id, self.ports)
        if record is None:
            raise _removed()
        return write_result(record, self.ports, filename=self.asked.filename)

    def _answer_repeated(self, call: KeyedCall) -> Response | None:
        """Return the response of the first call, None if the key is unused or its response was not stored."""
        with self.ports.database.snapshot() as session:
            first = find_first_call(session, call.key, at=now())
        if first is None:
            return None
        record = _get_first(first, self.ports)
        if self._is_kept(record):
            check_repeated(first, call.fingerprint)
            return mark_replayed(self._write_first(record))
        with self.ports.database.session() as session:
            release_key(session, call.key, job_id=record.id)
        return None

    def _write_first(self, record: JobRecord) -> Response:
        if record.lane is Lane.BATCH:
            return self._answer_async(as_accepted(record), self.prefer or AsyncPreference(0))
        if not record.status.is_final:
            raise under_way()
        return write_result(record, self.ports, filename=self.asked.filename)

    def _is_kept(self, record: JobRecord) -> bool:
        """Return whether the response of a first call is stored for repeated ones."""
        if record.lane is Lane.INTERACTIVE and record.status is JobStatus.CANCELLED:
            raise no_result(record)
        match (record.error or {}).get("statusCode"):
            case 402 | 503:  # it was not rendered, and may be now
                return record.lane is Lane.BATCH
            case 400:  # what an error of the document depends on, such as images, may have changed
                return False
            case _:
                return True


def write_accepted(record: JobRecord, prefer: AsyncPreference) -> Response:
    """Return a 202 response with the record of an accepted job."""
    headers = {"Location": f"/v2/jobs/{record.id}", "Preference-Applied": prefer.applied}
    return write_json(write_job(record), 202, headers=headers)


def _await_place(job_id: str, ticket: Ticket) -> None:
    """Wait for a place before the render is recorded, so that a rejected request can be repeated with its key."""
    refuse_if_drained(Purpose.RENDER, ticket.cell)
    place = PlaceRequest(job_id, ticket.meter.account_id, queue_for(Purpose.RENDER))
    if not await_place(place, Purpose.RENDER, ticket.cell, deadline=ticket.deadline):
        raise untaken(Purpose.RENDER, ticket.budget_seconds)


def _await_reply(job: RenderJob, ticket: Ticket, ports: Ports) -> None:
    """Wait until the render ends, and fetch the images for which it is suspended."""
    cell = ticket.cell
    while (left := ticket.deadline - epoch()) > 0:
        outcome = cell.replies.wait(job.id, timeout_seconds=min(left, _LOOK_SECONDS))
        if outcome is None:
            if _renew_or_withdraw(job, cell) is PlaceState.ENDED:
                return
            continue
        if outcome.status is not OutcomeStatus.SUSPENDED:
            return
        resumed = resume_suspended(job, outcome, ticket, ports)
        if resumed is None:
            return
        if resumed is not job:
            job = resumed
            cell.broker.queue_recorded({job.encode(): job})


def _renew_or_withdraw(job: RenderJob, cell: Cell) -> PlaceState | None:
    """Renew the render's place, or withdraw it if its queue is drained, as for one without a key.

    Raises:
        ServiceError: 503; a repeated request renders again.
    """
    with suppress(Unavailable):
        state = cell.places.renew(job.id)
        queue = queue_of_job(job)
        if cell.drains.is_drained(queue) and cell.jobs.withdraw(job.id):
            raise drained(Purpose.RENDER)
        return state
    return None


def _get_first(first: FirstCall, ports: Ports) -> JobRecord:
    record = find_record(first.job_id or "", ports)
    if record is None:
        raise _removed()
    return record


def _removed() -> ServiceError:
    return ServiceError(410, "The job of this Idempotency-Key has been removed.")
