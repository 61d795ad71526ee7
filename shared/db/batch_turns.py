"""Who stands in line: the accounts with unfinished batches or accepted renders, by when a slice of
theirs was queued last.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, ScalarSelect, delete, or_, select, true, union

from shared.db.feeding import NEVER
from shared.db.session import Session
from shared.db.tables import IS_ACCEPTED, IS_UNFINISHED, IS_WAITING, batch_turns, batches, jobs
from shared.db.upsert import insert_or_renew


def _find_waiting(condition: ColumnElement[bool]) -> ScalarSelect[Any]:
    of_account = jobs.c.account_id
    found = select(of_account).where(IS_WAITING, condition).order_by(of_account).limit(1)
    return found.correlate_except(jobs).scalar_subquery()


def _list_waiting() -> CTE:
    """Select the accounts with accepted renders that wait, and NULL: a look into an index for each."""
    found = select(_find_waiting(true()).label("account_id")).cte("waiting", recursive=True)
    after = found.c.account_id
    return found.union_all(
        select(_find_waiting(jobs.c.account_id > after)).where(after.is_not(None))
    )


_HAS_WORK: Final = or_(
    select(batches.c.id)
    .where(batches.c.account_id == batch_turns.c.account_id, IS_UNFINISHED)
    .correlate(batch_turns)
    .exists(),
    select(jobs.c.id)
    .where(jobs.c.account_id == batch_turns.c.account_id, IS_ACCEPTED)
    .correlate(batch_turns)
    .exists(),
)
_IDLE: Final = select(batch_turns.c.account_id).where(~_HAS_WORK)
_WITH_WORK: Final = union(
    select(batches.c.account_id).where(IS_UNFINISHED), select(_list_waiting().c.account_id)
).subquery()
_MISSING: Final = select(_WITH_WORK.c.account_id).where(
    _WITH_WORK.c.account_id.is_not(None),
    ~select(batch_turns.c.account_id)
    .where(batch_turns.c.account_id == _WITH_WORK.c.account_id)
    .correlate(_WITH_WORK)
    .exists(),
)


def add_turn(session: Session, account_id: str, *, at: datetime) -> None:
    """Put an account in line, where it is not yet; call it before its work is recorded.

    The row is locked until the unit of work ends, so that `remove_idle_turns` sees the work.
    """
    row = {"account_id": account_id, "fed_at": NEVER, "created_at": at}
    session.execute(insert_or_renew(session, batch_turns, row, renewed=("account_id",)))


def keep_turns(session: Session, account_ids: Iterable[str], *, at: datetime) -> None:
    """Do what `add_turn` does for several accounts, beside others who do so for the same."""
    wanted = frozenset(account_ids)
    of_these = select(batch_turns.c.account_id).where(batch_turns.c.account_id.in_(wanted))
    # Shared, and weaker than the lock of whoever feeds: neither waits for the other.
    there = session.scalars(of_these.with_for_update(read=True, key_share=True)).all()
    for account_id in sorted(wanted.difference(there)):  # in one order, so that no two block
        add_turn(session, account_id, at=at)


def needs_repair(session: Session) -> bool:
    """Tell whether `add_missing_turns` or `remove_idle_turns` has something to do."""
    is_wrong = or_(_MISSING.exists(), _IDLE.exists())
    return bool(session.scalar(select(is_wrong)))


def add_missing_turns(session: Session) -> int:
    """Put the accounts in line whose work a process of an earlier release accepted."""
    missing = sorted(session.scalars(_MISSING))
    for account_id in missing:
        add_turn(session, account_id, at=NEVER)
    return len(missing)


def remove_idle_turns(session: Session, *, limit: int) -> int:
    """Take accounts out of line that have no work left; return how many."""
    idle = session.scalars(_IDLE.limit(limit).with_for_update(skip_locked=True)).all()
    if not idle:
        return 0
    # Asked again of rows that are locked now: work may have been recorded meanwhile.
    gone = delete(batch_turns).where(batch_turns.c.account_id.in_(idle), ~_HAS_WORK)
    return session.execute(gone).rowcount
