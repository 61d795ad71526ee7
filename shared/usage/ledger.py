"""The rows of the usage ledger: reading them in order of time, and deleting old ones."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, exists, func, literal, select, tuple_

from shared.db.session import Database, Session
from shared.db.tables import Instant, batches, jobs, usage_ledger
from shared.identifiers import ID_LENGTH


class LedgerRow(NamedTuple):
    """One metered job. `period` is the first day of its account's billing period."""

    job_id: str
    account_id: str
    period: str
    allowance: str
    pages: int
    occurred_at: datetime
    recorded_at: datetime


def read_ledger(
    database: Database,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    account_id: str | None = None,
    at_once: int = 5_000,
) -> Iterator[LedgerRow]:
    """Yield the rows of events from `since` to before `until`, ordered by time.

    Reads `at_once` rows in each unit of work, so that no other process waits for it. Rows never change;
    rows recorded meanwhile may be missing.

    Raises:
        Unavailable: the database does not answer.
    """
    last: LedgerRow | None = None
    while True:
        with database.snapshot() as session:
            rows = _list_rows(session, last, since, until, account_id, at_once)
        yield from rows
        if len(rows) < at_once:
            return
        last = rows[-1]


def prune_ledger(session: Session, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` rows of events before an instant and return how many.

    A row is kept while its job or its batch is on record, whatever their age: without it the usage would
    be recorded again. So is one recorded since then, whose event may still be delivered again. The totals
    of billing periods are kept.
    """
    columns = usage_ledger.c
    # As `item_job_id` makes it; the id of no batch if the row is that of a job.
    batch_id = literal("batch_") + func.substr(columns.job_id, len("job_") + 1, ID_LENGTH)
    old = (
        select(columns.job_id)
        .where(
            columns.occurred_at < before,
            columns.recorded_at < before,
            ~exists().where(jobs.c.id == columns.job_id),
            ~exists().where(batches.c.id == batch_id),
        )
        .order_by(columns.occurred_at, columns.job_id)
        .limit(limit)
    )
    return session.execute(delete(usage_ledger).where(columns.job_id.in_(old))).rowcount


def _list_rows(
    session: Session,
    last: LedgerRow | None,
    since: datetime | None,
    until: datetime | None,
    account_id: str | None,
    limit: int,
) -> list[LedgerRow]:
    columns = usage_ledger.c
    read = [columns[name] for name in LedgerRow._fields]
    query = select(*read).order_by(columns.occurred_at, columns.job_id).limit(limit)
    if account_id is not None:
        query = query.where(columns.account_id == account_id)
    if until is not None:
        query = query.where(columns.occurred_at < until)
    if last is not None:
        seen = tuple_(literal(last.occurred_at, Instant), literal(last.job_id))
        query = query.where(tuple_(columns.occurred_at, columns.job_id) > seen)
    elif since is not None:
        query = query.where(columns.occurred_at >= since)
    return [LedgerRow(*row) for row in session.execute(query)]
