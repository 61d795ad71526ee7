"""The records of batches and of their documents: accepting, listing, cancelling, assembling, finishing and expiring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from msgspec import structs
from sqlalchemy import (
    ColumnElement,
    RowMapping,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from shared.batches.plans import IndexFormat
from shared.batches.records import (
    Batch,
    BatchItem,
    BatchOutput,
    BatchStatus,
    Chunk,
    ChunkStatus,
    DocumentCounts,
    ItemStatus,
    PdfLocation,
    ShownBatch,
)
from shared.batches.slice_scheduling import add_to_rotation
from shared.clock import now
from shared.db.queries import belongs_to_slots, find_retention, is_not_held, select_newest
from shared.db.session import Database, Session
from shared.db.tables import (
    HAS_DECISIONS,
    IS_OPEN,
    Instant,
    batch_chunks,
    batch_files,
    batch_items,
    batch_parts,
    batches,
)
from shared.errors import ErrorBody, write_error_body
from shared.usage.repository import list_unmetered_of_batch, record_events
from shared.webhooks.destinations import FileSource, end_deliveries, enqueue_result
from shared.webhooks.repository import WebhookEvent, WebhookNotification, enqueue, has_pending

_FORECAST_FROM: Final = 20
_UNENDED: Final = (BatchStatus.QUEUED, BatchStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class AssemblyAttempt:
    """An attempt to assemble a merged PDF: its number, from 1, and when the first one was made."""

    number: int
    first_at: datetime


def write_batch(
    batch: Batch, counts: DocumentCounts, *, forecast_at: datetime | None = None
) -> dict[str, Any]:
    """Write the record as clients see it."""
    shown = structs.asdict(batch) | {"plan": batch.plan_name, "forecast_at": forecast_at}
    if batch.deadline is not None:
        shown["late"] = (batch.finished_at or forecast_at or now()) > batch.deadline
    return ShownBatch.of_row(shown, draft=batch.is_draft, **counts.to_builtins()).show()


def add_batch(session: Session, batch: Batch, chunks: Iterable[Chunk]) -> None:
    """Insert a batch and its chunks; with the commit it is accepted."""
    row = batch.to_builtins() | {"charset": None}  # the stored body is UTF-8
    add_to_rotation(session, batch.account_id, at=batch.created_at)
    session.execute(insert(batches).values(row))
    session.execute(insert(batch_chunks), [chunk.to_builtins() for chunk in chunks])


def find_batch(session: Session, batch_id: str, *, account_id: str | None = None) -> Batch | None:
    """Return a batch; with an account, None if it belongs to another one or is deleted."""
    query = select(batches).where(batches.c.id == batch_id)
    if account_id is not None:
        query = query.where(batches.c.account_id == account_id, batches.c.removed_at.is_(None))
    row = session.execute(query).mappings().first()
    return None if row is None else read_batch(row)


def count_items(session: Session, batch: Batch) -> DocumentCounts:
    """Count the documents of a batch by state."""
    return _count(batch, *_sum_chunks(session, [batch.id]).get(batch.id, (0, 0, 0, 0)))


def forecast_end(
    session: Session, batch: Batch, counts: DocumentCounts, *, at: datetime
) -> datetime | None:
    """Return when the documents of a batch will have ended at the rate so far.

    None before a twentieth of them has ended, and once all have.
    """
    ended = counts.succeeded + counts.failed
    if batch.status is not BatchStatus.RUNNING or batch.started_at is None:
        return None
    if ended == batch.total or ended * _FORECAST_FROM < batch.total:
        return None
    columns = batch_parts.c
    # Documents end a slice at a time: the rate is that up to the last one, not up to now.
    last: datetime | None = session.scalar(
        select(func.max(columns.created_at)).where(columns.batch_id == batch.id)
    )
    if last is None:
        return None
    return max(at, last + (last - batch.started_at) * (batch.total - ended) / ended)


def list_batches(
    session: Session,
    account_id: str,
    *,
    statuses: Iterable[BatchStatus],
    limit: int,
    start_after: str | None,
) -> list[tuple[Batch, DocumentCounts]]:
    """Return up to `limit` batches of an account, newest first, each with its document counts.

    `start_after` is the last batch of the page before.
    """
    words = [status.value for status in statuses]
    query = select_newest(batches, account_id, statuses=words, limit=limit, start_after=start_after)
    newest = session.scalars(query).all()
    rows = select(batches).where(batches.c.id.in_(newest)).order_by(batches.c.id.desc())
    found = [read_batch(row) for row in session.execute(rows).mappings()]
    sums = _sum_chunks(session, newest)
    return [(batch, _count(batch, *sums.get(batch.id, (0, 0, 0, 0)))) for batch in found]


def count_unfinished_batches(session: Session, account_id: str) -> int:
    """Count the batches of an account that have not ended."""
    query = (
        select(func.count())
        .select_from(batches)
        .where(batches.c.account_id == account_id, batches.c.status.in_(_UNENDED))
    )
    return int(session.scalar(query) or 0)


def has_running_chunk(session: Session, batch_id: str) -> bool:
    """Return whether a worker is rendering a batch, which continues for seconds after a cancellation."""
    running = exists().where(
        batch_chunks.c.batch_id == batch_id, batch_chunks.c.status == ChunkStatus.RUNNING
    )
    return bool(session.scalar(select(running)))


def cancel_batch(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Cancel an unfinished batch and its queued chunks; return False if it had already ended."""
    cancelled = session.execute(
        update(batches)
        .where(batches.c.id == batch_id, batches.c.status.in_(_UNENDED))
        .values(**_end(session, batch_id, BatchStatus.CANCELLED, at))
        .returning(batches.c.id)
    ).first()
    if cancelled is None:
        return False
    session.execute(
        update(batch_chunks)
        .where(batch_chunks.c.batch_id == batch_id, batch_chunks.c.status == ChunkStatus.QUEUED)
        .values(status=ChunkStatus.CANCELLED)
    )
    return True


def finish_batch(session: Session, batch_id: str, *, at: datetime) -> Batch | None:
    """Finish a batch without a merged PDF whose chunks are all done; return it if this call finished it.

    The same unit of work queues the notifications of its account's webhooks.
    """
    return _finish(session, batch_id, at, needs_assembling=False, result={})


def finish_merged_batch(
    session: Session, batch: Batch, *, result_key: str | None, result_bytes: int, at: datetime
) -> Batch | None:
    """Finish a merged batch; `result_key` is None if no document succeeded. Return it if this call did: then its
    files are to be recorded, and delivered (`deliver_batch`).

    A batch whose proof was released since it was read is left as it is: its files are others now.
    """
    result = {"result_key": result_key, "result_bytes": result_bytes}
    is_same = batches.c.is_proof_released.is_(batch.is_proof_released)
    return _finish(session, batch.id, at, is_same, needs_assembling=True, result=result)


def begin_assembly_attempt(
    session: Session, batch_id: str, *, at: datetime
) -> AssemblyAttempt | None:
    """Count an attempt to assemble a batch and return it; None if there is nothing to assemble any more."""
    columns = batches.c
    row = session.execute(
        update(batches)
        .where(columns.id == batch_id, or_(columns.status.in_(_UNENDED), HAS_DECISIONS))
        .values(
            assembly_tries=columns.assembly_tries + 1,
            assembly_begun_at=func.coalesce(columns.assembly_begun_at, literal(at, Instant)),
        )
        .returning(columns.assembly_tries, columns.assembly_begun_at)
    ).first()
    return None if row is None else AssemblyAttempt(*row)


def revert_assembly_attempt(session: Session, batch_id: str) -> None:
    """Uncount an attempt that failed for a reason outside of the batch."""
    columns = batches.c
    session.execute(
        update(batches)
        .where(columns.id == batch_id, columns.assembly_tries > 0)
        .values(assembly_tries=columns.assembly_tries - 1)
    )


def fail_merged_batch(
    session: Session, batch_id: str, *, error: ErrorBody, at: datetime
) -> Batch | None:
    """Finish a merged batch without a PDF because of an error; return it if this call finished it."""
    result = {"error": write_error_body(error, at=at)}
    return _finish(session, batch_id, at, needs_assembling=True, result=result)


def is_complete(session: Session, batch_id: str) -> bool:
    """Return whether all chunks of a batch are done."""
    return not session.scalar(select(_has_unended_chunk(batch_id)))


def list_complete(
    session: Session, *, limit: int, slots: AbstractSet[str] | None = None
) -> list[Batch]:
    """Return unfinished batches whose chunks are all done, and runs with decisions whose files are not written,
    of the accounts in `slots`.
    """
    # A running batch has no cancelled chunk, so every chunk that is not done is open.
    chunk_left = (
        select(batch_chunks.c.number)
        .where(batch_chunks.c.batch_id == batches.c.id, IS_OPEN)
        .exists()
    )
    is_whole = and_(batches.c.status == BatchStatus.RUNNING, ~chunk_left)
    found: list[Batch] = []
    for condition in (is_whole, HAS_DECISIONS):  # apart, for an index each
        query = (
            select(batches)
            .where(condition, belongs_to_slots(batches.c.account_id, slots))
            .order_by(batches.c.created_at)
            .limit(limit)
        )
        found += [read_batch(row) for row in session.execute(query).mappings()]
    return found


def list_unfinished_batches(session: Session, *, limit: int) -> list[tuple[Batch, DocumentCounts]]:
    """Return unfinished batches, oldest first, each with its document counts."""
    query = (
        select(batches)
        .where(batches.c.status.in_(_UNENDED))
        .order_by(batches.c.created_at, batches.c.id)
        .limit(limit)
    )
    found = [read_batch(row) for row in session.execute(query).mappings().all()]
    return [(batch, count_items(session, batch)) for batch in found]


def soft_delete_batch(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Hide an ended batch from its clients; return whether there was one.

    The maintenance process deletes its blobs and rows, of which there may be 100,000, in its next round.
    """
    columns = batches.c
    removed = session.execute(
        update(batches)
        .where(columns.id == batch_id, columns.status.not_in(_UNENDED))
        .where(columns.removed_at.is_(None))
        .values(removed_at=at, sweep_at=at)
        .returning(columns.id)
    )
    if removed.first() is None:
        return False
    end_deliveries(session, batch_id)
    return True


def clear_body_key(session: Session, batch_id: str) -> None:
    """Record that the body of a batch is deleted."""
    session.execute(update(batches).where(batches.c.id == batch_id).values(body_key=None))


def read_batch(row: RowMapping | Mapping[str, Any]) -> Batch:
    """Read a batch from its row."""
    return Batch.of_row(row)


def _finish(
    session: Session,
    batch_id: str,
    at: datetime,
    *conditions: ColumnElement[bool],
    needs_assembling: bool,
    result: Mapping[str, Any],
) -> Batch | None:
    is_merged = batches.c.output == BatchOutput.MERGED
    row = (
        session.execute(
            update(batches)
            .where(
                batches.c.id == batch_id,
                batches.c.status.in_(_UNENDED),
                is_merged if needs_assembling else ~is_merged,
                ~_has_unended_chunk(batch_id),
                *conditions,
            )
            .values(**_end(session, batch_id, BatchStatus.FINISHED, at), **result)
            .returning(*batches.c)
        )
        .mappings()
        .first()
    )
    if row is None:
        return None
    batch = read_batch(row)
    notification = WebhookNotification(
        batch.account_id,
        WebhookEvent.BATCH_FINISHED,
        lambda: write_batch(batch, count_items(session, batch)),
    )
    enqueue(session, [notification], at=at)
    if not needs_assembling:
        deliver_batch(session, batch, at=at)
    return batch


def deliver_batch(session: Session, batch: Batch, *, at: datetime, after: int = -1) -> None:
    """Order the delivery of a batch's files behind `after`, and of its index or manifest, if it has a destination.

    Those of a run are recorded: each file is of one order, though later files may be there when it is carried out.
    """
    if batch.deliver_to is None or batch.error is not None:
        return
    kind = batch.plan.index if batch.plan else IndexFormat.NDJSON
    columns = batch_files.c
    last = session.scalar(select(func.max(columns.number)).where(columns.batch_id == batch.id))
    file = FileSource(kind.media_type, batch_id=batch.id, after=after, until=last)
    enqueue_result(session, batch.deliver_to, file, send_at=batch.send_at, at=at)


def _sum_chunks(session: Session, batch_ids: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
    """Return for each batch the documents running, succeeded and failed, and the pages."""
    columns = batch_chunks.c
    is_running = case((columns.status == ChunkStatus.RUNNING, 1), else_=0)
    query = (
        select(
            columns.batch_id,
            func.sum(is_running),
            func.sum(columns.succeeded),
            func.sum(columns.failed),
            func.sum(columns.pages),
        )
        .where(columns.batch_id.in_(batch_ids))
        .group_by(columns.batch_id)
    )
    return {
        batch_id: tuple(int(number or 0) for number in sums)
        for batch_id, *sums in session.execute(query)
    }


def _count(batch: Batch, running: int, succeeded: int, failed: int, pages: int) -> DocumentCounts:
    left = batch.total - succeeded - failed - running
    is_cancelled = batch.status is BatchStatus.CANCELLED
    queued, cancelled = (0, left) if is_cancelled else (left, 0)
    return DocumentCounts(queued, running, succeeded, failed, cancelled, pages)


def _has_unended_chunk(batch_id: str) -> Any:
    return exists().where(
        batch_chunks.c.batch_id == batch_id, batch_chunks.c.status != ChunkStatus.DONE
    )


def _end(session: Session, batch_id: str, status: BatchStatus, at: datetime) -> dict[str, Any]:
    batch = find_batch(session, batch_id)
    # Without a batch the update that has these values finds none either.
    kept = find_retention(session, batch.account_id, *batch.times)[0] if batch else timedelta()
    expires_at = at + kept
    return {"status": status, "finished_at": at, "expires_at": expires_at, "sweep_at": expires_at}


_ITEMS_AT_ONCE: Final = 10_000
_READ_AT_ONCE: Final = 1000


def list_due_batches(
    session: Session, *, at: datetime, limit: int, slots: AbstractSet[str] | None = None
) -> list[Batch]:
    """Return batches of some accounts whose results or records are due for deletion.

    Those whose files have still to be delivered are not, unless their client deleted them, nor those of an account with a
    legal hold.
    """
    query = (
        select(batches)
        .where(batches.c.sweep_at <= at, belongs_to_slots(batches.c.account_id, slots))
        .where(batches.c.removed_at.is_not(None) | ~has_pending(batches.c.id))
        .where(is_not_held(batches.c.account_id))
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
            sweep_at=batch.finished_at + find_retention(session, batch.account_id, *batch.times)[1],
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
    for table in (batch_parts, batch_files, batch_chunks):
        session.execute(delete(table).where(table.c.batch_id == batch_id))
    session.execute(delete(batches).where(batches.c.id == batch_id))


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


def iterate_items(database: Database, batch: Batch) -> Iterator[BatchItem]:
    """Yield all documents in input order, some with each transaction."""
    after, has_more = -1, True
    while has_more:
        with database.snapshot() as session:
            items, has_more = list_items(
                session, batch, after=after, limit=_READ_AT_ONCE, status=None
            )
        yield from items
        after = items[-1].index


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
    session: Session, batch: Batch, *, after: int, limit: int, status: ItemStatus | None = None
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
