"""The maintenance task that deletes old rows of the usage ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from shared.clock import now, ticks
from shared.db.session import Database
from shared.settings import get_limits
from shared.telemetry.log import get_logger
from shared.usage.ledger import prune_ledger

ROWS_PER_TRANSACTION: Final = 2_000  # takes SQLite, which has one writer, a tenth of a second
ROUND_SECONDS: Final = 5.0  # other tasks wait meanwhile
_MONTHS_A_YEAR: Final = 12

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PruneLedger:
    """Deletes rows of the ledger after a number of whole months, none if it is 0.

    The totals by billing period and by day are kept.
    """

    database: Database
    months: int

    def run_once(self) -> int:
        """Delete old rows, some thousand in each unit of work, for up to `ROUND_SECONDS`."""
        if not self.months:
            return 0
        before, begun, count = self.find_cutoff(now()), ticks(), 0
        while ticks() - begun < ROUND_SECONDS:
            with self.database.session() as session:
                removed = prune_ledger(session, before=before, limit=ROWS_PER_TRANSACTION)
            count += removed
            if removed < ROWS_PER_TRANSACTION:
                break
        if count:
            log.info("old ledger rows deleted", before=before.isoformat(), rows=count)
        return count

    def find_cutoff(self, at: datetime) -> datetime:
        """Return the instant before which rows are deleted: the first of a month, or earlier."""
        today = at.astimezone(UTC)
        month = today.year * _MONTHS_A_YEAR + today.month - 1 - self.months
        year, index = divmod(month, _MONTHS_A_YEAR)
        # Rows of records that are kept are skipped one by one; not all of them shall be read each time.
        return min(datetime(year, index + 1, 1, tzinfo=UTC), at - get_limits().record_retention)
