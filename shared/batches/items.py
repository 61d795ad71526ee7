"""The documents of batches as clients see them, ended or not, and the parts that hold their PDFs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sqlalchemy import RowMapping, and_, select

from shared.batches.records import (
    Batch,
    BatchItem,
    BatchStatus,
    Chunk,
    ChunkStatus,
    ItemStatus,
    PdfLocation,
)
from shared.db.session import Session
from shared.db.tables import batch_chunks, batch_items, batch_parts

_WITH_ROW: Final = (ItemStatus.SUCCEEDED, ItemStatus.FAILED)


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The result of one slice: `count` documents from `first_index` on, and the blob of their PDFs."""

    first_index: int
    count: int
    blob_key: str | None
    bytes: int


def list_items(
    session: Session, batch: Batch, *, after: int, limit: int, status: ItemStatus | None
) -> tuple[list[BatchItem], bool]:
    """Return documents in input order, starting after index `after`, and whether more follow."""
    if status in _WITH_ROW:
        found = _read_ended(session, batch, after=after, limit=limit + 1, status=status)
    elif status is None:
        found = _list_all(session, batch, after=after, limit=limit + 1)
    else:
        waiting = _list_unended(session, batch, after=after)
        found = list(islice((item for item in waiting if item.status is status), limit + 1))
    return found[:limit], len(found) > limit


def find_item(session: Session, batch: Batch, index: int) -> BatchItem | None:
    """Return one document of a batch, None if the index is out of range."""
    if not 0 <= index < batch.total:
        return None
    [item] = _list_all(session, batch, after=index - 1, limit=1)
    return item


def list_parts(session: Session, batch_id: str, *, after: int, limit: int) -> list[BatchPart]:
    """Return the parts of a batch in order, those starting after index `after`."""
    columns = batch_parts.c
    query = (
        select(columns.first_index, columns["count"], columns.blob_key, columns.bytes)
        .where(columns.batch_id == batch_id, columns.first_index > after)
        .order_by(columns.first_index)
        .limit(limit)
    )
    return [BatchPart(*row) for row in session.execute(query)]


def list_items_of_part(session: Session, batch: Batch, part: BatchPart) -> list[BatchItem]:
    """Return the documents of a part, all of which have ended."""
    return _read_ended(session, batch, after=part.first_index - 1, limit=part.count)


def _list_all(session: Session, batch: Batch, *, after: int, limit: int) -> list[BatchItem]:
    ended = {item.index: item for item in _read_ended(session, batch, after=after, limit=limit)}
    last = min(after + limit, batch.total - 1)
    if len(ended) < last - after:
        for item in _list_unended(session, batch, after=after):
            if item.index > last:
                break
            # A document that has a row may still be after its chunk's cursor: the row takes precedence.
            ended.setdefault(item.index, item)
    return [ended[index] for index in sorted(ended) if index <= last]


def _list_unended(session: Session, batch: Batch, *, after: int) -> Iterator[BatchItem]:
    """Yield the documents that have no row yet."""
    for chunk in _read_chunks(session, batch.id):
        for index in range(max(chunk.next_index, after + 1), chunk.first_index + chunk.count):
            yield BatchItem(index, _status_of(index, chunk, batch))


def _status_of(index: int, chunk: Chunk, batch: Batch) -> ItemStatus:
    if chunk.status is ChunkStatus.RUNNING and index == chunk.next_index:
        return ItemStatus.RUNNING
    is_cancelled = batch.status is BatchStatus.CANCELLED or chunk.status is ChunkStatus.CANCELLED
    return ItemStatus.CANCELLED if is_cancelled else ItemStatus.QUEUED


def _read_chunks(session: Session, batch_id: str) -> Sequence[Chunk]:
    columns = batch_chunks.c
    query = (
        select(columns.number, columns.first_index, columns["count"], columns.done, columns.status)
        .where(columns.batch_id == batch_id, columns.status != ChunkStatus.DONE)
        .order_by(columns.number)
    )
    return [
        Chunk(batch_id, number, first, count, 0, 0, done=done, status=ChunkStatus(status))
        for number, first, count, done, status in session.execute(query)
    ]


def _read_ended(
    session: Session,
    batch: Batch,
    *,
    after: int,
    limit: int,
    status: ItemStatus | None = None,
) -> list[BatchItem]:
    items, parts = batch_items.c, batch_parts.c
    is_part = and_(parts.batch_id == items.batch_id, parts.first_index == items.part_first_index)
    query = (
        select(batch_items, parts.blob_key, parts.created_at.label("ended_at"))
        .select_from(batch_items.outerjoin(batch_parts, is_part))
        .where(items.batch_id == batch.id, items["index"] > after)
        .order_by(items["index"])
        .limit(limit)
    )
    if status is None:
        query = query.where(items["index"] <= after + limit)
    else:
        query = query.where(items.status == status)
    return [_read_item(row) for row in session.execute(query).mappings()]


def _read_item(row: RowMapping) -> BatchItem:
    has_pdf = row["offset"] is not None
    return BatchItem.of_row(
        row,
        finished_at=row["ended_at"],
        part_key=row["blob_key"],
        place=PdfLocation(row["offset"], row["length"], row["crc32"]) if has_pdf else None,
    )
