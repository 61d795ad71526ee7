"""The shard set of the farm, stored in each shard to detect changed or mixed-up settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from redis import Redis

from shared.errors import Unavailable
from shared.queue.connection import UnfitRedisError, assert_durable, connect, reachable
from shared.queue.names import FARM_LAYOUT, WRITE_CHECK
from shared.records import Record
from shared.shards import ShardAddress, component_name


class ShardLayout(Record, frozen=True):
    """The name of a shard, and the names of all shards of its farm."""

    name: str
    shards: tuple[str, ...]

    @classmethod
    def of(cls, shard: ShardAddress, shards: Sequence[ShardAddress]) -> ShardLayout:
        """Return the layout of the settings; the order of the shards is ignored."""
        return cls(shard.name, tuple(sorted(each.name for each in shards)))


def find_layout(redis: Redis) -> ShardLayout | None:
    """Return the layout stored in a server, None if it never was a shard of a farm.

    Raises:
        Unavailable: Redis is unreachable.
    """
    with reachable():
        text = cast("bytes | None", redis.get(FARM_LAYOUT))
    return None if text is None else ShardLayout.decode(text)


def write_layout(redis: Redis, layout: ShardLayout) -> None:
    """Store the layout in a server, replacing an earlier one.

    Raises:
        Unavailable: Redis is unreachable.
    """
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


def _list(layout: ShardLayout) -> str:
    return ", ".join(layout.shards)
