"""Slices fed to the queue in turns, batches finished and cleaned up; any process may do any of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from shared.batches.records import Batch, Output
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.batches import cancel_batch, finish_batch, forget_body, is_complete
from shared.db.feeding import Work, claim_slices, needs_feeding
from shared.db.session import Database, Session
from shared.errors import Unavailable
from shared.queue.endings import Endings
from shared.queue.slices import Assembly, SliceQueue
from shared.telemetry.log import get_logger

# How many slices wait in the queue at most, whatever there is to do. Every worker fills up
# to it when it takes a slice, so however many there are, each finds one: and a batch that comes
# later waits for no more than these.
WINDOW: Final = 4

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BatchFlow:
    """Moves batches and accepted renders on. Every method may be repeated, by several processes at once.

    Of a farm of several shards it is one shard's: `slots` are those of the accounts that live there.
    """

    database: Database
    blobs: BlobStore
    queue: SliceQueue
    endings: Endings
    slots: frozenset[str] | None = None

    def feed(self) -> int:
        """Fill the queue up with the slices whose turn it is and give how many.

        Raises:
            Unavailable: the database or Redis is away; the keeper feeds later.
        """
        with self.database.snapshot() as session:
            if not needs_feeding(session, window=WINDOW, at=now(), slots=self.slots):
                return 0
        with self.database.session() as session:
            slices = self.claim(session)
        # After the commit: a slice that is not sent after all is found lost by the keeper.
        self.queue.send(slices)
        return len(slices)

    def claim(self, session: Session) -> list[Work]:
        """Choose the slices that fill the queue up, to be sent once the unit of work is done."""
        return claim_slices(session, window=WINDOW, at=now(), slots=self.slots)

    def try_feed(self) -> None:
        """Feed, or leave it to the keeper."""
        with suppress(Unavailable):
            self.feed()

    def finish(self, batch: Batch) -> bool:
        """Finish a batch whose documents have all ended, or have it assembled; tell whether it was
        complete.

        Raises:
            Unavailable: the database or Redis is away; the keeper finishes later.
        """
        with self.database.snapshot() as session:
            if not is_complete(session, batch.id):
                return False
        if batch.output is Output.MERGED:
            self.queue.send([Assembly(batch.id)])
            return True
        with self.database.session() as session:
            finished = finish_batch(session, batch.id, at=now())
        if finished is None:
            return False
        self.told_finished(finished)
        return True

    def cancel(self, batch: Batch) -> None:
        """Cancel what of a batch is not begun; what was rendered stays until it expires.

        Raises:
            Unavailable: the database is away.
        """
        with self.database.session() as session:
            cancelled = cancel_batch(session, batch.id, at=now())
        if not cancelled:
            return
        # Without Redis a slice at work goes on for its two seconds, and what it made is kept.
        with suppress(Unavailable):
            self.queue.stop(batch.id)
        self.endings.tell(batch.id)
        # A slice at work has read its documents, but a merged one may have to read them again.
        if batch.output is not Output.MERGED:
            with suppress(Unavailable):
                self.drop_body(batch)

    def told_finished(self, batch: Batch) -> None:
        """Wake who waits for a batch that has ended, and drop its body."""
        log.info("batch ended", batch=batch.id, status=batch.status.value, total=batch.total)
        self.endings.tell(batch.id)
        self.drop_body(batch)

    def drop_body(self, batch: Batch) -> None:
        """Delete the body of a batch that has ended; nobody reads it any more."""
        if batch.body_key is None:
            return
        self.blobs.delete(batch.body_key)
        with self.database.session() as session:
            forget_body(session, batch.id)
