"""Servers on loopback: one that answers as a test says, byte by byte, and Redis."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

import redis

from deploy.embedded.loopback import free_port
from deploy.embedded.plan import find_server

Answer = Callable[[socket.socket, bytes], None]


class Server:
    """Takes connections one after the other; `requests` has the head and body of each."""

    def __init__(self, answer: Answer | bytes) -> None:
        self._answer = answer if callable(answer) else _say(answer)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port: int = self._listener.getsockname()[1]
        self.requests: list[bytes] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing alone does not wake the thread that waits for a connection.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                request = read_request(connection)
                self.requests.append(request)
                self._answer(connection, request)


def answer_nothing(connection: socket.socket, _: bytes) -> None:
    """Answer nothing, until the client closes the connection or half a minute has passed."""
    connection.settimeout(30)
    connection.recv(1)


def _say(text: bytes) -> Answer:
    return lambda connection, _: connection.sendall(text)


def read_request(connection: socket.socket) -> bytes:
    """Read a request whole: what is left unread when a connection closes resets it."""
    connection.settimeout(5)
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"
    ]
    while lengths and len(body) < lengths[0] and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


class RedisServer:
    """A server on a port of its own, which a test may kill and start again on its files."""

    def __init__(self, folder: Path, *, is_kept: bool = True) -> None:
        self._folder, self._is_kept = folder, is_kept
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        self._process = start_redis(self.port, self._folder, is_kept=self._is_kept)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """Suspend the server; it answers no client."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume the server; it processes what it was sent meanwhile."""
        self._process.send_signal(signal.SIGCONT)


def start_redis(port: int, folder: Path, *, is_kept: bool = True) -> subprocess.Popen[bytes]:
    """Start a server on a port and wait until it answers; the caller kills it."""
    process = subprocess.Popen(
        [
            find_server(),
            *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "yes" if is_kept else "no"),
            *("--maxmemory-policy", "noeviction"),
            # Tests kill the process, not the machine; a slow disk would stall every command.
            *("--appendfsync", "no"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with redis.Redis(
        port=port, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 100)
    ) as client:
        client.ping()
    return process
