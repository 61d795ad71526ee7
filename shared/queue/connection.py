"""How every process reaches Redis, and what it says when Redis is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis import Redis, RedisError
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from shared.errors import NoSpace, Unavailable

# Twice the longest of these is under the 5 s of contract.md 1: a first try and one repeat.
CONNECT_TIMEOUT_SECONDS: Final = 2.0
SOCKET_TIMEOUT_SECONDS: Final = 2.2
# A slice of a blocking read: shorter than the socket's patience, or an idle wait would look dead.
BLOCK_SECONDS: Final = 1.0
_MOST_CONNECTIONS: Final = 100_000  # redis-py's default is 100


class UnfitRedisError(Exception):
    """The Redis server could lose what it accepted; the text names the setting to change."""


def connect(redis_url: str) -> Redis:
    """Make a client with a pool of its own; nothing is sent until it is used.

    A call that fails on a stale connection is repeated once, so a command may run twice: every
    script of the farm is written for that.
    """
    return Redis.from_url(
        redis_url,
        # RESP3, the default of redis-py 8, is slow on large values (queueing.md B3).
        protocol=2,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        socket_timeout=SOCKET_TIMEOUT_SECONDS,
        socket_keepalive=True,
        # Each request that waits for Redis has one; a front bounds those by its own connections.
        max_connections=_MOST_CONNECTIONS,
        socket_read_size=1024 * 1024,
        retry=Retry(ConstantBackoff(0.05), 1, (RedisConnectionError, RedisTimeoutError)),
    )


@contextmanager
def reachable() -> Iterator[None]:
    """Turn whatever goes wrong with Redis into a 503.

    Raises:
        Unavailable: Redis is away, full or refuses; the cause is chained for the log.
    """
    try:
        yield
    except RedisError as error:
        raise (NoSpace("queue") if is_refused_for_space(error) else Unavailable("queue")) from error


def is_refused_for_space(error: RedisError) -> bool:
    """Tell whether Redis refused to write because its append-only file cannot grow.

    It says so of every command that writes, and tries its file again each second.
    """
    return isinstance(error, ResponseError) and "No space left on device" in str(error)


def assert_durable(redis: Redis) -> None:
    """Check that the server keeps what it accepts (design.md 8, hazards.md 2).

    Raises:
        UnfitRedisError: the server does not append to a file, or may evict keys.
        Unavailable: Redis is away.
    """
    with reachable():
        persistence = redis.info("persistence")
        memory = redis.info("memory")
    if not persistence.get("aof_enabled"):
        raise UnfitRedisError(
            "Redis must run with 'appendonly yes': an accepted job would not survive"
        )
    policy = memory.get("maxmemory_policy")
    if policy != "noeviction":
        raise UnfitRedisError(
            f"Redis must run with 'maxmemory-policy noeviction', not {policy!r}: "
            "queued jobs and usage events could be evicted"
        )
