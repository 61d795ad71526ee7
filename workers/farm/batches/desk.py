"""What work on batches needs beside what any render needs."""

from __future__ import annotations

from dataclasses import dataclass

from shared.batch_flow import BatchFlow
from shared.blobs.store import BlobStore
from shared.buckets.admission import AdmissionCache
from shared.db.session import Database
from shared.queue.charges import Charges
from shared.queue.slices import SliceQueue


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
