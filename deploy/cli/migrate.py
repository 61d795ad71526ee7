"""`pressroom migrate`: migrates the database of a production farm, before a release is rolled out."""

from __future__ import annotations

import argparse

from deploy.cli.farm import add_farm_option, find_farm
from deploy.cli.output import Commands, add_json_option, print_result


def add_commands(commands: Commands) -> None:
    """Add `migrate`."""
    parser = commands.add_parser(
        "migrate", help="migrate the database to this release", allow_abbrev=False
    )
    add_farm_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run_migrate)


def run_migrate(arguments: argparse.Namespace) -> int:
    """Migrate the tables and the public templates to this release; idempotent."""
    # Imported here, so that other commands do not load Alembic.
    from shared.db.migrate import upgrade

    place = find_farm(arguments.data)
    if place.folder is not None:
        place.folder.create()
    upgrade(place.database_url)
    print_result({"migrated": True}, as_json=arguments.json)
    return 0
