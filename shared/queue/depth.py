"""What lies in Redis at this moment, for the metrics that a farm is scaled by."""

from __future__ import annotations

import json
from typing import cast

from redis import Redis

from shared.clock import epoch
from shared.jobs import RenderJob
from shared.queue.connection import reachable
from shared.queue.names import (
    DEAD_EVENTS,
    FARM_TOTALS,
    INTERACTIVE,
    UNACKED,
    USAGE_STREAM,
    VALIDATE,
)
from shared.telemetry.metrics import QueueDepth
from shared.telemetry.totals import FarmTotals, read_totals


class QueueReader:
    """Reads counts from Redis; both methods raise `Unavailable("queue")` when it is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read_depth(self) -> QueueDepth:
        """Count the jobs and events that are on their way."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            pipe.llen(INTERACTIVE)
            pipe.llen(VALIDATE)
            pipe.hlen(UNACKED)
            pipe.lindex(INTERACTIVE, -1)
            pipe.lindex(VALIDATE, -1)
            pipe.xlen(USAGE_STREAM)
            pipe.xlen(DEAD_EVENTS)
            renders, validations, running, *oldest, pending, dead = pipe.execute()
        age = max(_age(message) for message in oldest)
        return QueueDepth(renders + validations, running, age, pending, dead)

    def read_totals(self) -> FarmTotals:
        """Sum up what the workers reported."""
        with reachable():
            fields = cast("dict[bytes, bytes]", self._redis.hgetall(FARM_TOTALS))
        return read_totals({name.decode(): float(amount) for name, amount in fields.items()})


def _age(message: bytes | None) -> float:
    if message is None:
        return 0.0
    (text,), _, _ = json.loads(json.loads(message)["body"])
    return max(epoch() - RenderJob.decode(text).admitted_at, 0.0)
