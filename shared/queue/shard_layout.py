"""The shard set of the farm, stored in each shard to detect changed or mixed-up settings, and its change.

Functions raise `Unavailable` while a server is unreachable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.errors import Unavailable
from shared.queue.connection import (
    UnfitRedisError,
    assert_durable,
    assert_volatile,
    connect,
    reachable,
    scan,
)
from shared.queue.names import (
    DEAD_EVENTS,
    DRAINED,
    FARM_EPOCH,
    FARM_LAYOUT,
    QUEUES,
    SENT_SLICES,
    USAGE_STREAM,
    WRITE_CHECK,
)
from shared.records import Record
from shared.shards import ShardAddress, component_name, count_moved
from shared.usage.metering import SEEDED


class ShardLayout(Record, frozen=True):
    """The name of a shard, and the names of all shards of its farm."""

    name: str
    shards: tuple[str, ...]

    @classmethod
    def of(cls, shard: ShardAddress, shards: Sequence[ShardAddress]) -> ShardLayout:
        """Return the layout of the settings; the order of the shards is ignored."""
        return cls(shard.name, tuple(sorted(each.name for each in shards)))


def find_layout(redis: Redis) -> ShardLayout | None:
    """Return the layout stored in a server, None if it never was a shard of a farm."""
    with reachable():
        text = cast("bytes | None", redis.get(FARM_LAYOUT))
    return None if text is None else ShardLayout.decode(text)


def write_layout(redis: Redis, layout: ShardLayout) -> None:
    """Store the layout in a server, replacing an earlier one."""
    with reachable():
        redis.set(FARM_LAYOUT, layout.encode())


def assert_shard(redis: Redis, layout: ShardLayout) -> None:
    """Check that a server is the shard that the settings name; store the layout in a new server.

    Raises:
        UnfitRedisError: the server could lose accepted data, or has another layout.
        Unavailable: the server is unreachable.
    """
    assert_durable(redis)
    found = find_layout(redis)
    if found is None:
        # Written only if missing: a full server can still be read.
        with reachable():
            redis.set(FARM_LAYOUT, layout.encode(), nx=True)
        found = find_layout(redis) or layout
    if found != layout:
        raise UnfitRedisError(
            f"the Redis server given as shard {layout.name!r} of {_list(layout)} is shard "
            f"{found.name!r} of {_list(found)}: stop the farm, and run `pressroom shards adopt` if "
            "the shards are meant to change"
        )


def assert_shards(shards: Sequence[ShardAddress]) -> None:
    """Check every server of a farm, for a process that uses all; some may be unreachable.

    Raises:
        UnfitRedisError: see `assert_shard`.
        Unavailable: all servers are unreachable.
    """
    away: list[Unavailable] = []
    for shard in shards:
        redis = connect(shard.url)
        try:
            assert_shard(redis, ShardLayout.of(shard, shards))
        except Unavailable as error:
            # Imported late: commands that only read a layout need no logging.
            from shared.telemetry.log import get_logger

            log = get_logger(__name__)
            log.warning("shard is away", shard=shard.name, cause=repr(error.__cause__))
            away.append(error)
        finally:
            redis.close()
    if len(away) == len(shards):
        raise away[0]


def check_writable(redis: Redis) -> None:
    """Check that a server answers and takes what renders write.

    Raises:
        StorageFull: its disk or its memory is full.
        Unavailable: it is unreachable.
    """
    with reachable():
        redis.set(WRITE_CHECK, 1, ex=60)


def make_checks(
    shards: Sequence[ShardAddress],
    redis_of: Callable[[str], Redis],
    check_broker: Callable[[str], None],
) -> Mapping[str, Callable[[], None]]:
    """Return the check of each shard and its broker, by component name."""

    def check(shard: ShardAddress) -> Callable[[], None]:
        layout = ShardLayout.of(shard, shards)

        def check_both() -> None:
            redis = redis_of(shard.name)
            assert_shard(redis, layout)
            check_writable(redis)
            check_broker(shard.name)

        return check_both

    return {component_name(shard.name, len(shards)): check(shard) for shard in shards}


def make_memory_check(url: str) -> Mapping[str, Callable[[], None]]:
    """Return the check of the Redis that keeps nothing by its component name; none without its URL."""
    if not url:
        return {}
    redis = connect(url)

    def check() -> None:
        assert_volatile(redis)
        check_writable(redis)

    return {"memory": check}


def _list(layout: ShardLayout) -> str:
    return ", ".join(layout.shards)


# Caches of the database: states of API keys, and resolved template names.
_COPIES: Final = ("key:*", "pins:*")
_COUNTERS: Final = "usage:*:*"
_AT_ONCE: Final = 500


class BusyShardError(Exception):
    """A client is connected to a shard; the message names both."""


@dataclass(frozen=True, slots=True)
class AdoptionResult:
    """The result of `adopt`: the current shards, and the share of accounts that moved, 0 to 1."""

    shards: tuple[str, ...]
    retired: tuple[str, ...]
    moved: float
    usage_events_moved: int


def assert_idle(servers: Mapping[str, Redis]) -> None:
    """Check that no client except the caller is connected to these servers.

    Raises:
        BusyShardError: a server has other clients.
        Unavailable: a server is unreachable.
    """
    for name, redis in servers.items():
        with reachable():
            own = redis.client_id()
            others = [each for each in redis.client_list() if int(each["id"]) != own]
        if others:
            raise BusyShardError(
                f"{len(others)} connections are open to shard {name!r}, one from "
                f"{others[0]['addr']}: the farm's processes must be stopped first"
            )


def adopt(servers: Mapping[str, Redis], *, retired: Sequence[str] = ()) -> AdoptionResult:
    """Configure these servers, by shard name, as the shards of one farm, and remove the retired ones.

    No process of the farm may run. After an interruption it can be repeated.

    Raises:
        UnfitRedisError: a server could lose accepted data.
        Unavailable: a server is unreachable.
    """
    before = set()
    for redis in servers.values():
        assert_durable(redis)
        layout = find_layout(redis)
        before |= set(layout.shards if layout else ())
    staying = {name: redis for name, redis in servers.items() if name not in retired}
    names = tuple(sorted(staying))
    heir = staying[names[0]]
    moved_events = sum(_move_durable(servers[name], heir) for name in retired)
    _copy_drains(servers.values(), staying.values())
    for redis in staying.values():
        _delete_stale(redis)
    for name in retired:
        with reachable():
            servers[name].delete(FARM_LAYOUT)
    for name, redis in staying.items():
        write_layout(redis, ShardLayout(name, names))
    return AdoptionResult(
        names, tuple(retired), count_moved(tuple(before) or names, names), moved_events
    )


def _move_durable(redis: Redis, heir: Redis) -> int:
    """Move usage events to another server; return their number.

    After an interruption an event may exist twice; the ledger counts it once.
    """
    count = 0
    for stream in (USAGE_STREAM, DEAD_EVENTS):
        with reachable():
            while entries := cast("list[Any]", redis.xrange(stream, count=_AT_ONCE)):
                pipe = heir.pipeline()
                for _, fields in entries:
                    pipe.xadd(stream, fields)
                pipe.execute()
                redis.xdel(stream, *(entry_id for entry_id, _ in entries))
                count += len(entries) if stream == USAGE_STREAM else 0
    return count


def _copy_drains(servers: Iterable[Redis], staying: Iterable[Redis]) -> None:
    """Drain every queue that was drained on any shard on all remaining shards."""
    drained: dict[bytes, bytes] = {}
    with reachable():
        for redis in servers:
            drained |= cast("dict[bytes, bytes]", redis.hgetall(DRAINED))
        for redis in staying:
            if drained:
                redis.hset(DRAINED, mapping=cast("Any", drained))


def _delete_stale(redis: Redis) -> None:
    """Delete state that may conflict with that of another shard from now on."""
    with reachable():
        for pattern in _COPIES:
            for keys in scan(redis, pattern):
                redis.unlink(*keys)
        for keys in scan(redis, _COUNTERS):
            # The counters stay: neither they nor the ledger exceed the true usage, and the larger one applies.
            pipe = redis.pipeline()
            for key in keys:
                pipe.hdel(key, SEEDED)
            pipe.execute()
        # A new epoch makes maintenance queue recorded work again; no client waits for the rest.
        redis.unlink(*QUEUES, SENT_SLICES, FARM_EPOCH)
