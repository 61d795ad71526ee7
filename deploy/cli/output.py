"""The output of commands: text, or one JSON object."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from deploy.embedded.plan import operator_environment
from shared.limits import MB

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


def write_section(name: str, value: object) -> str:
    """Return a part of a result as text: records as a table by the names of their fields, anything else as a line."""
    title = _title(name)
    if not (value and isinstance(value, list)):
        return f"{title}: {_cell(name, value) or 'none'}"
    rows = [[_cell(*field) for field in record.items()] for record in value]
    return f"{title}\n{write_table([_title(field) for field in value[0]], rows)}"


def print_list(
    name: str, records: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool
) -> Result | None:
    """Print some fields of each record as a table, or return the records for JSON."""
    if as_json:
        return {name: records}
    shown = [{column: record[column] for column in columns} for record in records]
    print(write_section(name, shown))
    return None


def _title(name: str) -> str:
    """Return the name of a field without its unit, which is shown with its values."""
    return name.removesuffix("_seconds").removesuffix("_bytes").replace("_", " ")


def _cell(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return ", ".join(f"{_title(field)} {_cell(field, each)}" for field, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(value)
    if name.endswith("_seconds"):
        return str(timedelta(seconds=round(value)))
    return f"{value / MB:.0f} MB" if name.endswith("_bytes") else str(value)


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
