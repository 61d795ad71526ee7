"""Maintenance tasks for recorded jobs: requeueing lost ones, expiry, idempotency keys."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isinf
from typing import Final

from shared.clock import epoch, now
from shared.db.session import Database
from shared.jobs.idempotency import remove_expired_keys
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import Lane, RenderJob
from shared.jobs.repository import (
    JobRecord,
    list_due_jobs,
    list_unfinished_jobs,
    mark_jobs_requeued,
    mark_result_deleted,
)
from shared.queue.broker import Broker
from shared.queue.names import INTERACTIVE
from shared.settings import get_limits
from shared.telemetry.log import get_logger
from workers.maintenance.runner import repeat_while_full

# Younger jobs may still be queued by their front.
FORGOTTEN_AFTER: Final = timedelta(seconds=3)
ROWS_PER_TRANSACTION: Final = 500

log: Final = get_logger(__name__)


@dataclass(slots=True)
class RequeueLostJobs:
    """Requeues recorded interactive jobs whose messages were lost.

    Once its message has left the queue and no worker holds it, a job is lost. It must be missing in two
    rounds, since a worker takes a message and records its claim in two steps.
    """

    flow: JobLifecycle
    broker: Broker
    _missed: AbstractSet[str] = frozenset()

    def run_once(self) -> int:
        """Requeue missing jobs, and record when Redis has lost its data."""
        self.flow.states.begin_epoch()
        seen = self.broker.read_queue(INTERACTIVE)
        left_before = min(epoch() - FORGOTTEN_AFTER.total_seconds(), seen.passed_until)
        if isinf(left_before):
            self._missed = frozenset()
            return 0
        before = datetime.fromtimestamp(left_before, UTC)
        with self.flow.database.snapshot() as session:
            found = list_unfinished_jobs(
                session,
                Lane.INTERACTIVE,
                before=before,
                limit=ROWS_PER_TRANSACTION,
                slots=self.flow.slots,
            )
        missing = [job for job in found if job.id not in seen.held_tasks]
        forgotten = [job for job in missing if job.id in self._missed]
        self._missed = {job.id for job in missing}
        if forgotten:
            self.broker.queue_recorded(
                {job.message: RenderJob.decode(job.message) for job in forgotten}
            )
            with self.flow.database.session() as session:
                mark_jobs_requeued(session, [job.id for job in forgotten], at=now())
        return len(forgotten)


@dataclass(frozen=True, slots=True)
class ExpireJobs:
    """Ends overdue jobs, and deletes PDFs and, days later, records after their retention."""

    flow: JobLifecycle

    def run_once(self) -> int:
        """Process due jobs, longest due first."""
        return repeat_while_full(self._expire_some, limit=ROWS_PER_TRANSACTION)

    def _expire_some(self) -> int:
        with self.flow.database.snapshot() as session:
            due = list_due_jobs(
                session, at=now(), limit=ROWS_PER_TRANSACTION, slots=self.flow.slots
            )
        for job in due:
            self._expire(job)
        return len(due)

    def _expire(self, job: JobRecord) -> None:
        if not job.status.is_final:
            self.flow.end_overdue(job.id)
            return
        assert job.finished_at is not None
        record_expires_at = job.finished_at + get_limits().record_retention
        if now() >= record_expires_at:
            self.flow.remove(job)
            return
        self.flow.delete_bytes(job)
        with self.flow.database.session() as session:
            mark_result_deleted(session, job, record_expires_at=record_expires_at)


def remove_keys(database: Database) -> int:
    """Delete idempotency keys a day after their first call, and return how many."""

    def remove() -> int:
        with database.session() as session:
            return remove_expired_keys(session, at=now(), limit=ROWS_PER_TRANSACTION)

    return repeat_while_full(remove, limit=ROWS_PER_TRANSACTION)
