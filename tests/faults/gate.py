"""Gates before a server: connections through them can be cut, and a reply lost."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Self

_CLOSED_SECONDS = 0.5


class Gate:
    """Forwards connections on a loopback port to a server on another, while it is open.

    `draw` says after how many bytes, of both directions, a connection breaks off.
    """

    def __init__(
        self, upstream: int, *, port: int = 0, draw: Callable[[], float] = lambda: inf
    ) -> None:
        self._upstream = upstream
        self._draw = draw
        self._listener = self._listen(port)
        self.port: int = self._listener.getsockname()[1]
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._is_open = True
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Break every connection and refuse new ones."""
        self._is_open = False
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for pair in self._pairs:
                for end in pair:
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        self._threads.clear()

    def reopen(self) -> None:
        """Accept connections again."""
        self._listener = self._listen(self.port)
        self._is_open = True
        self._start()

    @staticmethod
    def _listen(port: int) -> socket.socket:
        return socket.create_server(("127.0.0.1", port), backlog=256)

    def _start(self) -> None:
        self._spawn(self._accept)

    def _spawn(self, run: object, *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while self._is_open:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._spawn(self._forward, near)

    def _forward(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self._upstream), timeout=5)
        except OSError:
            near.close()
            return
        pair = (near, far)
        with self._lock:
            self._pairs.add(pair)
        with near, far, selectors.DefaultSelector() as selector, suppress(OSError):
            other = {near: far, far: near}
            for end in pair:
                end.settimeout(30)
                selector.register(end, selectors.EVENT_READ)
            is_over, left = not self._is_open, self._draw()
            while not is_over:
                for key, _ in selector.select(timeout=30):
                    end = key.fileobj
                    assert isinstance(end, socket.socket)
                    data = end.recv(65536)
                    if not data:
                        is_over = True
                        break
                    other[end].sendall(data[: int(min(left, len(data)))])
                    left -= len(data)
                    if is_over := left <= 0:
                        break
        with self._lock:
            self._pairs.discard(pair)


class ReplyLosingGate:
    """Forwards connections until a request contains `trigger`: its reply is lost.

    The port refuses connections for half a second then, and forwards all of them from there on.
    """

    def __init__(self, upstream: int, *, trigger: bytes) -> None:
        self._upstream = upstream
        self._trigger = trigger
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._later: Gate | None = None
        self._threads: list[threading.Thread] = []
        self._spawn(self._accept)

    @property
    def has_lost_a_reply(self) -> bool:
        """Whether the reply was lost and connections are accepted again."""
        return self._later is not None

    def close(self) -> None:
        """Close the port and every connection."""
        self._close_all()
        for thread in self._threads:
            thread.join(10)
        if self._later is not None:
            self._later.close()

    def _spawn(self, run: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._upstream))
                self._ends += [near, far]
                self._spawn(self._forward, near, far)

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
                reply = far.recv(65536)
                if self._trigger in data:
                    self._close_all()
                    time.sleep(_CLOSED_SECONDS)
                    self._later = Gate(self._upstream, port=self.port).__enter__()
                    return
                near.sendall(reply)

    def _close_all(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
