"""The commands of the command line, as its help has them."""

from __future__ import annotations

import argparse
import re

import pytest

# A command in the help of its parser: under a title of `add_subparsers`, indented by four.
_COMMAND = re.compile(r"^    ([a-z][a-z-]*)(?: |$)", re.MULTILINE)
_TITLE = re.compile(r"^(?:commands|actions):$", re.MULTILINE)


def list_commands(help_text: str) -> list[str]:
    """Return the commands that a help text lists, in its order; none where it has no commands."""
    parts = _TITLE.split(help_text, maxsplit=1)
    return _COMMAND.findall(parts[1]) if len(parts) > 1 else []


def read_help(
    parser: argparse.ArgumentParser, command: str, capsys: pytest.CaptureFixture[str]
) -> str:
    """Return what a command's `--help` prints."""
    with pytest.raises(SystemExit) as ended:
        parser.parse_args([command, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out
