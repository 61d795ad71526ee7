"""The `pressroom` command: one file per group of commands, one exit code, errors on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from deploy.cli import (
    accounts,
    backup,
    batch,
    demo,
    documents,
    jobs,
    keys,
    migrate,
    queues,
    shards,
    status,
    up,
)
from deploy.cli.output import CommandFailed
from deploy.embedded.demo.client import DemoFailed
from deploy.embedded.home import FolderTaken
from deploy.embedded.launch import NotReady
from deploy.embedded.supervisor import FarmFailed
from shared.errors import ServiceError
from shared.settings import WrongSetting

_FAILURES = (
    CommandFailed,
    DemoFailed,
    FarmFailed,
    FolderTaken,
    NotReady,
    ServiceError,
    WrongSetting,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code: 0 done, 1 refused or not valid, 2 misused."""
    parsed = build_parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
    except _FAILURES as failure:
        print(f"pressroom: {failure}", file=sys.stderr)
        return 1
    return code


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands (contract.md 2)."""
    parser = argparse.ArgumentParser(
        prog="pressroom",
        description="An asynchronous PDF render farm: the operator's commands, and the engine alone.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    up.add_commands(commands)
    status.add_commands(commands)
    accounts.add_commands(commands)
    keys.add_commands(commands)
    jobs.add_commands(commands)
    queues.add_commands(commands)
    shards.add_commands(commands)
    documents.add_commands(commands)
    batch.add_commands(commands)
    migrate.add_commands(commands)
    backup.add_commands(commands)
    demo.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
