"""A shard's word of which shards its farm has: changed settings must not scatter accounts unseen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from redis import Redis

from shared.errors import Unavailable
from shared.queue.connection import UnfitRedisError, assert_durable, connect, reachable
from shared.queue.names import FARM_LAYOUT
from shared.shards import ShardAddress, name_part


@dataclass(frozen=True, slots=True)
class Layout:
    """Which shard this is, and which there are in all."""

    name: str
    shards: tuple[str, ...]

    @classmethod
    def of(cls, shard: ShardAddress, shards: Sequence[ShardAddress]) -> Layout:
        """Make the layout that the settings say; the order of the shards means nothing."""
        return cls(shard.name, tuple(sorted(each.name for each in shards)))

    def encode(self) -> str:
        """Write it, the same for the same."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def decode(cls, text: str | bytes) -> Layout:
        """Read what `encode` wrote."""
        raw = json.loads(text)
        return cls(str(raw["name"]), tuple(raw["shards"]))


def find_layout(redis: Redis) -> Layout | None:
    """Give what a server was told when it was last taken into a farm, None when it never was.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        text = cast("bytes | None", redis.get(FARM_LAYOUT))
    return None if text is None else Layout.decode(text)


def write_layout(redis: Redis, layout: Layout) -> None:
    """Take a server into a farm, whatever it was told before.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        redis.set(FARM_LAYOUT, layout.encode())


def assert_shard(redis: Redis, layout: Layout) -> None:
    """Check that a server may be the shard that the settings take it for; a new one is told.

    Raises:
        UnfitRedisError: it could lose what it accepted, or is another shard, or one of others.
        Unavailable: it is away.
    """
    assert_durable(redis)
    found = find_layout(redis)
    if found is None:
        # Written only where it is missing: a server that is full answers all the same.
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
    """Check every server of a farm, for a process that works with all; some may be away.

    Raises:
        UnfitRedisError: see `assert_shard`.
        Unavailable: all are away.
    """
    away: list[Unavailable] = []
    for shard in shards:
        redis = connect(shard.url)
        try:
            assert_shard(redis, Layout.of(shard, shards))
        except Unavailable as error:
            # Late: commands read a layout too, and load no logging for it.
            from shared.telemetry.log import get_logger

            log = get_logger(__name__)
            log.warning("shard is away", shard=shard.name, cause=repr(error.__cause__))
            away.append(error)
        finally:
            redis.close()
    if len(away) == len(shards):
        raise away[0]


def make_checks(
    shards: Sequence[ShardAddress], redis_of: Callable[[str], Redis]
) -> Mapping[str, Callable[[], None]]:
    """Make the check of each shard, by the name of the part that it is."""

    def check(shard: ShardAddress) -> Callable[[], None]:
        layout = Layout.of(shard, shards)
        return lambda: assert_shard(redis_of(shard.name), layout)

    return {name_part(shard.name, len(shards)): check(shard) for shard in shards}


def _list(layout: Layout) -> str:
    return ", ".join(layout.shards)
