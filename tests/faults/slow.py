"""Clients that are slow on purpose, all in one process of their own: it takes no time from others."""

from __future__ import annotations

import multiprocessing
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

_TURN_SECONDS = 1.0
_READ_BYTES = 1024
_SMALL_BUFFER = 4096
_ESTABLISHED = "01"

Request = tuple[bytes, bytes]  # what is sent at once, and what is sent a byte a second


@contextmanager
def slow_clients(port: int, count: int, request: Request) -> Iterator[Callable[[], int]]:
    """Run clients that connect, send a beginning, continue at a byte a second and read 1 KB a second.

    Yields a function that returns how many of their connections the server has not closed.
    """
    context = multiprocessing.get_context("spawn")
    is_ready, is_over, ports = context.Event(), context.Event(), context.SimpleQueue()
    process = context.Process(target=_run, args=(port, count, request, is_ready, is_over, ports))
    process.start()
    try:
        assert is_ready.wait(60)
        own = frozenset(ports.get())
        yield lambda: _count_open(port, own)
    finally:
        is_over.set()
        process.join(30)


def _run(
    port: int, count: int, request: Request, is_ready: Event, is_over: Event, ports: Any
) -> None:
    at_once, slowly = request
    clients = []
    for _ in range(count):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        client.connect(("127.0.0.1", port))
        client.sendall(at_once)
        clients.append(client)
    for client in clients:
        if not slowly:
            client.recv(1)  # its answer has started: what follows is slow
        client.setblocking(False)
    ports.put([client.getsockname()[1] for client in clients])
    is_ready.set()
    at = 0
    while not is_over.is_set():
        turn = time.monotonic()
        for client in clients:
            with suppress(OSError):
                if slowly:
                    client.send(slowly[at % len(slowly) :][:1])
                client.recv(_READ_BYTES)
        at += 1
        is_over.wait(max(0.0, turn + _TURN_SECONDS - time.monotonic()))
    for client in clients:
        client.close()


def _count_open(port: int, clients: frozenset[int]) -> int:
    """Count the server's ends of connections that are neither closed nor being closed."""
    found = set()  # a connection is listed twice where the table changes while it is read
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        here, there = (int(address.rpartition(":")[2], 16) for address in (local, remote))
        if here == port and there in clients and state == _ESTABLISHED:
            found.add(there)
    return len(found)
