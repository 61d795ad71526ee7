"""The round-robin rotation of accounts with unfinished batches or accepted renders, ordered by when a
slice of theirs was queued last.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, ScalarSelect, delete, or_, select, true, union

from shared.batches.slice_scheduling import NEVER
from shared.db.session import Session
from shared.db.tables import IS_ACCEPTED, IS_UNFINISHED, IS_WAITING, batch_turns, batches, jobs
from shared.db.upsert import upsert_row


def _find_waiting(condition: ColumnElement[bool]) -> ScalarSelect[Any]:
    of_account = jobs.c.account_id
    found = select(of_account).where(IS_WAITING, condition).order_by(of_account).limit(1)
    return found.correlate_except(jobs).scalar_subquery()


def _list_waiting() -> CTE:
    """Select the accounts with waiting accepted renders, and NULL, by one index lookup for each account."""
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


def add_to_rotation(session: Session, account_id: str, *, at: datetime) -> None:
    """Add an account to the rotation if it is missing; call it before its work is recorded.

    Locks the row until the unit of work ends, so that `remove_idle_accounts` sees the work.
    """
    row = {"account_id": account_id, "fed_at": NEVER, "created_at": at}
    session.execute(upsert_row(session, batch_turns, row, updated=("account_id",)))


def ensure_in_rotation(session: Session, account_ids: Iterable[str], *, at: datetime) -> None:
    """Add the missing accounts to the rotation; concurrent calls for the same accounts do not block."""
    wanted = frozenset(account_ids)
    of_these = select(batch_turns.c.account_id).where(batch_turns.c.account_id.in_(wanted))
    # FOR KEY SHARE does not conflict with the lock of `claim_slices`: neither waits for the other.
    there = session.scalars(of_these.with_for_update(read=True, key_share=True)).all()
    for account_id in sorted(wanted.difference(there)):  # in a fixed order, to avoid deadlocks
        add_to_rotation(session, account_id, at=at)


def needs_rotation_repair(session: Session) -> bool:
    """Return whether `add_missing_accounts` or `remove_idle_accounts` has something to do."""
    is_wrong = or_(_MISSING.exists(), _IDLE.exists())
    return bool(session.scalar(select(is_wrong)))


def add_missing_accounts(session: Session) -> int:
    """Add accounts whose work was accepted by a process of an earlier release; return how many."""
    missing = sorted(session.scalars(_MISSING))
    for account_id in missing:
        add_to_rotation(session, account_id, at=NEVER)
    return len(missing)


def remove_idle_accounts(session: Session, *, limit: int) -> int:
    """Remove accounts without work from the rotation; return how many."""
    idle = session.scalars(_IDLE.limit(limit).with_for_update(skip_locked=True)).all()
    if not idle:
        return 0
    # Checked again now that the rows are locked: work may have been recorded meanwhile.
    gone = delete(batch_turns).where(batch_turns.c.account_id.in_(idle), ~_HAS_WORK)
    return session.execute(gone).rowcount
