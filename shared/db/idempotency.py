"""Idempotency keys: which job or batch the first call with a key made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, select, update

from shared.db.session import Session
from shared.db.tables import idempotency_keys
from shared.db.upsert import insert_or_ignore

KEY_KEPT: Final = timedelta(hours=24)  # contract.md 6
# A call that still receives its body holds its key so long after it last said so.
LEASE: Final = timedelta(seconds=30)

_COLUMNS: Final = idempotency_keys.c


class Call(StrEnum):
    """The calls that take a key; the same key with another call is another key."""

    PDF = "pdf"
    BATCHES = "batches"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key, in its account and for its call."""

    account_id: str
    call: Call
    key: str


@dataclass(frozen=True, slots=True)
class FirstCall:
    """What is known of the first call with a key; `fingerprint` is None while it is received."""

    fingerprint: str | None
    job_id: str | None
    batch_id: str | None


def find_first_call(session: Session, key: IdempotencyKey, *, at: datetime) -> FirstCall | None:
    """Give the call that a key stands for now, None when it is free."""
    row = session.execute(select(idempotency_keys).where(_is(key))).mappings().first()
    if row is None or row["expires_at"] <= at:
        return None
    if row["fingerprint"] is None and row["leased_until"] <= at:
        return None  # its process ended before it was received
    return FirstCall(row["fingerprint"], row["job_id"], row["batch_id"])


def take_key(
    session: Session, key: IdempotencyKey, *, fingerprint: str, job_id: str, at: datetime
) -> FirstCall | None:
    """Let the key stand for a job; gives the call it stands for already, and changes nothing then.

    Call it in the unit of work that puts the job on record.
    """
    return _insert(session, key, at, fingerprint=fingerprint, job_id=job_id)


def hold_key(
    session: Session, key: IdempotencyKey, *, holder: str, at: datetime
) -> FirstCall | None:
    """Hold the key for a call that is still received; gives the call it stands for already.

    Held again by the same holder, it is held for longer.
    """
    held = update(idempotency_keys).where(_is(key), _COLUMNS.holder == holder)
    if session.execute(held.values(leased_until=at + LEASE)).rowcount:
        return None
    return _insert(session, key, at, holder=holder, leased_until=at + LEASE)


def keep_key(
    session: Session, key: IdempotencyKey, *, holder: str, fingerprint: str, batch_id: str
) -> bool:
    """Let a held key stand for a batch; False when its holder has lost it meanwhile."""
    held = update(idempotency_keys).where(_is(key), _COLUMNS.holder == holder)
    kept = held.values(fingerprint=fingerprint, batch_id=batch_id, holder=None, leased_until=None)
    return bool(session.execute(kept).rowcount)


def free_key(
    session: Session,
    key: IdempotencyKey,
    *,
    holder: str | None = None,
    job_id: str | None = None,
) -> None:
    """Free a key that its holder gives back, or whose job gave no answer worth keeping."""
    owned = _COLUMNS.holder == holder if holder is not None else _COLUMNS.job_id == job_id
    session.execute(delete(idempotency_keys).where(_is(key), owned))


def remove_expired_keys(session: Session, *, at: datetime, limit: int) -> int:
    """Remove keys past their time and give how many."""
    keys = (_COLUMNS.account_id, _COLUMNS.call, _COLUMNS.key)
    due = select(*keys).where(_COLUMNS.expires_at <= at).order_by(_COLUMNS.expires_at).limit(limit)
    found = session.execute(due).all()
    for account_id, call, key in found:
        session.execute(
            delete(idempotency_keys)
            .where(_is(IdempotencyKey(account_id, Call(call), key)))
            .where(_COLUMNS.expires_at <= at)
        )
    return len(found)


def _insert(session: Session, key: IdempotencyKey, at: datetime, **values: Any) -> FirstCall | None:
    row = {
        "account_id": key.account_id,
        "call": key.call.value,
        "key": key.key,
        "created_at": at,
        "expires_at": at + KEY_KEPT,
        **values,
    }
    wanted = insert_or_ignore(session, idempotency_keys, row).returning(_COLUMNS.key)
    if session.execute(wanted).first() is not None:
        return None
    first = find_first_call(session, key, at=at)
    if first is not None:
        return first
    # The row that is there stands for nothing any more. Whoever removes it first takes the key.
    stale = (_COLUMNS.expires_at <= at) | (
        _COLUMNS.fingerprint.is_(None) & (_COLUMNS.leased_until <= at)
    )
    session.execute(delete(idempotency_keys).where(_is(key), stale))
    if session.execute(wanted).first() is not None:
        return None
    return find_first_call(session, key, at=at) or FirstCall(None, None, None)


def _is(key: IdempotencyKey) -> ColumnElement[bool]:
    return and_(
        _COLUMNS.account_id == key.account_id,
        _COLUMNS.call == key.call.value,
        _COLUMNS.key == key.key,
    )
