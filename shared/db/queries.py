"""Parts of queries: the newest rows of an account, and the accounts of a shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, func, select, true, tuple_, union_all

from shared.db.session import Session
from shared.shards import SLOT_LENGTH


def select_newest(
    table: Table,
    account_id: str,
    *,
    statuses: Iterable[str],
    limit: int,
    start_after: str | None,
) -> Select[str]:
    """Select the ids of an account's newest rows with one of the statuses, older than `start_after`.

    Ids sort by time (decision 0318). Each status is a range of the index on account, status and id, read
    from its end: one index serves every filter, and reads at most `limit` entries of each status.
    """
    ranges = [
        _select_range(table, account_id, status=status, limit=limit, start_after=start_after)
        for status in statuses
    ]
    merged = union_all(*ranges).subquery()
    return select(merged.c.id).order_by(merged.c.id.desc()).limit(limit)


def list_newest(
    session: Session,
    table: Table,
    account_id: str,
    *,
    statuses: Iterable[str],
    limit: int,
    start_after: str | None,
) -> Sequence[str]:
    """Return what `select_newest` selects."""
    query = select_newest(
        table, account_id, statuses=statuses, limit=limit, start_after=start_after
    )
    return session.scalars(query).all()


def _select_range(
    table: Table, account_id: str, *, status: str, limit: int, start_after: str | None
) -> Select[str]:
    columns, start = (table.c.account_id, table.c.status), (account_id, status)
    # A row comparison instead of `==`: otherwise PostgreSQL may scan the primary key backwards past the
    # rows of other accounts.
    query = select(table.c.id).where(tuple_(*columns) >= start, tuple_(*columns) <= start)
    if start_after is not None:
        query = query.where(tuple_(*columns, table.c.id) < (*start, start_after))
    if "removed_at" in table.c:
        query = query.where(table.c.removed_at.is_(None))
    ordered = query.order_by(*(column.desc() for column in (*columns, table.c.id)))
    # SQLite accepts ORDER BY and LIMIT inside a union only in a subquery.
    return select(ordered.limit(limit).subquery())


def belongs_to_slots(
    account_id: ColumnElement[Any], slots: AbstractSet[str] | None
) -> ColumnElement[bool]:
    """Return the condition that an account is in one of `slots`; None means every account."""
    if slots is None:
        return true()
    return slot_expression(account_id).in_(sorted(slots))


def slot_expression(account_id: ColumnElement[Any]) -> ColumnElement[str]:
    """Return `shared.shards.slot_of` as an SQL expression."""
    return func.substr(account_id, func.length(account_id) - (SLOT_LENGTH - 1))
