"""The one PDF of a merged batch, joined from the parts of its slices."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final

from shared.batches.records import Batch, Output
from shared.blobs.store import BlobMissingError, BlobStore
from shared.clock import now
from shared.db.batch_items import list_parts
from shared.db.batches import (
    begin_assembly,
    find_batch,
    finish_merged_batch,
    finish_merged_batch_in_vain,
    is_complete,
    take_back_assembly,
)
from shared.errors import ErrorBody, ErrorKind, Unavailable, space_needed
from shared.queue.slices import Assembly
from shared.telemetry.log import get_logger, log_context
from workers.engine.merged import join_parts
from workers.farm.batches.desk import Desk
from workers.farm.batches.presses import make_options

_PARTS_AT_ONCE: Final = 200
_MOST_TRIES: Final = 3
_PATIENCE: Final = timedelta(hours=24)  # with an outage; a job waits no longer either
# With a part that is not there: so a folder looks that is not mounted.
_PATIENCE_WITH_MISSING: Final = timedelta(hours=1)

log: Final = get_logger(__name__)


def run_assembly(asked: Assembly, desk: Desk) -> None:
    """Make the one PDF of a batch whose documents have all ended, and finish it.

    A run that fails is tried again by the keeper, three times in all, and for a day where a part of
    the farm is away. Then the batch is finished without a PDF, and says why.

    Raises:
        Unavailable: a part of the farm is away; the keeper asks again.
    """
    with desk.database.snapshot() as session:
        batch = find_batch(session, asked.batch_id)
        is_ready = batch is not None and is_complete(session, batch.id)
    if batch is None or not is_ready or batch.output is not Output.MERGED or batch.status.is_final:
        log.info("assembly skipped", batch=asked.batch_id)
        desk.queue.forget(asked)
        return
    with log_context(batch=batch.id, request=batch.request_id, account=batch.account_id):
        _try(batch, desk)
    desk.queue.forget(asked)


def _try(batch: Batch, desk: Desk) -> None:
    # Counted before it begins: one that brings its process down has had its try.
    with desk.database.session() as session:
        this = begin_assembly(session, batch.id, at=now())
    if this is None:
        return
    if this.number > _MOST_TRIES:
        _give_up(batch, desk, _failed(None))
        return
    try:
        with space_needed("worker"):
            _assemble(batch, desk)
    except (Unavailable, BlobMissingError) as error:
        is_missing = isinstance(error, BlobMissingError)
        if now() - this.first_at >= (_PATIENCE_WITH_MISSING if is_missing else _PATIENCE):
            _give_up(batch, desk, _failed(error))
            return
        with suppress(Unavailable), desk.database.session() as session:
            take_back_assembly(session, batch.id)
        if is_missing:
            raise Unavailable("object store") from error
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not be tried for ever
        log.warning("assembly failed", attempt=this.number, cause=repr(error))
        if this.number >= _MOST_TRIES:
            _give_up(batch, desk, _failed(error))


def _give_up(batch: Batch, desk: Desk, error: ErrorBody) -> None:
    with desk.database.session() as session:
        finished = finish_merged_batch_in_vain(session, batch.id, error=error, at=now())
    if finished is not None:
        desk.flow.told_finished(finished)


def _failed(cause: Exception | None) -> ErrorBody:
    if isinstance(cause, MemoryError):
        message = (
            "The documents need more memory to be merged into one PDF than a render may use: send "
            "them in several batches, or with output=zip."
        )
        return ErrorBody(400, message, ErrorKind.RESOURCE)
    reference = secrets.token_hex(6)
    log.error("assembly given up", reference=reference, exc_info=cause)
    message = (
        "The documents could not be merged into one PDF for a reason inside the service; "
        f"reference {reference}. Send them again, or with output=zip."
    )
    return ErrorBody(500, message, ErrorKind.INTERNAL)


def _assemble(batch: Batch, desk: Desk) -> None:
    # Files without a name, of which nothing is left when this process is killed.
    with tempfile.TemporaryFile() as part, tempfile.TemporaryFile() as out:
        key, size = _join(batch, desk, part=part, out=out)
    with desk.database.session() as session:
        finished = finish_merged_batch(
            session, batch.id, result_key=key, result_bytes=size, at=now()
        )
    if finished is not None:
        desk.flow.told_finished(finished)
    elif key is not None:
        desk.blobs.delete(key)  # another run was first, or the batch was cancelled


def _join(batch: Batch, desk: Desk, *, part: BinaryIO, out: BinaryIO) -> tuple[str | None, int]:
    parts = _fetch_parts(batch, desk, part)
    first = next(parts, None)
    if first is None:
        return None, 0
    pages = join_parts(_chained(first, parts), out, options=make_options(batch))
    size = out.tell()
    out.seek(0)
    key = f"batches/{batch.id}/result-{secrets.token_hex(4)}"
    desk.blobs.put(key, out, size)
    log.info("batch assembled", pages=pages, bytes=size)
    return key, size


def _fetch_parts(batch: Batch, desk: Desk, file: BinaryIO) -> Iterator[Path]:
    """Give the parts as files, one at a time: each is gone when the next is asked for."""
    after = -1
    path = Path(f"/proc/self/fd/{file.fileno()}")
    while True:
        with desk.database.snapshot() as session:
            parts = list_parts(session, batch.id, after=after, limit=_PARTS_AT_ONCE)
        if not parts:
            return
        for part in parts:
            if part.blob_key is not None:
                _fetch(desk.blobs, part.blob_key, file)
                yield path
        after = parts[-1].first_index


def _fetch(blobs: BlobStore, key: str, file: BinaryIO) -> None:
    file.seek(0)
    file.truncate()
    with blobs.open(key) as stream:
        shutil.copyfileobj(stream, file, 256 * 1024)
    file.flush()


def _chained(first: Path, rest: Iterator[Path]) -> Iterator[Path]:
    yield first
    yield from rest
