"""Clients that send or read slowly: what they move is timed, and who is too slow is cut off.

A connection costs the front a greenlet, so a slow client holds up nobody; it would still hold its
place for ever. gunicorn times the head of a request (its setting `keepalive`). This WSGI middleware
times the rest: each piece of a body, and of an answer, has `PIECE_SECONDS`, whatever its size.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import RawIOBase
from typing import IO, TYPE_CHECKING, Any, Final

import gevent
from gunicorn.http.errors import ParseException
from werkzeug.wsgi import ClosingIterator

from shared.clock import ticks
from shared.limits import KB, MB

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PIECE_BYTES: Final = 64 * KB
PIECE_SECONDS: Final = 30.0  # about 2 KB a second
DRAIN_BYTES: Final = 64 * MB
_DRAIN_SECONDS: Final = 20.0


class TimedBody(RawIOBase):
    """A request's body (`wsgi.input`), of which each piece must come in time.

    Raises `TimeoutError` while reading: the piece did not.
    """

    def __init__(self, stream: IO[bytes], *, declared: int | None) -> None:
        self._stream = stream
        self._left = declared
        self._is_begun = False
        self.has_ended = declared == 0

    def readable(self) -> bool:
        """Return whether it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size` and at most one piece; none at the end."""
        return self.read_piece(size, seconds=PIECE_SECONDS)

    def read_piece(self, size: int, *, seconds: float) -> bytes:
        """Return the next bytes, which must come within `seconds`."""
        if self.has_ended or size == 0:
            return b""
        if self._left is not None:
            size = min(size, self._left) if size > 0 else self._left
        wanted = min(size, PIECE_BYTES) if size > 0 else PIECE_BYTES
        if self._is_begun:
            gevent.sleep(0)  # a fast client would else have the process to itself
        self._is_begun = self.has_ended = (
            True  # should reading fail: where the next piece begins is unknown then
        )
        with gevent.Timeout(seconds, TimeoutError("the body came too slowly")):
            piece: bytes = self._stream.read(wanted)
        if self._left is not None:
            self._left -= len(piece)
        # The server hands a body that broke off as if it had ended.
        self.has_ended = len(piece) < wanted or self._left == 0
        return piece

    def drain(self) -> None:
        """Read on, within bounds, what the application left.

        A socket closed with unread bytes resets the connection, and many clients then never read
        the status (queueing.md 4).
        """
        give_up_at = ticks() + _DRAIN_SECONDS
        left = DRAIN_BYTES
        while not self.has_ended and left > 0 and (seconds := give_up_at - ticks()) > 0:
            left -= len(self.read_piece(PIECE_BYTES, seconds=seconds))


class SlowClients:
    """WSGI middleware: times what clients send and read."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does; what is left of the body is read once that is sent."""
        # A client that always has its next request there would else have the process to itself.
        gevent.sleep(0)
        body = TimedBody(environ["wsgi.input"], declared=_read_length(environ))
        environ["wsgi.input"] = body
        answer = self._app(environ, start_response)
        callbacks: list[Callable[[], Any]] = [lambda: _drain(body)]
        if close := getattr(answer, "close", None):
            callbacks.insert(0, close)
        return ClosingIterator(_timed(answer), callbacks)


def _read_length(environ: WSGIEnvironment) -> int | None:
    """Return the length of the body, None where only its end tells; gunicorn checks the fields."""
    if environ.get("HTTP_TRANSFER_ENCODING"):
        return None
    return int(environ.get("CONTENT_LENGTH") or 0)


def _timed(answer: Iterable[bytes]) -> Iterator[bytes]:
    has_begun = False
    for data in answer:
        for start in range(0, len(data), PIECE_BYTES):
            if start or has_begun:
                gevent.sleep(0)
            has_begun = True
            # The server takes the reset for the client's, and closes the connection.
            error = ConnectionResetError(errno.ECONNRESET, "the answer was read too slowly")
            with gevent.Timeout(PIECE_SECONDS, error):
                yield data[start : start + PIECE_BYTES]


def _drain(body: TimedBody) -> None:
    # The answer is already sent: an error in the rest of the body cannot be reported.
    with suppress(OSError, ParseException):
        body.drain()
