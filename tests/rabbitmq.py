"""A RabbitMQ server from its package, for as long as a test run or a measurement needs it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from deploy.embedded.loopback import free_port

_START_SECONDS: Final = 90.0
# Messages survive a killed broker only if they were on disk when they were confirmed.
_CONFIG: Final = """
listeners.tcp.1 = 127.0.0.1:{port}
log.file = false
log.console = true
log.console.level = warning
heartbeat = 10
"""


class NoRabbitmqError(Exception):
    """The server is not installed or does not start; the text says what to do."""


class RabbitmqServer:
    """One broker on a free port, with a data folder that survives `kill` and `start`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port: Final = free_port()
        self._epmd_port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._epmd: subprocess.Popen[bytes] | None = None
        (folder / "rabbitmq.conf").write_text(_CONFIG.format(port=self.port))
        (folder / "enabled_plugins").write_text("[].")

    @property
    def url(self) -> str:
        """The broker's URL, as `PRESSROOM_BROKER_URL` takes it."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        """Start the server and wait until it accepts connections.

        Raises:
            NoRabbitmqError: it is not installed, or does not start.
        """
        programs = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin"))
        epmd = shutil.which("epmd")
        if not programs or epmd is None:
            raise NoRabbitmqError("RabbitMQ is not installed; run: apt-get install rabbitmq-server")
        environment = self._environment()
        # Erlang's port mapper would otherwise be started as a daemon that outlives the tests.
        with (self._folder / "epmd.log").open("ab") as log:
            self._epmd = subprocess.Popen(
                [*_WITH_PARENT, epmd, "-address", "127.0.0.1"],
                env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_WITH_PARENT, programs[-1] / "rabbitmq-server"],
                env=environment, cwd=self._folder, stdout=log, stderr=log,
            )  # fmt: skip
        self._await_port()

    def kill(self) -> None:
        """Kill the server as a power cut would; its data folder stays."""
        for process in (self._process, self._epmd):
            if process is not None:
                process.kill()
                process.wait()
        self._process = self._epmd = None

    def _environment(self) -> dict[str, str]:
        folder = self._folder
        return {
            **os.environ,
            "HOME": str(folder),  # of the Erlang cookie
            "RUNNING_UNDER_SYSTEMD": "true",  # no shell between this process and the server
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_NODENAME": "pressroom@localhost",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_DIST_PORT": str(free_port()),
            # One scheduler that sleeps when idle: the tests share the machine's cores.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none "
            "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def _await_port(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.1)
        said = (self._folder / "server.log").read_text(errors="replace")
        self.kill()
        raise NoRabbitmqError(f"RabbitMQ does not start:\n{said[-4000:]}")


# A test run that is killed takes its servers with it.
_WITH_PARENT: Final = ("setpriv", "--pdeathsig", "KILL")


@contextmanager
def running_rabbitmq() -> Iterator[RabbitmqServer]:
    """Run a broker without queues and yield it.

    Raises:
        NoRabbitmqError: there is none to run.
    """
    folder = Path(tempfile.mkdtemp(prefix="pressroom-rabbitmq-"))
    server = RabbitmqServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
