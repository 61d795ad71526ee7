"""A gate before a server: the same port, behind which the server can be away for a while."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from typing import Self


class Gate:
    """Forwards connections on a loopback port to a server on another, while it is open."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream
        self._listener = self._listen(0)
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
            is_over = not self._is_open
            while not is_over:
                for key, _ in selector.select(timeout=30):
                    end = key.fileobj
                    assert isinstance(end, socket.socket)
                    data = end.recv(65536)
                    if not data:
                        is_over = True
                        break
                    other[end].sendall(data)
        with self._lock:
            self._pairs.discard(pair)
