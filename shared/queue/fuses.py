"""Connections to one Redis server of several: one that does not answer is soon not asked any more.

A request that waits for a server in vain holds a thread of the front for seconds. With several shards
those threads would be missing to the accounts of the others, and theirs must never notice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.clock import ticks
from shared.queue.connection import connect
from shared.shards import PerShard, ShardAddress

# A server that refuses at once costs nobody anything, and may be back in a moment.
_SLOW_SECONDS: Final = 0.5
_BLOWN_SECONDS: Final = 1.0
# Longer than one connection may try.
_PROBE_SECONDS: Final = 10.0


class Fuse:
    """Blows when a server keeps somebody waiting in vain; then one at a time tries it again."""

    def __init__(self, now: Callable[[], float] = ticks) -> None:
        self._now = now
        self._lock = Lock()
        self.is_blown = False
        self._blown_until = 0.0

    def pass_or_probe(self) -> bool:
        """Let the caller pass; True says that it must find out whether the server answers.

        Raises:
            RedisConnectionError: the server did not answer a moment ago.
        """
        if not self.is_blown:
            return False
        with self._lock:
            if self._now() < self._blown_until:
                raise RedisConnectionError("the server did not answer a moment ago")
            self._blown_until = self._now() + _PROBE_SECONDS
        return True

    def blow(self) -> None:
        """Have nobody ask for a moment."""
        with self._lock:
            self.is_blown = True
            self._blown_until = self._now() + _BLOWN_SECONDS

    def mend(self) -> None:
        """Have everybody ask again."""
        self.is_blown = False
        self._blown_until = 0.0


class _Fused:
    """A connection behind a fuse, before any class of connections of redis-py."""

    fuse: Fuse

    def connect(self: Any) -> None:
        """Connect, or find that the server is not to be asked; called before each command."""
        if self._sock and not self.fuse.is_blown:
            return
        is_probe = self.fuse.pass_or_probe()
        if is_probe:
            self.disconnect()  # what is open may have been so before
        begun = ticks()
        try:
            super().connect()  # type: ignore[misc]
        except Exception:
            if is_probe or ticks() - begun > _SLOW_SECONDS:
                self.fuse.blow()
            raise
        self.fuse.mend()

    def read_response(self: Any, *args: Any, **options: Any) -> Any:
        """Read an answer; one that does not come in time blows the fuse."""
        try:
            return super().read_response(*args, **options)  # type: ignore[misc]
        except RedisTimeoutError:
            # Who brings a time of his own listens for what need not come.
            if "timeout" not in options:
                self.fuse.blow()
            raise


def connect_each(shards: Sequence[ShardAddress]) -> PerShard[Redis]:
    """Make a client for each shard; where there are several, each has a fuse."""
    return PerShard(shards, lambda shard: _connect(shard, is_alone=len(shards) == 1))


def _connect(shard: ShardAddress, *, is_alone: bool) -> Redis:
    redis = connect(shard.url)
    if not is_alone:
        pool = redis.connection_pool
        kind: Any = pool.connection_class
        pool.connection_class = type(f"Fused{kind.__name__}", (_Fused, kind), {"fuse": Fuse()})
    return redis
