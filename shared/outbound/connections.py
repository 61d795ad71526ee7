"""Connections to judged addresses only, bounded in time and bytes whatever the other side does."""

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
from shared.outbound.addresses import is_private, is_public
from shared.outbound.failures import Reason, TargetRefusedError, TargetUnreachableError
from shared.outbound.targets import Target

CONNECT_SECONDS: Final = 3.0
# What a socket connects to: family, and the address as `socket.connect` takes it.
Endpoint = tuple[int, tuple[Any, ...]]
Resolve = Callable[[str, int], list[Endpoint]]


class _Bounded:
    """A socket that gives up at an instant and after a number of bytes.

    A timeout alone begins anew with every byte that trickles in.
    """

    give_up_at: float = inf
    bytes_left: float = inf

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Receive as the socket does, within the bounds."""
        self._wait_no_longer()
        count: int = super().recv_into(*args, **kwargs)  # type: ignore[misc]
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise OSError("more bytes than are taken")
        return count

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Send as the socket does, within the time."""
        self._wait_no_longer()
        count: int = super().send(*args, **kwargs)  # type: ignore[misc]
        return count

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """Send as the socket does, within the time."""
        self._wait_no_longer()
        super().sendall(*args, **kwargs)  # type: ignore[misc]

    def _wait_no_longer(self) -> None:
        left = self.give_up_at - ticks()
        if left <= 0:
            raise TimeoutError("the time is over")
        self.settimeout(left)  # type: ignore[attr-defined]


class _PlainSocket(_Bounded, socket.socket):
    pass


class _TlsSocket(_Bounded, ssl.SSLSocket):
    pass


def open_connection(
    target: Target, *, allow_private: bool, resolve: Resolve, give_up_at: float, limit_bytes: int
) -> HTTPConnection:
    """Connect to a target whose every address was judged; names stay in Host, SNI and certificate.

    Raises:
        TargetRefusedError: an address of the host is not public unicast, or it has none.
        TargetUnreachableError: nobody answers, or not with a certificate of that name.
    """
    connect_by = min(give_up_at, ticks() + CONNECT_SECONDS)
    endpoints = _judge(target, _resolve_within(connect_by, target, resolve), allow_private)
    connection = _make_connection(target, endpoints, connect_by)
    try:
        connection.connect()
    except (HTTPError, OSError) as error:
        connection.close()
        raise TargetUnreachableError("its server offers no TLS that can be trusted") from error
    except BaseException:
        connection.close()
        raise
    bounded = connection.sock
    assert isinstance(bounded, _Bounded)
    bounded.give_up_at = give_up_at
    # Heads and the framing of chunks come on top of what is asked for.
    bounded.bytes_left = limit_bytes + limit_bytes // 4 + 1_000_000
    return connection


def judge_target(target: Target, *, allow_private: bool, resolve: Resolve) -> None:
    """Judge every address of a target without connecting to one.

    Raises:
        TargetRefusedError: an address of the host is not public unicast, or it has none.
    """
    found = _resolve_within(ticks() + CONNECT_SECONDS, target, resolve)
    _judge(target, found, allow_private)


def resolve_host(host: str, port: int) -> list[Endpoint]:
    """Ask the system's resolver for every address of a host.

    Raises:
        OSError: there is none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


def _resolve_within(connect_by: float, target: Target, resolve: Resolve) -> list[Endpoint]:
    """Resolve in a thread of its own: the resolver takes no timeout from its caller."""
    answer: list[list[Endpoint]] = []

    def ask() -> None:
        with suppress(OSError, UnicodeError):
            answer.append(resolve(target.host, target.port))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(max(connect_by - ticks(), 0))
    return answer[0] if answer else []


def _judge(target: Target, endpoints: list[Endpoint], allow_private: bool) -> list[Endpoint]:
    if not endpoints:
        raise TargetRefusedError(Reason.HOST_UNKNOWN, f"{target.host} has no address")
    for _, (address, *_) in endpoints:
        if not (is_public(address) or (allow_private and is_private(address))):
            raise TargetRefusedError(Reason.NOT_PUBLIC, f"{target.host} has the address {address}")
    return endpoints


class _Judged:
    """A connection that does not resolve again, but takes the addresses that were judged."""

    endpoints: list[Endpoint]
    connect_by: float

    def _new_conn(self) -> socket.socket:
        return _connect_any(self.endpoints, self.connect_by)


class _PlainConnection(_Judged, HTTPConnection):
    pass


class _TlsConnection(_Judged, HTTPSConnection):
    pass


def _make_connection(
    target: Target, endpoints: list[Endpoint], connect_by: float
) -> _PlainConnection | _TlsConnection:
    seconds = max(connect_by - ticks(), 0.001)
    connection = (
        _PlainConnection(target.host, target.port, timeout=seconds)
        if target.scheme == "http"
        else _TlsConnection(target.host, target.port, timeout=seconds, ssl_context=_tls_context())
    )
    connection.endpoints, connection.connect_by = endpoints, connect_by
    return connection


def _connect_any(endpoints: list[Endpoint], connect_by: float) -> socket.socket:
    for tried, (family, address) in enumerate(endpoints):
        # One that does not answer leaves the others their share of the time.
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
        # The handshake of TLS runs on what is left.
        sock.settimeout(max(connect_by - ticks(), 0.001))
        return sock
    raise TargetUnreachableError("its server cannot be connected to")


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    """Make the one context: TLS 1.2 at least, the certificate and its name checked."""
    context = ssl.create_default_context()
    if ssl.get_default_verify_paths().cafile is None:
        # A machine without certificates of its own, as small containers are.
        context.load_verify_locations(certifi.where())
    context.sslsocket_class = _TlsSocket
    return context
