"""The keeper's duties for recorded jobs: none is forgotten, none unmetered, none kept too long."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final

from shared.clock import now, ticks
from shared.db.idempotency import remove_expired_keys
from shared.db.jobs import (
    RECORD_KEPT,
    JobRecord,
    forget_result,
    list_due,
    list_unfinished,
    touch_jobs,
)
from shared.db.session import Database
from shared.job_flow import JobFlow
from shared.jobs import Lane, RenderJob
from shared.queue.broker import Broker
from shared.queue.names import INTERACTIVE
from shared.queue.states import OVERDUE
from shared.telemetry.log import get_logger

# Not younger: between the record and the queue a job is in its front's hands.
FORGOTTEN_AFTER: Final = timedelta(seconds=3)
# The clocks of two machines may differ by so much.
_CLOCK_SLACK: Final = timedelta(seconds=2)
_AT_ONCE: Final = 500
_ROUND_SECONDS: Final = 10.0  # others of the keeper's duties wait meanwhile

log: Final = get_logger(__name__)


@dataclass(slots=True)
class RequeueJobs:
    """Queues waited jobs on record again that the queue has forgotten: their messages were lost.

    A queue is a list, so what came before its oldest message has left it. A job that came before,
    and that no worker holds, is lost; it is believed at the second look, for a worker takes a
    message and writes down that it holds it in two steps.
    """

    name: ClassVar[str] = "jobs_requeued"
    every_seconds: ClassVar[float] = 2.0

    flow: JobFlow
    broker: Broker
    _missed: AbstractSet[str] = frozenset()

    def run_once(self) -> int:
        """Queue again what is missing; note when Redis has lost its memory."""
        self.flow.states.begin_epoch()
        seen = self.broker.look(INTERACTIVE)
        before = now() - FORGOTTEN_AFTER
        if seen.oldest is not None:
            before = min(before, datetime.fromtimestamp(seen.oldest, UTC) - _CLOCK_SLACK)
        with self.flow.database.snapshot() as session:
            found = list_unfinished(
                session,
                Lane.INTERACTIVE,
                before=before,
                limit=_AT_ONCE,
                slots=self.flow.slots,
            )
        missing = [job for job in found if job.id not in seen.held]
        forgotten = [job for job in missing if job.id in self._missed]
        self._missed = {job.id for job in missing}
        if forgotten:
            self.broker.queue_recorded(
                {job.message: RenderJob.decode(job.message) for job in forgotten}
            )
            with self.flow.database.session() as session:
                touch_jobs(session, [job.id for job in forgotten], at=now())
        return len(forgotten)


@dataclass(frozen=True, slots=True)
class SweepJobs:
    """Ends what is overdue, deletes PDFs a day after the end, and records days after it."""

    name: ClassVar[str] = "jobs_swept"
    every_seconds: ClassVar[float] = 15.0

    flow: JobFlow
    record_kept: timedelta = RECORD_KEPT

    def run_once(self) -> int:
        """Sweep what is due, those longest due first."""
        begun = ticks()
        count = 0
        while ticks() - begun < _ROUND_SECONDS:
            with self.flow.database.snapshot() as session:
                due = list_due(session, at=now(), limit=_AT_ONCE, slots=self.flow.slots)
            for job in due:
                self._sweep(job)
            count += len(due)
            if len(due) < _AT_ONCE:
                break
        return count

    def _sweep(self, job: JobRecord) -> None:
        if not job.status.is_final:
            self.flow.end_early(job.id, OVERDUE)
            return
        assert job.finished_at is not None
        if now() >= job.finished_at + self.record_kept:
            self.flow.remove(job)
            return
        self.flow.delete_bytes(job)
        with self.flow.database.session() as session:
            forget_result(session, job, record_kept=self.record_kept)


@dataclass(frozen=True, slots=True)
class ForgetKeys:
    """Removes idempotency keys a day after their first call."""

    name: ClassVar[str] = "idempotency_keys_removed"
    every_seconds: ClassVar[float] = 60.0

    database: Database

    def run_once(self) -> int:
        """Remove what has expired."""
        with self.database.session() as session:
            return remove_expired_keys(session, at=now(), limit=_AT_ONCE)
