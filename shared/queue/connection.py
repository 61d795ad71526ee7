"""Connections to Redis, and the errors raised while it is unreachable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeVar, cast

from redis import BlockingConnectionPool, Redis, RedisError
from redis.backoff import ConstantBackoff
from redis.commands.core import Script
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ResponseError
from redis.retry import Retry

from shared.errors import MisconfiguredPartError, StorageFull, Unavailable

T = TypeVar("T")

# Together under the 5 s in which a 503 is due: the longest call connects once and is answered once. A
# call that timed out is not repeated; one whose connection broke is repeated once.
CONNECT_TIMEOUT_SECONDS: Final = 2.0
SOCKET_TIMEOUT_SECONDS: Final = 2.8
# One blocking read: shorter than the socket's time-out, which an idle wait would exceed.
BLOCK_SECONDS: Final = 1.0
# Each request that waits for Redis has a connection; a front bounds its own requests. A pool fills a
# queue with as many places when it is made, in a few milliseconds.
MOST_CONNECTIONS: Final = 10_000
_POOL_TIMEOUT_SECONDS: Final = 2.0
# A connection idle for longer is tested before use: a firewall may have dropped it.
_HEALTH_CHECK_SECONDS: Final = 30
_BATCH: Final = 500


class UnfitRedisError(MisconfiguredPartError):
    """The Redis server could lose accepted data; the message names the setting to change."""


def connect(redis_url: str) -> Redis:
    """Return a client with a pool of its own; it connects on first use.

    A call whose connection breaks is repeated once, so a command may run twice: every script of the
    farm is written for that.
    """
    return Redis.from_pool(_make_pool(redis_url))


def _make_pool(redis_url: str) -> BlockingConnectionPool:
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        redis_url,
        max_connections=MOST_CONNECTIONS,
        timeout=_POOL_TIMEOUT_SECONDS,
        # RESP3, the default of redis-py 8, is slow on large values.
        protocol=2,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        socket_timeout=SOCKET_TIMEOUT_SECONDS,
        socket_keepalive=True,
        socket_read_size=1024 * 1024,
        health_check_interval=_HEALTH_CHECK_SECONDS,
        retry=Retry(ConstantBackoff(0.05), 1, (RedisConnectionError,)),
    )
    return pool


@contextmanager
def reachable() -> Iterator[None]:
    """Convert every failure of Redis to a 503.

    Raises:
        Unavailable: Redis is unreachable, full or refuses; the cause is chained for the log.
    """
    try:
        yield
    except RedisError as error:
        raise (
            StorageFull("queue") if is_refused_for_space(error) else Unavailable("queue")
        ) from error


def batched(items: Iterable[T], size: int = _BATCH) -> Iterator[list[T]]:
    """Yield the items in lists of `size`, the last one shorter."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def scan(redis: Redis, pattern: str) -> Iterator[list[Any]]:
    """Yield the keys that match a pattern, as bytes, in lists of some hundred."""
    return batched(redis.scan_iter(pattern, count=1000))


def is_refused_for_space(error: RedisError) -> bool:
    """Return whether Redis refused to write because its append-only file or its memory cannot grow.

    It then refuses every command that writes, and tries its file again each second.
    """
    is_disk_full = isinstance(error, ResponseError) and "No space left on device" in str(error)
    return is_disk_full or isinstance(error, OutOfMemoryError)


def assert_durable(redis: Redis) -> None:
    """Check that the server does not lose accepted data.

    Raises:
        UnfitRedisError: the server does not append to a file, or may evict keys.
        Unavailable: Redis is unreachable.
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


def assert_volatile(redis: Redis) -> None:
    """Check that the server of content that is kept nowhere writes nothing to disk.

    Raises:
        UnfitRedisError: it appends to a file or saves its memory, or does not say whether.
        Unavailable: it is unreachable.
    """
    with reachable():
        settings = cast("dict[str, str]", redis.config_get("appendonly", "save"))
    if settings != {"appendonly": "no", "save": ""}:
        raise UnfitRedisError(
            "the Redis of PRESSROOM_MEMORY_REDIS_URL must run with 'appendonly no' and 'save \"\"'"
        )


_INCLUDE: Final = re.compile(r"^--- @include ([a-z_]+)$", re.MULTILINE)
_QUEUE: Final = "shared.queue"


def register(redis: Redis, name: str, *, package: str = _QUEUE) -> Script:
    """Return a script of a package, ready to be called with `keys` and `args`.

    redis-py sends its digest, and its text if the server does not have it.

    Raises:
        FileNotFoundError: the package has no such script.
    """
    return redis.register_script(read_script(name, package=package))


@cache
def read_script(name: str, *, package: str = _QUEUE) -> str:
    """Return the text of a script, with its includes.

    Raises:
        FileNotFoundError: the package has no such script.
    """
    text = files(package).joinpath("scripts", f"{name}.lua").read_text("utf-8")
    return _INCLUDE.sub(lambda found: read_script(found[1]), text)
