"""The output of commands: text, or one JSON object."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deploy.embedded.plan import operator_environment

Columns = Mapping[str, Callable[[Any], object]]
Result = Mapping[str, Any]  # of a command, which `main` prints


class CommandFailed(Exception):
    """The command failed; the message names the given value and the accepted ones."""


def print_result(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the result of a command, as one `name: value` per line or as JSON."""
    print(json.dumps(result) if as_json else "\n".join(_lines(result)))


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        CommandFailed: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        CommandFailed: it cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error


def write_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a table with aligned columns; None is a hyphen."""
    shown = [["-" if cell is None else make_printable(str(cell)) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(head, *shown, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *shown)
    )


def write_columns(columns: Columns, records: Iterable[Any]) -> str:
    """Return records as a table; `columns` have what is shown of a record, by title."""
    rows = [[show(each) for show in columns.values()] for each in records]
    return write_table([*columns], rows)


def _lines(result: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    for name, value in result.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}:"
            yield from _lines(value, indent + "  ")
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{indent}{name}: {'-' if value is None else make_printable(shown)}"


def make_printable(text: str) -> str:
    """Escape control characters, since names and messages may come from clients."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def read_credentials(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the URL and the API key of `--url` and `--key`, or of the environment.

    Raises:
        CommandFailed: Neither names a farm.
    """
    environment = operator_environment()
    url = arguments.url or environment.get("PRESSROOM_URL")
    key = arguments.key or environment.get("PRESSROOM_KEY")
    if not (url and key):
        raise CommandFailed(
            "no farm is given: pass --url and --key, or set PRESSROOM_URL and PRESSROOM_KEY"
        )
    return url, key
