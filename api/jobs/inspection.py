"""Inspection of uploaded files in a worker, before they are stored (decision 0387)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.admission.body import Body
from api.admission.gate import admit_unmetered
from api.auth.guard import Principal
from api.jobs.queued import name_job, refuse_if_drained, run_body
from api.jobs.remote_images import ConcurrencyLimit
from api.ports import Ports
from shared.jobs.records import BodyKind, Purpose

# Inspections of one account in one process of the front, queued or running.
MAX_AT_ONCE: Final = 4
SLOT_WAIT_SECONDS: Final = 30.0


class Inspections:
    """Runs inspections for one process of the front, a bounded number at once per account."""

    def __init__(self, ports: Ports, *, at_once: int = MAX_AT_ONCE) -> None:
        self._ports = ports
        self._limit = ConcurrencyLimit(at_once, "uploads", "inspected")

    def inspect(self, kind: BodyKind, body: Body, principal: Principal) -> Mapping[str, Any]:
        """Return the properties of an uploaded file, as found by a worker; the file is at its start.

        Raises:
            ServiceError: 400, the file is rejected; 429, too many uploads of the account are being
                inspected; 503, no worker is available; 504, the time budget is exceeded.
        """
        # The time budget includes the wait for a slot, so that a shutdown never waits longer.
        ticket = admit_unmetered(
            principal, self._ports, budget_seconds=self._ports.settings.render_budget
        )
        refuse_if_drained(Purpose.INSPECT, ticket.cell)
        with self._limit.acquire(principal.state.account_id, seconds=SLOT_WAIT_SECONDS):
            job_id = name_job(self._ports)
            outcome = run_body(job_id, ticket, Purpose.INSPECT, kind, body, self._ports)
        body.file.seek(0)
        assert outcome.properties is not None  # set by every inspection that succeeded
        return outcome.properties
