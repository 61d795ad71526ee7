"""The maintenance tasks that delete old rows of the usage ledger and of the audit log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from shared.auth import audit
from shared.clock import now
from shared.db.session import Database
from shared.settings import get_limits
from shared.telemetry.log import get_logger
from shared.usage.repository import prune_ledger
from workers.maintenance.runner import repeat_in_sessions

ROWS_PER_TRANSACTION: Final = 2_000  # takes SQLite, which has one writer, a tenth of a second
_MONTHS_A_YEAR: Final = 12

log: Final = get_logger(__name__)


def prune_audit_log(database: Database, days: int) -> int:
    """Delete entries of the audit log after a number of days, none if it is 0; return how many."""
    if not days:
        return 0
    before = now() - timedelta(days=days)
    return repeat_in_sessions(
        database, audit.delete_old_entries, before=before, limit=ROWS_PER_TRANSACTION
    )


def prune_usage_ledger(database: Database, months: int) -> int:
    """Delete rows of the ledger after a number of whole months, none if it is 0; return how many.

    The totals by billing period and by day are kept.
    """
    if not months:
        return 0
    before = find_cutoff(now(), months)
    count = repeat_in_sessions(database, prune_ledger, before=before, limit=ROWS_PER_TRANSACTION)
    if count:
        log.info("old ledger rows deleted", before=before.isoformat(), rows=count)
    return count


def find_cutoff(at: datetime, months: int) -> datetime:
    """Return the instant before which rows are deleted: the first of a month, or earlier."""
    today = at.astimezone(UTC)
    month = today.year * _MONTHS_A_YEAR + today.month - 1 - months
    year, index = divmod(month, _MONTHS_A_YEAR)
    # Rows of records that are kept are skipped one by one; not all of them shall be read each time.
    return min(datetime(year, index + 1, 1, tzinfo=UTC), at - get_limits().record_retention)
