"""A farm as a production one is run: each process by itself, with an environment that changes."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from deploy.embedded.loopback import free_port
from shared.parent_death import with_parent_death_signal
from shared.queue.connection import connect
from shared.queue.worker_presence import find_workers
from tests.deploy.deployment import PROCESSES, ROOT, command_of, compose
from tests.waiting import wait_until

WORKERS = ("worker", "batch")
START_SECONDS = 120
STOP_SECONDS = 90


class Parts:
    """The processes of one farm; `environment` is what those that start next get."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self.port = free_port()
        fetcher = free_port()
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PRESSROOM_METRICS_DIR": str(folder / "metrics"),
            "PRESSROOM_FETCHER_BIND": f"127.0.0.1:{fetcher}",
            "PRESSROOM_FETCHER_URL": f"http://127.0.0.1:{fetcher}",
            "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
            "PRESSROOM_ENFORCE_RATE_LIMITS": "false",
            "PRESSROOM_WORKER_CONCURRENCY": "1",
            "PRESSROOM_RENDER_BUDGET": "120",
            **environment,
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run an operator's command and return what it printed, as JSON unless it has none."""
        command = [sys.executable, "-m", "deploy.cli.main", *arguments]
        if arguments[0] != "migrate":
            command.append("--json")
        ended = subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE)
        return json.loads(ended.stdout) if arguments[0] != "migrate" else {}

    def start(self) -> None:
        """Start every process, and wait until the front is ready."""
        for name in PROCESSES:
            self._start(name)
        self._await_front()

    def replace(self) -> None:
        """Replace every process in turn as an upgrade does, workers by ones that are at work already."""
        for name in sorted(self._running, key=lambda name: name == "front"):
            old = self._running[name]
            if name in WORKERS:
                self._start(name)
                self._await_worker(self._running[name].pid)
                _stop(old)
            else:
                _stop(old)
                self._start(name)
        self._await_front()

    def stop(self) -> None:
        """Stop every process; each finishes what it has."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            _stop(process)

    def said(self) -> str:
        """Return the logs of all processes."""
        return "".join(log.read_text() for log in sorted(self._folder.glob("*.log")))

    def _start(self, name: str) -> None:
        service = compose()["services"][name]["environment"]
        queues = {key: value for key, value in service.items() if key.endswith("_QUEUES")}
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                with_parent_death_signal(command_of(name, self.port)),
                env=self.environment | queues,
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )

    def _await_worker(self, pid: int) -> None:
        server = connect(self.environment["PRESSROOM_REDIS_URL"])
        self._await(lambda: any(word.name.endswith(f":{pid}") for word in find_workers(server)))
        server.close()

    def _await_front(self) -> None:
        def is_ready() -> bool:
            with (
                suppress(OSError, http.client.HTTPException),
                urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=60) as answer,
            ):
                return answer.status == 200
            return False

        self._await(is_ready)

    def _await(self, holds: Callable[[], bool]) -> None:
        wait_until(holds, seconds=START_SECONDS, pause=0.2, explain=lambda: self.said()[-5000:])


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(STOP_SECONDS)
