"""The request rate of a server, measured by a client of little overhead."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass
from statistics import quantiles

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"\r\nContent-Length: "


@dataclass(frozen=True, slots=True)
class Rate:
    """The result of one run: answers a second, and the median and a high percentile of the response time."""

    answers: int
    per_second: float
    median_ms: float
    slow_ms: float  # 99 of 100 are quicker
    failures: int


def measure_rate(port: int, request: bytes, *, connections: int, seconds: float) -> Rate:
    """Repeat a request without a body on kept connections; each waits for its answer.

    One thread and raw sockets: on two cores a client with an HTTP library of its own would take
    much of what it measures.
    """
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    begun: dict[int, float] = {}
    with selectors.DefaultSelector() as selector:
        start = time.perf_counter()
        for each in sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(each, selectors.EVENT_READ)
            begun[each.fileno()] = time.perf_counter()
            each.sendall(request)
        took, failures = _go_on(selector, begun, request, until=start + seconds)
        end = time.perf_counter()
    for each in sockets:
        each.close()
    cuts = quantiles(took, n=100)
    return Rate(len(took), len(took) / (end - start), cuts[49] * 1000, cuts[98] * 1000, failures)


def _go_on(
    selector: selectors.BaseSelector, begun: dict[int, float], request: bytes, *, until: float
) -> tuple[list[float], int]:
    took: list[float] = []
    failures = 0
    halves: dict[int, bytes] = {}
    while time.perf_counter() < until:
        for key, _ in selector.select(0.5):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            answer = halves.pop(key.fd, b"") + connection.recv(65536)
            if not _is_whole(answer):
                halves[key.fd] = answer
                continue
            now = time.perf_counter()
            took.append(now - begun[key.fd])
            failures += not answer.startswith(b"HTTP/1.1 20")
            begun[key.fd] = now
            connection.sendall(request)
    return took, failures


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(_END_OF_HEAD)
    _, _, length = head.partition(_LENGTH)
    return bool(end) and len(body) == int(length.split(b"\r\n", 1)[0])
