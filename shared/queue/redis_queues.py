"""Adapter for queues that are Redis lists: depth, age and lost messages.

A message leaves its list when a worker receives it (BRPOP), and is lost if that worker is killed. Its
publisher finds it neither in the list nor among the tasks that workers hold, and publishes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import ClassVar, Final, Self

from redis import Redis

from shared import json_text
from shared.queue.connection import connect, reachable
from shared.queue.messages import ADMITTED_AT, PUBLISHED_AT, read_time_header
from shared.queue.queues import EMPTY, QueueHead

# Maximum difference between the synchronised clocks of two processes.
_CLOCK_SLACK_SECONDS: Final = 2.0


class RedisQueues:
    """Reads the queues of a Redis broker; methods raise `Unavailable` while it is unreachable."""

    has_ages: ClassVar[bool] = True

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def connect(cls, broker_url: str) -> Self:
        """Return the queues of a server; they connect on first use."""
        return cls(connect(broker_url))

    def read(self, queues: Sequence[str]) -> dict[str, QueueHead]:
        """Return each queue's length and its next message's times, by name."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
                pipe.lindex(queue, -1)
            found = pipe.execute()
        heads = zip(queues, found[::2], found[1::2], strict=True)
        return {queue: _read_head(length, message) for queue, length, message in heads}

    def check(self) -> None:
        """Check that the server answers."""
        with reachable():
            self._redis.ping()


def _read_head(length: int, message: bytes | None) -> QueueHead:
    if not length:
        return EMPTY
    headers = _read_headers(message)
    published_at = read_time_header(headers, PUBLISHED_AT)
    passed_until = -inf if published_at is None else published_at - _CLOCK_SLACK_SECONDS
    return QueueHead(length, read_time_header(headers, ADMITTED_AT), passed_until)


def _read_headers(message: bytes | None) -> Mapping[str, object]:
    try:
        found = json_text.decode(message or b"{}")
    except ValueError:
        return {}
    match found:
        case {"headers": dict() as headers}:
            return headers
    return {}
