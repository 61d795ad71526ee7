"""Fetching what a client's address names, and calling it: one guarded way for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPException
from io import BytesIO
from types import MappingProxyType
from typing import BinaryIO, Final

from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from shared.clock import ticks
from shared.outbound.connections import Resolve, judge_target, open_connection, resolve_host
from shared.outbound.failures import (
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.outbound.targets import Target, follow, parse_target
from shared.telemetry import log

MAX_REDIRECTS: Final = 3
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_PIECE: Final = 64 * 1024
_EXCERPT_BYTES: Final = 1024
_EXCERPT_LIMIT: Final = 64 * 1024
# A coding nobody asked for may unpack to any size; what is not asked for is not unpacked.
_HEADERS: Final = {
    "User-Agent": "Pressroom/2",
    "Accept-Encoding": "identity",
    "Connection": "close",
}
_BROKEN: Final = (HTTPError, HTTPException, OSError)

_log: Final = log.get_logger(__name__)


# What answers say of how long they may be kept (RFC 9111), and of what has changed since.
_TOLD: Final = (
    "Age",
    "Cache-Control",
    "Date",
    "ETag",
    "Expires",
    "Last-Modified",
    "Pragma",
    "Vary",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What one answer says of caching: its status, and its headers of that kind, in lower case."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The answer to a download; `size` is 0 and nothing was written unless the status is 2xx.

    `told` has what each answer said of caching, redirects first and this one last.
    """

    status: int
    content_type: str | None
    size: int
    told: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer to a fetch; the body is empty unless the status is 2xx."""

    status: int
    content_type: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a call: its status, and the start of its body as text."""

    status: int
    body_excerpt: str


class Outbound:
    """Requests to addresses that clients gave. Safe to share between threads; holds no connection.

    Every address of a host is judged, and a judged one is connected to, also after a redirect. No
    proxy, cookie or password of this machine is ever used. `allow_private` admits private and
    loopback addresses, for closed networks and tests; link-local ones are never admitted.
    """

    def __init__(self, *, allow_private: bool = False, resolve: Resolve = resolve_host) -> None:
        self._allow_private = allow_private
        self._resolve = resolve

    def check(self, url: str) -> None:
        """Judge an address and all addresses of its host as they are now, without connecting.

        Raises:
            TargetRefusedError: it may not be connected to.
        """
        target = parse_noted(url)
        try:
            judge_target(target, allow_private=self._allow_private, resolve=self._resolve)
        except TargetRefusedError as error:
            _note(target.host, error)
            raise

    def fetch(self, url: str, *, limit_bytes: int, deadline_seconds: float) -> Fetched:
        """Fetch a body into memory; see `download`."""
        file = BytesIO()
        found = self.download(url, file, limit_bytes=limit_bytes, deadline_seconds=deadline_seconds)
        return Fetched(found.status, found.content_type, file.getvalue())

    def download(
        self,
        url: str,
        file: BinaryIO,
        *,
        limit_bytes: int,
        deadline_seconds: float,
        conditions: Mapping[str, str] = MappingProxyType({}),
    ) -> Downloaded:
        """Write what a URL names into a file, following up to three redirects.

        `conditions` are headers such as `If-None-Match`, for this address and none redirected to.

        Raises:
            TargetRefusedError: the address, or one redirected to, may not be connected to.
            TargetTooLargeError: there are more than `limit_bytes`; some may have been written.
            TargetUnreachableError: no whole answer within `deadline_seconds`, all steps together.
        """
        give_up_at = ticks() + deadline_seconds
        target, headers = parse_noted(url), conditions
        told: list[Told] = []
        for redirects in range(MAX_REDIRECTS + 1):
            with self._ask(
                "GET",
                target,
                give_up_at=give_up_at,
                limit_bytes=limit_bytes,
                headers=headers,
                is_redirected=redirects > 0,
            ) as answer:
                told.append(_read_told(answer))
                location = answer.headers.get("Location")
                if answer.status not in _MOVED or location is None:
                    return replace(_receive(answer, file, limit_bytes), told=tuple(told))
            target, headers = _follow_noted(target, location), {}
        raise TargetUnreachableError(f"its server redirects more than {MAX_REDIRECTS} times")

    def post(
        self, url: str, *, body: bytes, headers: Mapping[str, str], deadline_seconds: float
    ) -> Answered:
        """Send a body once; a redirect is an answer like any other and not followed.

        Raises:
            TargetRefusedError: the address may not be connected to.
            TargetUnreachableError: no answer within `deadline_seconds`.
        """
        with self._ask(
            "POST",
            parse_noted(url),
            give_up_at=ticks() + deadline_seconds,
            limit_bytes=_EXCERPT_LIMIT,
            headers=headers,
            body=body,
        ) as answer:
            start = answer.read(_EXCERPT_BYTES)
            return Answered(answer.status, start.decode("utf-8", "replace"))

    @contextmanager
    def _ask(
        self,
        method: str,
        target: Target,
        *,
        give_up_at: float,
        limit_bytes: int,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        is_redirected: bool = False,
    ) -> Iterator[BaseHTTPResponse]:
        """Connect, ask, and hand over the answer with its body unread."""
        try:
            connection = open_connection(
                target,
                allow_private=self._allow_private,
                resolve=self._resolve,
                give_up_at=give_up_at,
                limit_bytes=limit_bytes,
            )
        except TargetRefusedError as error:
            _note(target.host, error)
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
                "its server did not answer in time"
                if ticks() >= give_up_at
                else "its server broke off, or does not speak HTTP"
            )
            raise TargetUnreachableError(why) from error
        finally:
            connection.close()


def parse_noted(url: str) -> Target:
    """Parse an address; why one is refused stands in the log and not in the error's text.

    Raises:
        TargetRefusedError: see `parse_target`.
    """
    try:
        return parse_target(url)
    except TargetRefusedError as error:
        _note(None, error)
        raise


def _follow_noted(target: Target, location: str) -> Target:
    try:
        return follow(target, location)
    except TargetRefusedError as error:
        _note(target.host, error)
        raise _redirected(error) from error


def _redirected(error: TargetRefusedError) -> TargetRefusedError:
    """Make the refusal of an address by that of one it redirects to, of which no more is told."""
    return TargetRefusedError(Reason.REDIRECT, f"redirected: {error.cause}")


def _read_told(answer: BaseHTTPResponse) -> Told:
    found = {name.lower(): answer.headers.get(name) for name in _TOLD}
    return Told(answer.status, {name: value for name, value in found.items() if value is not None})


def _receive(answer: BaseHTTPResponse, file: BinaryIO, limit_bytes: int) -> Downloaded:
    if not 200 <= answer.status < 300:
        return Downloaded(answer.status, None, 0)
    coding = answer.headers.get("Content-Encoding", "identity").lower()
    if coding != "identity":
        raise TargetUnreachableError("its server sends it compressed, which was not asked for")
    if (answer.length_remaining or 0) > limit_bytes:
        raise _too_large(limit_bytes)
    size = 0
    while piece := answer.read(_PIECE):
        size += len(piece)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        file.write(piece)
    return Downloaded(answer.status, answer.headers.get("Content-Type"), size)


def _too_large(limit_bytes: int) -> TargetTooLargeError:
    return TargetTooLargeError(f"it has more than {limit_bytes:,} bytes, the most accepted")


def _note(host: str | None, error: TargetRefusedError) -> None:
    _log.warning("outbound request refused", host=host, cause=error.cause)
