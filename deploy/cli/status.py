"""`pressroom status`: the state of a farm on one screen."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.access import FarmPlace, add_farm_option, find_farm
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from deploy.cli.survey import survey
from deploy.cli.survey_text import write_survey


def add_commands(commands: Commands) -> None:
    """Add `status`."""
    parser = commands.add_parser(
        "status",
        help="show processes, queues, workers, stores and the last errors",
        description="Exit code 0 says that nothing is wrong; 1, that something is, and what.",
        allow_abbrev=False,
    )
    add_farm_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run_status)


def run_status(arguments: argparse.Namespace) -> int:
    """Look at a farm once; 1 when something is wrong with it."""
    found = survey(_find_existing(arguments.data))
    if arguments.json:
        print_result(found, as_json=True)
    else:
        print(write_survey(found))
    return 1 if found["problems"] else 0


def _find_existing(data: Path | None) -> FarmPlace:
    place = find_farm(data)
    if place.folder is not None and not place.folder.database.exists():
        raise CommandFailed(f"there is no farm in {place.folder.path}")
    return place
