"""Replays usage events of recent replies if Redis has lost them."""

from __future__ import annotations

import secrets
import time
from collections import deque
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Final

from redis import Redis

from shared.clock import ticks
from shared.errors import Unavailable
from shared.queue.connection import batched, reachable
from shared.queue.names import FARM_MEMORY, USAGE_STREAM
from shared.telemetry.log import get_logger
from shared.usage.metering import UsageEvent

# Minimum retention of an event; the backlog of the counter is added to it.
RETENTION_SECONDS: Final = 60.0
# About 20 MB: 60 s of 800 renders a second in one process.
MAX_EVENTS: Final = 50_000
CHECK_INTERVAL_SECONDS: Final = 1.0
# A reply may be between Redis and `store` when the loss is detected: events stored within these seconds
# are replayed too.
_STRAGGLERS_SECONDS: Final = 5.0
_MIN_LOSS_INTERVAL_SECONDS: Final = 10.0  # between two detected losses

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _StoredEvent:
    number: int
    noted_at: float
    event: UsageEvent


@dataclass(frozen=True, slots=True)
class _ServerState:
    """The state of a Redis server: `memory` changes if it was emptied, restarted or replaced."""

    memory: tuple[str, ...]
    backlog_seconds: float


class UsageReplay:
    """Keeps the usage events of this process's replies in memory until the ledger has them.

    The usage of a synchronous render is in Redis only until the counter has read its event. The front
    stores the event here, without a round trip; a thread checks once a second whether Redis was emptied,
    restarted or replaced. The ledger counts each job once, so replaying an event that was not lost is
    harmless, by any number of processes.

    One instance serves one Redis server. Events of a process that died are lost.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lock = Lock()
        self._events: deque[_StoredEvent] = deque(maxlen=MAX_EVENTS)
        self._stored = 0
        self._replayed = 0  # the number of the last replayed event
        self._memory: tuple[str, ...] | None = None
        self._lost_at = float("-inf")

    def store(self, event: UsageEvent) -> None:
        """Store the event of a render that is being answered 200."""
        with self._lock:
            self._stored += 1
            self._events.append(_StoredEvent(self._stored, ticks(), event))

    def start(self) -> None:
        """Start a daemon thread that checks regularly while there are stored events."""
        Thread(target=self._watch, name="usage-replay", daemon=True).start()

    def check(self) -> int:
        """Check whether Redis has lost its data, and return the number of replayed events.

        Raises:
            Unavailable: Redis is unreachable; no event is discarded meanwhile.
        """
        seen = self._read_server()
        # Limits replays if a host name resolves to several servers in turn.
        is_new = (
            seen.memory != self._memory and ticks() - self._lost_at >= _MIN_LOSS_INTERVAL_SECONDS
        )
        if is_new:
            self._replayed = 0
        if is_new and self._memory is not None:
            self._lost_at = ticks()
            log.warning("Redis lost its data, usage events are replayed", jobs=len(self._events))
        # The first check cannot detect the loss of events stored before it.
        has_stragglers = ticks() - self._lost_at <= _STRAGGLERS_SECONDS
        count = self._replay() if is_new or has_stragglers else 0
        # Last: an interrupted check is repeated completely.
        if is_new:
            self._memory = seen.memory
        self._discard(
            before=ticks() - max(RETENTION_SECONDS, seen.backlog_seconds + RETENTION_SECONDS)
        )
        return count

    def _watch(self) -> None:
        while True:
            try:
                if self._events:
                    self.check()
            except Unavailable:
                pass
            except Exception as error:
                log.error("usage replay failed", exc_info=error)
            time.sleep(CHECK_INTERVAL_SECONDS)

    def _read_server(self) -> _ServerState:
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            # A missing mark is set: it remains until Redis is emptied.
            pipe.set(FARM_MEMORY, secrets.token_hex(8), nx=True)
            pipe.get(FARM_MEMORY)
            # A restarted server may lack the last second, another server much more.
            pipe.info("server")
            pipe.xrange(USAGE_STREAM, count=1)
            pipe.time()
            _, mark, server, oldest, (seconds, _) = pipe.execute()
        memory = ((mark or b"").decode(), str(server.get("run_id", "")))
        return _ServerState(memory, max(seconds - _second_of(oldest[0][0]), 0.0) if oldest else 0.0)

    def _replay(self) -> int:
        with self._lock:
            notes = [note for note in self._events if note.number > self._replayed]
        for some in batched(notes):
            with reachable(), self._redis.pipeline(transaction=False) as pipe:
                for note in some:
                    pipe.xadd(USAGE_STREAM, {"event": note.event.encode()})
                pipe.execute()
        if notes:
            self._replayed = notes[-1].number
            self._renew(self._replayed)
        return len(notes)

    def _renew(self, given: int) -> None:
        """Restart the retention of replayed events: they are at the end of the stream now."""
        at = ticks()
        with self._lock:
            kept = [
                _StoredEvent(note.number, at if note.number <= given else note.noted_at, note.event)
                for note in self._events
            ]
            self._events = deque(kept, maxlen=MAX_EVENTS)

    def _discard(self, *, before: float) -> None:
        with self._lock:
            while self._events and self._events[0].noted_at < before:
                self._events.popleft()


def _second_of(entry_id: bytes) -> float:
    return int(entry_id.partition(b"-")[0]) / 1000
