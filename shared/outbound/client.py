"""HTTP client for URLs given by clients: downloads and webhook calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPException
from socket import socket
from typing import BinaryIO, Final

from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from shared.clock import ticks
from shared.outbound.connections import (
    CONNECT_SECONDS,
    Endpoint,
    Resolve,
    connect_any,
    find_endpoints,
    limit_socket,
    open_connection,
    resolve_host,
)
from shared.outbound.targets import (
    Reason,
    Target,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
    follow_redirect,
    parse_target,
)
from shared.telemetry import log

MAX_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHUNK_BYTES: Final = 64 * 1024
_HEAD_LIMIT: Final = 64 * 1024
# Content codings are not accepted: decompression could produce any size.
_HEADERS: Final = {
    "User-Agent": "Pressroom/2",
    "Accept-Encoding": "identity",
    "Connection": "close",
}
_BROKEN: Final = (HTTPError, HTTPException, OSError)

_log: Final = log.get_logger(__name__)


# The headers of caching (RFC 9111).
_TOLD: Final = ("Age", "Cache-Control", "Date", "Expires", "Pragma", "Vary")


@dataclass(frozen=True, slots=True)
class CachingInfo:
    """The caching information of one response: status, and the caching headers in lower case."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """The response to a download; unless the status is 2xx, `size` is 0 and nothing was written.

    `caching_info` has the caching information of each response, redirects first and this one last.
    """

    status: int
    size: int
    caching_info: tuple[CachingInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class PostResult:
    """The response to a request that sends something: its status, and the `Retry-After` header.

    The body is not read; `text` is what a server of another protocol says. `is_final` says that no further attempt
    can have another end.
    """

    status: int
    retry_after: str | None = None
    is_final: bool = False
    text: str | None = None


class Outbound:
    """Sends requests to URLs given by clients. Thread-safe; keeps no connection.

    Every address of a host is checked before it is connected to, also after a redirect. Proxies, cookies
    and credentials of this machine are not used. `allow_private` permits private and loopback addresses,
    for closed networks and tests; link-local ones are never permitted.
    """

    def __init__(self, *, allow_private: bool = False, resolve: Resolve = resolve_host) -> None:
        self._allow_private = allow_private
        self._resolve = resolve

    def check(self, url: str) -> None:
        """Check a URL and the current addresses of its host, without connecting.

        Raises:
            TargetRefusedError: the URL is not permitted.
        """
        self._find_endpoints(parse_and_log(url), connect_by=ticks() + CONNECT_SECONDS)

    def download(
        self, url: str, file: BinaryIO, *, limit_bytes: int, deadline_seconds: float
    ) -> DownloadResult:
        """Download a URL into a file, following up to three redirects.

        Raises:
            TargetRefusedError: the URL, or one redirected to, is not permitted.
            TargetTooLargeError: the body exceeds `limit_bytes`; a part may have been written.
            TargetUnreachableError: no complete response within `deadline_seconds` in total.
        """
        give_up_at = ticks() + deadline_seconds
        target = parse_and_log(url)
        caching_info: list[CachingInfo] = []
        for redirects in range(MAX_REDIRECTS + 1):
            with self._request(
                "GET",
                target,
                give_up_at=give_up_at,
                limit_bytes=limit_bytes,
                is_redirected=redirects > 0,
            ) as response:
                caching_info.append(_read_caching_info(response))
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return replace(
                        _receive(response, file, limit_bytes), caching_info=tuple(caching_info)
                    )
            with _log_refusals(target.host, is_redirected=True):
                target = follow_redirect(target, location)
        raise TargetUnreachableError(f"its server redirects more than {MAX_REDIRECTS} times")

    def post(
        self,
        url: str,
        *,
        body: bytes | BinaryIO,
        headers: Mapping[str, str],
        deadline_seconds: float,
        method: str = "POST",
    ) -> PostResult:
        """Send a POST request, or another one with a body; redirects are not followed.

        A body that is a file needs a header `Content-Length`.

        Raises:
            TargetRefusedError: the URL is not permitted.
            TargetUnreachableError: no response within `deadline_seconds`.
        """
        with self._request(
            method,
            parse_and_log(url),
            give_up_at=ticks() + deadline_seconds,
            limit_bytes=_HEAD_LIMIT,
            headers=headers,
            body=body,
        ) as response:
            return PostResult(response.status, response.headers.get("Retry-After"))

    def connect(self, target: Target, *, give_up_at: float, is_redirected: bool = False) -> socket:
        """Connect to the host and port of a target, within a few seconds.

        Raises:
            TargetRefusedError: the URL is not permitted.
            TargetUnreachableError: no connection.
        """
        connect_by = min(give_up_at, ticks() + CONNECT_SECONDS)
        endpoints = self._find_endpoints(target, connect_by=connect_by, is_redirected=is_redirected)
        sock = connect_any(endpoints, connect_by=connect_by)
        limit_socket(sock, give_up_at=give_up_at)
        return sock

    def _find_endpoints(
        self, target: Target, *, connect_by: float, is_redirected: bool = False
    ) -> list[Endpoint]:
        with _log_refusals(target.host, is_redirected=is_redirected):
            return find_endpoints(
                target, self._resolve, allow_private=self._allow_private, connect_by=connect_by
            )

    @contextmanager
    def _request(
        self,
        method: str,
        target: Target,
        *,
        give_up_at: float,
        limit_bytes: int,
        headers: Mapping[str, str] | None = None,
        body: bytes | BinaryIO | None = None,
        is_redirected: bool = False,
    ) -> Iterator[BaseHTTPResponse]:
        """Send a request and yield the response with its body unread."""
        sock = self.connect(target, give_up_at=give_up_at, is_redirected=is_redirected)
        connection = open_connection(target, sock)
        # Headers and chunk framing come on top of the body.
        most = limit_bytes + limit_bytes // 4 + 1_000_000
        limit_socket(connection.sock, give_up_at=give_up_at, limit_bytes=most)
        try:
            connection.request(
                method,
                target.path,
                body=body,
                headers={**(headers or {}), **_HEADERS},
                preload_content=False,
                decode_content=False,
            )
            yield connection.getresponse()
        except _BROKEN as error:
            why = (
                "its server did not respond in time"
                if ticks() >= give_up_at
                else "its server closed the connection, or does not speak HTTP"
            )
            raise TargetUnreachableError(why) from error
        finally:
            connection.close()


def parse_and_log(url: str) -> Target:
    """Parse a URL; the detailed reason of a refusal is only logged.

    Raises:
        TargetRefusedError: see `parse_target`.
    """
    with _log_refusals():
        return parse_target(url)


@contextmanager
def _log_refusals(host: str | None = None, *, is_redirected: bool = False) -> Iterator[None]:
    """Log why a URL is refused; that of one redirected to reveals no further reason to its client."""
    try:
        yield
    except TargetRefusedError as error:
        _log.warning("outbound request refused", host=host, cause=error.cause)
        if not is_redirected:
            raise
        raise TargetRefusedError(Reason.REDIRECT, f"redirected: {error.cause}") from error


def _read_caching_info(response: BaseHTTPResponse) -> CachingInfo:
    found = {name.lower(): response.headers.get(name) for name in _TOLD}
    return CachingInfo(
        response.status, {name: value for name, value in found.items() if value is not None}
    )


def _receive(response: BaseHTTPResponse, file: BinaryIO, limit_bytes: int) -> DownloadResult:
    if not 200 <= response.status < 300:
        return DownloadResult(response.status, 0)
    coding = response.headers.get("Content-Encoding", "identity").lower()
    if coding != "identity":
        raise TargetUnreachableError("its server sends a content coding that was not requested")
    if (response.length_remaining or 0) > limit_bytes:
        raise _too_large(limit_bytes)
    size = 0
    while chunk := response.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        file.write(chunk)
    return DownloadResult(response.status, size)


def _too_large(limit_bytes: int) -> TargetTooLargeError:
    return TargetTooLargeError(f"it has more than {limit_bytes:,} bytes, the limit")
