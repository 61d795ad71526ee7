"""Drained queues: workers consume nothing from them until an operator resumes them. Stored in Redis."""

from __future__ import annotations

from typing import Final, cast

from redis import Redis

from shared.clock import epoch, ticks
from shared.queue.connection import reachable
from shared.queue.names import DRAINED, QUEUES

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
