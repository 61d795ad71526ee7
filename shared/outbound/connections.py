"""Connections to checked addresses only, limited in time and bytes."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from math import inf
from typing import Any, Final

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

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


def open_connection(
    target: Target, *, allow_private: bool, resolve: Resolve, give_up_at: float, limit_bytes: int
) -> HTTPConnection:
    """Connect to a target after checking every address of its host; Host, SNI and certificate use the name.

    Raises:
        TargetRefusedError: an address of the host is not permitted, or it has none.
        TargetUnreachableError: no connection, or no valid certificate for the name.
    """
    connect_by = min(give_up_at, ticks() + CONNECT_SECONDS)
    endpoints = _check_endpoints(
        target, _resolve_within(connect_by, target, resolve), allow_private
    )
    connection = _make_connection(target, endpoints, connect_by)
    try:
        connection.connect()
    except (HTTPError, OSError) as error:
        connection.close()
        raise TargetUnreachableError("its server has no valid TLS certificate") from error
    except BaseException:
        connection.close()
        raise
    # Headers and chunk framing come on top of the body.
    limit_socket(
        connection.sock,
        give_up_at=give_up_at,
        limit_bytes=limit_bytes + limit_bytes // 4 + 1_000_000,
    )
    return connection


def limit_socket(sock: Any, *, give_up_at: float, limit_bytes: float) -> None:
    """Limit a socket of this module or of `tls_context` in time, and in the bytes that it receives."""
    assert isinstance(sock, _BoundedSocket)
    sock.give_up_at, sock.bytes_left = give_up_at, limit_bytes


def open_socket(
    target: Target, *, allow_private: bool, resolve: Resolve, give_up_at: float
) -> socket.socket:
    """Connect to the host and port of a target, for a protocol other than HTTP.

    Raises:
        TargetRefusedError: an address of the host is not permitted, or it has none.
        TargetUnreachableError: no connection.
    """
    connect_by = min(give_up_at, ticks() + CONNECT_SECONDS)
    found = _resolve_within(connect_by, target, resolve)
    sock = _connect_any(_check_endpoints(target, found, allow_private), connect_by)
    sock.give_up_at = give_up_at
    return sock


def check_target(target: Target, *, allow_private: bool, resolve: Resolve) -> None:
    """Check every address of a target's host without connecting.

    Raises:
        TargetRefusedError: an address of the host is not permitted, or it has none.
    """
    found = _resolve_within(ticks() + CONNECT_SECONDS, target, resolve)
    _check_endpoints(target, found, allow_private)


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


def _check_endpoints(
    target: Target, endpoints: list[Endpoint], allow_private: bool
) -> list[Endpoint]:
    if not endpoints:
        raise TargetRefusedError(Reason.HOST_UNKNOWN, f"{target.host} has no address")
    for _, (address, *_) in endpoints:
        if not (is_public(address) or (allow_private and is_private(address))):
            raise TargetRefusedError(Reason.NOT_PUBLIC, f"{target.host} has the address {address}")
    return endpoints


class _AddressPinned:
    """A connection that uses the checked addresses instead of resolving again (DNS rebinding)."""

    endpoints: list[Endpoint]
    connect_by: float

    def _new_conn(self) -> socket.socket:
        return _connect_any(self.endpoints, self.connect_by)


class _PlainConnection(_AddressPinned, HTTPConnection):
    pass


class _TlsConnection(_AddressPinned, HTTPSConnection):
    pass


def _make_connection(
    target: Target, endpoints: list[Endpoint], connect_by: float
) -> _PlainConnection | _TlsConnection:
    seconds = max(connect_by - ticks(), 0.001)
    connection = (
        _PlainConnection(target.host, target.port, timeout=seconds)
        if target.scheme == "http"
        else _TlsConnection(target.host, target.port, timeout=seconds, ssl_context=tls_context())
    )
    connection.endpoints, connection.connect_by = endpoints, connect_by
    return connection


def _connect_any(endpoints: list[Endpoint], connect_by: float) -> _PlainSocket:
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
