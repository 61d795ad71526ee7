"""A recorded job on its way to its end; any process may do any step, and any step twice."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.jobs import (
    JobEnd,
    JobRecord,
    JobStatus,
    end_jobs,
    find_job,
    remove_job,
)
from shared.db.session import Database, Session
from shared.db.unmetered import find_unmetered_job
from shared.db.usage import record_events
from shared.errors import ErrorBody, ErrorCode, ErrorKind, Unavailable
from shared.jobs import Claim, ClaimHome, JobOutcome, RenderJob
from shared.problems import write_error_body
from shared.queue.endings import Endings
from shared.queue.states import CANCELLED, OVERDUE, WITHDRAWN, Ended, JobStates

# What was accepted and has not ended by then fails: nobody can want it any more.
LIFETIME_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class JobFlow:
    """Ends recorded jobs: in the queue, which decides, and then in the job table, for good.

    Of a farm of several shards it is one shard's: `slots` are those of the accounts that live there.
    """

    database: Database
    states: JobStates
    endings: Endings
    blobs: BlobStore
    slots: AbstractSet[str] | None = None

    def store_pdf(self, job_id: str, pdf: bytes) -> Claim:
        """Put a PDF where it is kept until it expires; each run of a job has a place of its own.

        Raises:
            Unavailable: the object store is away.
        """
        key = f"{job_folder(job_id)}pdf-{secrets.token_hex(8)}"
        self.blobs.put(key, BytesIO(pdf), len(pdf))
        return Claim(ClaimHome.BLOB, len(pdf), key=key)

    def record_ends(
        self, ended: Mapping[str, Ended], *, first: Callable[[Session], object] = lambda _: None
    ) -> None:
        """Put on record how jobs ended in the queue, by their ids, and wake those who wait for them.

        `first` is called first in the same unit of work.

        Raises:
            Unavailable: the database is away.
        """
        at = now()
        ends = {job_id: _read_end(each, at) for job_id, each in ended.items()}
        with self.database.session() as session:
            first(session)
            were_open = end_jobs(session, ends, at=at)
            others = {job_id: find_job(session, job_id) for job_id in ended.keys() - were_open}
        for job_id, kept in others.items():
            self._drop_unless_kept(ended[job_id], kept)
        self.states.settle(ended)
        self.endings.tell(*ended)

    def complete(self, job_id: str) -> None:
        """Put on record the end of a job that has ended in the queue, if that is missing.

        Raises:
            Unavailable: Redis or the database is away.
        """
        ended = self.states.find_end(job_id)
        if ended is not None:
            self.record_ends({job_id: ended})

    def end_early(self, job_id: str, word: str) -> None:
        """Cancel a job or give it up; one that ended just before ends on record as it ended.

        Raises:
            Unavailable: Redis or the database is away; the job goes on.
        """
        self.record_ends({job_id: self.states.close(job_id, word) or Ended(word, None)})

    def withdraw(self, job_id: str) -> bool:
        """Fail a job that no worker has begun, so that it never runs; return whether it was.

        Raises:
            Unavailable: Redis is away, and nothing is changed; or the database is, and the keeper
                puts on record later that it never runs.
        """
        if not self.states.withdraw(job_id):
            return False
        self.record_ends({job_id: Ended(WITHDRAWN, None)})
        return True

    def remove(self, job: JobRecord) -> bool:
        """Take an ended job off the record, its PDF first; tell whether it was there.

        What it counts is in the ledger from then on: its usage event could be lost with Redis, and
        without the record nobody would know of it.

        Raises:
            Unavailable: the database or the object store is away; the record is still there.
        """
        self.delete_bytes(job)
        with self.database.session() as session:
            record_events(session, find_unmetered_job(session, job.id), at=now())
            return remove_job(session, job.id)

    def delete_bytes(self, job: JobRecord) -> None:
        """Delete a job's body and PDF; deleting them twice is no error.

        Raises:
            Unavailable: the object store is away.
        """
        body = RenderJob.decode(job.message).body
        for key in (job.pdf_key, body.key):
            if key:
                self.blobs.delete(key)

    def _drop_unless_kept(self, ended: Ended, kept: JobRecord | None) -> None:
        pdf = ended.outcome.pdf if ended.outcome else None
        if pdf is not None and (kept is None or kept.pdf_key != pdf.key):
            with suppress(Unavailable):
                self.blobs.delete(pdf.key)


def job_folder(job_id: str) -> str:
    """Name where the blobs of a recorded job lie."""
    return f"jobs/{job_id}/"


def _read_end(ended: Ended, at: datetime) -> JobEnd:
    outcome = ended.outcome
    if outcome is not None:
        return _read_outcome(outcome, at)
    if ended.word == CANCELLED:
        return JobEnd(JobStatus.CANCELLED)
    error = {OVERDUE: _overdue, WITHDRAWN: _withdrawn}[ended.word]()
    return JobEnd(JobStatus.FAILED, error=write_error_body(error, at=at))


def _read_outcome(outcome: JobOutcome, at: datetime) -> JobEnd:
    started = outcome.started_at
    started_at = None if started is None else datetime.fromtimestamp(started, UTC)
    if outcome.error is not None:
        error = write_error_body(outcome.error, at=at)
        return JobEnd(JobStatus.FAILED, started_at, error=error)
    assert outcome.pdf is not None
    return JobEnd(
        JobStatus.SUCCEEDED,
        started_at,
        pages=outcome.pages,
        filename=outcome.filename,
        timings=outcome.timings,
        pdf_key=outcome.pdf.key,
        pdf_size=outcome.pdf.size,
        warnings=outcome.warnings,
    )


def _overdue() -> ErrorBody:
    message = "The render was not done within its time and was given up."
    return ErrorBody(504, message, ErrorKind.TIMEOUT, ErrorCode.RENDER_TIMEOUT)


def _withdrawn() -> ErrorBody:
    message = "The render was not begun, since the service was being looked after; send it again."
    return ErrorBody(503, message, ErrorKind.UNAVAILABLE)
