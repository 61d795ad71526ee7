"""The chunks of batches: which one is next, who is at it, and what its slices gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    ScalarSelect,
    Select,
    and_,
    func,
    insert,
    select,
    true,
    update,
)

from shared.batches.records import Batch, BatchStatus, Chunk, ChunkStatus, Ended, ItemStatus, Slice
from shared.db.batches import find_batch
from shared.db.session import Session
from shared.db.slots import lives_in
from shared.db.tables import (
    IS_IN_FLIGHT,
    IS_OPEN,
    IS_UNFINISHED,
    batch_chunks,
    batch_items,
    batch_parts,
    batch_turns,
    batches,
)
from shared.problems import write_error_body

_IN_QUEUE: Final = and_(IS_IN_FLIGHT, batch_chunks.c.status == ChunkStatus.QUEUED)
_WAITS: Final = and_(
    batch_chunks.c.status == ChunkStatus.QUEUED, batch_chunks.c.queued_at.is_(None)
)


@dataclass(frozen=True, slots=True)
class StoredPart:
    """What a slice stored: nothing where no document of it succeeded."""

    blob_key: str | None
    bytes: int


def needs_feeding(session: Session, *, window: int, slots: frozenset[str] | None = None) -> bool:
    """Tell whether fewer slices than these wait in the queue while there are more to be had.

    `slots` say whose queue: that of the accounts which fall to them, of all without.
    """
    if _count_in_queue(session, slots) >= window:
        return False
    return session.execute(_next(slots)).first() is not None


def claim_slices(
    session: Session, *, window: int, at: datetime, slots: frozenset[str] | None = None
) -> list[Slice]:
    """Choose slices for the queue of some accounts until these many wait in it.

    The account that was fed longest ago is next, and of its batches the one fed longest ago: a
    batch delays another by no more than the window, whatever their sizes.
    """
    room = window - _count_in_queue(session, slots)
    claimed: list[Slice] = []
    # A claim may be lost to another process at the same moment; then there is one try less.
    for turn in range(max(room, 0)):
        found = session.execute(_next_free(slots)).first()
        if found is None:
            break
        account_id, batch_id = found
        # Apart by a microsecond, or the turns of one call would not tell who was last.
        fed_at = at + timedelta(microseconds=turn)
        is_its_turn = batch_turns.c.account_id == account_id
        session.execute(update(batch_turns).where(is_its_turn).values(fed_at=fed_at))
        session.execute(update(batches).where(batches.c.id == batch_id).values(fed_at=fed_at))
        claimed += _claim(session, batch_id, at)
    return claimed


def start_slice(session: Session, asked: Slice, *, at: datetime) -> tuple[Batch, Chunk] | None:
    """Note that a worker is at a chunk; None when there is nothing to do for what was asked."""
    row = session.execute(select(batch_chunks).where(_is(asked.batch_id, asked.number))).mappings()
    chunk = next((_read(found) for found in row), None)
    batch = find_batch(session, asked.batch_id)
    if chunk is None or batch is None or chunk.done != asked.done:
        return None
    if chunk.status in (ChunkStatus.DONE, ChunkStatus.CANCELLED):
        return None
    if batch.status.is_final:
        cancel_chunk(session, chunk)
        return None
    _set_status(session, chunk, ChunkStatus.RUNNING)
    if batch.status is BatchStatus.QUEUED:
        session.execute(
            update(batches)
            .where(batches.c.id == batch.id, batches.c.status == BatchStatus.QUEUED)
            .values(status=BatchStatus.RUNNING, started_at=at)
        )
    return batch, replace(chunk, status=ChunkStatus.RUNNING)


def cancel_chunk(session: Session, chunk: Chunk) -> None:
    """Note that the rest of a chunk is not rendered any more."""
    _set_status(session, chunk, ChunkStatus.CANCELLED)


def commit_slice(
    session: Session,
    chunk: Chunk,
    ended: Sequence[Ended],
    part: StoredPart,
    *,
    done_bytes: int,
    at: datetime,
) -> bool:
    """Record how the next documents of a chunk ended; all of it, or nothing and False when another
    run of the same slice was first.

    `done_bytes` is how much of the chunk's bytes is behind it now.
    """
    done = chunk.done + len(ended)
    succeeded = sum(each.error is None for each in ended)
    columns = batch_chunks.c
    moved = session.execute(
        update(batch_chunks)
        .where(_is(chunk.batch_id, chunk.number), columns.done == chunk.done)
        .values(
            done=done,
            done_bytes=done_bytes,
            status=ChunkStatus.DONE if done >= chunk.count else ChunkStatus.QUEUED,
            queued_at=None,
            succeeded=columns.succeeded + succeeded,
            failed=columns.failed + len(ended) - succeeded,
            pages=columns.pages + sum(each.pages for each in ended),
        )
        .returning(columns.number)
    ).first()
    if moved is None:
        return False
    session.execute(
        insert(batch_parts).values(
            batch_id=chunk.batch_id,
            first_index=chunk.next_index,
            count=len(ended),
            blob_key=part.blob_key,
            bytes=part.bytes,
            created_at=at,
        )
    )
    session.execute(insert(batch_items), [_item_row(chunk, each, at) for each in ended])
    return True


def list_in_flight(
    session: Session, *, limit: int, slots: frozenset[str] | None = None
) -> list[tuple[Slice, ChunkStatus]]:
    """Give the slices of some accounts that stand in the queue or in a worker's hands."""
    columns = batch_chunks.c
    query = (
        select(columns.batch_id, columns.number, columns.done, columns.status)
        .where(IS_IN_FLIGHT, _is_of(slots))
        .order_by(columns.queued_at)
        .limit(limit)
    )
    return [
        (Slice(batch_id, number, done), ChunkStatus(status))
        for batch_id, number, done, status in session.execute(query)
    ]


def _claim(session: Session, batch_id: str, at: datetime) -> list[Slice]:
    columns = batch_chunks.c
    next_number = (
        select(func.min(columns.number)).where(columns.batch_id == batch_id, _WAITS)
    ).scalar_subquery()
    found = session.execute(
        update(batch_chunks)
        .where(columns.batch_id == batch_id, columns.number == next_number, _WAITS)
        .values(queued_at=at)
        .returning(columns.number, columns.done)
    )
    return [Slice(batch_id, number, done) for number, done in found]


def _count_in_queue(session: Session, slots: frozenset[str] | None) -> int:
    return int(session.scalar(_in_queue(slots)) or 0)


# Asked for with every slice; to make a statement takes SQLAlchemy longer than to run it.
@lru_cache(maxsize=8)
def _in_queue(slots: frozenset[str] | None) -> Select[int]:
    return select(func.count()).select_from(batch_chunks).where(_IN_QUEUE, _is_of(slots))


def _is_of(slots: frozenset[str] | None) -> ColumnElement[bool]:
    if slots is None:
        return true()
    batch = select(batches.c.id).where(
        batches.c.id == batch_chunks.c.batch_id, lives_in(batches.c.account_id, slots)
    )
    return batch.exists()


@lru_cache(maxsize=8)
def _next(slots: frozenset[str] | None) -> Select[str, str]:
    """Select the account whose turn it is and its next batch.

    The accounts are read in the order of an index, and of each the batches in that of another, up to
    the first with a chunk that waits: in two parts, since the two databases sort NULL differently.
    Passed over are only batches whose chunks are all at work.
    """
    columns = batch_turns.c
    batch_id = func.coalesce(
        _first(batches.c.fed_at.is_(None)), _first(batches.c.fed_at.is_not(None))
    )
    return (
        select(columns.account_id, batch_id.label("batch_id"))
        .where(batch_id.is_not(None), lives_in(columns.account_id, slots))
        .order_by(columns.fed_at, columns.created_at)
        .limit(1)
    )


@lru_cache(maxsize=8)
def _next_free(slots: frozenset[str] | None) -> Select[str, str]:
    """Select and lock the next account that nobody else claims for at this moment.

    Who claims locks one account after the other, in an order that changes: if it waited for another
    claimer, that one could wait for it.
    """
    return _next(slots).with_for_update(of=batch_turns, skip_locked=True)


def _first(fed: ColumnElement[bool]) -> ScalarSelect[str]:
    has_more = (
        select(batch_chunks.c.number)
        .where(batch_chunks.c.batch_id == batches.c.id, IS_OPEN, _WAITS)
        .exists()
    )
    return (
        select(batches.c.id)
        .where(batches.c.account_id == batch_turns.c.account_id, IS_UNFINISHED, fed, has_more)
        .order_by(batches.c.fed_at, batches.c.created_at)
        .limit(1)
        .correlate(batch_turns)
        .scalar_subquery()
    )


def _is(batch_id: str, number: int) -> ColumnElement[bool]:
    return and_(batch_chunks.c.batch_id == batch_id, batch_chunks.c.number == number)


def _set_status(session: Session, chunk: Chunk, status: ChunkStatus) -> None:
    session.execute(
        update(batch_chunks)
        .where(_is(chunk.batch_id, chunk.number), batch_chunks.c.done == chunk.done)
        .values(status=status)
    )


def _read(row: RowMapping) -> Chunk:
    return Chunk(
        batch_id=row["batch_id"],
        number=row["number"],
        first_index=row["first_index"],
        count=row["count"],
        body_offset=row["body_offset"],
        body_length=row["body_length"],
        done=row["done"],
        done_bytes=row["done_bytes"],
        status=ChunkStatus(row["status"]),
    )


def _item_row(chunk: Chunk, ended: Ended, at: datetime) -> dict[str, Any]:
    place = ended.place
    return {
        "batch_id": chunk.batch_id,
        "index": ended.index,
        "status": ItemStatus.FAILED if ended.error else ItemStatus.SUCCEEDED,
        "pages": None if ended.error else ended.pages,
        "error": write_error_body(ended.error, at=at) if ended.error else None,
        "filename": ended.filename,
        "part_first_index": chunk.next_index,
        "offset": place.offset if place else None,
        "length": place.length if place else None,
        "crc32": place.crc32 if place else None,
        "warnings": list(ended.warnings) or None,
    }
