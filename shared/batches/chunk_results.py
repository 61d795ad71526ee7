"""The chunks of batches: their state, and the results of their slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, and_, insert, select, update

from shared.batches.records import (
    Batch,
    BatchStatus,
    Chunk,
    ChunkStatus,
    DocumentResult,
    ItemStatus,
    Slice,
)
from shared.batches.repository import find_batch
from shared.db.session import Session
from shared.db.tables import batch_chunks, batch_items, batch_parts, batches
from shared.errors import write_error_body


@dataclass(frozen=True, slots=True)
class StoredPart:
    """The blob of a slice's PDFs; `blob_key` is None if no document succeeded."""

    blob_key: str | None
    bytes: int


def start_slice(session: Session, requested: Slice, *, at: datetime) -> tuple[Batch, Chunk] | None:
    """Mark a chunk as running and return it; None if the requested slice is already done or cancelled."""
    row = session.execute(
        select(batch_chunks).where(_is(requested.batch_id, requested.number))
    ).mappings()
    chunk = next((Chunk.of_row(found) for found in row), None)
    batch = find_batch(session, requested.batch_id)
    if chunk is None or batch is None or chunk.done != requested.done:
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
    """Mark the rest of a chunk as cancelled."""
    _set_status(session, chunk, ChunkStatus.CANCELLED)


def commit_slice(
    session: Session,
    chunk: Chunk,
    ended: Sequence[DocumentResult],
    part: StoredPart,
    *,
    done_bytes: int,
    at: datetime,
) -> bool:
    """Record the results of the next documents of a chunk. Return False, and record nothing, if another
    run of the same slice has committed first.

    `done_bytes` is the number of the chunk's bytes that are processed then.
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


def _is(batch_id: str, number: int) -> ColumnElement[bool]:
    return and_(batch_chunks.c.batch_id == batch_id, batch_chunks.c.number == number)


def _set_status(session: Session, chunk: Chunk, status: ChunkStatus) -> None:
    session.execute(
        update(batch_chunks)
        .where(_is(chunk.batch_id, chunk.number), batch_chunks.c.done == chunk.done)
        .values(status=status)
    )


def _item_row(chunk: Chunk, ended: DocumentResult, at: datetime) -> dict[str, Any]:
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
        "values": ended.values,
        "held": ended.held,
    }
