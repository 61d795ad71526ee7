"""Maintenance tasks for recorded jobs and batches: slices, ends, lost work queued again, expiry, idempotency keys."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from math import isinf
from typing import Final

from shared.batches.lifecycle import BatchLifecycle
from shared.batches.records import Batch, BatchOutput
from shared.batches.repository import (
    delete_batch,
    delete_items,
    has_running_chunk,
    list_complete,
    list_due_batches,
    mark_results_deleted,
)
from shared.batches.slice_scheduling import (
    has_idle_accounts,
    hasten_batches,
    list_in_flight,
    remove_idle_accounts,
)
from shared.clock import epoch, now
from shared.db.queries import find_retention
from shared.db.session import Database
from shared.jobs.idempotency import remove_expired_keys
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import Lane, RenderJob
from shared.jobs.repository import (
    JobRecord,
    list_due_jobs,
    list_unfinished_jobs,
    mark_jobs_requeued,
)
from shared.queue.broker import Broker
from shared.queue.names import INTERACTIVE
from shared.queue.slice_commits import Assembly, BatchWork
from shared.telemetry.log import get_logger
from workers.maintenance.runner import MaintenanceTask, repeat_in_sessions, repeat_while_full

ROWS_PER_TRANSACTION: Final = 500
_BATCHES_AT_ONCE: Final = 20

log: Final = get_logger(__name__)


def clear_rotation(database: Database) -> int:
    """Remove accounts whose last batch or accepted render has ended from the rotation."""
    with database.snapshot() as session:
        if not has_idle_accounts(session):
            return 0
    with database.session() as session:
        return remove_idle_accounts(session, limit=ROWS_PER_TRANSACTION)


def hasten(database: Database) -> int:
    """Make batches express whose deadline is near, and return how many."""
    with database.session() as session:
        return hasten_batches(session, at=now())


def finish_batches(flow: BatchLifecycle) -> int:
    """Finish batches whose last worker crashed before it could, and return how many."""
    with flow.database.snapshot() as session:
        complete = list_complete(session, limit=_BATCHES_AT_ONCE, slots=flow.slots)
    whole = [batch for batch in complete if batch.output is not BatchOutput.MERGED]
    return sum(flow.finish(batch) for batch in whole)


class RequeueLostSlices:
    """Requeues slices that the database has in flight but that are neither queued nor held by a worker.

    A slice must be missing in two rounds, since a worker takes a message and records its claim in two
    steps. So a slice is requeued after 4 s, and within 10 s after Redis was emptied.
    """

    def __init__(self, flow: BatchLifecycle) -> None:
        self._flow = flow
        self._missing: frozenset[BatchWork] = frozenset()

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        slots = self._flow.slots
        with self._flow.database.snapshot() as session:
            work: list[BatchWork] = [
                *list_in_flight(session, limit=ROWS_PER_TRANSACTION, slots=slots)
            ]
            complete = list_complete(session, limit=_BATCHES_AT_ONCE, slots=slots)
        work += [Assembly(batch.id) for batch in complete if batch.output is BatchOutput.MERGED]
        missing = frozenset(self._flow.queue.find_lost(work))
        lost = sorted(missing & self._missing, key=lambda each: each.name)
        self._missing = missing
        self._flow.queue.send(lost)
        for each in lost:
            log.warning("lost slice requeued", slice=each.name)
        return len(lost)


def expire_batches(flow: BatchLifecycle) -> int:
    """Delete the results of expired batches, and days later their records; deleted batches at once."""

    def expire_some() -> int:
        with flow.database.snapshot() as session:
            due = list_due_batches(session, at=now(), limit=_BATCHES_AT_ONCE, slots=flow.slots)
        for batch in due:
            _expire_batch(batch, flow)
        return len(due)

    return repeat_while_full(expire_some, limit=_BATCHES_AT_ONCE)


def _expire_batch(batch: Batch, flow: BatchLifecycle) -> None:
    assert batch.finished_at is not None, "only ended batches are due"
    database, blobs = flow.database, flow.blobs
    with database.snapshot() as session:
        if batch.removed_at is not None and has_running_chunk(session, batch.id):
            return  # a slice is running; a later round deletes the batch
        kept = find_retention(session, batch.account_id, *batch.times)[1]
    # The keys of the store, not of the records: a crash between storing and recording leaves an
    # unreferenced part.
    keys = list(blobs.list_keys(f"batches/{batch.id}/"))
    for key in keys:
        blobs.delete(key)
    is_left = keys or batch.body_key or batch.result_key or batch.finished_at + kept > now()
    if is_left and batch.removed_at is None:
        with database.session() as session:
            mark_results_deleted(session, batch)
        return
    has_items = True
    while has_items:
        with database.session() as session:
            has_items = delete_items(session, batch.id, at=now())
    with database.session() as session:
        delete_batch(session, batch.id)


def batch_tasks(flow: BatchLifecycle) -> tuple[MaintenanceTask, ...]:
    """Return the maintenance tasks for batches."""
    return (
        # Fills the queue when no worker does: after an outage, or if all were idle.
        MaintenanceTask("batches_fed", 2.0, flow.enqueue_slices),
        MaintenanceTask("batches_finished", 2.0, partial(finish_batches, flow)),
        MaintenanceTask("slices_requeued", 2.0, RequeueLostSlices(flow).run_once),
        MaintenanceTask("batches_expired", 30.0, partial(expire_batches, flow)),
    )


# Younger jobs may still be queued by their front.
FORGOTTEN_AFTER: Final = timedelta(seconds=3)


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


def expire_jobs(flow: JobLifecycle) -> int:
    """End overdue jobs, and delete PDFs and, days later, records after their retention; longest due first."""

    def expire_some() -> int:
        with flow.database.snapshot() as session:
            due = list_due_jobs(session, at=now(), limit=ROWS_PER_TRANSACTION, slots=flow.slots)
        for job in due:
            _expire_job(job, flow)
        return len(due)

    return repeat_while_full(expire_some, limit=ROWS_PER_TRANSACTION)


def _expire_job(job: JobRecord, flow: JobLifecycle) -> None:
    if not job.status.is_final:
        flow.end_overdue(job.id)
        return
    assert job.finished_at is not None
    with flow.database.snapshot() as session:
        kept = find_retention(session, job.account_id)[1]
    if now() >= job.finished_at + kept:
        flow.remove(job)
    else:
        flow.drop_result(job)


def remove_keys(database: Database) -> int:
    """Delete idempotency keys a day after their first call, and return how many."""
    return repeat_in_sessions(database, remove_expired_keys, at=now(), limit=ROWS_PER_TRANSACTION)
