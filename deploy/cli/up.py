"""`pressroom up`: the whole farm on this machine."""

from __future__ import annotations

import argparse
import signal
from contextlib import suppress
from pathlib import Path

from deploy.cli.output import Commands
from deploy.embedded.home import DEFAULT_FOLDER, open_folder
from deploy.embedded.seed import show_seed
from deploy.embedded.supervisor import Farm, FarmOptions, StopAsked


def add_commands(commands: Commands) -> None:
    """Add `up`."""
    parser = commands.add_parser(
        "up", help="run the whole farm on this machine", allow_abbrev=False
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="port of the front; 0 is any free one (8000)"
    )
    parser.add_argument("--workers", type=_workers, help="renders that run at once (2)")
    parser.add_argument(
        "--shards",
        type=_shards,
        metavar="N",
        help="Redis servers, each with workers of its own (as many as the folder has, 1 at first)",
    )
    add_data_option(parser)
    parser.add_argument("--logs", action="store_true", help="show what the processes log")
    parser.add_argument(
        "--seed", action="store_true", help="make a developer's account once and show its key"
    )
    parser.set_defaults(run=run_up)


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data`, the folder of an embedded farm."""
    parser.add_argument(
        "--data",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"data folder of the farm ({DEFAULT_FOLDER})",
    )


def run_up(arguments: argparse.Namespace) -> int:
    """Run the farm until SIGINT or SIGTERM; a second one no longer waits for running work."""
    folder = open_folder(arguments.data)
    options = FarmOptions(
        arguments.port, arguments.workers, arguments.shards, shows_logs=arguments.logs
    )
    farm = Farm(folder, options, say=_say)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: farm.ask_to_stop())
    try:
        record = farm.start()
        _say(f"Pressroom is ready at {record.url}")
        _say(f"data in {folder.path}, logs in {folder.logs}")
        if arguments.seed:
            for line in show_seed(folder, record):
                _say(line)
        farm.run()
        _say("stopping: running work is finished first")
    except StopAsked:
        _say("stopped before it was ready")
    finally:
        farm.stop()
    return 0


def _say(line: str) -> None:
    # What is said may go to a file, and its disk may be full: the farm goes on.
    with suppress(OSError):
        print(line, flush=True)


def _port(text: str) -> int:
    return _number(text, lowest=0, highest=65535)


def _workers(text: str) -> int:
    return _number(text, lowest=1, highest=256)


def _shards(text: str) -> int:
    return _number(text, lowest=1, highest=16)


def _number(text: str, *, lowest: int, highest: int) -> int:
    if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {lowest} to {highest}")
    return int(text)
