"""Parts of queries: the newest rows of an account, the accounts of a shard, and inserts whose SQL differs between databases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Insert, Select, Table, func, select, true, tuple_, union_all
from sqlalchemy.dialects import sqlite

from shared.db.session import Session
from shared.db.tables import accounts
from shared.errors import ServiceError
from shared.settings import get_limits
from shared.shards import SLOT_LENGTH


def select_newest(
    table: Table, account_id: str, *, statuses: Iterable[str], limit: int, start_after: str | None
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


def find_retention(
    session: Session, account_id: str, hours: int | None = None, days: int | None = None
) -> tuple[timedelta, timedelta]:
    """Return how long results and records of an account are kept: its own times, or those of the settings.

    `hours` of results and `days` of records, which the plan of a run has, come before them, up to those of the
    settings; but an account that keeps no results keeps none of its runs either.
    """
    limits = get_limits()
    query = select(accounts.c.result_hours, accounts.c.record_days).where(
        accounts.c.id == account_id
    )
    row = session.execute(query).first()
    own_hours, own_days = (None, None) if row is None else row
    if hours is None or own_hours == 0:
        # With 0 they are deleted once they are fetched, which has to be possible.
        hours = limits.result_hours if own_hours is None else max(own_hours, 1)
    if days is None:
        days = limits.record_days if own_days is None else own_days
    return (
        timedelta(hours=min(hours, limits.result_hours)),
        timedelta(days=min(days, limits.record_days)),
    )


def keeps_no_results(session: Session, account_id: str) -> bool:
    """Return whether the result of a job is deleted once it is fetched."""
    query = select(accounts.c.result_hours).where(accounts.c.id == account_id, ~accounts.c.is_held)
    return session.scalar(query) == 0


def is_not_held(account_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Build the condition that an account has no legal hold, under which its work stays on record."""
    return account_id.not_in(select(accounts.c.id).where(accounts.c.is_held))


def check_not_held(session: Session, account_id: str) -> None:
    """Check that work of an account may be deleted.

    Raises:
        ServiceError: 409, it has a legal hold.
    """
    if session.scalar(select(accounts.c.is_held).where(accounts.c.id == account_id)):
        raise ServiceError(
            409, "The account has a legal hold: nothing on record is deleted until it ends."
        )


def lock_account(session: Session, account_id: str) -> None:
    """Lock an account's row, so that concurrent units of work for an account run one after another."""
    session.execute(select(accounts.c.id).where(accounts.c.id == account_id).with_for_update())


def insert_or_ignore(session: Session, table: Table, row: Mapping[str, Any]) -> Insert:
    """Build an insert that does nothing if the key exists; `returning` reports whether it inserted."""
    return insert_ignoring_conflicts(session, table).values(row)


def insert_ignoring_conflicts(session: Session, table: Table) -> Insert:
    """Build an insert of rows, passed at execution, that skips existing keys."""
    if session.dialect.name == "postgresql":
        # Late, here and below: not needed on SQLite.
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def upsert_row(
    session: Session, table: Table, row: Mapping[str, Any], *, updated: tuple[str, ...]
) -> Insert:
    """Build an insert that updates some columns, and so locks the row, if the key exists."""
    key = list(table.primary_key)
    if session.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        given = postgresql.insert(table).values(row)
        return given.on_conflict_do_update(
            index_elements=key, set_={name: given.excluded[name] for name in updated}
        )
    sent = sqlite.insert(table).values(row)
    return sent.on_conflict_do_update(
        index_elements=key, set_={name: sent.excluded[name] for name in updated}
    )
