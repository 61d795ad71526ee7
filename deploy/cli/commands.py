"""The commands of `pressroom`: a new command is a table of `commands.toml`, and a function that runs it."""

from __future__ import annotations

import argparse
import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any, Final, NoReturn

from deploy.embedded.data_folder import DEFAULT_FOLDER
from shared.auth.scopes import Scope, parse_scopes
from shared.queue.names import QUEUES

_INVALID_CHOICE: Final = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its help, the module and function that run it, calls that its help shows, its arguments.

    `by_url` is the function of `deploy.cli.by_url` that runs it with `--url`.
    """

    help: str
    run: str
    examples: Sequence[str]
    arguments: Sequence[dict[str, Any] | list[dict[str, Any]]] = ()
    description: str | None = None
    by_url: str | None = None


def _number(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {lowest} to {highest}")
        return int(text)

    return parse


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and int(text) <= 24 * 3600):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 86400")
    return float(text)


def _midnight(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30") from error


def _day_of_period(text: str) -> date:
    day = _midnight(text).date()
    if not date.min.year < day.year < date.max.year:  # of what reaches beyond the calendar
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30")
    return day


def _timestamp(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 timestamp such as 2027-01-31T12:00:00Z"
        ) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _limit(text: str) -> int | str:
    return text if text == "none" else int(text)


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return parse_scopes(text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


_TYPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "int": int,
    "int or none": _limit,
    "path": Path,
    "seconds": _seconds,
    "midnight": _midnight,
    "day": _day_of_period,
    "timestamp": _timestamp,
    "scopes": _scopes,
}
_FILLED: Final = {
    "{folder}": str(DEFAULT_FOLDER),
    "{queues}": ", ".join(QUEUES),
    "{scopes}": ",".join(Scope),
}


def _read_file() -> dict[str, Any]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for word, value in _FILLED.items():
        text = text.replace(word, value)
    return tomllib.loads(text)


_FILE: Final = _read_file()


def _read_command(arguments: Sequence[Any] = (), **table: Any) -> Command:
    lists = (_FILE["shared"][each] if isinstance(each, str) else [each] for each in arguments)
    return Command(**table, arguments=[*chain.from_iterable(lists)])


COMMANDS: Final = {words: _read_command(**table) for words, table in _FILE["commands"].items()}


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the command, action or value that is near to an unknown one."""

    def error(self, message: str) -> NoReturn:
        if wrong := _INVALID_CHOICE.search(message):
            known = re.findall(r"[\w.-]+", wrong[2])
            near = difflib.get_close_matches(wrong[1], known, n=1)
            message += f"; did you mean {near[0]}?" if near else ""
        super().error(message)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; `run` of the parsed arguments is that of `Command`."""
    parser = _Parser(
        prog="pressroom",
        description="An asynchronous PDF render farm: the operator's commands, and the engine alone.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    first = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    groups: dict[str, Any] = {}
    for words, command in COMMANDS.items():
        word, _, action = words.partition(" ")
        if action and word not in groups:
            examples = [each.examples[0] for name, each in COMMANDS.items() if f"{word} " in name]
            group = _add_parser(first, word, examples, help=_FILE["groups"][word])
            groups[word] = group.add_subparsers(title="actions", metavar="ACTION", required=True)
        _add_command(groups[word] if action else first, action or word, command)
    return parser


def _add_parser(commands: Any, word: str, examples: Sequence[str], **about: str | None) -> Any:
    kind, ends = argparse.RawDescriptionHelpFormatter, "\n  ".join(["for example:", *examples])
    return commands.add_parser(word, epilog=ends, formatter_class=kind, allow_abbrev=False, **about)


def _add_command(commands: Any, word: str, command: Command) -> None:
    about = command.description and fill(command.description, 78)
    parser = _add_parser(commands, word, command.examples, help=command.help, description=about)
    for each in command.arguments:
        if isinstance(each, list):
            exclusive = parser.add_mutually_exclusive_group()
            for option in each:
                _add_argument(exclusive, **option)
        else:
            _add_argument(parser, **each)
    if command.by_url:
        help_of_url = "URL of a farm whose API is called in place of its stores, with a key of an operator (PRESSROOM_ADMIN_KEY)"
        parser.add_argument("--url", help=help_of_url)
    parser.set_defaults(run=command.run, by_url=command.by_url)


def _add_argument(parser: Any, names: str, bounds: Sequence[int] = (), **options: Any) -> None:
    if bounds:
        options["type"] = _number(*bounds)
    elif kind := options.get("type"):
        options["type"] = _TYPES[kind]
    parser.add_argument(*names.split(), **options)
