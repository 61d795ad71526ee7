"""The services of a worker process for batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from shared.auth.admission import AdmissionCache
from shared.batches.lifecycle import BatchLifecycle
from shared.blobs.store import BlobStore
from shared.db.session import Database
from shared.queue.slice_commits import SliceCommits, SliceQueue

# Storing a PDF takes some milliseconds of waiting, in which the next one is rendered.
_STORE_THREADS: Final = 4


def _start_storing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_STORE_THREADS, thread_name_prefix="store")


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The services of a worker process for batches, in addition to those of every render."""

    database: Database
    blobs: BlobStore
    queue: SliceQueue
    commits: SliceCommits
    flow: BatchLifecycle
    admissions: AdmissionCache
    budget_seconds: float
    storing: ThreadPoolExecutor = field(default_factory=_start_storing)
