"""Metering what was rendered for the record, and whose usage events were lost with Redis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Final

from shared.buckets.admission import AdmissionCache
from shared.clock import now
from shared.db.jobs import JobRecord, list_unmetered
from shared.db.session import Database
from shared.db.usage import record_events
from shared.jobs import RenderJob
from shared.metering import PageEvent
from shared.telemetry.log import get_logger

# The counter has had its time by then.
SETTLED_AFTER: Final = timedelta(seconds=60)
# A keeper that begins looks back so far; from then on it goes on from where it was.
LOOKS_BACK: Final = timedelta(days=2)
_AT_ONCE: Final = 500

log: Final = get_logger(__name__)


def _two_days_ago() -> datetime:
    return now() - LOOKS_BACK


@dataclass(slots=True)
class ReconcileJobs:
    """Writes to the ledger what it lacks: each job once, whoever else writes it meanwhile."""

    name: ClassVar[str] = "jobs_reconciled"
    every_seconds: ClassVar[float] = 15.0

    database: Database
    admissions: AdmissionCache
    settled_after: timedelta = SETTLED_AFTER
    _looked_until: datetime = field(default_factory=_two_days_ago)
    _now: Callable[[], datetime] = now

    def run_once(self) -> int:
        """Look at what succeeded since the last round, and was settled by now."""
        until = self._now() - self.settled_after
        count = 0
        while jobs := self._find(until):
            count += self._record(jobs)
        self._looked_until = until
        return count

    def _find(self, until: datetime) -> list[JobRecord]:
        with self.database.snapshot() as session:
            return list(
                list_unmetered(session, after=self._looked_until, until=until, limit=_AT_ONCE)
            )

    def _record(self, jobs: list[JobRecord]) -> int:
        events = [_make_event(job) for job in jobs]
        with self.database.session() as session:
            count = record_events(session, events, at=self._now())
        for account_id, period in {(event.account_id, event.period) for event in events}:
            # Their counters may have been rebuilt from a ledger that lacked these.
            self.admissions.unseed_usage(account_id, period)
        log.warning("usage events were lost and are recorded", jobs=count)
        return count


def _make_event(job: JobRecord) -> PageEvent:
    meter = RenderJob.decode(job.message).meter
    assert job.finished_at is not None
    return PageEvent(
        job.id, meter.account_id, meter.period, meter.allowance, job.pages or 0, job.finished_at
    )
