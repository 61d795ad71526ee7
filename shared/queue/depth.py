"""Current depths of the queues and of Redis, for the metrics that autoscaling uses, and drained queues.

Workers consume nothing from a drained queue until an operator resumes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from redis import Redis

from shared.clock import epoch, ticks
from shared.queue.admission_places import PlaceCount, PlaceState, count_places
from shared.queue.connection import reachable
from shared.queue.names import DEAD_EVENTS, DRAINED, QUEUES, USAGE_STREAM
from shared.queue.queue_factory import RedisQueues
from shared.queue.queues import QueueHead, Queues
from shared.queue.worker_presence import find_workers, read_heads
from shared.telemetry.readings import FarmDepth, QueueDepth

_MILLISECONDS: Final = 1000
_MICROSECONDS: Final = 1_000_000


class QueueReader:
    """Reads counts from the broker and from Redis; Redis is the default broker.

    Every method raises `Unavailable("queue")` while the broker or Redis is unreachable.
    """

    def __init__(self, redis: Redis, queues: Queues | None = None) -> None:
        self._redis = redis
        self._queues = queues or RedisQueues(redis)

    def read_depth(self) -> FarmDepth:
        """Count the queued and running jobs, and the events not yet in the ledger."""
        heads = read_heads(self._redis, self._queues, QUEUES)
        places = count_places(self._redis)
        running: Counter[str] = Counter()
        for worker in find_workers(self._redis):
            running.update(worker.held)
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            pipe.xlen(USAGE_STREAM)
            pipe.xlen(DEAD_EVENTS)
            pipe.xrange(USAGE_STREAM, count=1)
            pipe.hkeys(DRAINED)
            pipe.info("memory")
            pipe.time()
            pending, dead, first, drained, memory, (seconds, microseconds) = pipe.execute()
        at = seconds + microseconds / _MICROSECONDS
        queues = {
            queue: _describe(
                head,
                places.get((queue, PlaceState.WAITING)),
                running=running[queue],
                is_drained=queue.encode() in drained,
                at=at,
            )
            for queue, head in heads.items()
        }
        return FarmDepth(
            queues,
            pending,
            dead,
            _entry_age(first, at),
            _count_by_state(places),
            memory["used_memory"],
            memory["maxmemory"],
        )


def read_depth(readers: Sequence[QueueReader], queue: str) -> QueueDepth:
    """Return the depth of a queue over all shards; it is drained if it is on each."""
    found = [reader.read_depth().queues[queue] for reader in readers]
    return QueueDepth(
        waiting=sum(each.waiting for each in found),
        running=sum(each.running for each in found),
        is_drained=all(each.is_drained for each in found),
    )


def _describe(
    head: QueueHead, waiting: PlaceCount | None, *, running: int, is_drained: bool, at: float
) -> QueueDepth:
    """Return a queue's depth; jobs that wait for an admission place count as waiting in the queue."""
    since = [] if head.admitted_at is None else [head.admitted_at]
    if waiting is not None:
        since.append(waiting.oldest_at)
    return QueueDepth(
        head.waiting + (waiting.jobs if waiting else 0),
        running,
        max(at - min(since, default=at), 0.0),
        is_drained,
    )


def _count_by_state(places: Mapping[tuple[str, PlaceState], PlaceCount]) -> Mapping[str, int]:
    counts = {
        state.value: 0 for state in (PlaceState.HELD, PlaceState.WAITING, PlaceState.FETCHING)
    }
    for (_, state), count in places.items():
        counts[state.value] += count.jobs
    return counts


def _entry_age(entries: list[Any], now: float) -> float:
    if not entries:
        return 0.0
    milliseconds, _, _ = entries[0][0].partition(b"-")
    return max(now - int(milliseconds) / _MILLISECONDS, 0.0)


# How long a front caches the drained queues, to save a round trip in each request.
_CACHE_SECONDS: Final = 1.0
# Workers read the drained queues each second and act within half a second; a consume request already
# sent may deliver one more message within another second.
PROPAGATION_SECONDS: Final = 4.0


class UnknownQueueError(LookupError):
    """There is no queue of this name; the message lists the existing ones."""


class Drains:
    """Drains and resumes queues; every method raises `Unavailable` while Redis is unreachable.

    A drained queue stays drained over restarts of every process, as long as Redis keeps its files.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._known: frozenset[str] = frozenset()
        self._read_at = -_CACHE_SECONDS

    def drain(self, queue: str) -> bool:
        """Stop workers from consuming a queue; return whether it was not drained before.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        _check_name(queue)
        with reachable():
            return bool(self._redis.hsetnx(DRAINED, queue, str(epoch())))

    def resume(self, queue: str) -> bool:
        """Resume the consumption of a queue; return whether it was drained before.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        _check_name(queue)
        with reachable():
            return bool(self._redis.hdel(DRAINED, queue))

    def find(self) -> dict[str, float]:
        """Return the drained queues, each with the time it was drained at, in seconds since 1970."""
        with reachable():
            found = cast("dict[bytes, bytes]", self._redis.hgetall(DRAINED))
        return {queue.decode(): float(since) for queue, since in found.items()}

    def is_drained(self, queue: str) -> bool:
        """Return whether a queue is drained, as of at most a second ago."""
        if ticks() - self._read_at >= _CACHE_SECONDS:
            self._known = frozenset(self.find())
            self._read_at = ticks()
        return queue in self._known


def _check_name(queue: str) -> None:
    if queue not in QUEUES:
        raise UnknownQueueError(f"There is no queue {queue!r}; there are {', '.join(QUEUES)}.")
