"""Inspection of uploaded files in a worker, before they are stored (decision 0230)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket, admit_validation
from api.auth.guard import Principal
from api.jobs.queued import raise_failure, refuse_if_drained, run_queued
from api.lane import give_way
from api.ports import Cell, Ports
from shared.errors import ErrorCode, ErrorKind, ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs import BodyKind, JobOutcome, Purpose, RenderJob

# Of one account in one process of the front: inspections in the queue or in a worker.
MAX_AT_ONCE: Final = 4
_WAIT_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 5


class Inspections:
    """Has uploads inspected for one process of the front, a bounded number at once per account."""

    def __init__(self, ports: Ports, *, at_once: int = MAX_AT_ONCE) -> None:
        self._ports = ports
        self._turns = _Turns(at_once)

    def inspect(self, kind: BodyKind, body: Body, principal: Principal) -> Mapping[str, Any]:
        """Return the properties that a worker found of an uploaded file; it stands at its start.

        Raises:
            ServiceError: 400, the file is refused; 429, too many of the account are being
                inspected; 503, no worker takes it; 504, its inspection exceeds the time budget.
        """
        give_way()
        # The wait for a turn is part of the time budget: a front that stops waits no longer for it.
        ticket = admit_validation(principal, self._ports)
        cell = self._ports.cell(principal.state.account_id)
        refuse_if_drained(Purpose.INSPECT, cell)
        with self._turns.take(principal.state.account_id, seconds=_WAIT_SECONDS):
            outcome = self._run(kind, body, ticket, cell)
        raise_failure(outcome)
        assert outcome.properties is not None  # those of every inspection that succeeded
        return outcome.properties

    def _run(self, kind: BodyKind, body: Body, ticket: Ticket, cell: Cell) -> JobOutcome:
        job = self._make_job(kind, body, ticket, cell)
        budget = self._ports.render_budget
        try:
            return run_queued(job, cell, deadline=ticket.deadline, budget_seconds=budget)
        except ServiceError:
            # A worker that reads it late discards the job; one that never comes would leave it.
            with suppress(Unavailable):
                cell.claims.drop(job.body)
            raise

    def _make_job(self, kind: BodyKind, body: Body, ticket: Ticket, cell: Cell) -> RenderJob:
        job_id = g.job_id = new_id("job")
        self._ports.traces.tell(job=job_id)
        ahead = cell.clock_ahead()
        claim = cell.claims.store_stream(job_id, body.file, body.size)
        body.file.seek(0)
        return RenderJob(
            id=job_id,
            request_id=g.request_id,
            workspace_id=ticket.principal.state.workspace_id,
            meter=ticket.meter,
            body_kind=kind,
            body=claim,
            charset=None,
            template=None,
            flow=None,
            admitted_at=ticket.admitted_at + ahead,
            deadline=ticket.deadline + ahead,
            purpose=Purpose.INSPECT,
            traceparent=self._ports.traces.traceparent(),
        )


class _Turns:
    """Counts what each account has in flight, and lets it wait for a turn."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()

    @contextmanager
    def take(self, account_id: str, *, seconds: float) -> Iterator[None]:
        """Hold a turn within the block.

        Raises:
            ServiceError: 429 with `Retry-After`, there was none in time.
        """
        with self._changed:
            is_free = self._changed.wait_for(
                lambda: self._held[account_id] < self._at_once, timeout=seconds
            )
            if not is_free:
                raise _too_many(self._at_once)
            self._held[account_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[account_id] -= 1
                if not self._held[account_id]:
                    del self._held[account_id]
                self._changed.notify_all()


def _too_many(at_once: int) -> ServiceError:
    return ServiceError(
        429,
        f"Too many uploads at once: {at_once} of the account are being inspected already. "
        f"Try again in {_RETRY_SECONDS} s.",
        kind=ErrorKind.RATE,
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
