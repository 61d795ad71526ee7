"""HTTP between the farm's own processes: renders and fronts ask the fetcher and the signer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from shared.clock import ticks
from shared.errors import Unavailable
from shared.limits import KB
from shared.telemetry.log import get_logger

BUSY: Final = "busy"  # the refusal of a server or service at its limit
_POLL_SECONDS: Final = 0.1  # until a stop is noticed
_CONNECT_SECONDS: Final = 2.0
_MAX_REFUSAL_BYTES: Final = 256 * KB
_AWAY: Final = (OSError, HTTPException, ValueError)

log: Final = get_logger(__name__)


class InternalClient:
    """Sends requests to a process of the farm. Thread-safe; keeps no connection.

    The URL is from the settings; clients cannot influence it.
    """

    def __init__(self, part: str, url: str) -> None:
        """Read the address of a part.

        Raises:
            ValueError: it is not an http URL with a host.
        """
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"PRESSROOM_{part.upper()}_URL must be http://host:port")
        self._part: Final = part
        self._host: Final = parts.hostname
        self._port: Final = parts.port or 80

    @contextmanager
    def post(
        self, path: str, body: bytes | str, media_type: str, *, seconds: float
    ) -> Iterator[HTTPResponse]:
        """Send a request, and yield its response for the block.

        Raises:
            Unavailable: there is no answer within `seconds`, or the block raises ValueError or HTTPException.
        """
        connection = HTTPConnection(self._host, self._port, timeout=_CONNECT_SECONDS)
        try:
            connection.connect()
            connection.sock.settimeout(seconds)
            connection.request("POST", path, body, {"Content-Type": media_type})
            yield connection.getresponse()
        except _AWAY as error:
            raise Unavailable(self._part) from error
        finally:
            connection.close()


def read_refusal(answer: HTTPResponse) -> Mapping[str, object]:
    """Return the fields of `InternalHandler.refuse`; raise ValueError if the response is malformed."""
    said = json.loads(answer.read(_MAX_REFUSAL_BYTES))
    if not isinstance(said, dict):
        raise ValueError("not a JSON object")
    return said


class BadRequestError(Exception):
    """A request is invalid; the message names what is wrong."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.status: Final = status


class InternalHandler(BaseHTTPRequestHandler):
    """Answers requests; `answer` of a subclass may raise `BadRequestError`, and what is in `refusals`."""

    refusals: ClassVar[Mapping[type[Exception], str]]
    server: InternalServer
    server_version = "pressroom"
    sys_version = ""
    timeout = 30  # seconds for the caller to send the request, or to receive a chunk

    def do_POST(self) -> None:
        """Answer a request, or refuse it at the limit."""
        if not self.server.room.acquire(blocking=False):
            self.refuse(BUSY)
            return
        try:
            self.answer()
        except BadRequestError as error:
            self.send_json(error.status, {"message": str(error)})
        except tuple(self.refusals) as error:
            self.refuse(self.refusals[type(error)], str(error))
        finally:
            self.server.room.release()

    def answer(self) -> None:
        """Answer one request."""
        raise NotImplementedError

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: the work of each request is logged."""

    def read_size(self, media_type: str, *, most: int) -> int:
        """Check the content type, and return the size of the body.

        Raises:
            BadRequestError: the type is another, or the size is missing or exceeds `most`.
        """
        # Web pages cannot send these content types across origins without a CORS preflight.
        if self.headers.get_content_type() != media_type:
            text = f"The Content-Type must be {media_type}."
            raise BadRequestError(text, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 12):
            raise BadRequestError("The Content-Length is missing.")
        if int(length) > most:
            raise BadRequestError(f"The body has more than {most:,} bytes.")
        return int(length)

    def refuse(self, refusal: str, text: str = "", **fields: str) -> None:
        """Refuse a request, with the reason for the caller."""
        content = {"refusal": refusal, "text": text, **fields}
        self.send_json(HTTPStatus.UNPROCESSABLE_ENTITY, content)

    def send_json(self, status: HTTPStatus, content: Mapping[str, str]) -> None:
        """Send a JSON body."""
        body = json.dumps(content).encode()
        self.send_head(status, len(body), {"Content-Type": "application/json"})
        self.wfile.write(body)

    def send_head(self, status: HTTPStatus, size: int, headers: Mapping[str, str]) -> None:
        """Send the status and the headers of a body, which follows."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()


class InternalServer(ThreadingHTTPServer):
    """Serves requests in threads, up to a limit: a handler holds `room` while it answers one."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[InternalHandler],
        *,
        failure: str,
        max_requests: int,
    ) -> None:
        """Listen without serving requests yet; `failure` is the log event of a request that failed.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(address, handler)
        self.room = BoundedSemaphore(max_requests)
        self._max_requests = max_requests
        self._failure = failure
        self._thread = Thread(
            target=self.serve_forever, args=(_POLL_SECONDS,), name="requests", daemon=True
        )

    @property
    def url(self) -> str:
        """The URL that it listens on."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self) -> None:
        """Serve requests in threads."""
        self._thread.start()

    def stop(self, *, patience_seconds: float = 0.0) -> None:
        """Stop accepting requests, and finish those in progress within `patience_seconds`."""
        self.shutdown()
        self.server_close()
        give_up_at = ticks() + patience_seconds
        for _ in range(self._max_requests):
            if not self.room.acquire(timeout=max(give_up_at - ticks(), 0)):
                return

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error, unless the caller has disconnected, as a render does at its deadline."""
        error = sys.exception()
        if not isinstance(error, OSError):
            log.error(self._failure, exc_info=error)
