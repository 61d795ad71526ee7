"""How fronts and workers ask the fetcher: HTTP on a port of its own, inside the farm."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, Final

from shared.clock import ticks
from shared.limits import KB, MAX_IMAGE_BYTES
from shared.outbound import (
    Ask,
    Outbound,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.outbound.fetcher import (
    CHECK_PATH,
    FETCH_PATH,
    LOG_FIELDS,
    STATUS_HEADER,
    Refusal,
)
from shared.telemetry.log import get_logger, log_context
from workers.fetcher.fetching import Fetching
from workers.fetcher.turns import NoTurnError

_ASKS_AT_ONCE: Final = 512
_LONGEST_ASK: Final = 256 * KB  # an address of 8,192 characters, each escaped
_LONGEST_SECONDS: Final = 60.0

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What an ask is answered with."""

    fetching: Fetching
    outbound: Outbound


class FetcherServer(ThreadingHTTPServer):
    """Answers asks, each in a thread, so many at once."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], parts: Parts) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(address, _Handler)
        self.parts = parts
        self.room = BoundedSemaphore(_ASKS_AT_ONCE)

    def finish(self, patience_seconds: float) -> None:
        """Wait until every ask that was taken is answered, but no longer than this."""
        give_up_at = ticks() + patience_seconds
        for _ in range(_ASKS_AT_ONCE):
            if not self.room.acquire(timeout=max(give_up_at - ticks(), 0)):
                return

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless who asked is gone, as a render is at its deadline."""
        error = sys.exception()
        if not isinstance(error, OSError):
            log.error("ask not answered", exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    server: FetcherServer
    server_version = "pressroom"
    sys_version = ""
    timeout = 30  # seconds that who asks may take to send, or to take a piece

    def do_POST(self) -> None:
        if not self.server.room.acquire(blocking=False):
            self._refuse(Refusal.BUSY, "")
            return
        try:
            self._take()
        finally:
            self.server.room.release()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: each way out has its own line."""

    def _take(self) -> None:
        asked = self._read_asked()
        if asked is None:
            return
        with log_context(**_read_log_fields(asked)):
            try:
                self._answer(asked)
            except NoTurnError:
                self._refuse(Refusal.BUSY, "")
            except TargetRefusedError as error:
                self._refuse(Refusal.REFUSED, str(error), reason=error.reason.value)
            except TargetTooLargeError as error:
                self._refuse(Refusal.TOO_LARGE, str(error))
            except TargetUnreachableError as error:
                self._refuse(Refusal.UNREACHABLE, str(error))
            except _WrongAsk as error:
                self._say(HTTPStatus.BAD_REQUEST, {"message": str(error)})

    def _answer(self, asked: dict[str, Any]) -> None:
        if self.path == FETCH_PATH:
            self._fetch(_read_ask(asked))
        elif self.path == CHECK_PATH:
            self.server.parts.outbound.check(_read_text(asked, "url"))
            self._begin(HTTPStatus.NO_CONTENT, 0)
        else:
            self._say(HTTPStatus.NOT_FOUND, {"message": "No such path."})

    def _read_asked(self) -> dict[str, Any] | None:
        # A page in somebody's browser can send no such type here without asking first (CORS).
        if self.headers.get_content_type() != "application/json":
            self._say(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"message": "It must be application/json."}
            )
            return None
        try:
            size = int(self.headers.get("Content-Length", ""))
            if not 0 <= size <= _LONGEST_ASK:
                raise ValueError
            asked = json.loads(self.rfile.read(size))
            if not isinstance(asked, dict):
                raise ValueError
        except ValueError:
            self._say(
                HTTPStatus.BAD_REQUEST, {"message": "It must be a JSON object of its length."}
            )
            return None
        return asked

    def _fetch(self, ask: Ask) -> None:
        found = self.server.parts.fetching.find(ask)
        self._begin(HTTPStatus.OK, found.size, {STATUS_HEADER: str(found.status)})
        if found.body is not None:
            for piece in found.body.read_pieces():
                self.wfile.write(piece)

    def _refuse(self, refusal: Refusal, text: str, *, reason: str = "") -> None:
        said = {"refusal": refusal.value, "text": text, "reason": reason}
        self._say(HTTPStatus.UNPROCESSABLE_ENTITY, said)

    def _say(self, status: HTTPStatus, said: dict[str, str]) -> None:
        body = json.dumps(said).encode()
        self._begin(status, len(body), {"Content-Type": "application/json"})
        self.wfile.write(body)

    def _begin(self, status: HTTPStatus, size: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()


class _WrongAsk(Exception):
    """What was sent is no ask; the text names the field."""


def _read_ask(asked: dict[str, Any]) -> Ask:
    return Ask(
        url=_read_text(asked, "url"),
        account=_read_text(asked, "account"),
        limit_bytes=int(_read_number(asked, "limit_bytes", most=MAX_IMAGE_BYTES)),
        deadline_seconds=_read_number(asked, "deadline_seconds", most=_LONGEST_SECONDS),
        patience_seconds=_read_number(asked, "patience_seconds", most=_LONGEST_SECONDS),
        is_fresh=asked.get("is_fresh") is True,
    )


def _read_text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not value:
        raise _WrongAsk(f"Field {name} must be a text.")
    return value


def _read_number(asked: dict[str, Any], name: str, *, most: float) -> float:
    value = asked.get(name)
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise _WrongAsk(f"Field {name} must be a number from 0 to {most:g}.")
    return value


def _read_log_fields(asked: dict[str, Any]) -> dict[str, str]:
    given = asked.get("log")
    if not isinstance(given, dict):
        return {}
    return {name: given[name] for name in LOG_FIELDS if isinstance(given.get(name), str)}
