"""Reply lists: fronts wait for outcomes, or abandon jobs for good; and usage events that only a reply still has."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.errors import ErrorBody, ErrorKind, Unavailable
from shared.jobs.records import Claim, ClaimStorage, JobOutcome, OutcomeStatus, decode_reply
from shared.queue.claims import ClaimLostError, Claims
from shared.queue.connection import BLOCK_SECONDS, batched, reachable
from shared.queue.names import FARM_MEMORY, USAGE_STREAM, reply_key
from shared.queue.states import AWAITED_SECONDS, JobStates
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import NULL_OBSERVER, Observer
from shared.usage.metering import UsageEvent

_RECONNECT_SECONDS: Final = 0.1
_SWEEP_AT_ONCE: Final = 100


class Replies:
    """Waits for outcomes and fetches their PDFs; thread-safe."""

    def __init__(self, redis: Redis, claims: Claims, *, observer: Observer = NULL_OBSERVER) -> None:
        self._observer = observer
        self._redis = redis
        self._claims = claims
        self._states = JobStates(redis)
        # Keys that were read and can be deleted, in the round trip of the next wait. If the process ends
        # first, they expire.
        self._spent: deque[str] = deque()

    def wait(
        self, job_id: str, *, timeout_seconds: float, between: Callable[[], object] = lambda: None
    ) -> JobOutcome | None:
        """Wait until a just published job ends or is suspended; return None after the time-out.

        Restarts of Redis are tolerated while the outcome can still be committed.
        `between` is called after each second without an outcome.

        Raises:
            Unavailable: Redis was unreachable for `AWAITED_SECONDS`; the job is not metered, unless it was
                committed before and its reply was lost on the way.
        """
        give_up_at = ticks() + timeout_seconds
        is_noted = True  # `Broker.publish` did; each wait from the second on renews the presence
        while (left := give_up_at - ticks()) > 0:
            try:
                text = self._wait_briefly(job_id, min(left, BLOCK_SECONDS), is_noted=is_noted)
            except RedisError as error:
                text = self._await_server(error, reply_key(job_id))
                if text is None:
                    is_noted = False
                    continue
            if text is not None:
                outcome = self._read(text)
                if outcome.status is OutcomeStatus.SUSPENDED:
                    self._take_out(job_id, text)
                else:
                    self._spent.append(reply_key(job_id))
                return outcome
            between()
            is_noted = False
        return None

    def _take_out(self, job_id: str, text: bytes) -> None:
        """Remove a reply from its list, to which the outcome may still be pushed."""
        with reachable():
            self._redis.lrem(reply_key(job_id), 1, text)  # type: ignore[arg-type] # bytes as they came

    def abandon(self, job_id: str) -> JobOutcome | None:
        """Abandon the job, so that it is neither committed nor metered; return None.

        If the job ended just before, return its outcome.

        Raises:
            Unavailable: Redis is unreachable; the job ends at its deadline.
        """
        text = self._states.abandon(job_id)
        if text is not None:
            return self._read(text)
        self._observer.count(metrics.ABANDONED)
        return None

    def _read(self, text: bytes) -> JobOutcome:
        outcome = decode_reply(text)
        if outcome.sealed is None:
            return outcome
        try:
            return decode_reply(b"".join(self.fetch_pdf(outcome.sealed)))
        except ClaimLostError:
            message = "The result was lost before it was sent; try again."
            error = ErrorBody(503, message, ErrorKind.UNAVAILABLE)
            return JobOutcome(outcome.job_id, OutcomeStatus.FAILED, error=error)

    def fetch_pdf(self, claim: Claim) -> Iterator[bytes]:
        """Yield the bytes of a PDF, `claim.size` in total, in chunks; then delete them.

        Raises:
            ClaimLostError: the bytes were deleted or have expired; raised by the first iteration.
        """
        yield from self._claims.stream(claim)
        if claim.home is ClaimStorage.REDIS:
            self._spent.append(claim.key)
        else:
            self._claims.delete_claim(claim)

    def _wait_briefly(self, job_id: str, seconds: float, *, is_noted: bool) -> bytes | None:
        reply = reply_key(job_id)
        if not is_noted:
            self._states.await_end(job_id)
        pipe = self._redis.pipeline(transaction=False)
        if spent := self._take_spent():
            pipe.unlink(*spent)
        # The outcome is moved from the list onto itself, which reads it without removing it: a reply
        # lost with its connection can be read again.
        pipe.blmove(reply, reply, max(seconds, 0.01), "RIGHT", "LEFT")  # type: ignore[arg-type] # the server takes fractions
        return cast("bytes | None", pipe.execute()[-1])

    def _take_spent(self) -> list[str]:
        taken: list[str] = []
        while len(taken) < _SWEEP_AT_ONCE:
            try:
                taken.append(self._spent.popleft())
            except IndexError:
                break
        return taken

    def _await_server(self, cause: RedisError, reply: str) -> bytes | None:
        """Wait until Redis is reachable again, at most until this front's presence expires.

        A Redis with a full disk refuses blocking reads, but an outcome that was already committed, and so
        metered, can be read: return it.
        """
        lapses_at = ticks() + AWAITED_SECONDS
        is_over = False
        while not is_over:
            time.sleep(_RECONNECT_SECONDS)
            is_over = ticks() >= lapses_at
            try:
                text = cast("bytes | None", self._redis.lindex(reply, -1))
                if text is not None:
                    return text
                self._redis.ping()
            except RedisError:
                continue
            return None
        with reachable():
            raise cause


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


@dataclass(slots=True)
class _StoredEvent:
    """An event, since when its retention runs, and whether it was replayed since the last loss."""

    event: UsageEvent
    since: float
    is_replayed: bool = False


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
        # Changes if Redis was emptied, restarted or replaced.
        self._memory: tuple[str, ...] | None = None
        self._lost_at = float("-inf")

    def store(self, event: UsageEvent) -> None:
        """Store the event of a render that is being answered 200."""
        with self._lock:
            self._events.append(_StoredEvent(event, ticks()))

    def start(self) -> None:
        """Start a daemon thread that checks regularly while there are stored events."""
        Thread(target=self._watch, name="usage-replay", daemon=True).start()

    def check(self) -> int:
        """Check whether Redis has lost its data, and return the number of replayed events.

        Raises:
            Unavailable: Redis is unreachable; no event is discarded meanwhile.
        """
        memory, backlog_seconds = self._read_server()
        # Limits replays if a host name resolves to several servers in turn.
        is_new = memory != self._memory and ticks() - self._lost_at >= _MIN_LOSS_INTERVAL_SECONDS
        if is_new:
            with self._lock:
                for each in self._events:
                    each.is_replayed = False
        if is_new and self._memory is not None:
            self._lost_at = ticks()
            log.warning("Redis lost its data, usage events are replayed", jobs=len(self._events))
        # The first check cannot detect the loss of events stored before it.
        has_stragglers = ticks() - self._lost_at <= _STRAGGLERS_SECONDS
        count = self._replay() if is_new or has_stragglers else 0
        # Last: an interrupted check is repeated completely.
        if is_new:
            self._memory = memory
        with self._lock:
            before = ticks() - backlog_seconds - RETENTION_SECONDS
            while self._events and self._events[0].since < before:
                self._events.popleft()
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

    def _read_server(self) -> tuple[tuple[str, ...], float]:
        """Return what tells a server's memory from another, and the age of the oldest event of the stream."""
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
        return memory, max(seconds - _second_of(oldest[0][0]), 0.0) if oldest else 0.0

    def _replay(self) -> int:
        with self._lock:
            lost = [each for each in self._events if not each.is_replayed]
        for some in batched(lost):
            with reachable(), self._redis.pipeline(transaction=False) as pipe:
                for each in some:
                    pipe.xadd(USAGE_STREAM, {"event": each.event.encode()})
                pipe.execute()
        for each in lost:  # at the end of the stream now, its retention begins anew
            each.is_replayed, each.since = True, ticks()
        return len(lost)


def _second_of(entry_id: bytes) -> float:
    return int(entry_id.partition(b"-")[0]) / 1000
