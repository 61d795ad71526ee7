"""What the keeper does for the ledger: removes rows that are older than the operator wants to keep."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final

from shared.clock import now, ticks
from shared.db.ledger import prune_ledger
from shared.db.session import Database
from shared.telemetry.log import get_logger

# While a job is on record it may be looked up in the ledger, and would be recorded there again.
_AFTER_RECORDS: Final = timedelta(days=7)
_AT_ONCE: Final = 2_000  # a tenth of a second of SQLite, which has one writer
_ROUND_SECONDS: Final = 5.0  # others of the keeper's duties wait meanwhile
_MONTHS_A_YEAR: Final = 12

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PruneLedger:
    """Removes rows of the ledger after so many whole months, none where that is 0.

    The totals of billing periods are kept for ever, and so is what an account used.
    """

    name: ClassVar[str] = "ledger_rows_pruned"
    every_seconds: ClassVar[float] = 60.0

    database: Database
    months: int
    record_kept: timedelta

    def run_once(self) -> int:
        """Remove what is old, some thousand rows in a unit of work, for some seconds."""
        if not self.months:
            return 0
        before, begun, count = self.find_cutoff(now()), ticks(), 0
        while ticks() - begun < _ROUND_SECONDS:
            with self.database.session() as session:
                removed = prune_ledger(session, before=before, limit=_AT_ONCE)
            count += removed
            if removed < _AT_ONCE:
                break
        if count:
            log.info("old rows of the ledger are removed", before=before.isoformat(), rows=count)
        return count

    def find_cutoff(self, at: datetime) -> datetime:
        """Return the instant before which rows are removed: the first of a month, or earlier."""
        today = at.astimezone(UTC)
        month = today.year * _MONTHS_A_YEAR + today.month - 1 - self.months
        year, index = divmod(month, _MONTHS_A_YEAR)
        return min(datetime(year, index + 1, 1, tzinfo=UTC), at - self.record_kept - _AFTER_RECORDS)
