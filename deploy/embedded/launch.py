"""Starts and stops a temporary farm in a separate process, for the demo, system tests and benchmarks."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deploy.embedded.data_folder import DataFolder, FarmRecord, open_folder
from deploy.embedded.parent_death import with_parent_death_signal
from deploy.embedded.plan import ROOT, operator_environment
from deploy.embedded.supervisor import is_ready
from shared import clock

READY_SECONDS: Final = 90.0
STOP_SECONDS: Final = 90.0


class NotReady(Exception):
    """The farm did not start; the message has the output of `pressroom up`."""


@dataclass(frozen=True, slots=True)
class LaunchedFarm:
    """A farm run by `pressroom up`. `record` is its `farm.json` when it became ready."""

    folder: DataFolder
    record: FarmRecord
    supervisor: subprocess.Popen[bytes]

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run an operator command on this farm and return its JSON output.

        Raises:
            subprocess.CalledProcessError: the command failed.
        """
        command = [*pressroom(*arguments), "--data", str(self.folder.path), "--json"]
        ended = subprocess.run(command, stdout=subprocess.PIPE, env=_environment({}), check=True)
        result: dict[str, Any] = json.loads(ended.stdout)
        return result


@contextmanager
def launched_farm(
    path: Path,
    *,
    port: int = 0,
    environment: Mapping[str, str] | None = None,
    shards: int | None = None,
) -> Iterator[LaunchedFarm]:
    """Run `pressroom up` on the folder `path` and stop it at the end.

    Raises:
        NotReady: it ended, or was not ready after 90 s.
    """
    farm = launch_farm(path, port=port, environment=environment or {}, shards=shards)
    try:
        yield farm
    finally:
        stop_farm(farm)


def launch_farm(
    path: Path, *, port: int = 0, environment: Mapping[str, str], shards: int | None = None
) -> LaunchedFarm:
    """Start `pressroom up` on the folder `path` and wait until it is ready.

    Raises:
        NotReady: it ended, or was not ready after 90 s.
    """
    folder = open_folder(path)
    folder.create()
    said = folder.logs / "up.log"
    with said.open("ab") as log:
        supervisor = subprocess.Popen(
            _leashed_up(folder, port, shards),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(environment),
            start_new_session=True,
        )
    deadline = clock.ticks() + READY_SECONDS
    while supervisor.poll() is None and clock.ticks() < deadline:
        record = folder.find_running()
        if record is not None and record.pid == supervisor.pid and is_ready(record.ports["front"]):
            return LaunchedFarm(folder, record, supervisor)
        time.sleep(0.05)
    supervisor.terminate()
    supervisor.wait()
    raise NotReady(f"the farm did not start:\n{said.read_text(errors='replace')}")


def stop_farm(farm: LaunchedFarm) -> None:
    """Stop the farm by SIGTERM; it finishes running work first."""
    farm.supervisor.terminate()
    try:
        farm.supervisor.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        farm.supervisor.kill()
        farm.supervisor.wait()


def pressroom(*arguments: str) -> list[str]:
    """Return the command line that runs `pressroom` with this interpreter."""
    return [sys.executable, "-P", "-m", "deploy.cli.main", *arguments]


def _leashed_up(folder: DataFolder, port: int, shards: int | None) -> list[str]:
    command = pressroom("up", "--data", str(folder.path), "--port", str(port))
    if shards is not None:
        command += ["--shards", str(shards)]
    return with_parent_death_signal(command, death_signal=signal.SIGTERM)


def _environment(chosen: Mapping[str, str]) -> dict[str, str]:
    return operator_environment() | {"PYTHONPATH": str(ROOT)} | dict(chosen)
