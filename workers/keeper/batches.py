"""What the keeper does for batches: feeds, finishes, sends again what is lost, forgets what is old."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final

from shared.batch_flow import BatchFlow
from shared.batches.records import Batch, Output
from shared.clock import now, ticks
from shared.db.batch_sweep import (
    forget_results,
    list_due,
    remove_batch,
    remove_some_items,
)
from shared.db.batch_turns import add_missing_turns, needs_repair, remove_idle_turns
from shared.db.batches import RECORD_KEPT, has_running_chunk, list_complete
from shared.db.feeding import list_in_flight
from shared.db.session import Database
from shared.queue.slices import Assembly, Work
from shared.telemetry.log import get_logger
from workers.keeper.duty import Duty

_AT_ONCE: Final = 500
_BATCHES_AT_ONCE: Final = 20
_ROUND_SECONDS: Final = 10.0  # others of the keeper's duties wait meanwhile

log: Final = get_logger(__name__)


class FeedBatches:
    """Fills the queue up where no worker does: after an outage, or when all were idle."""

    name = "batches_fed"
    every_seconds = 2.0

    def __init__(self, flow: BatchFlow) -> None:
        self._flow = flow

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        return self._flow.feed()


@dataclass(frozen=True, slots=True)
class RepairTurns:
    """Sees to it that every account with an unfinished batch or accepted render is in line, and no other.

    A process of an earlier release, which an upgrade runs beside this one, accepts work without
    putting its account in line; and who ends the last work of an account leaves it there.
    """

    name: ClassVar[str] = "batch_turns_repaired"
    every_seconds: ClassVar[float] = 5.0

    database: Database

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        with self.database.snapshot() as session:
            if not needs_repair(session):
                return 0
        with self.database.session() as session:
            return add_missing_turns(session) + remove_idle_turns(session, limit=_AT_ONCE)


class FinishBatches:
    """Finishes batches whose last worker ended between its slice and that."""

    name = "batches_finished"
    every_seconds = 2.0

    def __init__(self, flow: BatchFlow) -> None:
        self._flow = flow

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        with self._flow.database.snapshot() as session:
            complete = list_complete(session, limit=_BATCHES_AT_ONCE, slots=self._flow.slots)
        whole = [batch for batch in complete if batch.output is not Output.MERGED]
        return sum(self._flow.finish(batch) for batch in whole)


class SendLostSlices:
    """Sends work again that is in nobody's hands, though the database says so.

    It must be missing in two rounds: a worker takes a message and notes that it holds it in two
    steps. So a slice is back after 4 s, and after no more than 10 s once Redis was emptied.
    """

    name = "slices_requeued"
    every_seconds = 2.0

    def __init__(self, flow: BatchFlow) -> None:
        self._flow = flow
        self._missing: frozenset[Work] = frozenset()

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        slots = self._flow.slots
        with self._flow.database.snapshot() as session:
            work: list[Work] = [*list_in_flight(session, limit=_AT_ONCE, slots=slots)]
            complete = list_complete(session, limit=_BATCHES_AT_ONCE, slots=slots)
        work += [Assembly(batch.id) for batch in complete if batch.output is Output.MERGED]
        missing = frozenset(self._flow.queue.find_lost(work))
        lost = sorted(missing & self._missing, key=lambda each: each.name)
        self._missing = missing
        self._flow.queue.send(lost)
        for each in lost:
            log.warning("slice was forgotten by the queue and is queued again", slice=each.name)
        return len(lost)


class ForgetBatches:
    """Deletes what expired batches gave, and days later their records; all of removed ones at once."""

    name = "batches_expired"
    every_seconds = 30.0

    def __init__(self, flow: BatchFlow, *, record_kept: timedelta = RECORD_KEPT) -> None:
        self._flow = flow
        self._record_kept = record_kept

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`. It goes on while something is due, for some seconds."""
        begun, count = ticks(), 0
        while ticks() - begun < _ROUND_SECONDS:
            with self._flow.database.snapshot() as session:
                due = list_due(session, at=now(), limit=_BATCHES_AT_ONCE, slots=self._flow.slots)
            for batch in due:
                self._forget(batch)
            count += len(due)
            if len(due) < _BATCHES_AT_ONCE:
                break
        return count

    def _forget(self, batch: Batch) -> None:
        database, blobs = self._flow.database, self._flow.blobs
        with database.snapshot() as session:
            if batch.removed_at is not None and has_running_chunk(session, batch.id):
                return  # a worker is at a slice of it; the next round removes it
        # By what the store holds, not by what is on record: a run that was killed between storing
        # and recording left a part that nobody names.
        keys = list(blobs.list_keys(f"batches/{batch.id}/"))
        for key in keys:
            blobs.delete(key)
        is_left = keys or batch.body_key or batch.result_key or not self._is_old(batch)
        if is_left and batch.removed_at is None:
            with database.session() as session:
                forget_results(session, batch, record_kept=self._record_kept)
            return
        has_items = True
        while has_items:
            with database.session() as session:
                has_items = remove_some_items(session, batch.id, at=now())
        with database.session() as session:
            remove_batch(session, batch.id)

    def _is_old(self, batch: Batch) -> bool:
        assert batch.finished_at is not None, "only an end sets a time to sweep"
        return batch.finished_at + self._record_kept <= now()


def batch_duties(flow: BatchFlow, *, record_kept: timedelta = RECORD_KEPT) -> tuple[Duty, ...]:
    """Give everything the keeper does for batches."""
    return (
        FeedBatches(flow),
        FinishBatches(flow),
        SendLostSlices(flow),
        ForgetBatches(flow, record_kept=record_kept),
    )
