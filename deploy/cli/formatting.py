"""`pressroom fmt`: formats the white space of templates."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from deploy.cli.output import CommandFailed, read_file

_STANDARD_INPUT: Final = Path("-")


def run_format(arguments: argparse.Namespace) -> int:
    """Format files in place, or standard input to standard output; return 1 if a file cannot be formatted or, with --check, would change."""
    codes = [_format(path, is_checked=arguments.check) for path in arguments.files]
    return max(codes)


def _format(path: Path, *, is_checked: bool) -> int:
    from workers.engine.syntax.formatter import FormattingError, format_template

    source = sys.stdin.buffer.read() if path == _STANDARD_INPUT else read_file(path)
    try:
        formatted = format_template(source)
    except FormattingError as error:
        place = error.diagnostic.location
        at = "" if place is None else f":{place.span.line_start}:{place.span.column_start}"
        print(f"{path}{at}: error: {error}", file=sys.stderr)
        return 1
    if is_checked:
        if formatted != source:
            print(f"{path} would be formatted")
        return int(formatted != source)
    if path == _STANDARD_INPUT:
        sys.stdout.buffer.write(formatted)
    elif formatted != source:
        _write(path, formatted)
        print(f"{path} formatted")
    return 0


def _write(path: Path, text: bytes) -> None:
    """Replace the file atomically, and keep its mode."""
    beside = path.with_name(f".{path.name}.fmt")
    try:
        beside.write_bytes(text)
        beside.chmod(path.stat().st_mode)
        beside.replace(path.resolve())
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error
