"""The internal HTTP server of the fetcher for fronts and workers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from shared.internal_server import InternalServer
from shared.limits import KB, MAX_IMAGE_BYTES
from shared.outbound import (
    FetchRequest,
    NotCachedError,
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
from shared.telemetry.log import log_context
from workers.fetcher.fetching import FetchService
from workers.fetcher.slots import NoSlotError

_MAX_REQUESTS: Final = 512
_MAX_REQUEST_BYTES: Final = 256 * KB  # an address of 8,192 characters, each escaped
_MAX_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that handle requests."""

    fetching: FetchService
    outbound: Outbound


class FetcherServer(InternalServer):
    """Serves requests in threads, up to a limit."""

    def __init__(self, address: tuple[str, int], parts: Parts) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(
            address, _Handler, failure="fetch request failed", max_requests=_MAX_REQUESTS
        )
        self.parts = parts


class _Handler(BaseHTTPRequestHandler):
    server: FetcherServer
    server_version = "pressroom"
    sys_version = ""
    timeout = 30  # seconds for the caller to send the request, or to receive a chunk

    def do_POST(self) -> None:
        if not self.server.room.acquire(blocking=False):
            self._send_refusal(Refusal.BUSY, "")
            return
        try:
            self._handle()
        finally:
            self.server.room.release()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: each outbound request is logged."""

    def _handle(self) -> None:
        fields = self._read_fields()
        if fields is None:
            return
        with log_context(**_read_log_fields(fields)):
            try:
                self._dispatch(fields)
            except NoSlotError:
                self._send_refusal(Refusal.BUSY, "")
            except NotCachedError:
                self._send_refusal(Refusal.NOT_CACHED, "")
            except TargetRefusedError as error:
                self._send_refusal(Refusal.REFUSED, str(error), reason=error.reason.value)
            except TargetTooLargeError as error:
                self._send_refusal(Refusal.TOO_LARGE, str(error))
            except TargetUnreachableError as error:
                self._send_refusal(Refusal.UNREACHABLE, str(error))
            except _BadRequest as error:
                self._send_json(HTTPStatus.BAD_REQUEST, {"message": str(error)})

    def _dispatch(self, fields: dict[str, Any]) -> None:
        if self.path == FETCH_PATH:
            self._fetch(_read_request(fields))
        elif self.path == CHECK_PATH:
            self.server.parts.outbound.check(_read_text(fields, "url"))
            self._send_headers(HTTPStatus.NO_CONTENT, 0)
        else:
            self._send_json(HTTPStatus.NOT_FOUND, {"message": "No such path."})

    def _read_fields(self) -> dict[str, Any] | None:
        # Web pages cannot send this content type across origins without a CORS preflight.
        if self.headers.get_content_type() != "application/json":
            self._send_json(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                {"message": "The Content-Type must be application/json."},
            )
            return None
        try:
            size = int(self.headers.get("Content-Length", ""))
            if not 0 <= size <= _MAX_REQUEST_BYTES:
                raise ValueError
            fields = json.loads(self.rfile.read(size))
            if not isinstance(fields, dict):
                raise ValueError
        except ValueError:
            self._send_json(
                HTTPStatus.BAD_REQUEST,
                {"message": "The body must be a JSON object of the length in Content-Length."},
            )
            return None
        return fields

    def _fetch(self, request: FetchRequest) -> None:
        response = self.server.parts.fetching.find(request)
        self._send_headers(HTTPStatus.OK, response.size, {STATUS_HEADER: str(response.status)})
        if response.body is not None:
            for chunk in response.body.read_chunks():
                self.wfile.write(chunk)

    def _send_refusal(self, refusal: Refusal, text: str, *, reason: str = "") -> None:
        content = {"refusal": refusal.value, "text": text, "reason": reason}
        self._send_json(HTTPStatus.UNPROCESSABLE_ENTITY, content)

    def _send_json(self, status: HTTPStatus, content: dict[str, str]) -> None:
        body = json.dumps(content).encode()
        self._send_headers(status, len(body), {"Content-Type": "application/json"})
        self.wfile.write(body)

    def _send_headers(
        self, status: HTTPStatus, size: int, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()


class _BadRequest(Exception):
    """The request is invalid; the message names the field."""


def _read_request(fields: dict[str, Any]) -> FetchRequest:
    return FetchRequest(
        url=_read_text(fields, "url"),
        account=_read_text(fields, "account"),
        limit_bytes=int(_read_number(fields, "limit_bytes", most=MAX_IMAGE_BYTES)),
        deadline_seconds=_read_number(fields, "deadline_seconds", most=_MAX_SECONDS),
        patience_seconds=_read_number(fields, "patience_seconds", most=_MAX_SECONDS),
        is_fresh=fields.get("is_fresh") is True,
        is_cache_only=fields.get("is_kept_only") is True,
    )


def _read_text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise _BadRequest(f"Field {name} must be a string.")
    return value


def _read_number(fields: dict[str, Any], name: str, *, most: float) -> float:
    value = fields.get(name)
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise _BadRequest(f"Field {name} must be a number from 0 to {most:g}.")
    return value


def _read_log_fields(fields: dict[str, Any]) -> dict[str, str]:
    log_fields = fields.get("log")
    if not isinstance(log_fields, dict):
        return {}
    return {name: log_fields[name] for name in LOG_FIELDS if isinstance(log_fields.get(name), str)}
