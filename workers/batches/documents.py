"""The documents of a chunk as payloads of the engine, with the limits of time and the services that they share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final, TypeVar, cast

from shared.auth.admission import AdmissionCache
from shared.batches.csv_rows import InvalidRow, read_rows
from shared.batches.json_documents import read_documents
from shared.batches.lifecycle import BatchLifecycle
from shared.batches.records import Batch, Chunk
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.clock import ticks
from shared.db.session import Database
from shared.errors import ErrorBody, ErrorKind, ServiceError
from shared.limits import KB, MB
from shared.queue.slice_commits import SliceCommits, SliceQueue
from workers.engine.ports import Payload, PayloadKind
from workers.render.budget import Alarm, raise_on_alarm
from workers.render.failures import RenderLimits, run_within
from workers.render.run import WATCHDOG_GRACE_SECONDS, RenderContext

_SPOOL_BYTES: Final = 8 * MB
_CHUNK_BYTES: Final = 256 * KB


@contextmanager
def open_documents(
    blobs: BlobStore, batch: Batch, chunk: Chunk
) -> Iterator[Iterator[tuple[int, bytes | InvalidRow]]]:
    """Open the rest of a chunk; each document is yielded with the offset of its end in bytes.

    Raises:
        BlobMissingError: the body was deleted, since the batch has ended.
        Unavailable: the object store is unavailable.
    """
    if batch.body_key is None:
        raise BlobMissingError(batch.id)
    left = chunk.body_length - chunk.done_bytes
    part = ByteRange(chunk.body_offset + chunk.done_bytes, left)
    # Downloaded at once, large ones to disk: the store would close the connection during the render
    # of a slow document.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as file:
        with blobs.open(batch.body_key, byte_range=part) as stream:
            shutil.copyfileobj(stream, file, _CHUNK_BYTES)
        file.seek(0)
        body = cast("BinaryIO", file)
        yield read_documents(body) if batch.head is None else read_rows(body, batch.head)


def to_payload(document: bytes | InvalidRow) -> Payload:
    """Return a document as a payload of the engine.

    Raises:
        ServiceError: 400, the row is invalid.
    """
    if isinstance(document, InvalidRow):
        raise ServiceError(400, str(document), kind=ErrorKind.AUTHORING)
    return Payload(PayloadKind.JSON, document)


def is_outage(error: ErrorBody) -> bool:
    """Return whether a part of the farm is unavailable, as opposed to a fault of the document."""
    return error.kind is ErrorKind.UNAVAILABLE


T = TypeVar("T")

# The watchdog is set once for documents that begin within this time; a hanging process ends up to this
# much later.
_REACH_SECONDS: Final = 0.5


class DocumentLimits:
    """Limits each document of a slice to the whole time budget; see `active`."""

    def __init__(self, context: BatchContext) -> None:
        seconds = context.budget_seconds
        self.limits = RenderLimits("render", seconds, context.render.memory_mb)
        self._alarm = Alarm(seconds)
        self._watchdog = context.render.watchdog
        self._watchdog_seconds = seconds + WATCHDOG_GRACE_SECONDS + _REACH_SECONDS
        self._watched_until = 0.0

    @contextmanager
    def active(self) -> Iterator[None]:
        """Enable the limits in the block. Main thread only."""
        with raise_on_alarm():
            try:
                yield
            finally:
                self.pause()

    def pause(self) -> None:
        """Disarm the watchdog until the next document."""
        self._watchdog.set(0)
        self._watched_until = 0.0

    def attempt(self, work: Callable[[], T]) -> T | ErrorBody:
        """Render a document; see `workers.render.failures.run_with_deadline`."""
        at = ticks()
        if at >= self._watched_until:
            self._watchdog.set(self._watchdog_seconds)
            self._watched_until = at + _REACH_SECONDS
        return run_within(self._alarm, work, self.limits)


# Storing a PDF takes some milliseconds of waiting, in which the next one is rendered.
_STORE_THREADS: Final = 4


def _start_storing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_STORE_THREADS, thread_name_prefix="store")


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The services of a worker process for batches, and those of every render."""

    render: RenderContext
    database: Database
    blobs: BlobStore
    queue: SliceQueue
    commits: SliceCommits
    flow: BatchLifecycle
    admissions: AdmissionCache
    budget_seconds: float
    storing: ThreadPoolExecutor = field(default_factory=_start_storing)
