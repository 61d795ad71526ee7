"""Queues that workers leave alone until they are told otherwise: the operator's word, in Redis."""

from __future__ import annotations

from typing import Final, cast

from redis import Redis

from shared.clock import epoch, ticks
from shared.queue.connection import reachable
from shared.queue.names import DRAINED, QUEUES

# How long a front goes by what it read: a request asks Redis nothing more for it.
_GOES_BY_SECONDS: Final = 1.0
# A worker reads it each second and acts within half a second; it takes one more message where it was
# asking for it already, for a second at most.
SEEN_BY_ALL_SECONDS: Final = 4.0


class UnknownQueueError(LookupError):
    """There is no queue of this name; the text has those there are."""


class Drains:
    """Says and hears which queues are drained; every method raises `Unavailable` without Redis.

    What is drained stays so over restarts of every process, as long as Redis keeps its files.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._known: frozenset[str] = frozenset()
        self._read_at = -_GOES_BY_SECONDS

    def drain(self, queue: str) -> bool:
        """Have no worker take from a queue any more; tell whether that is new.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        _check_name(queue)
        with reachable():
            return bool(self._redis.hsetnx(DRAINED, queue, str(epoch())))

    def resume(self, queue: str) -> bool:
        """Have workers take from a queue again; tell whether they did not.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        _check_name(queue)
        with reachable():
            return bool(self._redis.hdel(DRAINED, queue))

    def find(self) -> dict[str, float]:
        """Give the drained queues, and since when each is, in seconds since 1970."""
        with reachable():
            found = cast("dict[bytes, bytes]", self._redis.hgetall(DRAINED))
        return {queue.decode(): float(since) for queue, since in found.items()}

    def holds(self, queue: str) -> bool:
        """Tell whether a queue is drained, as of at most a second ago."""
        if ticks() - self._read_at >= _GOES_BY_SECONDS:
            self._known = frozenset(self.find())
            self._read_at = ticks()
        return queue in self._known


def _check_name(queue: str) -> None:
    if queue not in QUEUES:
        raise UnknownQueueError(f"There is no queue {queue!r}; there are {', '.join(QUEUES)}.")
