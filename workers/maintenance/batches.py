"""Maintenance tasks for batches: queueing slices, finishing, requeueing lost work, expiry."""

from __future__ import annotations

from functools import partial
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
    add_missing_accounts,
    list_in_flight,
    needs_rotation_repair,
    remove_idle_accounts,
)
from shared.clock import now
from shared.db.session import Database
from shared.queue.slice_commits import Assembly, BatchWork
from shared.settings import get_limits
from shared.telemetry.log import get_logger
from workers.maintenance.runner import MaintenanceTask, repeat_while_full

ROWS_PER_TRANSACTION: Final = 500
_BATCHES_AT_ONCE: Final = 20

log: Final = get_logger(__name__)


def repair_rotation(database: Database) -> int:
    """Keep exactly the accounts with unfinished batches or accepted renders in the rotation.

    During an upgrade, processes of an earlier release accept work without adding the account; and an account
    stays in the rotation after its last work has ended.
    """
    with database.snapshot() as session:
        if not needs_rotation_repair(session):
            return 0
    with database.session() as session:
        return add_missing_accounts(session) + remove_idle_accounts(
            session, limit=ROWS_PER_TRANSACTION
        )


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


class ExpireBatches:
    """Deletes the results of expired batches, and days later their records; deleted batches at once."""

    def __init__(self, flow: BatchLifecycle) -> None:
        self._flow = flow

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        return repeat_while_full(self._expire_some, limit=_BATCHES_AT_ONCE)

    def _expire_some(self) -> int:
        with self._flow.database.snapshot() as session:
            due = list_due_batches(
                session, at=now(), limit=_BATCHES_AT_ONCE, slots=self._flow.slots
            )
        for batch in due:
            self._expire(batch)
        return len(due)

    def _expire(self, batch: Batch) -> None:
        database, blobs = self._flow.database, self._flow.blobs
        with database.snapshot() as session:
            if batch.removed_at is not None and has_running_chunk(session, batch.id):
                return  # a slice is running; a later round deletes the batch
        # The keys of the store, not of the records: a crash between storing and recording leaves an
        # unreferenced part.
        keys = list(blobs.list_keys(f"batches/{batch.id}/"))
        for key in keys:
            blobs.delete(key)
        is_left = keys or batch.body_key or batch.result_key or not self._is_old(batch)
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

    def _is_old(self, batch: Batch) -> bool:
        assert batch.finished_at is not None, "only ended batches are due"
        return batch.finished_at + get_limits().record_retention <= now()


def batch_tasks(flow: BatchLifecycle) -> tuple[MaintenanceTask, ...]:
    """Return the maintenance tasks for batches."""
    return (
        # Fills the queue when no worker does: after an outage, or if all were idle.
        MaintenanceTask("batches_fed", 2.0, flow.enqueue_slices),
        MaintenanceTask("batches_finished", 2.0, partial(finish_batches, flow)),
        MaintenanceTask("slices_requeued", 2.0, RequeueLostSlices(flow).run_once),
        MaintenanceTask("batches_expired", 30.0, ExpireBatches(flow).run_once),
    )
