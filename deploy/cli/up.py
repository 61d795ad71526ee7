"""`pressroom up`: the whole farm on this machine."""

from __future__ import annotations

import argparse
import signal
from contextlib import suppress
from pathlib import Path

from deploy.cli.output import Commands
from deploy.embedded.data_folder import DEFAULT_FOLDER, open_folder
from deploy.embedded.developer_account import describe_developer_account
from deploy.embedded.supervisor import EmbeddedFarm, FarmOptions, StopRequested


def add_commands(commands: Commands) -> None:
    """Add `up`."""
    parser = commands.add_parser(
        "up", help="run the whole farm on this machine", allow_abbrev=False
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="port of the front; 0 is any free one (8000)"
    )
    parser.add_argument("--workers", type=_workers, help="number of worker processes (2)")
    parser.add_argument(
        "--shards",
        type=_shards,
        metavar="N",
        help="number of Redis servers, each with its own workers (unchanged; 1 for a new folder)",
    )
    add_data_option(parser)
    parser.add_argument("--logs", action="store_true", help="print the logs of all processes")
    parser.add_argument(
        "--seed", action="store_true", help="create a developer account once and print its key"
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
    """Run the farm until SIGINT or SIGTERM; a second signal stops without waiting for running jobs."""
    folder = open_folder(arguments.data)
    options = FarmOptions(
        arguments.port, arguments.workers, arguments.shards, shows_logs=arguments.logs
    )
    farm = EmbeddedFarm(folder, options, report=_print)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: farm.request_stop())
    try:
        record = farm.start()
        # A script may use the key as soon as it reads that the farm is ready.
        hints = describe_developer_account(folder, record) if arguments.seed else []
        _print(f"Pressroom is ready at {record.url}")
        _print(f"the Studio, for templates and the account, is at {record.url}/studio/")
        _print(f"data in {folder.path}, logs in {folder.logs}")
        for line in hints:
            _print(line)
        farm.run()
        _print("stopping after running jobs have ended")
    except StopRequested:
        _print("stopped before it was ready")
    finally:
        farm.stop()
    return 0


def _print(line: str) -> None:
    # Standard output may be a file on a full disk; the farm must go on.
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
