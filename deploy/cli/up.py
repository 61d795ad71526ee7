"""`pressroom up`: the whole farm on this machine."""

from __future__ import annotations

import argparse
import signal
from contextlib import suppress

from deploy.embedded.data_folder import DataFolder, FarmRecord, open_folder
from deploy.embedded.supervisor import EmbeddedFarm, FarmOptions, StopRequested


def run_up(arguments: argparse.Namespace) -> None:
    """Run the farm until SIGINT or SIGTERM; a second signal stops without waiting for running jobs.

    SIGUSR2 stops it and starts the release that is then installed, in this process, with the same socket.
    """
    folder = open_folder(arguments.data)
    options = FarmOptions(
        arguments.port, arguments.workers, arguments.shards, shows_logs=arguments.logs
    )
    farm = EmbeddedFarm(folder, options, report=_print)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: farm.request_stop())
    signal.signal(signal.SIGUSR2, lambda *_: farm.request_restart())
    try:
        record = farm.start()
        # A script may use the key as soon as it reads that the farm is ready.
        hints = _seed(folder, record) if arguments.seed else []
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


def _seed(folder: DataFolder, record: FarmRecord) -> list[str]:
    # Late: it loads what reads the database, which the supervisor needs for nothing else.
    from deploy.embedded.developer_account import describe_developer_account

    return describe_developer_account(folder, record)


def _print(line: str) -> None:
    # Standard output may be a file on a full disk; the farm must go on.
    with suppress(OSError):
        print(line, flush=True)


def run_demo(arguments: argparse.Namespace) -> None:
    """Run the demo into a folder."""
    from deploy.embedded.demo.show import show_demo

    show_demo(arguments.output, report=_print)
