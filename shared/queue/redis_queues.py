"""The adapter for queues that are lists of Redis: depth, age, and messages that were lost.

kombu takes a message (BRPOP) and notes that the worker holds it in two commands; a worker killed
between them takes the message with it, and one killed later leaves it noted for
`VISIBILITY_TIMEOUT_SECONDS`. No other broker of Celery loses messages like this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from redis import Redis

from shared import json_text
from shared.queue.connection import connect, reachable
from shared.queue.messages import ADMITTED_AT, PUBLISHED_AT

# What two processes take for the clock of Redis may differ by so much.
_CLOCK_SLACK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class QueueHead:
    """A queue: how many messages wait, and when the next one was admitted and published.

    Times are seconds since 1970, None where nothing waits or what waits is no task of the farm.
    """

    waiting: int
    admitted_at: float | None
    published_at: float | None

    def has_passed(self, published_at: float) -> bool:
        """Return whether a message published at that time has left the queue, which is a list."""
        if not self.waiting:
            return True
        if self.published_at is None:
            return False
        return self.published_at > published_at + _CLOCK_SLACK_SECONDS


class RedisQueues:
    """Reads the queues of a broker that is Redis; methods raise `Unavailable` without it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def connect(cls, broker_url: str) -> Self:
        """Return the queues of a server, connected when they are first read."""
        return cls(connect(broker_url))

    def read(self, queues: Sequence[str]) -> dict[str, QueueHead]:
        """Return each queue's length and its next message's times, by name."""
        with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
                pipe.lindex(queue, -1)
            found = pipe.execute()
        heads = zip(queues, found[::2], found[1::2], strict=True)
        return {queue: _read_head(length, message) for queue, length, message in heads}


def _read_head(length: int, message: bytes | None) -> QueueHead:
    headers = _read_headers(message)
    return QueueHead(length, _time(headers, ADMITTED_AT), _time(headers, PUBLISHED_AT))


def _read_headers(message: bytes | None) -> Mapping[str, object]:
    try:
        found = json_text.decode(message or b"{}")
    except ValueError:
        return {}
    match found:
        case {"headers": dict() as headers}:
            return headers
    return {}


def _time(headers: Mapping[str, object], name: str) -> float | None:
    found = headers.get(name)
    return float(found) if type(found) in (int, float) else None  # type: ignore[arg-type]
