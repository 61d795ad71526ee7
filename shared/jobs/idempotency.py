"""Idempotency keys: the job or batch that the first call with a key created."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, select, update

from shared.db.queries import insert_or_ignore
from shared.db.session import Session
from shared.db.tables import idempotency_keys

KEY_RETENTION: Final = timedelta(hours=24)
# A call that is still receiving its body renews its lease within this time.
LEASE: Final = timedelta(seconds=30)

_COLUMNS: Final = idempotency_keys.c


class Call(StrEnum):
    """The calls that accept a key; keys of different calls are independent."""

    PDF = "pdf"
    BATCHES = "batches"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key, unique within its account and call."""

    account_id: str
    call: Call
    key: str


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The first call with a key; `fingerprint` is None until its body is received."""

    fingerprint: str | None
    job_id: str | None
    batch_id: str | None


def find_first_call(session: Session, key: IdempotencyKey, *, at: datetime) -> FirstCall | None:
    """Return the first call with a key, None if the key is unused."""
    row = session.execute(select(idempotency_keys).where(_is(key))).mappings().first()
    if row is None or row["expires_at"] <= at:
        return None
    if row["fingerprint"] is None and row["leased_until"] <= at:
        return None  # its process ended while receiving the body
    return FirstCall(row["fingerprint"], row["job_id"], row["batch_id"])


def bind_key_to_job(
    session: Session, key: IdempotencyKey, *, fingerprint: str, job_id: str, at: datetime
) -> FirstCall | None:
    """Bind a key to a job; if the key is in use, change nothing and return its first call.

    Call it in the unit of work that inserts the job.
    """
    return _insert(session, key, at, fingerprint=fingerprint, job_id=job_id)


def lease_key(
    session: Session, key: IdempotencyKey, *, holder: str, at: datetime
) -> FirstCall | None:
    """Lease a key while its call is being received, or renew the lease of the same holder.

    If the key is in use, return its first call.
    """
    held = update(idempotency_keys).where(_is(key), _COLUMNS.holder == holder)
    if session.execute(held.values(leased_until=at + LEASE)).rowcount:
        return None
    return _insert(session, key, at, holder=holder, leased_until=at + LEASE)


def bind_key_to_batch(
    session: Session, key: IdempotencyKey, *, holder: str, fingerprint: str, batch_id: str
) -> bool:
    """Bind a leased key to a batch; return False if the holder has lost the lease."""
    held = update(idempotency_keys).where(_is(key), _COLUMNS.holder == holder)
    kept = held.values(fingerprint=fingerprint, batch_id=batch_id, holder=None, leased_until=None)
    return bool(session.execute(kept).rowcount)


def release_key(
    session: Session, key: IdempotencyKey, *, holder: str | None = None, job_id: str | None = None
) -> None:
    """Release a key by its holder, or because its job has no result to return again."""
    owned = _COLUMNS.holder == holder if holder is not None else _COLUMNS.job_id == job_id
    session.execute(delete(idempotency_keys).where(_is(key), owned))


def remove_expired_keys(session: Session, *, at: datetime, limit: int) -> int:
    """Delete expired keys and return how many."""
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
        "expires_at": at + KEY_RETENTION,
        **values,
    }
    wanted = insert_or_ignore(session, idempotency_keys, row).returning(_COLUMNS.key)
    if session.execute(wanted).first() is not None:
        return None
    first = find_first_call(session, key, at=at)
    if first is not None:
        return first
    # The existing row has expired. The process that deletes it first gets the key.
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
