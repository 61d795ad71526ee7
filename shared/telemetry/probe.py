"""The HTTP endpoints `/metrics` and `/healthz` of processes without a web server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from shared.telemetry.log import get_logger
from shared.telemetry.metrics import CONTENT_TYPE

log: Final = get_logger(__name__)


def start_probe(
    port: int, write_metrics: Callable[[], bytes], *, address: str
) -> ThreadingHTTPServer | None:
    """Serve in a daemon thread; port 0 disables the probe, an empty address means all addresses."""
    if port == 0:
        return None
    server = _ProbeServer((address, port), write_metrics)
    Thread(target=server.serve_forever, name="probe", daemon=True).start()
    return server


class _ProbeServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], write_metrics: Callable[[], bytes]) -> None:
        super().__init__(address, _ProbeHandler)
        self.write_metrics = write_metrics

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what ended a request, such as a scraper that hung up, as a line like the others."""
        log.warning("scrape not answered", cause=repr(sys.exception()))


class _ProbeHandler(BaseHTTPRequestHandler):
    server: _ProbeServer
    server_version = "pressroom"
    sys_version = ""
    timeout = 10

    def do_GET(self) -> None:
        match self.path:
            case "/healthz":
                self._answer(HTTPStatus.OK, "application/json", b'{"status":"ok"}')
            case "/metrics":
                self._answer_metrics()
            case _:
                body = {"message": "No such path; accepted: /healthz, /metrics"}
                self._answer(HTTPStatus.NOT_FOUND, "application/json", json.dumps(body).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: scrapes come every few seconds."""

    def _answer_metrics(self) -> None:
        try:
            text = self.server.write_metrics()
        except Exception as error:  # noqa: BLE001 - a failing collector must not end the probe
            log.warning("metrics not collected", cause=repr(error))
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", b"not available\n")
            return
        self._answer(HTTPStatus.OK, CONTENT_TYPE, text)

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
