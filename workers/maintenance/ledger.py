"""The maintenance tasks that delete old rows of the usage ledger and of the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from shared.auth import audit
from shared.clock import now
from shared.db.session import Database
from shared.settings import get_limits
from shared.telemetry.log import get_logger
from shared.usage.repository import prune_ledger
from workers.maintenance.runner import repeat_while_full

ROWS_PER_TRANSACTION: Final = 2_000  # takes SQLite, which has one writer, a tenth of a second
_MONTHS_A_YEAR: Final = 12

log: Final = get_logger(__name__)


def prune_audit_log(database: Database, days: int) -> int:
    """Delete entries of the audit log after a number of days, none if it is 0; return how many."""
    if not days:
        return 0
    before = now() - timedelta(days=days)

    def prune() -> int:
        with database.session() as session:
            return audit.delete_old_entries(session, before=before, limit=ROWS_PER_TRANSACTION)

    return repeat_while_full(prune, limit=ROWS_PER_TRANSACTION)


@dataclass(frozen=True, slots=True)
class PruneLedger:
    """Deletes rows of the ledger after a number of whole months, none if it is 0.

    The totals by billing period and by day are kept.
    """

    database: Database
    months: int

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        if not self.months:
            return 0
        before = self.find_cutoff(now())

        def prune() -> int:
            with self.database.session() as session:
                return prune_ledger(session, before=before, limit=ROWS_PER_TRANSACTION)

        count = repeat_while_full(prune, limit=ROWS_PER_TRANSACTION)
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
