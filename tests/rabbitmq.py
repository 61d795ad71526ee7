"""A RabbitMQ server from Debian's package, for as long as tests need it; they may kill it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from amqp import Channel, Connection
from amqp.exceptions import AMQPError

from deploy.embedded.loopback import LOOPBACK, free_port
from shared.parent_death import with_parent_death_signal

_PROGRAM: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_START_SECONDS: Final = 90
# A node for tests waits for work without spinning on the cores it shares.
_ERLANG: Final = "+S 1:1 +A 4 +sbwt none +sbwtdcpu none +sbwtdio none"


class NoRabbitmqError(Exception):
    """The server is not installed, or does not start; the text says what to do."""


class RabbitServer:
    """A broker on loopback and ports of its own, with a node name, a cookie and a data folder of its
    own, so that it is not a part of any other.
    """

    def __init__(self, folder: Path, *, settings: str = "") -> None:
        self.port, self.log = free_port(), folder / "rabbitmq.log"
        self.user, self.password = "pressroom", secrets.token_hex(12)
        self._folder = folder
        self._epmd_port = free_port()
        self._distribution_port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "plugins").write_text("[].")
        (folder / "rabbitmq.conf").write_text(
            f"default_user = {self.user}\ndefault_pass = {self.password}\n"
            f"log.console.level = warning\n{settings}\n"
        )
        # `kill` ends the whole node, and this would be left behind.
        self._epmd = subprocess.Popen(
            with_parent_death_signal(["epmd", "-port", str(self._epmd_port), "-address", LOOPBACK]),
            env=self._environment(),
            stdin=subprocess.DEVNULL,
        )

    @property
    def url(self) -> str:
        """Return the server's URL."""
        return f"amqp://{self.user}:{self.password}@{LOOPBACK}:{self.port}//"

    @property
    def pid(self) -> int:
        """Return the process id of the node."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, on its files where it has some, and wait until it answers."""
        self.launch()
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if time.monotonic() > deadline or self._has_ended():
                said = self.log.read_text(errors="replace")[-4000:]
                raise NoRabbitmqError(f"RabbitMQ does not start:\n{said}")
            time.sleep(0.1)

    def launch(self) -> None:
        """Start it and do not wait."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                with_parent_death_signal([str(_PROGRAM)]),
                env=self._environment(),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def answers(self) -> bool:
        """Return whether a client can log in."""
        client = Connection(f"{LOOPBACK}:{self.port}", self.user, self.password, connect_timeout=2)
        with suppress(OSError, AMQPError):
            client.connect()
            client.close()
            return True
        client.collect()
        return False

    def signal(self, number: int) -> None:
        """Send a signal to the node, and the programs it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kill the node at once."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def lose_files(self) -> None:
        """Kill the node and delete all that it kept."""
        self.kill()
        shutil.rmtree(self._folder / "data")

    def close(self) -> None:
        """Kill everything that was started."""
        if self._process is not None:
            self.kill()
        self._epmd.kill()
        self._epmd.wait()

    def run(self, *arguments: str) -> str:
        """Run `rabbitmqctl` and return what it says."""
        command = [str(_PROGRAM.with_name("rabbitmqctl")), "--quiet", *arguments]
        return subprocess.run(
            command, env=self._environment(), check=True, stdout=subprocess.PIPE, timeout=60
        ).stdout.decode()

    @contextmanager
    def client(self) -> Iterator[Channel]:
        """Yield a channel of a new client."""
        with Connection(f"{LOOPBACK}:{self.port}", self.user, self.password) as connection:
            yield connection.channel()

    def delete_queue(self, name: str) -> None:
        """Delete a queue with what is in it, if it is there."""
        with self.client() as channel:
            channel.queue_delete(name)

    def find_consumers(self, queue: str) -> set[str]:
        """Return the channels that consume from a queue; a consumer that reconnects has another."""
        rows = self.run("list_consumers", "--no-table-headers", "queue_name", "channel_pid")
        found = (row.split("\t") for row in rows.splitlines())
        return {channel for name, channel in found if name == queue}

    def _has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _environment(self) -> Mapping[str, str]:
        return {
            **os.environ,
            "HOME": str(self._folder),  # for the cookie
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "RABBITMQ_NODENAME": f"pressroom-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "data"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(self._folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._folder / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self._folder / "none"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _ERLANG,
        }


@contextmanager
def running_rabbitmq(*, settings: str = "") -> Iterator[RabbitServer]:
    """Run a server with nothing in it.

    Raises:
        NoRabbitmqError: there is none to run.
    """
    if not _PROGRAM.exists():
        raise NoRabbitmqError("RabbitMQ is not installed; run: apt-get install rabbitmq-server")
    folder = Path(tempfile.mkdtemp(prefix="pressroom-rabbitmq-"))
    server = RabbitServer(folder, settings=settings)
    try:
        server.start()
        yield server
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
