"""What lies in Redis at this moment, for the metrics that a farm is scaled by."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.messages import read_admitted_at
from shared.queue.names import (
    DEAD_EVENTS,
    DRAINED,
    QUEUES,
    UNACKED,
    USAGE_STREAM,
    queue_of,
)
from shared.queue.sums import read_sums
from shared.telemetry.readings import FarmDepth, QueueDepth

_MILLISECONDS: Final = 1000
_MICROSECONDS: Final = 1_000_000


class QueueReader:
    """Reads counts from Redis; every method raises `Unavailable("queue")` when it is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read_depth(self) -> FarmDepth:
        """Count the jobs and events that are on their way."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for queue in QUEUES:
                pipe.llen(queue)
            for queue in QUEUES:
                pipe.lindex(queue, -1)
            # Their names and not the messages: each says its queue, and a message may be 64 KB.
            pipe.hkeys(UNACKED)
            pipe.xlen(USAGE_STREAM)
            pipe.xlen(DEAD_EVENTS)
            pipe.xrange(USAGE_STREAM, count=1)
            pipe.hkeys(DRAINED)
            pipe.time()
            found = pipe.execute()
        lengths, oldest = found[: len(QUEUES)], found[len(QUEUES) : 2 * len(QUEUES)]
        held, pending, dead, first, drained, (seconds, microseconds) = found[2 * len(QUEUES) :]
        at = seconds + microseconds / _MICROSECONDS
        running = Counter(queue_of(tag.decode()) for tag in held)
        queues = {
            queue: QueueDepth(
                length, running[queue], _job_age(message, at), queue.encode() in drained
            )
            for queue, length, message in zip(QUEUES, lengths, oldest, strict=True)
        }
        return FarmDepth(queues, pending, dead, _entry_age(first, at))

    def read_totals(self) -> dict[str, float]:
        """Give the sums of what the farm counted, as `shared.telemetry.totals` has them."""
        with reachable():
            return read_sums(self._redis)


def _job_age(message: bytes | None, now: float) -> float:
    if message is None:
        return 0.0
    admitted_at = read_admitted_at(message)
    return 0.0 if admitted_at is None else max(now - admitted_at, 0.0)


def _entry_age(entries: list[Any], now: float) -> float:
    if not entries:
        return 0.0
    milliseconds, _, _ = entries[0][0].partition(b"-")
    return max(now - int(milliseconds) / _MILLISECONDS, 0.0)
