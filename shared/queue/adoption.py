"""Change the set of shards of a stopped farm.

Each shard stores the new set and drops state of accounts that may have moved. Usage events of a
removed shard are moved to another one. All other state is either recorded in the database, from which
the maintenance process queues it again, or a cache of the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.queue.connection import assert_durable, reachable, scan
from shared.queue.names import (
    CLAIM_EXPIRY,
    DEAD_EVENTS,
    DRAINED,
    FARM_EPOCH,
    FARM_LAYOUT,
    QUEUES,
    SENT_SLICES,
    USAGE_STREAM,
)
from shared.queue.shard_layout import ShardLayout, find_layout, write_layout
from shared.shards import count_moved

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
    """Move usage events and claim expiries to another server; return the number of events.

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
    with reachable():
        lent = cast("list[tuple[bytes, float]]", redis.zrange(CLAIM_EXPIRY, 0, -1, withscores=True))
        if lent:
            heir.zadd(CLAIM_EXPIRY, dict(lent))
        redis.delete(CLAIM_EXPIRY)
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
                pipe.hdel(key, "seeded")
            pipe.execute()
        # A new epoch makes maintenance queue recorded work again; no client waits for the rest.
        redis.unlink(*QUEUES, SENT_SLICES, FARM_EPOCH)
