"""The front's gunicorn worker: gevent's, with JSON errors for what gunicorn refuses itself.

`worker_class` is gunicorn's setting for a class of one's own (decision 0310).
"""

from __future__ import annotations

import socket
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import gevent
from gunicorn.http.errors import (
    ConfigurationProblem,
    ExpectationFailed,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.workers.ggevent import GeventWorker

from shared import json_text
from shared.clock import now
from shared.errors import ErrorBody, ErrorKind, write_error_body
from shared.limits import KB

_OWN_FAULTS: Final = (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName)
_REFUSALS: Final = (
    (LimitRequestLine, 414, "The request line is longer than {line:,} bytes."),
    (
        LimitRequestHeaders,
        431,
        "The header fields are too large: accepted are {fields} of up to {field:,} bytes.",
    ),
    (UnsupportedTransferCoding, 501, "Unsupported Transfer-Encoding: accepted is chunked."),
    (ExpectationFailed, 417, "Unsupported Expect: accepted is 100-continue."),
    (ParseException, 400, "The request is not valid HTTP (RFC 9112): {reason}."),
)
_MAX_QUOTED: Final = 200
_LINGER_SECONDS: Final = 2.0
_LINGER_BYTES: Final = 256 * KB


class FrontWorker(GeventWorker):  # type: ignore[misc] # gunicorn has no types
    """Serves the front's connections."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a request that does not reach the application, and end its connection."""
        error = self._describe(exc)
        if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            self.log.error("Error handling a request", exc_info=exc)
        else:
            self.log.warning("Invalid request: %s", type(exc).__name__)
        with suppress(OSError), gevent.Timeout(_LINGER_SECONDS, TimeoutError()):
            client.sendall(_write_response(error))
            _linger(client)

    def _describe(self, exc: BaseException) -> ErrorBody:
        for kind, status, message in _REFUSALS:
            if isinstance(exc, kind) and not isinstance(exc, _OWN_FAULTS):
                text = message.format(
                    line=self.cfg.limit_request_line,
                    fields=self.cfg.limit_request_fields,
                    field=self.cfg.limit_request_field_size,
                    reason=str(exc)[:_MAX_QUOTED],
                )
                return ErrorBody(status, text, ErrorKind.REQUEST)
        return ErrorBody(500, "Internal error; try again.", ErrorKind.INTERNAL)


def _write_response(error: ErrorBody) -> bytes:
    body = json_text.encode(write_error_body(error, at=now()))
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n\r\n"
    )
    return head.encode("ascii") + body


def _linger(client: Any) -> None:
    """Read what the client still sends: closing a socket with unread bytes would reset the connection."""
    client.shutdown(socket.SHUT_WR)
    left = _LINGER_BYTES
    while left > 0 and (data := client.recv(64 * KB)):
        left -= len(data)
