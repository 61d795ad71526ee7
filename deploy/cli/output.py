"""The output of commands: text, or one JSON object."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol


class Commands(Protocol):
    """The return type of `ArgumentParser.add_subparsers`."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Add a command and return its parser."""


class CommandFailed(Exception):
    """The command failed; the message names the given value and the accepted ones."""


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`: one JSON object on standard output and nothing else."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def print_result(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the result of a command, as one `name: value` per line or as JSON."""
    print(json.dumps(result) if as_json else "\n".join(_lines(result)))


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table with aligned columns."""
    rows = [[_printable(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def _lines(result: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    for name, value in result.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}:"
            yield from _lines(value, indent + "  ")
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{indent}{name}: {'-' if value is None else _printable(shown)}"


def _printable(text: str) -> str:
    """Escape control characters, since names and messages may come from clients."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
