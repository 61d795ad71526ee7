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
    Resolve,
    check_target,
    open_connection,
    open_socket,
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
        target = parse_and_log(url)
        try:
            check_target(target, allow_private=self._allow_private, resolve=self._resolve)
        except TargetRefusedError as error:
            _log_refusal(target.host, error)
            raise

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
            target = _follow_and_log(target, location)
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

    def connect(self, target: Target, *, give_up_at: float) -> socket:
        """Connect to the host and port of a target, for a protocol other than HTTP.

        Raises:
            TargetRefusedError, TargetUnreachableError: as `post`.
        """
        try:
            return open_socket(
                target,
                allow_private=self._allow_private,
                resolve=self._resolve,
                give_up_at=give_up_at,
            )
        except TargetRefusedError as error:
            _log_refusal(target.host, error)
            raise

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
        try:
            connection = open_connection(
                target,
                allow_private=self._allow_private,
                resolve=self._resolve,
                give_up_at=give_up_at,
                limit_bytes=limit_bytes,
            )
        except TargetRefusedError as error:
            _log_refusal(target.host, error)
            raise (_redirected(error) if is_redirected else error) from error.__cause__
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
    try:
        return parse_target(url)
    except TargetRefusedError as error:
        _log_refusal(None, error)
        raise


def _follow_and_log(target: Target, location: str) -> Target:
    try:
        return follow_redirect(target, location)
    except TargetRefusedError as error:
        _log_refusal(target.host, error)
        raise _redirected(error) from error


def _redirected(error: TargetRefusedError) -> TargetRefusedError:
    """Return the error of a URL that redirects to a refused one; it reveals no further reason."""
    return TargetRefusedError(Reason.REDIRECT, f"redirected: {error.cause}")


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


def _log_refusal(host: str | None, error: TargetRefusedError) -> None:
    _log.warning("outbound request refused", host=host, cause=error.cause)
