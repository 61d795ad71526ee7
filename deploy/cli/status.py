"""`pressroom status`: the state of a farm on one screen."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.farm import FarmLocation, add_farm_option, find_farm
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from deploy.cli.status_report import collect_status
from deploy.cli.status_text import write_status


def add_commands(commands: Commands) -> None:
    """Add `status`."""
    parser = commands.add_parser(
        "status",
        help="show processes, queues, workers, stores and the last errors",
        description="The exit code is 0 without problems and 1 otherwise.",
        allow_abbrev=False,
    )
    add_farm_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run_status)


def run_status(arguments: argparse.Namespace) -> int:
    """Print the status of a farm; return 1 if there are problems."""
    found = collect_status(_find_existing(arguments.data))
    if arguments.json:
        print_result(found, as_json=True)
    else:
        print(write_status(found))
    return 1 if found["problems"] else 0


def _find_existing(data: Path | None) -> FarmLocation:
    place = find_farm(data)
    if place.folder is not None and not place.folder.database.exists():
        raise CommandFailed(f"{place.folder.path} contains no farm")
    return place
