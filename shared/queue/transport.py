"""kombu's Redis transport with one client per channel, where kombu makes one for each command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import redis as kombu_redis


class Channel(kombu_redis.Channel):
    """A channel that keeps its client: 0.2 ms less for each job (queueing.md B3)."""

    _kept: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """Give the client passed in, or the channel's own; a client is only a view of its pool."""
        if client:
            yield client
            return
        pool = self.pool  # made anew after a fork and after a reconnect; the client follows it
        if self._kept is None or self._kept.connection_pool is not pool:
            self._kept = self._create_client()  # type: ignore[no-untyped-call]
        yield self._kept


class Transport(kombu_redis.Transport):
    """The transport the workers' Celery application is given by name."""

    Channel = Channel
