"""`pressroom demo`: renders four sample documents on a temporary farm."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.output import Commands
from deploy.embedded.demo.show import show_demo


def add_commands(commands: Commands) -> None:
    """Add `demo`."""
    parser = commands.add_parser(
        "demo", help="render four sample documents on a temporary farm", allow_abbrev=False
    )
    parser.add_argument(
        "-o", dest="output", type=Path, default=Path("demo"), metavar="DIR", help="folder (demo)"
    )
    parser.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the demo into a folder."""
    show_demo(arguments.output, report=_print)
    return 0


def _print(line: str) -> None:
    print(line, flush=True)
