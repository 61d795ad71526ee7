"""Current depths of the queues and of Redis, for the metrics that autoscaling uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from redis import Redis

from shared.queue.admission_places import PlaceCount, PlaceState, count_places
from shared.queue.connection import reachable
from shared.queue.names import DEAD_EVENTS, DRAINED, QUEUES, USAGE_STREAM
from shared.queue.queue_factory import queues_in
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
        self._queues = queues or queues_in(redis)

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
