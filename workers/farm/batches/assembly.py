"""The one PDF of a merged batch, joined from the parts of its slices."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from shared.batches.records import Batch, Output
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.batch_items import list_parts
from shared.db.batches import find_batch, finish_merged_batch, is_complete
from shared.queue.slices import Assembly
from shared.telemetry.log import get_logger, log_context
from workers.engine.merged import join_parts
from workers.farm.batches.desk import Desk
from workers.farm.batches.presses import make_options

_PARTS_AT_ONCE: Final = 200

log: Final = get_logger(__name__)


def run_assembly(asked: Assembly, desk: Desk) -> None:
    """Make the one PDF of a batch whose documents have all ended, and finish it.

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
        _assemble(batch, desk)
    desk.queue.forget(asked)


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
