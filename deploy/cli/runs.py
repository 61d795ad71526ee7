"""`pressroom run`: the documents of a run are released, rejected and reprinted."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from deploy.cli.output import CommandFailed, Result, read_credentials
from pressroom_client import Pressroom

_SECONDS_BETWEEN: Final = 0.5
_PATIENCE_SECONDS: Final = 600.0


def run_release(arguments: argparse.Namespace) -> Result:
    """Release held documents, and print the account."""
    return _decide(arguments, Pressroom.release)


def run_reject(arguments: argparse.Namespace) -> Result:
    """Reject held documents, and print the account."""
    return _decide(arguments, Pressroom.reject)


def run_reprint(arguments: argparse.Namespace) -> Result:
    """Order a reprint, wait for its file, and write it."""
    farm = Pressroom(*read_credentials(arguments))
    wanted: dict[str, Any] = {"copy": arguments.copy or None, "file": arguments.file}
    ranges = {"sets": arguments.sets, "sheets": arguments.sheets}
    for unit, text in ranges.items():
        if text is not None:
            first, _, last = text.partition("-")
            numbers = _read_numbers(f"{first},{last or first}")
            wanted |= {"unit": unit, "first": numbers[0], "last": numbers[1]}
    if arguments.documents is not None:
        wanted["documents"] = _read_numbers(arguments.documents)
    number = farm.reprint(arguments.batch_id, **wanted)
    _wait(farm, arguments.batch_id, number)
    farm.save_run_file(arguments.batch_id, f"reprint-{number}", arguments.output)
    return {"reprint": number, "output": str(arguments.output)}


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


def _decide(arguments: argparse.Namespace, decide: Callable[..., Mapping[str, Any]]) -> Result:
    farm = Pressroom(*read_credentials(arguments))
    documents = None if arguments.documents is None else _read_numbers(arguments.documents)
    account = decide(farm, arguments.batch_id, documents=documents, reason=arguments.reason)
    shown = {name: value for name, value in account.items() if not isinstance(value, list | dict)}
    return account if arguments.json else shown


def _read_numbers(text: str) -> list[int]:
    numbers = text.split(",")
    if not all(each.isascii() and each.isdigit() for each in numbers):
        raise CommandFailed(f"{text[:40]!r} are no numbers, such as 0,4,17")
    return [int(each) for each in numbers]
