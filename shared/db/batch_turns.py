"""Whose turn it is: the accounts with unfinished batches, by when a slice of theirs was queued last."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import delete, func, or_, select

from shared.db.session import Session
from shared.db.tables import IS_UNFINISHED, batch_turns, batches
from shared.db.upsert import insert_or_renew

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # before all that were fed
_IS_SAME: Final = batch_turns.c.account_id == batches.c.account_id
_HAS_BATCH: Final = (
    select(batches.c.id).where(_IS_SAME, IS_UNFINISHED).correlate(batch_turns).exists()
)
_IDLE: Final = select(batch_turns.c.account_id).where(~_HAS_BATCH)
_HAS_TURN: Final = select(batch_turns.c.account_id).where(_IS_SAME).correlate(batches).exists()
_MISSING: Final = (
    select(batches.c.account_id, func.min(batches.c.created_at))
    .where(IS_UNFINISHED, ~_HAS_TURN)
    .group_by(batches.c.account_id)
)


def add_turn(session: Session, account_id: str, *, at: datetime) -> None:
    """Put an account in line, where it is not yet; call it before its batch is recorded.

    The row is locked until the unit of work ends, so that `remove_idle_turns` sees the batch.
    """
    row = {"account_id": account_id, "fed_at": _NEVER, "created_at": at}
    session.execute(insert_or_renew(session, batch_turns, row, renewed=("account_id",)))


def needs_repair(session: Session) -> bool:
    """Tell whether `add_missing_turns` or `remove_idle_turns` has something to do."""
    is_wrong = or_(_MISSING.exists(), _IDLE.exists())
    return bool(session.scalar(select(is_wrong)))


def add_missing_turns(session: Session) -> int:
    """Put the accounts in line whose batches a process of an earlier release accepted."""
    missing = session.execute(_MISSING).all()
    for account_id, accepted_at in missing:
        add_turn(session, account_id, at=accepted_at)
    return len(missing)


def remove_idle_turns(session: Session, *, limit: int) -> int:
    """Take accounts out of line that have no unfinished batch; return how many."""
    idle = session.scalars(_IDLE.limit(limit).with_for_update(skip_locked=True)).all()
    if not idle:
        return 0
    # Asked again of rows that are locked now: a batch may have been recorded meanwhile.
    gone = delete(batch_turns).where(batch_turns.c.account_id.in_(idle), ~_HAS_BATCH)
    return session.execute(gone).rowcount
