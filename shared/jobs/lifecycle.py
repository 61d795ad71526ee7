"""The end of recorded jobs, in Redis and in the database; every step is idempotent, in any process."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database, Session
from shared.errors import Unavailable
from shared.jobs.records import Claim, ClaimStorage, JobOutcome, RenderJob
from shared.jobs.repository import JobRecord, end_jobs, find_job, mark_result_deleted, remove_job
from shared.queue.states import OVERDUE, WITHDRAWN, CompletionNotices, JobStates, closed_outcome
from shared.usage.repository import find_unmetered_job, record_events

# A job that has not ended this long after acceptance fails.
LIFETIME_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class JobLifecycle:
    """Ends recorded jobs: first in Redis, which decides the outcome, then in the job table.

    Each shard of a farm has an instance: `slots` are the hash slots of its accounts. Methods raise
    `Unavailable` while Redis or a store that they use is unreachable.
    """

    database: Database
    states: JobStates
    completions: CompletionNotices
    blobs: BlobStore
    slots: AbstractSet[str] | None = None

    def store_pdf(self, job_id: str, pdf: bytes) -> Claim:
        """Store a PDF until it expires, under a key of its own for each run of a job."""
        key = f"{job_folder(job_id)}pdf-{secrets.token_hex(8)}"
        self.blobs.put(key, BytesIO(pdf), len(pdf))
        return Claim(ClaimStorage.BLOB, len(pdf), key=key)

    def record_ends(
        self,
        ended: Mapping[str, JobOutcome],
        *,
        first: Callable[[Session], object] = lambda _: None,
    ) -> None:
        """Record the ends of jobs, by id, and notify their waiters.

        `first` is called at the beginning of the transaction.
        """
        at = now()
        with self.database.session() as session:
            first(session)
            were_open = end_jobs(session, ended, at=at)
            others = {job_id: find_job(session, job_id) for job_id in ended.keys() - were_open}
        for job_id, kept in others.items():
            self._delete_unrecorded_pdf(ended[job_id].pdf, kept)
        self.states.expire_soon(ended)
        self.completions.notify(*ended)

    def complete(self, job_id: str) -> None:
        """Record the end of a job that has ended in Redis, if it is not recorded yet."""
        ended = self.states.find_end(job_id)
        if ended is not None:
            self.record_ends({job_id: ended})

    def end_early(self, job_id: str, reason: str) -> None:
        """End a job as cancelled or overdue; if it ended just before, record that end.

        Raises:
            Unavailable: Redis or the database is unreachable; the job continues.
        """
        self.record_ends({job_id: self.states.close(job_id, reason)})

    def end_overdue(self, job_id: str) -> None:
        """End a job whose deadline has passed: as withdrawn if no worker started it, else as overdue.

        Raises:
            Unavailable: as `end_early`.
        """
        if not self.withdraw(job_id):
            self.end_early(job_id, OVERDUE)

    def withdraw(self, job_id: str) -> bool:
        """Fail a job that no worker has started, so that it never runs; return whether it failed.

        Raises:
            Unavailable: Redis is unreachable, and nothing is changed; or the database is, and maintenance
                records the end later.
        """
        if not self.states.withdraw(job_id):
            return False
        self.record_ends({job_id: closed_outcome(job_id, WITHDRAWN)})
        return True

    def remove(self, job: JobRecord) -> bool:
        """Delete an ended job, its PDF first; return whether it existed.

        Its usage event is written to the ledger if it is missing there: Redis could lose the event, and
        without the record it could not be restored.

        Raises:
            Unavailable: the database or the object store is unreachable; the record remains.
        """
        self.delete_bytes(job)
        with self.database.session() as session:
            record_events(session, find_unmetered_job(session, job.id), at=now())
            return remove_job(session, job.id)

    def drop_result(self, job: JobRecord) -> None:
        """Delete an ended job's body and PDF; its record stays."""
        self.delete_bytes(job)
        with self.database.session() as session:
            mark_result_deleted(session, job)

    def delete_bytes(self, job: JobRecord) -> None:
        """Delete a job's body and PDF; missing ones are ignored."""
        body = RenderJob.decode(job.message).body
        for key in (job.pdf_key, body.key):
            if key:
                self.blobs.delete(key)

    def _delete_unrecorded_pdf(self, pdf: Claim | None, kept: JobRecord | None) -> None:
        if pdf is not None and (kept is None or kept.pdf_key != pdf.key):
            with suppress(Unavailable):
                self.blobs.delete(pdf.key)


def job_folder(job_id: str) -> str:
    """Return the key prefix of a recorded job's blobs."""
    return f"jobs/{job_id}/"
