"""Metering what was rendered for the record, and whose usage events were lost with Redis."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Final, Protocol

from shared.buckets.admission import AdmissionCache
from shared.buckets.keys import KeyStates
from shared.clock import now, ticks
from shared.db.session import Database, Session
from shared.db.unmetered import list_unmetered_items, list_unmetered_jobs
from shared.db.usage import record_events
from shared.metering import PageEvent
from shared.queue.states import JobStates
from shared.telemetry.log import get_logger

# The counter has had its time by then.
SETTLED_AFTER: Final = timedelta(seconds=60)
# A keeper that begins looks back so far; from then on it goes on from where it was.
LOOKS_BACK: Final = timedelta(days=2)
# Until what was lost is recorded, and once more.
RECOUNT_SECONDS: Final = SETTLED_AFTER.total_seconds() + 60.0
_AT_ONCE: Final = 500
_ROUND_SECONDS: Final = 5.0  # others of the keeper's duties wait meanwhile
_INSTANT: Final = timedelta(microseconds=1)

log: Final = get_logger(__name__)


def _two_days_ago() -> datetime:
    return now() - LOOKS_BACK


class FindUnmetered(Protocol):
    """Finds events of what ended in a span of time: `shared.db.unmetered` has two such."""

    def __call__(
        self, session: Session, *, after: datetime, until: datetime, limit: int
    ) -> list[PageEvent]:
        """Find up to `limit` events, those of what ended first."""


@dataclass(slots=True)
class Reconcile:
    """Writes to the ledger what it lacks: each job once, whoever else writes it meanwhile."""

    name: str
    find: FindUnmetered
    database: Database
    admissions: AdmissionCache | KeyStates
    settled_after: timedelta = SETTLED_AFTER
    every_seconds: ClassVar[float] = 15.0
    _looked_until: datetime = field(default_factory=_two_days_ago)

    def run_once(self) -> int:
        """Look at what succeeded since the last round, and was settled by now: all of it, or as much
        as there is time for.
        """
        until, begun = now() - self.settled_after, ticks()
        count = 0
        while events := self._find(until):
            count += self._record(events)
            # What ended at the same instant as the last may be left.
            self._looked_until = events[-1].occurred_at - _INSTANT
            if ticks() - begun > _ROUND_SECONDS:
                return count
        self._looked_until = until
        return count

    def _find(self, until: datetime) -> list[PageEvent]:
        with self.database.snapshot() as session:
            return self.find(session, after=self._looked_until, until=until, limit=_AT_ONCE)

    def _record(self, events: list[PageEvent]) -> int:
        with self.database.session() as session:
            count = record_events(session, events, at=now())
        for account_id, period in {(event.account_id, event.period) for event in events}:
            # Their counters may have been rebuilt from a ledger that lacked these.
            self.admissions.unseed_usage(account_id, period)
        log.warning("usage events were lost and are recorded", jobs=count)
        return count


@dataclass(frozen=True, slots=True)
class RecountUsage:
    """Has counters compared with the ledger again and again for a while after Redis lost them.

    Rebuilt at once, they lack what the usage counter has read and not recorded yet. Neither a
    counter nor the ledger is ever above the truth, and the larger one is taken each time.
    """

    name: ClassVar[str] = "counters_recounted"
    every_seconds: ClassVar[float] = 15.0

    states: JobStates
    admissions: AdmissionCache

    def run_once(self) -> int:
        """Have all counters compared, if Redis is young."""
        if self.states.read_epoch_age() > RECOUNT_SECONDS:
            return 0
        return self.admissions.unseed_all()


def reconciliations(database: Database, admissions: KeyStates) -> tuple[Reconcile, Reconcile]:
    """Make the duties for jobs and for documents of batches."""
    return (
        Reconcile("jobs_reconciled", list_unmetered_jobs, database, admissions),
        Reconcile("items_reconciled", list_unmetered_items, database, admissions),
    )
