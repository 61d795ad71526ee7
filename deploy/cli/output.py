"""What a command prints: lines for people, or one JSON object."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class CommandFailed(Exception):
    """The command cannot be done; the text names what was given and what is accepted."""


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`: one JSON object on standard output and nothing else."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def print_result(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the result of a command, one `name: value` a line unless JSON is asked for."""
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        print(f"{name}: {shown}")
