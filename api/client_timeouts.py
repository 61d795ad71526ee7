"""Timeouts for clients that send or read slowly.

A connection costs the front a greenlet, so a slow client does not block others, but it would keep
its connection forever. gunicorn limits the time of a request's header section (its setting
`keepalive`). This WSGI middleware limits the rest: each chunk of a request or response body may take
`CHUNK_SECONDS`, whatever its size.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import RawIOBase
from typing import TYPE_CHECKING, Any, Final

import gevent
from gunicorn.http.errors import ParseException
from werkzeug.wsgi import ClosingIterator

from api.admission.framing import DRAIN_BYTES
from shared.clock import ticks
from shared.limits import KB

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CHUNK_BYTES: Final = 64 * KB
CHUNK_SECONDS: Final = 30.0  # about 2 KB a second
_DRAIN_SECONDS: Final = 20.0


class TimedBody(RawIOBase):
    """A request body (`wsgi.input`) with a timeout for each chunk.

    Reading raises `TimeoutError` when a chunk does not arrive in time.
    """

    def __init__(self, stream: Any, *, declared: int | None) -> None:
        self._stream = stream
        self._left = declared
        self._has_started = False
        self.has_ended = declared == 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def bound(self, most: int) -> None:
        """Let the server refuse a chunk of more than `most` bytes before its data are sent."""
        self._stream.reader.most = most

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size` and at most one chunk; empty at the end."""
        return self.read_chunk(size, seconds=CHUNK_SECONDS)

    def read_chunk(self, size: int, *, seconds: float) -> bytes:
        """Return the next bytes, which must arrive within `seconds`."""
        if self.has_ended or size == 0:
            return b""
        if self._left is not None:
            size = min(size, self._left) if size > 0 else self._left
        wanted = min(size, CHUNK_BYTES) if size > 0 else CHUNK_BYTES
        if self._has_started:
            gevent.sleep(0)  # a fast client would otherwise monopolise the process
        # If reading fails, the start of the next chunk is unknown.
        self._has_started = self.has_ended = True
        with gevent.Timeout(seconds, TimeoutError("the body was sent too slowly")):
            chunk: bytes = self._stream.read(wanted)
        if self._left is not None:
            self._left -= len(chunk)
        # The server reports a truncated body as if it had ended.
        self.has_ended = len(chunk) < wanted or self._left == 0
        return chunk

    def drain(self) -> None:
        """Read and discard the rest of the body, up to a limit.

        Closing a socket with unread bytes resets the connection, and many clients then never read the
        status.
        """
        give_up_at = ticks() + _DRAIN_SECONDS
        left = DRAIN_BYTES
        while not self.has_ended and left > 0 and (seconds := give_up_at - ticks()) > 0:
            left -= len(self.read_chunk(CHUNK_BYTES, seconds=seconds))


class ClientTimeoutMiddleware:
    """WSGI middleware that limits the time of request and response bodies."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application; after the response, drain the rest of the request body."""
        # A client with pipelined requests would otherwise monopolise the process.
        gevent.sleep(0)
        body = TimedBody(environ["wsgi.input"], declared=_read_content_length(environ))
        environ["wsgi.input"] = body
        response = self._app(environ, start_response)
        callbacks: list[Callable[[], Any]] = [lambda: _drain(body)]
        if close := getattr(response, "close", None):
            callbacks.insert(0, close)
        return ClosingIterator(_time_chunks(response), callbacks)


def _read_content_length(environ: WSGIEnvironment) -> int | None:
    """Return the length of the body, None if it is chunked; gunicorn has checked the fields."""
    if environ.get("HTTP_TRANSFER_ENCODING"):
        return None
    return int(environ.get("CONTENT_LENGTH") or 0)


def _time_chunks(response: Iterable[bytes]) -> Iterator[bytes]:
    has_begun = False
    for data in response:
        for start in range(0, len(data), CHUNK_BYTES):
            if start or has_begun:
                gevent.sleep(0)
            has_begun = True
            # The server treats this as a reset by the client, and closes the connection.
            error = ConnectionResetError(errno.ECONNRESET, "the response was read too slowly")
            with gevent.Timeout(CHUNK_SECONDS, error):
                yield data[start : start + CHUNK_BYTES]


def _drain(body: TimedBody) -> None:
    # The response has been sent: an error in the rest of the body cannot be reported.
    with suppress(OSError, ParseException):
        body.drain()
