"""How every process reaches Redis, and what it says when Redis is away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

from redis import BlockingConnectionPool, Redis, RedisError
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.retry import Retry

from shared.errors import NoSpace, Unavailable, UnfitPartError
from shared.queue.breaker import Breaker
from shared.shards import PerShard, ShardAddress

T = TypeVar("T")

# Together under the 5 s of contract.md 1: the longest call connects once and is answered once. A
# call that ran out of time is not repeated; one whose connection broke is, once.
CONNECT_TIMEOUT_SECONDS: Final = 2.0
SOCKET_TIMEOUT_SECONDS: Final = 2.8
# One blocking read: shorter than the socket's time-out, or an idle wait would look dead.
BLOCK_SECONDS: Final = 1.0
# Each request that waits for Redis has one; a front bounds those by its own connections.
_MOST_CONNECTIONS: Final = 10_000
_POOL_TIMEOUT_SECONDS: Final = 2.0
# A connection idle for longer is tried before it is used: a firewall may have forgotten it.
_HEALTH_CHECK_SECONDS: Final = 30
_BATCH: Final = 500


class UnfitRedisError(UnfitPartError):
    """The Redis server could lose what it accepted; the text names the setting to change."""


class ShardClient(Redis):
    """A client of one shard of several, with the circuit breaker that `reachable` asks."""

    breaker: Breaker


def connect(redis_url: str) -> Redis:
    """Make a client with a pool of its own; nothing is sent until it is used.

    A call whose connection breaks is repeated once, so a command may run twice: every script of the
    farm is written for that.
    """
    return Redis.from_pool(_make_pool(redis_url))


def connect_each(shards: Sequence[ShardAddress]) -> PerShard[Redis]:
    """Make a client for each shard; where there are several, each has a circuit breaker.

    A farm of one shard needs none: no other account waits for the threads that its server holds up.
    """
    if len(shards) == 1:
        return PerShard(shards, lambda shard: connect(shard.url))
    return PerShard(shards, _connect_shard)


def _connect_shard(shard: ShardAddress) -> Redis:
    client = cast("ShardClient", ShardClient.from_pool(_make_pool(shard.url)))
    client.breaker = Breaker()
    return client


def _make_pool(redis_url: str) -> BlockingConnectionPool:
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        redis_url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_POOL_TIMEOUT_SECONDS,
        # RESP3, the default of redis-py 8, is slow on large values (queueing.md B3).
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
def reachable(redis: Redis | None = None) -> Iterator[None]:
    """Turn whatever goes wrong with Redis into a 503.

    With the client that the block uses, its shard's breaker refuses the block at once while the
    server does not answer.

    Raises:
        Unavailable: Redis is away, full or refuses; the cause is chained for the log.
    """
    try:
        with guarded(redis):
            yield
    except RedisError as error:
        raise (NoSpace("queue") if is_refused_for_space(error) else Unavailable("queue")) from error


@contextmanager
def guarded(redis: Redis | None) -> Iterator[None]:
    """Run a block behind the breaker of the client's shard, if it has one.

    Raises:
        RedisConnectionError: the server did not answer a moment ago.
    """
    if isinstance(redis, ShardClient):
        with redis.breaker.watch():
            yield
    else:
        yield


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
    """Yield the keys that match a pattern, as bytes, some hundred at once."""
    return batched(redis.scan_iter(pattern, count=1000))


def is_refused_for_space(error: RedisError) -> bool:
    """Return whether Redis refused to write because its append-only file cannot grow.

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
