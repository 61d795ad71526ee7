"""`pressroom shards adopt|find`: which Redis servers a farm has, and who lives where."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from deploy.cli.access import FarmPlace, add_farm_option, find_farm
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared.errors import Unavailable
from shared.queue.adoption import BusyShardError, adopt, assert_idle
from shared.queue.connection import UnfitRedisError, connect
from shared.shards import find_home, slot_of


def add_commands(commands: Commands) -> None:
    """Add `shards adopt` and `shards find`."""
    group = commands.add_parser(
        "shards", help="change and look up a farm's Redis servers", allow_abbrev=False
    )
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    adoption = actions.add_parser(
        "adopt",
        help="make the servers of PRESSROOM_REDIS_URL the farm's, which must be stopped",
        allow_abbrev=False,
    )
    adoption.add_argument(
        "--retire",
        action="append",
        default=[],
        metavar="NAME",
        help="a shard that leaves: what must not be lost of it is moved; may be repeated",
    )
    adoption.add_argument(
        "--force",
        action="store_true",
        help="though somebody is connected, such as a monitor; never while the farm runs",
    )
    adoption.set_defaults(run=run_adopt)
    find = actions.add_parser("find", help="tell where an account lives", allow_abbrev=False)
    find.add_argument("account_id", metavar="ACCOUNT_ID")
    find.set_defaults(run=run_find)
    for parser in (adoption, find):
        add_farm_option(parser)
        add_json_option(parser)


def run_adopt(arguments: argparse.Namespace) -> int:
    """Change the shards of a farm that stands still; `up --shards` does it for an embedded one."""
    place = find_farm(arguments.data)
    if place.folder is not None:
        raise CommandFailed("an embedded farm gets its shards by `pressroom up --shards N`")
    names = _names(place)
    if unknown := sorted(set(arguments.retire) - set(names)):
        raise CommandFailed(
            f"there is no shard {unknown[0]!r} to retire; PRESSROOM_REDIS_URL has "
            f"{', '.join(names)}, and must still have those that leave"
        )
    if set(names) <= set(arguments.retire):
        raise CommandFailed("a farm needs a shard that stays")
    servers = {shard.name: connect(shard.url) for shard in place.shards}
    try:
        if not arguments.force:
            assert_idle(servers)
        done = adopt(servers, retired=arguments.retire)
    except (BusyShardError, UnfitRedisError) as error:
        raise CommandFailed(str(error)) from error
    except Unavailable as error:
        raise CommandFailed(
            "a shard does not answer, so nothing may be left out; run the command again when it does"
        ) from error
    shown = asdict(done) | {"moved": round(done.moved, 3)}
    print_result(shown, as_json=arguments.json)
    return 0


def run_find(arguments: argparse.Namespace) -> int:
    """Tell on which shard an account lives."""
    names = _names(find_farm(arguments.data))
    home = find_home(slot_of(arguments.account_id), names)
    print_result({"account_id": arguments.account_id, "shard": home}, as_json=arguments.json)
    return 0


def _names(place: FarmPlace) -> list[str]:
    if not place.shards:
        raise CommandFailed("the farm is not running, so its shards are not known")
    return [shard.name for shard in place.shards]
