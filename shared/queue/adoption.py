"""Changing a farm's shards while it stands still: each is told of the others, and left without what
may belong to accounts that live elsewhere now.

What must not be lost goes on: usage events, and what was counted, of a shard that leaves. All else is
either on record, and the keeper queues it again, or a copy of what the database has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.queue.connection import assert_durable, reachable, scan
from shared.queue.layout import Layout, find_layout, write_layout
from shared.queue.names import (
    CLAIM_EXPIRY,
    DEAD_EVENTS,
    DRAINED,
    FARM_EPOCH,
    FARM_LAYOUT,
    FARM_TOTALS,
    FRESH_TOTALS,
    QUEUES,
    SENT_SLICES,
    UNACKED,
    UNACKED_INDEX,
    USAGE_STREAM,
)
from shared.queue.sums import read_sums
from shared.shards import count_moved

# Copies of what the database has: states of keys, and what names stand for.
_COPIES: Final = ("key:*", "pins:*")
_COUNTERS: Final = "usage:*:*"
_AT_ONCE: Final = 500


class BusyShardError(Exception):
    """Somebody is connected to a shard; the text says which."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was done: the shards there are now, and the share of the accounts that moved, 0 to 1."""

    shards: tuple[str, ...]
    retired: tuple[str, ...]
    moved: float
    usage_events_moved: int


def assert_idle(servers: Mapping[str, Redis]) -> None:
    """Check that nobody but the caller is connected to these servers.

    Raises:
        BusyShardError: somebody is.
        Unavailable: one is away.
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


def adopt(servers: Mapping[str, Redis], *, retired: Sequence[str] = ()) -> Adopted:
    """Make these servers, by the names of the shards, one farm's; the retired ones leave it.

    No process of the farm may run. Broken off, it can be done again.

    Raises:
        UnfitRedisError: one could lose what it accepts.
        Unavailable: one is away.
    """
    before = set()
    for redis in servers.values():
        assert_durable(redis)
        layout = find_layout(redis)
        before |= set(layout.shards if layout else ())
    staying = {name: redis for name, redis in servers.items() if name not in retired}
    names = tuple(sorted(staying))
    heir = staying[names[0]]
    moved_events = sum(_bequeath(servers[name], heir) for name in retired)
    _drain_alike(servers.values(), staying.values())
    for redis in staying.values():
        _forget(redis)
    for name in retired:
        with reachable():
            servers[name].delete(FARM_LAYOUT)
    for name, redis in staying.items():
        write_layout(redis, Layout(name, names))
    return Adopted(names, tuple(retired), count_moved(tuple(before) or names, names), moved_events)


def _bequeath(redis: Redis, heir: Redis) -> int:
    """Move what must not be lost to another server and count the usage events among it.

    Broken off between two steps, an event is there twice, and the ledger counts it once.
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
        totals = read_sums(redis)
        redis.delete(FARM_TOTALS, FRESH_TOTALS, CLAIM_EXPIRY)
        pipe = heir.pipeline()
        for field, amount in totals.items():
            pipe.hincrbyfloat(FARM_TOTALS, field, amount)
        pipe.execute()
    return count


def _drain_alike(servers: Iterable[Redis], staying: Iterable[Redis]) -> None:
    """Have a queue that was drained anywhere be so on every shard."""
    drained: dict[bytes, bytes] = {}
    with reachable():
        for redis in servers:
            drained |= cast("dict[bytes, bytes]", redis.hgetall(DRAINED))
        for redis in staying:
            if drained:
                redis.hset(DRAINED, mapping=cast("Any", drained))


def _forget(redis: Redis) -> None:
    """Leave a server without what another shard may say otherwise from now on."""
    with reachable():
        for pattern in _COPIES:
            for keys in scan(redis, pattern):
                redis.unlink(*keys)
        for keys in scan(redis, _COUNTERS):
            # They stay: neither they nor the ledger are above the truth, and the larger one counts.
            pipe = redis.pipeline()
            for key in keys:
                pipe.hdel(key, "seeded")
            pipe.execute()
        # The keeper queues again what is on record, by the epoch; nobody waits for the rest.
        redis.unlink(*QUEUES, UNACKED, UNACKED_INDEX, SENT_SLICES, FARM_EPOCH)
