"""Connections to checked addresses only, limited in time and bytes."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from http.client import HTTPResponse, parse_headers
from math import inf
from typing import Any, Final

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection

from shared.clock import ticks
from shared.outbound.targets import (
    Reason,
    Target,
    TargetRefusedError,
    TargetUnreachableError,
    is_private,
    is_public,
)

CONNECT_SECONDS: Final = 3.0
# Address family, and the address as `socket.connect` takes it.
Endpoint = tuple[int, tuple[Any, ...]]
Resolve = Callable[[str, int], list[Endpoint]]


class _BoundedSocket:
    """A socket with a total time limit and a limit of received bytes.

    A plain timeout restarts with every received byte.
    """

    give_up_at: float = inf
    bytes_left: float = inf

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Receive within the limits."""
        self._limit_time()
        count: int = super().recv_into(*args, **kwargs)  # type: ignore[misc]
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise OSError("more bytes than accepted")
        return count

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Send within the time limit."""
        self._limit_time()
        count: int = super().send(*args, **kwargs)  # type: ignore[misc]
        return count

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """Send within the time limit."""
        self._limit_time()
        super().sendall(*args, **kwargs)  # type: ignore[misc]

    def _limit_time(self) -> None:
        left = self.give_up_at - ticks()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        self.settimeout(left)  # type: ignore[attr-defined]


class _PlainSocket(_BoundedSocket, socket.socket):
    pass


class _TlsSocket(_BoundedSocket, ssl.SSLSocket):
    pass


def find_endpoints(
    target: Target, resolve: Resolve, *, allow_private: bool, connect_by: float
) -> list[Endpoint]:
    """Return the checked addresses of a target's host.

    Raises:
        TargetRefusedError: an address of the host is not permitted, or it has none.
    """
    endpoints = _resolve_within(connect_by, target, resolve)
    if not endpoints:
        raise TargetRefusedError(Reason.HOST_UNKNOWN, f"{target.host} has no address")
    for _, (address, *_) in endpoints:
        if not (is_public(address) or (allow_private and is_private(address))):
            raise TargetRefusedError(Reason.NOT_PUBLIC, f"{target.host} has the address {address}")
    return endpoints


def open_connection(target: Target, sock: socket.socket) -> HTTPConnection:
    """Return an HTTP connection over a connected socket; Host, SNI and certificate use the name of the target.

    Raises:
        TargetUnreachableError: no valid certificate for the name.
    """
    connection: HTTPConnection
    if target.scheme == "http":
        connection = _Connection(target.host, target.port)
    else:
        connection = _SecureConnection(target.host, target.port)
        try:
            sock = tls_context().wrap_socket(sock, server_hostname=target.host.rstrip("."))
        except OSError as error:
            raise TargetUnreachableError("its server has no valid TLS certificate") from error
    connection.sock = sock  # connected, so that its name is not resolved again (DNS rebinding)
    return connection


class _FinalResponse(HTTPResponse):
    """The response after the informational ones (RFC 9110, 15.2), of which `http.client` knows 100 alone."""

    def _read_status(self) -> tuple[str, int, str]:
        status: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        while 101 < status[1] < 200:
            parse_headers(self.fp)
            status = super()._read_status()  # type: ignore[misc]
        return status


class _Connection(HTTPConnection):
    response_class = _FinalResponse


class _SecureConnection(HTTPSConnection):
    response_class = _FinalResponse


def limit_socket(sock: Any, *, give_up_at: float, limit_bytes: float = inf) -> None:
    """Limit a socket of this module or of `tls_context` in time, and in the bytes that it receives."""
    assert isinstance(sock, _BoundedSocket)
    sock.give_up_at, sock.bytes_left = give_up_at, limit_bytes


def resolve_host(host: str, port: int) -> list[Endpoint]:
    """Resolve all addresses of a host with the system's resolver.

    Raises:
        OSError: the host has no address.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


def _resolve_within(connect_by: float, target: Target, resolve: Resolve) -> list[Endpoint]:
    """Resolve in a thread, since `getaddrinfo` has no timeout."""
    answer: list[list[Endpoint]] = []

    def ask() -> None:
        with suppress(OSError, UnicodeError):
            answer.append(resolve(target.host, target.port))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(max(connect_by - ticks(), 0))
    return answer[0] if answer else []


def connect_any(endpoints: list[Endpoint], *, connect_by: float) -> socket.socket:
    """Connect to one of several addresses, for any protocol; see `limit_socket`.

    Raises:
        TargetUnreachableError: no connection.
    """
    for tried, (family, address) in enumerate(endpoints):
        # The remaining time is shared between the remaining addresses.
        share = (connect_by - ticks()) / (len(endpoints) - tried)
        if share <= 0:
            break
        sock = _PlainSocket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(share)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect(address)
        except OSError:
            sock.close()
            continue
        # The TLS handshake has the remaining time.
        sock.settimeout(max(connect_by - ticks(), 0.001))
        return sock
    raise TargetUnreachableError("its server cannot be connected to")


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Return the shared context: TLS 1.2 or later, with certificate and host name checks."""
    context = ssl.create_default_context()
    if ssl.get_default_verify_paths().cafile is None:
        # Small containers have no CA certificates.
        context.load_verify_locations(certifi.where())
    context.sslsocket_class = _TlsSocket
    return context
