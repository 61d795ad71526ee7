"""The PDF of a merged batch, joined from the parts of its slices."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final

from shared.batches.records import Batch, BatchOutput
from shared.batches.repository import (
    begin_assembly_attempt,
    fail_merged_batch,
    find_batch,
    finish_merged_batch,
    is_complete,
    list_parts,
    revert_assembly_attempt,
)
from shared.blobs.store import BlobMissingError, BlobStore
from shared.clock import now
from shared.errors import ErrorBody, ErrorKind, Unavailable, full_disk_as_unavailable
from shared.queue.slice_commits import Assembly
from shared.telemetry.log import get_logger, log_context
from workers.batches.documents import BatchContext
from workers.batches.writers import make_options
from workers.engine.merged_pdf import join_parts

_PARTS_AT_ONCE: Final = 200
_MAX_ATTEMPTS: Final = 3
_PATIENCE: Final = timedelta(hours=24)  # during an outage; the same as for jobs
# With a missing part: the folder of the store may not be mounted.
_PATIENCE_WITH_MISSING: Final = timedelta(hours=1)

log: Final = get_logger(__name__)


def run_assembly(task: Assembly, batch_context: BatchContext) -> None:
    """Join the PDF of a batch whose documents have all ended, and finish the batch.

    Maintenance repeats a failed run, up to three attempts in total, and for a day during an outage.
    Then the batch is finished without a PDF, with an error.

    Raises:
        Unavailable: a part of the farm is unavailable; maintenance publishes the task again.
    """
    with batch_context.database.snapshot() as session:
        batch = find_batch(session, task.batch_id)
        is_ready = batch is not None and is_complete(session, batch.id)
    if (
        batch is None
        or not is_ready
        or batch.output is not BatchOutput.MERGED
        or batch.status.is_final
    ):
        log.info("assembly skipped", batch=task.batch_id)
        batch_context.queue.remove(task)
        return
    with log_context(batch=batch.id, request=batch.request_id, account=batch.account_id):
        _try(batch, batch_context)
    batch_context.queue.remove(task)


def _try(batch: Batch, batch_context: BatchContext) -> None:
    # Counted first, so that a crash counts as an attempt.
    with batch_context.database.session() as session:
        this = begin_assembly_attempt(session, batch.id, at=now())
    if this is None:
        return
    if this.number > _MAX_ATTEMPTS:
        _give_up(batch, batch_context, _failed(None))
        return
    try:
        with full_disk_as_unavailable("worker"):
            _assemble(batch, batch_context)
    except (Unavailable, BlobMissingError) as error:
        is_missing = isinstance(error, BlobMissingError)
        if now() - this.first_at >= (_PATIENCE_WITH_MISSING if is_missing else _PATIENCE):
            _give_up(batch, batch_context, _failed(error))
            return
        with suppress(Unavailable), batch_context.database.session() as session:
            revert_assembly_attempt(session, batch.id)
        if is_missing:
            raise Unavailable("object store") from error
        raise
    except Exception as error:  # noqa: BLE001 - attempts are limited for every error
        log.warning("assembly failed", attempt=this.number, cause=repr(error))
        if this.number >= _MAX_ATTEMPTS:
            _give_up(batch, batch_context, _failed(error))


def _give_up(batch: Batch, batch_context: BatchContext, error: ErrorBody) -> None:
    with batch_context.database.session() as session:
        finished = fail_merged_batch(session, batch.id, error=error, at=now())
    if finished is not None:
        batch_context.flow.report_finished(finished)


def _failed(cause: Exception | None) -> ErrorBody:
    if isinstance(cause, MemoryError):
        message = (
            "The documents need more memory to be merged into one PDF than a render may use: send "
            "them in several batches, or with output=zip."
        )
        return ErrorBody(400, message, ErrorKind.RESOURCE)
    reference = secrets.token_hex(6)
    log.error("assembly failed permanently", reference=reference, exc_info=cause)
    message = (
        "The documents could not be merged into one PDF for a reason inside the service; "
        f"reference {reference}. Send them again, or with output=zip."
    )
    return ErrorBody(500, message, ErrorKind.INTERNAL)


def _assemble(batch: Batch, batch_context: BatchContext) -> None:
    # Unnamed files, which the kernel deletes if this process is killed.
    with tempfile.TemporaryFile() as part, tempfile.TemporaryFile() as out:
        key, size = _join(batch, batch_context, part=part, out=out)
    with batch_context.database.session() as session:
        finished = finish_merged_batch(
            session, batch.id, result_key=key, result_bytes=size, at=now()
        )
    if finished is not None:
        batch_context.flow.report_finished(finished)
    elif key is not None:
        batch_context.blobs.delete(key)  # another run finished it, or the batch was cancelled


def _join(
    batch: Batch, batch_context: BatchContext, *, part: BinaryIO, out: BinaryIO
) -> tuple[str | None, int]:
    parts = _fetch_parts(batch, batch_context, part)
    first = next(parts, None)
    if first is None:
        return None, 0
    pages = join_parts(_chained(first, parts), out, options=make_options(batch))
    size = out.tell()
    out.seek(0)
    key = f"batches/{batch.id}/result-{secrets.token_hex(4)}"
    batch_context.blobs.put(key, out, size)
    log.info("batch assembled", pages=pages, bytes=size)
    return key, size


def _fetch_parts(batch: Batch, batch_context: BatchContext, file: BinaryIO) -> Iterator[Path]:
    """Yield the parts as files, one at a time: the next part overwrites the file."""
    after = -1
    path = Path(f"/proc/self/fd/{file.fileno()}")
    while True:
        with batch_context.database.snapshot() as session:
            parts = list_parts(session, batch.id, after=after, limit=_PARTS_AT_ONCE)
        if not parts:
            return
        for part in parts:
            if part.blob_key is not None:
                _fetch(batch_context.blobs, part.blob_key, file)
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
