"""`pressroom shards adopt|find`: changes the Redis servers of a farm, and finds the shard of an account."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from deploy.cli.farm import FarmLocation, find_farm
from deploy.cli.output import CommandFailed, Result
from shared.errors import Unavailable
from shared.queue.connection import connect
from shared.queue.shard_layout import adopt, assert_idle
from shared.shards import find_shard, slot_of


def run_adopt(arguments: argparse.Namespace) -> Result:
    """Change the shards of a stopped farm; for an embedded farm use `up --shards`."""
    place = find_farm(arguments.data)
    if place.folder is not None:
        raise CommandFailed("change the shards of an embedded farm with `pressroom up --shards N`")
    names = _names(place)
    if unknown := sorted(set(arguments.retire) - set(names)):
        raise CommandFailed(
            f"shard {unknown[0]!r} cannot be retired: PRESSROOM_REDIS_URL has {', '.join(names)}, and must "
            "still contain the shards to retire"
        )
    if set(names) <= set(arguments.retire):
        raise CommandFailed("at least one shard must remain")
    servers = {shard.name: connect(shard.url) for shard in place.shards}
    try:
        if not arguments.force:
            assert_idle(servers)
        done = adopt(servers, retired=arguments.retire)
    except Unavailable as error:
        raise CommandFailed(
            "a shard does not respond, so its data cannot be moved; run the command again once it responds"
        ) from error
    finally:
        for redis in servers.values():
            redis.close()
    return asdict(done) | {"moved": round(done.moved, 3)}


def run_find(arguments: argparse.Namespace) -> Result:
    """Print the shard of an account."""
    names = _names(find_farm(arguments.data))
    home = find_shard(slot_of(arguments.account_id), names)
    return {"account_id": arguments.account_id, "shard": home}


def _names(place: FarmLocation) -> list[str]:
    if not place.shards:
        raise CommandFailed("the farm is not running, so its shards are not known")
    return [shard.name for shard in place.shards]
