"""What a front answered lately: usage events that Redis loses are given to it again."""

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
from shared.metering import PageEvent
from shared.queue.connection import batched, reachable
from shared.queue.names import FARM_MEMORY, USAGE_STREAM
from shared.telemetry.log import get_logger

# Every event is kept at least so long, and for as long as the counter is behind besides.
KEPT_SECONDS: Final = 60.0
# The most that are kept, some 20 MB: 60 s of 800 renders a second in one process.
MOST_KEPT: Final = 50_000
LOOK_EVERY_SECONDS: Final = 1.0
# An answer may be between Redis and its note when the loss is seen: what is noted within these
# seconds is given again too.
_STRAGGLERS_SECONDS: Final = 5.0
_REST_SECONDS: Final = 10.0  # between two losses that are believed

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    number: int
    noted_at: float
    event: PageEvent


@dataclass(frozen=True, slots=True)
class _Look:
    """What Redis says of itself: `memory` changes when it was emptied, restarted or replaced."""

    memory: tuple[str, ...]
    backlog_seconds: float


class Recall:
    """The usage events of the renders that this process has answered, until the ledger has them.

    A render that is waited for is on record in Redis alone until the counter has read its event.
    Whoever answers it notes the event here, in memory, without a round trip; a thread asks Redis
    once a second whether it is still the one that took them. The ledger counts each job once, so
    that an event that was not lost may be given again, by any number of processes.

    One is for one Redis server. It says nothing of renders that a process answered before it died.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lock = Lock()
        self._notes: deque[_Note] = deque(maxlen=MOST_KEPT)
        self._noted = 0
        self._given = 0  # the number of the last note that was given again
        self._memory: tuple[str, ...] | None = None
        self._lost_at = float("-inf")

    def note(self, event: PageEvent) -> None:
        """Keep the event of a render that is being answered 200."""
        with self._lock:
            self._noted += 1
            self._notes.append(_Note(self._noted, ticks(), event))

    def start(self) -> None:
        """Look again and again while there is something to lose, in a thread that ends with the
        process.
        """
        Thread(target=self._watch, name="recall", daemon=True).start()

    def look(self) -> int:
        """Look once whether Redis has lost its memory and return how many events it was sent again.

        Raises:
            Unavailable: Redis is away; nothing is forgotten meanwhile.
        """
        seen = self._ask()
        # Not all of it every second, should a name lead to several servers by turns.
        is_new = seen.memory != self._memory and ticks() - self._lost_at >= _REST_SECONDS
        if is_new:
            self._given = 0
        if is_new and self._memory is not None:
            self._lost_at = ticks()
            log.warning("Redis began anew, usage events are given again", jobs=len(self._notes))
        # The first look cannot tell what became of what was noted before it.
        has_stragglers = ticks() - self._lost_at <= _STRAGGLERS_SECONDS
        count = self._give_again() if is_new or has_stragglers else 0
        # Last: a look that broke off is made again as a whole.
        if is_new:
            self._memory = seen.memory
        self._forget(before=ticks() - max(KEPT_SECONDS, seen.backlog_seconds + KEPT_SECONDS))
        return count

    def _watch(self) -> None:
        while True:
            try:
                if self._notes:
                    self.look()
            except Unavailable:
                pass
            except Exception as error:
                log.error("recall failed", exc_info=error)
            time.sleep(LOOK_EVERY_SECONDS)

    def _ask(self) -> _Look:
        with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
            # Whoever finds no mark leaves one: it stands until Redis is emptied.
            pipe.set(FARM_MEMORY, secrets.token_hex(8), nx=True)
            pipe.get(FARM_MEMORY)
            # Another run of the server may lack the last second, another server much more.
            pipe.info("server")
            pipe.xrange(USAGE_STREAM, count=1)
            pipe.time()
            _, mark, server, oldest, (seconds, _) = pipe.execute()
        memory = ((mark or b"").decode(), str(server.get("run_id", "")))
        return _Look(memory, max(seconds - _second_of(oldest[0][0]), 0.0) if oldest else 0.0)

    def _give_again(self) -> int:
        with self._lock:
            notes = [note for note in self._notes if note.number > self._given]
        for some in batched(notes):
            with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
                for note in some:
                    pipe.xadd(USAGE_STREAM, {"event": note.event.encode()})
                pipe.execute()
        if notes:
            self._given = notes[-1].number
            self._renew(self._given)
        return len(notes)

    def _renew(self, given: int) -> None:
        """Keep what was given again as if it were new: it stands at the end of the stream now."""
        at = ticks()
        with self._lock:
            kept = [
                _Note(note.number, at if note.number <= given else note.noted_at, note.event)
                for note in self._notes
            ]
            self._notes = deque(kept, maxlen=MOST_KEPT)

    def _forget(self, *, before: float) -> None:
        with self._lock:
            while self._notes and self._notes[0].noted_at < before:
                self._notes.popleft()


def _second_of(entry_id: bytes) -> float:
    return int(entry_id.partition(b"-")[0]) / 1000
