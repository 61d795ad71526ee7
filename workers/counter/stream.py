"""The counter's loop: read, record in the ledger, acknowledge, in this order, so that a crash neither loses nor doubles events."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Final

from shared.clock import now, ticks
from shared.db.session import Database
from shared.errors import Unavailable
from shared.queue.usage import UsageEntry, UsageStream
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import Observer
from shared.usage.metering import UsageEvent
from shared.usage.repository import record_events

_LONGEST_REASON: Final = 200


def parse_entries(
    entries: Sequence[UsageEntry],
) -> tuple[dict[UsageEntry, UsageEvent], dict[UsageEntry, str]]:
    """Return the events of entries, and of each malformed entry the reason."""
    events: dict[UsageEntry, UsageEvent] = {}
    reasons: dict[UsageEntry, str] = {}
    for entry in entries:
        try:
            events[entry] = UsageEvent.decode(entry.event)
        except ValueError as error:
            reasons[entry] = str(error)[:_LONGEST_REASON]
    return events, reasons


BATCH: Final = 500
RECLAIM_EVERY_SECONDS: Final = 2.0
# A transaction costs 2 to 5 ms for one event or a hundred: with this pause between them a steady load costs
# 2 % of a core, not 5 ms for each render.
_GATHER_SECONDS: Final = 0.25
_PAUSE_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


class UsageCounter:
    """Moves events from the stream to the ledger until stopped."""

    def __init__(self, stream: UsageStream, database: Database, observer: Observer) -> None:
        self._stream = stream
        self._database = database
        self._observer = observer
        self._stop = Event()
        self._is_open = False
        self._reclaim_at = 0.0

    def stop(self) -> None:
        """Make `run` return after the current batch."""
        self._stop.set()

    def run(self) -> None:
        """Count until stopped; in an outage of Redis or the database wait and retry."""
        while not self._stop.is_set():
            try:
                if 0 < self.count_once() < BATCH:
                    self._stop.wait(_GATHER_SECONDS)
            except Unavailable as error:
                log.warning(
                    "counter waits for outage", part=error.part, cause=repr(error.__cause__)
                )
                # A restarted server may have lost the consumer group: create it again.
                self._is_open = False
                self._stop.wait(_PAUSE_SECONDS)

    def count_once(self) -> int:
        """Move one batch of events and return how many were new.

        Raises:
            Unavailable: Redis or the database does not answer; the events will be delivered again.
        """
        if not self._is_open:
            self._stream.open()
            self._is_open = True
        return self._record(self._reclaim()) + self._record(self._stream.read(count=BATCH))

    def _reclaim(self) -> Sequence[UsageEntry]:
        if ticks() < self._reclaim_at:
            return ()
        entries = self._stream.reclaim(count=BATCH)
        if len(entries) < BATCH:
            self._reclaim_at = ticks() + RECLAIM_EVERY_SECONDS
        return entries

    def _record(self, entries: Sequence[UsageEntry]) -> int:
        if not entries:
            return 0
        events, reasons = parse_entries(entries)
        fresh = 0
        if events:
            with self._database.session() as session:
                fresh = record_events(session, events.values(), at=now())
        repeated = len(events) - fresh
        self._observer.count(metrics.EVENTS_COUNTED, "new", amount=fresh)
        self._observer.count(metrics.EVENTS_COUNTED, "repeated", amount=repeated)
        self._stream.acknowledge([*events])
        for entry, reason in reasons.items():
            self._stream.dead_letter(entry, reason=reason)
            log.error("malformed usage event", entry=entry.id, reason=reason)
        jobs = [event.job_id for event in events.values()]
        log.info("events counted", new=fresh, repeated=repeated, jobs=jobs)
        return fresh
