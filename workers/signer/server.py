"""The internal HTTP server of the signer for workers."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from shared.internal_server import InternalServer
from shared.limits import MAX_SIGNED_BYTES
from shared.signer import LOG_FIELDS, MEDIA_TYPE, SIGN_PATH, SignatureCall, SigningRefusal
from shared.telemetry.log import log_context
from workers.signer.service import SignerBusyError, SigningService
from workers.signer.signing import SigningFailedError, StampingFailedError

_MAX_REQUESTS: Final = 256
_MAX_FIELDS: Final = 20


class SignerServer(InternalServer):
    """Serves requests in threads, up to a limit."""

    def __init__(self, address: tuple[str, int], signing: SigningService) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(
            address, _Handler, failure="signing request failed", max_requests=_MAX_REQUESTS
        )
        self.signing = signing


class _BadRequest(Exception):
    """The request is invalid; the message names what is wrong."""


class _Handler(BaseHTTPRequestHandler):
    server: SignerServer
    server_version = "pressroom"
    sys_version = ""
    timeout = 15  # seconds for the caller to send or receive a piece

    def do_POST(self) -> None:
        if not self.server.room.acquire(blocking=False):
            self._refuse(SigningRefusal.BUSY)
            return
        try:
            self._handle()
        except _BadRequest as error:
            self._send_json(HTTPStatus.BAD_REQUEST, {"message": str(error)})
        finally:
            self.server.room.release()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: each signature is logged."""

    def _handle(self) -> None:
        fields = self._read_fields()
        # Web pages cannot send this content type across origins without a CORS preflight.
        if self.headers.get_content_type() != MEDIA_TYPE:
            raise _BadRequest(f"The Content-Type must be {MEDIA_TYPE}.")
        size = self._read_size()
        call = SignatureCall(
            fields.get("account", ""), fields.get("certificate", ""), fields.get("field")
        )
        with log_context(**{name: fields[name] for name in LOG_FIELDS if name in fields}):
            try:
                signed = self.server.signing.sign(call, lambda: self.rfile.read(size))
            except SignerBusyError:
                self._refuse(SigningRefusal.BUSY)
            except StampingFailedError as error:
                self._refuse(SigningRefusal.UNSTAMPED, str(error))
            except SigningFailedError as error:
                self._refuse(SigningRefusal.REFUSED, str(error))
            else:
                self._send(HTTPStatus.OK, MEDIA_TYPE, signed)

    def _read_fields(self) -> dict[str, str]:
        try:
            parts = urlsplit(self.path)
            named = parse_qs(
                parts.query, strict_parsing=True, errors="strict", max_num_fields=_MAX_FIELDS
            )
        except ValueError as error:
            raise _BadRequest("The query is not one.") from error
        if parts.path != SIGN_PATH:
            raise _BadRequest(f"No such path; accepted is {SIGN_PATH}.")
        return {name: values[0] for name, values in named.items()}

    def _read_size(self) -> int:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 12):
            raise _BadRequest("The Content-Length is missing.")
        if int(length) > MAX_SIGNED_BYTES:
            raise _BadRequest(f"The file has more than {MAX_SIGNED_BYTES:,} bytes.")
        return int(length)

    def _refuse(self, refusal: SigningRefusal, text: str = "") -> None:
        content = {"refusal": refusal.value, "text": text}
        self._send_json(HTTPStatus.UNPROCESSABLE_ENTITY, content)

    def _send_json(self, status: HTTPStatus, content: dict[str, str]) -> None:
        self._send(status, "application/json", json.dumps(content).encode())

    def _send(self, status: HTTPStatus, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
