"""The counter's loop: take, record, acknowledge, in this order, so that no kill loses or doubles."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Final

from shared.clock import ticks
from shared.db.session import Database
from shared.errors import Unavailable
from shared.queue.usage import Entry, UsageStream
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.totals import Tally
from workers.counter.ledger import sort_batch, write_batch

BATCH: Final = 500
RECLAIM_EVERY_SECONDS: Final = 2.0
# A transaction and what is around it cost 2 to 5 ms whether they record one event or a hundred:
# between two of them events gather, and a steady trickle costs 2 % of a core, not 5 ms a render.
_GATHER_SECONDS: Final = 0.25
_PAUSE_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


class Counter:
    """Moves events from the stream to the ledger until it is told to stop."""

    def __init__(self, stream: UsageStream, database: Database, tally: Tally) -> None:
        self._stream = stream
        self._database = database
        self._tally = tally
        self._stop = Event()
        self._is_open = False
        self._reclaim_at = 0.0

    def stop(self) -> None:
        """Have `run` return after the batch in hand."""
        self._stop.set()

    def run(self) -> None:
        """Count until stopped. While Redis or the database is away it waits and tries again."""
        while not self._stop.is_set():
            try:
                if 0 < self.count_once() < BATCH:
                    self._stop.wait(_GATHER_SECONDS)
            except Unavailable as error:
                log.warning("counter waits", part=error.part, cause=repr(error.__cause__))
                # The group may be gone with the server: make it again when it answers.
                self._is_open = False
                self._stop.wait(_PAUSE_SECONDS)

    def count_once(self) -> int:
        """Move one batch of events and give how many were new.

        Raises:
            Unavailable: Redis or the database is away; what was taken comes again.
        """
        if not self._is_open:
            self._stream.open()
            self._is_open = True
        return self._record(self._reclaimed()) + self._record(self._stream.read(count=BATCH))

    def _reclaimed(self) -> Sequence[Entry]:
        if ticks() < self._reclaim_at:
            return ()
        entries = self._stream.reclaim(count=BATCH)
        if len(entries) < BATCH:
            self._reclaim_at = ticks() + RECLAIM_EVERY_SECONDS
        return entries

    def _record(self, entries: Sequence[Entry]) -> int:
        if not entries:
            return 0
        batch = sort_batch(entries)
        fresh = write_batch(self._database, batch)
        repeated = len(batch.events) - fresh
        self._tally.count(metrics.EVENTS_COUNTED, "new", amount=fresh)
        self._tally.count(metrics.EVENTS_COUNTED, "repeated", amount=repeated)
        self._stream.acknowledge(batch.readable, beside=self._tally.drain())
        for unreadable in batch.unreadable:
            self._stream.bury(unreadable.entry, reason=unreadable.reason)
            log.error("event not understood", entry=unreadable.entry.id, reason=unreadable.reason)
        log.info(
            "events counted",
            new=fresh,
            repeated=repeated,
            jobs=[event.job_id for event in batch.events],
        )
        return fresh
