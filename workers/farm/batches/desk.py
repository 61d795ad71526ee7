"""What work on batches needs beside what any render needs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from shared.batch_flow import BatchFlow
from shared.blobs.store import BlobStore
from shared.buckets.admission import AdmissionCache
from shared.db.session import Database
from shared.queue.charges import Charges
from shared.queue.slices import SliceQueue

# A PDF takes a store some milliseconds of waiting, in which the next one is rendered.
_STORED_AT_ONCE: Final = 4


def _start_storing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_STORED_AT_ONCE, thread_name_prefix="store")


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts of a worker process that batches are worked off with."""

    database: Database
    blobs: BlobStore
    queue: SliceQueue
    charges: Charges
    flow: BatchFlow
    admissions: AdmissionCache
    budget_seconds: float
    storing: ThreadPoolExecutor = field(default_factory=_start_storing)
