"""Reconciliation of the usage ledger: records renders whose usage events were lost with Redis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.auth.admission import AdmissionCache
from shared.clock import now, ticks
from shared.db.session import Database
from shared.queue.states import JobStates
from shared.shards import PerShard
from shared.telemetry.log import get_logger
from shared.usage.metering import UsageEvent
from shared.usage.repository import list_unmetered_items, list_unmetered_jobs, record_events
from workers.maintenance.runner import MaintenanceTask

# The counter has normally recorded an event before this age.
RECONCILE_AFTER: Final = timedelta(seconds=60)
# How far a new process looks back; later rounds continue where the last one ended.
LOOKBACK: Final = timedelta(days=2)
# Until lost events are recorded, plus one more round.
RECOUNT_SECONDS: Final = RECONCILE_AFTER.total_seconds() + 60.0
ROWS_PER_TRANSACTION: Final = 500
ROUND_SECONDS: Final = 5.0  # other tasks wait meanwhile
_INSTANT: Final = timedelta(microseconds=1)

log: Final = get_logger(__name__)


def _lookback_start() -> datetime:
    return now() - LOOKBACK


@dataclass(slots=True)
class ReconcileUsage:
    """Records missing events in the ledger, each job once; `find` is a query of `shared.usage.repository`."""

    find: Callable[..., list[UsageEvent]]
    database: Database
    admissions: PerShard[AdmissionCache]
    reconcile_after: timedelta = RECONCILE_AFTER
    _looked_until: datetime = field(default_factory=_lookback_start)

    def run_once(self) -> int:
        """Check the renders that ended since the last round and are older than `reconcile_after`, for up to
        `ROUND_SECONDS`.
        """
        until, begun = now() - self.reconcile_after, ticks()
        count = 0
        while events := self._find(until):
            count += self._record(events)
            # Other renders may have ended at the same instant as the last one.
            self._looked_until = events[-1].occurred_at - _INSTANT
            if ticks() - begun > ROUND_SECONDS:
                return count
        self._looked_until = until
        return count

    def _find(self, until: datetime) -> list[UsageEvent]:
        with self.database.snapshot() as session:
            return self.find(
                session, after=self._looked_until, until=until, limit=ROWS_PER_TRANSACTION
            )

    def _record(self, events: list[UsageEvent]) -> int:
        with self.database.session() as session:
            count = record_events(session, events, at=now())
        for account_id, period in {(event.account_id, event.period) for event in events}:
            # The counters may have been rebuilt from the incomplete ledger.
            self.admissions.of(account_id).invalidate_usage(account_id, period)
        log.warning("lost usage events recorded", jobs=count)
        return count


def recount_usage(states: JobStates, admissions: AdmissionCache) -> int:
    """Invalidate the usage counters for a while after Redis has lost its data, and return how many.

    Counters rebuilt immediately lack events that the usage counter has read but not recorded yet. Neither
    counters nor ledger ever exceed the true usage, and the larger of the two is used each time.
    """
    if states.read_epoch_age() > RECOUNT_SECONDS:
        return 0
    return admissions.invalidate_all_usage()


def reconciliation_tasks(
    database: Database, admissions: PerShard[AdmissionCache]
) -> tuple[MaintenanceTask, ...]:
    """Return the tasks for jobs and for batch documents."""
    finders = {"jobs_reconciled": list_unmetered_jobs, "items_reconciled": list_unmetered_items}
    return tuple(
        MaintenanceTask(name, 15.0, ReconcileUsage(find, database, admissions).run_once)
        for name, find in finders.items()
    )
