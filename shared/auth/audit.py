"""The audit log: who changed what, appended in the transaction of the change.

The entries of an account are a chain: the hash of each covers the one before, so that an entry that was
changed, added or removed later is noticed, except at the end of the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import delete, insert, select, text

from shared.clock import now, timestamp
from shared.db.session import Session
from shared.db.tables import audit_log
from shared.records import SHA256, ShownRecord, Timestamp, doc

FARM: Final = ""  # in place of an account: what concerns the whole farm
OPERATOR: Final = "operator"  # who uses the command line
_FIRST: Final = "0" * 64
_MAX_SUBJECT: Final = 255
_AT_ONCE: Final = 1000
_COLUMNS: Final = audit_log.c


class AuditEntry(ShownRecord, frozen=True):
    """One change: when, by which key, what, and to which object."""

    number: Annotated[int, doc("Its place in the log of the account, from 1.")]
    at: Annotated[Timestamp, doc("When it was made.")]
    actor: Annotated[str, doc("Id of the key; operator, or operator:… for one of /v2/admin.")]
    action: Annotated[str, doc("What was done.", examples=["version.published"])]
    subject: Annotated[str, doc("The object: an id, or a name.")]
    details: Annotated[dict[str, Any], doc("Further facts, by name.")]
    hash: Annotated[str, doc("SHA-256 of this entry and of the hash before it.", **SHA256)]


def record(
    session: Session,
    account_id: str,
    actor: str,
    action: str,
    subject: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Append an entry to the log of an account, or of the farm; call it last in a transaction.

    Entries of one account are appended one after another: until the transaction ends others wait.
    """
    if session.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(hashtext(:chain))")
        session.execute(lock, {"chain": f"audit {account_id}"})
    last = session.execute(
        select(_COLUMNS.number, _COLUMNS.hash)
        .where(_COLUMNS.account_id == account_id)
        .order_by(_COLUMNS.number.desc())
        .limit(1)
    ).first()
    number, previous = (last.number + 1, last.hash) if last else (1, _FIRST)
    at = now()
    values = {
        "account_id": account_id,
        "number": number,
        "at": at.replace(microsecond=at.microsecond // 1000 * 1000),  # as it is shown and hashed
        "actor": actor,
        "action": action,
        "subject": subject[:_MAX_SUBJECT],
        "details": dict(details or {}),
    }
    session.execute(insert(audit_log).values(**values, hash=_hash(values, previous)))


def list_entries(
    session: Session, account_id: str, *, before: int | None = None, limit: int
) -> tuple[Sequence[AuditEntry], bool]:
    """Return entries of an account, newest first, those before a number; and whether there are more."""
    query = select(audit_log).where(_COLUMNS.account_id == account_id)
    if before is not None:
        query = query.where(_COLUMNS.number < before)
    rows = session.execute(query.order_by(_COLUMNS.number.desc()).limit(limit + 1)).mappings().all()
    return [AuditEntry.of_row(row) for row in rows[:limit]], len(rows) > limit


def read_all(session: Session) -> Iterator[dict[str, Any]]:
    """Yield all entries, chain by chain, as JSON with the id of the account."""
    query = select(audit_log).order_by(_COLUMNS.account_id, _COLUMNS.number)
    for row in session.execute(query.execution_options(yield_per=_AT_ONCE)).mappings():
        yield {**row, "at": timestamp(row["at"])}


def find_breaks(entries: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """Yield where the chains are broken, of entries as `read_all` yields them.

    The first entry of a chain whose predecessors have been deleted, as they were old, cannot be verified.
    """
    for account_id, chain in groupby(entries, key=lambda entry: entry["account_id"]):
        expected, previous = 1, _FIRST
        for at, entry in enumerate(chain):
            where = f"{account_id or 'farm'}, entry {entry['number']}"
            is_first_kept = at == 0 and entry["number"] > 1
            if entry["number"] != expected and not is_first_kept:
                yield f"{where}: entries {expected} to {entry['number'] - 1} are missing"
            elif not is_first_kept and entry["hash"] != _hash(entry, previous):
                yield f"{where}: it or the entry before was changed"
            expected, previous = entry["number"] + 1, entry["hash"]


def delete_old_entries(session: Session, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` entries from before an instant; return how many.

    The last entry of each chain stays, so that the chain goes on.
    """
    later = audit_log.alias()
    goes_on = (
        select(later.c.number)
        .where(later.c.account_id == _COLUMNS.account_id, later.c.number > _COLUMNS.number)
        .exists()
    )
    old = session.execute(
        select(_COLUMNS.account_id, _COLUMNS.number)
        .where(_COLUMNS.at < before, goes_on)
        .order_by(_COLUMNS.at)
        .limit(limit)
    ).all()
    for row in old:
        session.execute(
            delete(audit_log).where(
                _COLUMNS.account_id == row.account_id, _COLUMNS.number == row.number
            )
        )
    return len(old)


def _hash(entry: Mapping[str, Any], previous: str) -> str:
    at = entry["at"]
    shown = at if isinstance(at, str) else timestamp(at)
    names = ("account_id", "number", "actor", "action", "subject", "details")
    covered = {name: entry[name] for name in names} | {"at": shown, "previous": previous}
    return sha256(msgspec.json.encode(covered, order="deterministic")).hexdigest()
