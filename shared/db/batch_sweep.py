"""Forgetting batches: first what they gave, days later the record."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select, update

from shared.batches.records import Batch
from shared.db.batches import RECORD_KEPT, read_batch
from shared.db.session import Session
from shared.db.slots import lives_in
from shared.db.tables import batch_chunks, batch_items, batch_parts, batches
from shared.db.unmetered import list_unmetered_of_batch
from shared.db.usage import record_events

_ITEMS_AT_ONCE: Final = 10_000


def list_due(
    session: Session, *, at: datetime, limit: int, slots: AbstractSet[str] | None = None
) -> list[Batch]:
    """Give batches of some accounts of which something is to be forgotten now."""
    query = (
        select(batches)
        .where(batches.c.sweep_at <= at, lives_in(batches.c.account_id, slots))
        .order_by(batches.c.sweep_at)
        .limit(limit)
    )
    return [read_batch(row) for row in session.execute(query).mappings()]


def forget_results(session: Session, batch: Batch, *, record_kept: timedelta = RECORD_KEPT) -> None:
    """Note that no bytes of a batch are kept any more; its record goes that long after its end."""
    assert batch.finished_at is not None
    session.execute(
        update(batch_parts).where(batch_parts.c.batch_id == batch.id).values(blob_key=None)
    )
    session.execute(
        update(batches)
        .where(batches.c.id == batch.id)
        .values(body_key=None, result_key=None, sweep_at=batch.finished_at + record_kept)
    )


def remove_some_items(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Remove some thousand items of a batch and tell whether there were any: all of a large one's
    would hold up every other writer of SQLite.

    What they count is in the ledger from then on: their usage events could be lost with Redis, and
    without the items nobody would know of it.
    """
    items = batch_items.c
    first = session.scalar(select(func.min(items["index"])).where(items.batch_id == batch_id))
    if first is None:
        return False
    before = first + _ITEMS_AT_ONCE
    record_events(session, list_unmetered_of_batch(session, batch_id, before=before), at=at)
    session.execute(delete(batch_items).where(items.batch_id == batch_id, items["index"] < before))
    return True


def remove_batch(session: Session, batch_id: str) -> None:
    """Take a batch off the record."""
    session.execute(delete(batch_parts).where(batch_parts.c.batch_id == batch_id))
    session.execute(delete(batch_chunks).where(batch_chunks.c.batch_id == batch_id))
    session.execute(delete(batches).where(batches.c.id == batch_id))
