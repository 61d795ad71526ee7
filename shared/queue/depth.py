"""What lies in Redis at this moment, for the metrics that a farm is scaled by."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.names import DEAD_EVENTS, DRAINED, QUEUES, USAGE_STREAM
from shared.queue.redis_queues import RedisQueues
from shared.queue.roster import find_workers
from shared.queue.sums import read_sums
from shared.telemetry.readings import FarmDepth, QueueDepth

_MILLISECONDS: Final = 1000
_MICROSECONDS: Final = 1_000_000


class QueueReader:
    """Reads counts from Redis; every method raises `Unavailable("queue")` when it is away.

    `queues` are those of the broker, where that is another server.
    """

    def __init__(self, redis: Redis, queues: RedisQueues | None = None) -> None:
        self._redis = redis
        self._queues = queues or RedisQueues(redis)

    def read_depth(self) -> FarmDepth:
        """Count the jobs and events that are on their way."""
        heads = self._queues.read(QUEUES)
        running: Counter[str] = Counter()
        for worker in find_workers(self._redis):
            running.update(worker.held)
        with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
            pipe.xlen(USAGE_STREAM)
            pipe.xlen(DEAD_EVENTS)
            pipe.xrange(USAGE_STREAM, count=1)
            pipe.hkeys(DRAINED)
            pipe.time()
            pending, dead, first, drained, (seconds, microseconds) = pipe.execute()
        at = seconds + microseconds / _MICROSECONDS
        queues = {
            queue: QueueDepth(
                head.waiting,
                running[queue],
                0.0 if head.admitted_at is None else max(at - head.admitted_at, 0.0),
                queue.encode() in drained,
            )
            for queue, head in heads.items()
        }
        return FarmDepth(queues, pending, dead, _entry_age(first, at))

    def read_totals(self) -> dict[str, float]:
        """Give the sums of what the farm counted, as `shared.telemetry.totals` has them."""
        with reachable(self._redis):
            return read_sums(self._redis)


def _entry_age(entries: list[Any], now: float) -> float:
    if not entries:
        return 0.0
    milliseconds, _, _ = entries[0][0].partition(b"-")
    return max(now - int(milliseconds) / _MILLISECONDS, 0.0)
