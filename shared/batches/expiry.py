"""Expiry of batches: first their results are deleted, days later their records."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select, update

from shared.batches.records import Batch
from shared.batches.repository import read_batch
from shared.db.queries import belongs_to_slots
from shared.db.session import Session
from shared.db.tables import batch_chunks, batch_items, batch_parts, batches
from shared.settings import get_limits
from shared.usage.repository import record_events
from shared.usage.unmetered import list_unmetered_of_batch

_ITEMS_AT_ONCE: Final = 10_000


def list_due_batches(
    session: Session, *, at: datetime, limit: int, slots: AbstractSet[str] | None = None
) -> list[Batch]:
    """Return batches of some accounts whose results or records are due for deletion."""
    query = (
        select(batches)
        .where(batches.c.sweep_at <= at, belongs_to_slots(batches.c.account_id, slots))
        .order_by(batches.c.sweep_at)
        .limit(limit)
    )
    return [read_batch(row) for row in session.execute(query).mappings()]


def mark_results_deleted(session: Session, batch: Batch) -> None:
    """Record that the blobs of a batch are deleted, and when its record expires."""
    assert batch.finished_at is not None
    session.execute(
        update(batch_parts).where(batch_parts.c.batch_id == batch.id).values(blob_key=None)
    )
    session.execute(
        update(batches)
        .where(batches.c.id == batch.id)
        .values(
            body_key=None,
            result_key=None,
            sweep_at=batch.finished_at + get_limits().record_retention,
        )
    )


def delete_items(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Delete some thousand items of a batch and return whether there were any. Deleting all items of a
    large batch at once would block every other writer of SQLite.

    Unmetered items are recorded in the ledger first: their usage events may be lost with Redis, and
    without the items that could not be detected.
    """
    items = batch_items.c
    first = session.scalar(select(func.min(items["index"])).where(items.batch_id == batch_id))
    if first is None:
        return False
    before = first + _ITEMS_AT_ONCE
    record_events(session, list_unmetered_of_batch(session, batch_id, before=before), at=at)
    session.execute(delete(batch_items).where(items.batch_id == batch_id, items["index"] < before))
    return True


def delete_batch(session: Session, batch_id: str) -> None:
    """Delete the record of a batch."""
    session.execute(delete(batch_parts).where(batch_parts.c.batch_id == batch_id))
    session.execute(delete(batch_chunks).where(batch_chunks.c.batch_id == batch_id))
    session.execute(delete(batches).where(batches.c.id == batch_id))
