"""Batches as the database knows them: accepted, cancelled, finished, told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import RowMapping, case, exists, func, insert, literal, select, update

from shared.batches.records import (
    Batch,
    BatchKind,
    BatchStatus,
    Chunk,
    ChunkStatus,
    Counts,
    CsvHead,
    Output,
)
from shared.clock import timestamp
from shared.db.batch_turns import add_turn
from shared.db.hooks import Event, Happening, enqueue
from shared.db.newest import list_newest
from shared.db.session import Session
from shared.db.slots import lives_in
from shared.db.tables import IS_OPEN, Instant, batch_chunks, batches
from shared.errors import ErrorBody
from shared.jobs import Allowance, Meter, PinnedTemplate
from shared.problems import write_error_body

# contract.md 6: what a batch gave is kept for a day; its record a week.
RESULT_KEPT: Final = timedelta(hours=24)
RECORD_KEPT: Final = timedelta(days=7)

_UNENDED: Final = (BatchStatus.QUEUED, BatchStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class AssemblyTry:
    """Which try this is to make the one PDF of a batch, from 1, and when the first was."""

    number: int
    first_at: datetime


def write_batch(batch: Batch, counts: Counts) -> dict[str, Any]:
    """Write the record as clients see it (contract.md 6)."""
    record: dict[str, Any] = {
        "id": batch.id,
        "status": batch.status.value,
        "total": batch.total,
        **asdict(counts),
        "created_at": timestamp(batch.created_at),
    }
    if batch.error is not None:
        record["error"] = batch.error
    times = {"finished_at": batch.finished_at, "expires_at": batch.expires_at}
    return record | {name: timestamp(time) for name, time in times.items() if time is not None}


def add_batch(session: Session, batch: Batch, chunks: Iterable[Chunk]) -> None:
    """Record a batch and its chunks: from now on it is accepted."""
    row = {
        "id": batch.id,
        "account_id": batch.account_id,
        "workspace_id": batch.workspace_id,
        "user_id": batch.user_id,
        "request_id": batch.request_id,
        "status": batch.status,
        "output": batch.output,
        "kind": batch.kind,
        "charset": None,  # what is stored is UTF-8, whatever was sent
        "header": asdict(batch.head) if batch.head else None,
        "is_draft": batch.is_draft,
        "template": batch.template,
        "pinned": asdict(batch.pinned),
        "meter": {**asdict(batch.meter), "allowance": batch.meter.allowance.value},
        "total": batch.total,
        "body_key": batch.body_key,
        "body_bytes": batch.body_bytes,
        "created_at": batch.created_at,
        "traceparent": batch.traceparent,
    }
    add_turn(session, batch.account_id, at=batch.created_at)
    session.execute(insert(batches).values(row))
    session.execute(insert(batch_chunks), [_chunk_row(chunk) for chunk in chunks])


def find_batch(session: Session, batch_id: str, *, account_id: str | None = None) -> Batch | None:
    """Return a batch; with an account, as its clients see it: None when it is another's or removed."""
    query = select(batches).where(batches.c.id == batch_id)
    if account_id is not None:
        query = query.where(batches.c.account_id == account_id, batches.c.removed_at.is_(None))
    row = session.execute(query).mappings().first()
    return None if row is None else read_batch(row)


def count_items(session: Session, batch: Batch) -> Counts:
    """Count the documents of a batch by how far they are."""
    return _count(batch, *_sum_chunks(session, [batch.id]).get(batch.id, (0, 0, 0, 0)))


def list_batches(
    session: Session,
    account_id: str,
    *,
    statuses: Iterable[BatchStatus],
    limit: int,
    start_after: str | None,
) -> list[tuple[Batch, Counts]]:
    """Return up to `limit` batches of an account, newest first, each with how far it is.

    `start_after` is the last batch of the page before.
    """
    words = [status.value for status in statuses]
    newest = list_newest(
        session, batches, account_id, statuses=words, limit=limit, start_after=start_after
    )
    query = select(batches).where(batches.c.id.in_(newest)).order_by(batches.c.id.desc())
    found = [read_batch(row) for row in session.execute(query).mappings()]
    sums = _sum_chunks(session, newest)
    return [(batch, _count(batch, *sums.get(batch.id, (0, 0, 0, 0)))) for batch in found]


def count_unfinished(session: Session, account_id: str) -> int:
    """Count the batches of an account that have not ended."""
    query = (
        select(func.count())
        .select_from(batches)
        .where(batches.c.account_id == account_id, batches.c.status.in_(_UNENDED))
    )
    return int(session.scalar(query) or 0)


def has_running_chunk(session: Session, batch_id: str) -> bool:
    """Tell whether a worker is at a batch, as it still may be for seconds after it was cancelled."""
    running = exists().where(
        batch_chunks.c.batch_id == batch_id, batch_chunks.c.status == ChunkStatus.RUNNING
    )
    return bool(session.scalar(select(running)))


def cancel_batch(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Cancel what of a batch is not begun and tell whether it had not ended before."""
    cancelled = session.execute(
        update(batches)
        .where(batches.c.id == batch_id, batches.c.status.in_(_UNENDED))
        .values(**_end(BatchStatus.CANCELLED, at))
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
    """Finish a batch whose chunks are all done and that needs no assembling; give it if this did.

    Its account's webhooks are told in the same unit of work.
    """
    return _finish(session, batch_id, at, needs_assembling=False, result={})


def finish_merged_batch(
    session: Session, batch_id: str, *, result_key: str | None, result_bytes: int, at: datetime
) -> Batch | None:
    """Finish a merged batch with its one PDF, None where no document succeeded; give it if this did."""
    result = {"result_key": result_key, "result_bytes": result_bytes}
    return _finish(session, batch_id, at, needs_assembling=True, result=result)


def begin_assembly(session: Session, batch_id: str, *, at: datetime) -> AssemblyTry | None:
    """Count a try to make the one PDF of a batch, None when the batch has ended."""
    columns = batches.c
    row = session.execute(
        update(batches)
        .where(columns.id == batch_id, columns.status.in_(_UNENDED))
        .values(
            assembly_tries=columns.assembly_tries + 1,
            assembly_begun_at=func.coalesce(columns.assembly_begun_at, literal(at, Instant)),
        )
        .returning(columns.assembly_tries, columns.assembly_begun_at)
    ).first()
    return None if row is None else AssemblyTry(*row)


def take_back_assembly(session: Session, batch_id: str) -> None:
    """Take a try back that failed for nothing the batch can do about."""
    columns = batches.c
    session.execute(
        update(batches)
        .where(columns.id == batch_id, columns.assembly_tries > 0)
        .values(assembly_tries=columns.assembly_tries - 1)
    )


def finish_merged_batch_in_vain(
    session: Session, batch_id: str, *, error: ErrorBody, at: datetime
) -> Batch | None:
    """Finish a merged batch that gets no PDF, for this reason; give it if this did."""
    result = {"error": write_error_body(error, at=at)}
    return _finish(session, batch_id, at, needs_assembling=True, result=result)


def is_complete(session: Session, batch_id: str) -> bool:
    """Tell whether all chunks of a batch are done."""
    return not session.scalar(select(_has_unended_chunk(batch_id)))


def list_complete(
    session: Session, *, limit: int, slots: AbstractSet[str] | None = None
) -> list[Batch]:
    """Give unfinished batches whose chunks are all done, of the accounts that fall to these slots."""
    # Of a batch that runs no chunk is cancelled: what is not done is open.
    chunk_left = (
        select(batch_chunks.c.number)
        .where(batch_chunks.c.batch_id == batches.c.id, IS_OPEN)
        .exists()
    )
    query = (
        select(batches)
        .where(batches.c.status == BatchStatus.RUNNING, ~chunk_left)
        .where(lives_in(batches.c.account_id, slots))
        .order_by(batches.c.created_at)
        .limit(limit)
    )
    return [read_batch(row) for row in session.execute(query).mappings()]


def list_under_way(session: Session, *, limit: int) -> list[tuple[Batch, Counts]]:
    """Give batches that have not ended, oldest first, with how far each is."""
    query = (
        select(batches)
        .where(batches.c.status.in_(_UNENDED))
        .order_by(batches.c.created_at, batches.c.id)
        .limit(limit)
    )
    found = [read_batch(row) for row in session.execute(query).mappings().all()]
    return [(batch, count_items(session, batch)) for batch in found]


def remove_batch(session: Session, batch_id: str, *, at: datetime) -> bool:
    """Remove a batch that has ended from its clients' reach and tell whether it was there.

    The keeper deletes its bytes and rows, of which there may be 100,000, in its next round.
    """
    columns = batches.c
    removed = session.execute(
        update(batches)
        .where(columns.id == batch_id, columns.status.not_in(_UNENDED))
        .where(columns.removed_at.is_(None))
        .values(removed_at=at, sweep_at=at)
        .returning(columns.id)
    )
    return removed.first() is not None


def forget_body(session: Session, batch_id: str) -> None:
    """Note that the body of a batch is not kept any more."""
    session.execute(update(batches).where(batches.c.id == batch_id).values(body_key=None))


def read_batch(row: RowMapping | Mapping[str, Any]) -> Batch:
    """Read a batch from its row."""
    meter, head = row["meter"], row["header"]
    return Batch(
        id=row["id"],
        account_id=row["account_id"],
        workspace_id=row["workspace_id"],
        user_id=row["user_id"],
        request_id=row["request_id"],
        status=BatchStatus(row["status"]),
        output=Output(row["output"]),
        kind=BatchKind(row["kind"]),
        head=CsvHead(tuple(head["columns"]), head["delimiter"]) if head else None,
        is_draft=row["is_draft"],
        template=row["template"],
        pinned=PinnedTemplate(**row["pinned"]),
        meter=Meter(**{**meter, "allowance": Allowance(meter["allowance"])}),
        total=row["total"],
        body_key=row["body_key"],
        body_bytes=row["body_bytes"],
        created_at=row["created_at"],
        result_key=row["result_key"],
        result_bytes=row["result_bytes"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        expires_at=row["expires_at"],
        error=row["error"],
        traceparent=row["traceparent"],
        removed_at=row["removed_at"],
    )


def _finish(
    session: Session,
    batch_id: str,
    at: datetime,
    *,
    needs_assembling: bool,
    result: Mapping[str, Any],
) -> Batch | None:
    is_merged = batches.c.output == Output.MERGED
    row = (
        session.execute(
            update(batches)
            .where(
                batches.c.id == batch_id,
                batches.c.status.in_(_UNENDED),
                is_merged if needs_assembling else ~is_merged,
                ~_has_unended_chunk(batch_id),
            )
            .values(**_end(BatchStatus.FINISHED, at), **result)
            .returning(*batches.c)
        )
        .mappings()
        .first()
    )
    if row is None:
        return None
    batch = read_batch(row)
    told = Happening(
        batch.account_id,
        Event.BATCH_FINISHED,
        lambda: write_batch(batch, count_items(session, batch)),
    )
    enqueue(session, [told], at=at)
    return batch


def _sum_chunks(session: Session, batch_ids: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
    """Return of each batch the documents that run, succeeded and failed, and the pages."""
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


def _count(batch: Batch, running: int, succeeded: int, failed: int, pages: int) -> Counts:
    left = batch.total - succeeded - failed - running
    queued = 0 if batch.status is BatchStatus.CANCELLED else left
    return Counts(queued, running, succeeded, failed, pages)


def _has_unended_chunk(batch_id: str) -> Any:
    return exists().where(
        batch_chunks.c.batch_id == batch_id, batch_chunks.c.status != ChunkStatus.DONE
    )


def _end(status: BatchStatus, at: datetime) -> dict[str, Any]:
    expires_at = at + RESULT_KEPT
    return {
        "status": status,
        "finished_at": at,
        "expires_at": expires_at,
        "sweep_at": expires_at,
    }


def _chunk_row(chunk: Chunk) -> dict[str, Any]:
    return {**asdict(chunk), "status": chunk.status.value}
