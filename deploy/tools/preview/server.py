"""Serves local pages to a browser on this machine: a small page, the state of the files, and images.

Only loopback is bound. The Host header must name it, so that no other site can read the pages by a name
that it points at this address (DNS rebinding).
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from deploy.embedded.loopback import LOOPBACK
from deploy.tools.preview.drawing import LocalPages

LONGEST_WAIT_SECONDS: Final = 20.0
_SCALES: Final = (0.5, 4.0)
# Of any port: an editor in a browser serves the page through its own.
_HOST: Final = re.compile(rf"(?:{re.escape(LOOPBACK)}|localhost)(?::[0-9]{{1,5}})?")
_PAGE: Final = re.compile(r"/pages/([1-9][0-9]{0,5})\.png")
_TYPES: Final = {
    "index.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self' vscode-file: vscode-webview:",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class PreviewServer(ThreadingHTTPServer):
    """The server of one set of files, on a port of loopback; 0 takes a free one."""

    daemon_threads = True

    def __init__(self, pages: LocalPages, *, title: str, port: int = 0) -> None:
        self.pages = pages  # first, as the base class closes a server that cannot bind
        self.title = title
        super().__init__((LOOPBACK, port), _Handler)

    def server_close(self) -> None:
        """Close the socket, and end the requests that wait for a change."""
        super().server_close()
        self.pages.files.stop()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: PreviewServer
    server_version = "pressroom"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request for the page, its files, the state, or an image."""
        with suppress(ConnectionError):  # a page that was closed waits for no answer
            self._answer_get()

    def _answer_get(self) -> None:
        if not _HOST.fullmatch(self.headers.get("Host", "")):
            self._answer(HTTPStatus.FORBIDDEN, b"This preview is served to this machine only.\n")
            return
        address = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        name = address.path.removeprefix("/") or "index.html"
        if name in _TYPES:
            data = files("deploy.tools.preview").joinpath("page", name).read_bytes()
            self._answer(HTTPStatus.OK, data, _TYPES[name])
        elif address.path == "/state":
            self._answer_state(query.get("seen"))
        elif found := _PAGE.fullmatch(address.path):
            self._answer_page(int(found[1]), query.get("scale", "1"))
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"There is no such page.\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
        """Write no line for each request."""

    def _answer_state(self, seen: str | None) -> None:
        """Answer as soon as the files differ from those that the page has seen, or after a while."""
        pages = self.server.pages
        pages.files.wait_for_change(seen, LONGEST_WAIT_SECONDS)
        state = {"title": self.server.title, **pages.describe()}
        self._answer(HTTPStatus.OK, json.dumps(state).encode(), "application/json")

    def _answer_page(self, page: int, scale: str) -> None:
        smallest, largest = _SCALES
        if (
            not re.fullmatch(r"[0-9](\.[0-9]{1,4})?", scale)
            or not smallest <= float(scale) <= largest
        ):
            self._answer(HTTPStatus.BAD_REQUEST, b"The scale must be a number from 0.5 to 4.\n")
            return
        data = self.server.pages.draw_page(page, float(scale))
        if data is None:
            self._answer(HTTPStatus.NOT_FOUND, b"There is no such page.\n")
        else:
            self._answer(HTTPStatus.OK, data, "image/png")

    def _answer(
        self, status: HTTPStatus, data: bytes, content_type: str = "text/plain; charset=utf-8"
    ) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
