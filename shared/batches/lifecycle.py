"""Queues slices fairly, and finishes or cancels batches; any process may run any step."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from shared.batches.decisions import is_proof_due
from shared.batches.records import Batch, BatchOutput
from shared.batches.repository import cancel_batch, clear_body_key, finish_batch, is_complete
from shared.batches.slice_scheduling import ScheduledSlice, claim_slices, needs_slices
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database, Session
from shared.errors import Unavailable
from shared.queue.slice_commits import Assembly, SliceQueue
from shared.queue.states import CompletionNotices
from shared.telemetry.log import get_logger

# The most slices that wait in the queue. Every worker refills the queue when it takes a slice, so each
# worker finds one; and a batch that comes later waits for no more than these.
WINDOW: Final = 4

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BatchLifecycle:
    """State changes of batches and accepted renders. Every method is idempotent and safe to run concurrently.

    With several shards there is one for each: `slots` are the slots of the shard's accounts.
    """

    database: Database
    blobs: BlobStore
    queue: SliceQueue
    completions: CompletionNotices
    slots: frozenset[str] | None = None

    def enqueue_slices(self) -> int:
        """Fill the queue with the next slices and return how many were added.

        Raises:
            Unavailable: the database or Redis does not answer; the maintenance process fills the queue later.
        """
        with self.database.snapshot() as session:
            if not needs_slices(session, window=WINDOW, at=now(), slots=self.slots):
                return 0
        with self.database.session() as session:
            slices = self.claim_slices(session)
        # After the commit: the maintenance process finds slices that were not sent.
        self.queue.send(slices)
        return len(slices)

    def claim_slices(self, session: Session) -> list[ScheduledSlice]:
        """Claim the slices that fill the queue, to be sent after the unit of work is committed."""
        return claim_slices(session, window=WINDOW, at=now(), slots=self.slots)

    def try_enqueue_slices(self) -> None:
        """Fill the queue; on an outage leave it to the maintenance process."""
        with suppress(Unavailable):
            self.enqueue_slices()

    def finish(self, batch: Batch) -> bool:
        """Finish a batch whose documents have all ended, or queue its assembly; return whether it was
        complete. If it is not, queue the proof of a run whose documents have ended.

        Raises:
            Unavailable: the database or Redis does not answer; the maintenance process finishes it later.
        """
        with self.database.snapshot() as session:
            is_whole = is_complete(session, batch.id)
            has_proof = not is_whole and is_proof_due(session, batch)
        if has_proof:
            self.queue.send([Assembly(batch.id)])
        if not is_whole:
            return False
        if batch.output is BatchOutput.MERGED:
            self.queue.send([Assembly(batch.id)])
            return True
        with self.database.session() as session:
            finished = finish_batch(session, batch.id, at=now())
        if finished is None:
            return False
        self.report_finished(finished)
        return True

    def arrange(self, batch: Batch) -> None:
        """Queue the task that writes the files of a decision on a run; on an outage leave it to maintenance."""
        with suppress(Unavailable):
            self.queue.send([Assembly(batch.id)])

    def cancel(self, batch: Batch) -> bool:
        """Cancel the remaining documents of a batch; finished PDFs are kept until they expire. Return False if it had
        already ended.

        Raises:
            Unavailable: the database does not answer.
        """
        with self.database.session() as session:
            cancelled = cancel_batch(session, batch.id, at=now())
        if cancelled:
            self.report_cancelled(batch)
        return cancelled

    def report_cancelled(self, batch: Batch) -> None:
        """Stop the slices of a batch that was cancelled, notify its waiters, and delete its body."""
        # Without Redis a running slice continues for its two seconds, and its PDFs are kept.
        with suppress(Unavailable):
            self.queue.stop(batch.id)
        self.completions.notify(batch.id)
        # A running slice has read its documents, but assembling a merged batch may read them again.
        if batch.output is not BatchOutput.MERGED:
            with suppress(Unavailable):
                self.delete_body(batch)

    def report_finished(self, batch: Batch) -> None:
        """Notify the waiters of a batch that has ended, and delete its body."""
        log.info("batch ended", batch=batch.id, status=batch.status.value, total=batch.total)
        self.completions.notify(batch.id)
        self.delete_body(batch)

    def delete_body(self, batch: Batch) -> None:
        """Delete the body of a batch that has ended."""
        if batch.body_key is None:
            return
        self.blobs.delete(batch.body_key)
        with self.database.session() as session:
            clear_body_key(session, batch.id)
