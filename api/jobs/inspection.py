"""Inspection of uploaded files in a worker, before they are stored (decision 0387)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import g

from api.admission.body import Body
from api.admission.gate import Ticket, admit_validation
from api.auth.guard import Principal
from api.jobs.concurrency import ConcurrencyLimit
from api.jobs.queued import raise_failure, refuse_if_drained, run_queued
from api.ports import Cell, Ports
from shared.identifiers import new_id
from shared.jobs.records import BodyKind, JobOutcome, Purpose, RenderJob

# Inspections of one account in one process of the front, queued or running.
MAX_AT_ONCE: Final = 4
SLOT_WAIT_SECONDS: Final = 30.0
_TOO_MANY: Final = (
    "Too many uploads at once: {at_once} uploads of the account are already being inspected."
)


class Inspections:
    """Runs inspections for one process of the front, a bounded number at once per account."""

    def __init__(self, ports: Ports, *, at_once: int = MAX_AT_ONCE) -> None:
        self._ports = ports
        self._limit = ConcurrencyLimit(at_once, _TOO_MANY)

    def inspect(self, kind: BodyKind, body: Body, principal: Principal) -> Mapping[str, Any]:
        """Return the properties of an uploaded file, as found by a worker; the file is at its start.

        Raises:
            ServiceError: 400, the file is rejected; 429, too many uploads of the account are being
                inspected; 503, no worker is available; 504, the time budget is exceeded.
        """
        # The time budget includes the wait for a slot, so that a shutdown never waits longer.
        ticket = admit_validation(principal, self._ports)
        cell = self._ports.cell(principal.state.account_id)
        refuse_if_drained(Purpose.INSPECT, cell)
        with self._limit.acquire(principal.state.account_id, seconds=SLOT_WAIT_SECONDS):
            outcome = self._run(kind, body, ticket, cell)
        raise_failure(outcome)
        assert outcome.properties is not None  # set by every inspection that succeeded
        return outcome.properties

    def _run(self, kind: BodyKind, body: Body, ticket: Ticket, cell: Cell) -> JobOutcome:
        job = self._make_job(kind, body, ticket, cell)
        budget = self._ports.render_budget
        return run_queued(job, self._ports, deadline=ticket.deadline, budget_seconds=budget)

    def _make_job(self, kind: BodyKind, body: Body, ticket: Ticket, cell: Cell) -> RenderJob:
        job_id = g.job_id = new_id("job")
        self._ports.traces.set_attributes(job=job_id)
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
