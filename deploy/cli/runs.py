"""`pressroom run`: the documents of a run are released, rejected and reprinted."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from deploy.cli.output import CommandFailed, find_farm, print_result
from pressroom_client import Pressroom, PressroomError

_MOST_INDEXES: Final = 5000
_SECONDS_BETWEEN: Final = 0.5
_PATIENCE_SECONDS: Final = 600.0


def run_release(arguments: argparse.Namespace) -> int:
    """Release held documents, and print the account."""
    return _decide(arguments, Pressroom.release)


def run_reject(arguments: argparse.Namespace) -> int:
    """Reject held documents, and print the account."""
    return _decide(arguments, Pressroom.reject)


def run_reprint(arguments: argparse.Namespace) -> int:
    """Order a reprint, wait for its file, and write it."""
    farm = Pressroom(*find_farm(arguments))
    wanted: dict[str, Any] = {"copy": arguments.copy or None, "file": arguments.file}
    if arguments.documents is not None:
        wanted["documents"] = _read_indexes(arguments.documents)
    elif arguments.sets or arguments.sheets:
        wanted["unit"] = "sets" if arguments.sets else "sheets"
        wanted["first"], wanted["last"] = _read_range(arguments.sets or arguments.sheets)
    else:
        raise CommandFailed("name --documents, --sets or --sheets")
    try:
        number = farm.reprint(arguments.batch_id, **wanted)
        _wait(farm, arguments.batch_id, number)
        farm.save_run_file(arguments.batch_id, f"reprint-{number}", arguments.output)
    except PressroomError as error:
        raise CommandFailed(str(error)) from error
    result = {"reprint": number, "output": str(arguments.output)}
    print_result(result, as_json=arguments.json)
    return 0


def _wait(farm: Pressroom, batch_id: str, number: int) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while not any(
        each["number"] == number and each["bytes"]
        for each in farm.batch_account(batch_id)["reprints"]
    ):
        if time.monotonic() > until:
            raise CommandFailed(
                f"the reprint is not written yet; it is the file reprint-{number} of {batch_id}"
            )
        time.sleep(_SECONDS_BETWEEN)


def _decide(arguments: argparse.Namespace, decide: Callable[..., Mapping[str, Any]]) -> int:
    farm = Pressroom(*find_farm(arguments))
    documents = None if arguments.documents is None else _read_indexes(arguments.documents)
    try:
        account = decide(farm, arguments.batch_id, documents=documents, reason=arguments.reason)
    except PressroomError as error:
        raise CommandFailed(str(error)) from error
    shown = {name: value for name, value in account.items() if not isinstance(value, list | dict)}
    print_result(account if arguments.json else shown, as_json=arguments.json)
    return 0


def _read_indexes(text: str) -> Sequence[int]:
    """Read indexes such as 0,4,10-20.

    Raises:
        CommandFailed: the text has another form, or names too many.
    """
    indexes: list[int] = []
    for part in text.split(","):
        first, last = _read_range(part)
        if len(indexes) + last - first >= _MOST_INDEXES:
            raise CommandFailed(f"--documents {text[:40]}: name at most {_MOST_INDEXES:,} indexes")
        indexes.extend(range(first, last + 1))
    return indexes


def _read_range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    numbers = [int(each) for each in (first, last or first) if each.isascii() and each.isdigit()]
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise CommandFailed(f"{text[:40]!r} is neither a number nor a range such as 10-20")
    return numbers[0], numbers[1]
