"""Serves local pages to a browser on this machine: a small page, the state of the files, and images.

Only loopback is bound. The Host header must name it, so that no other site can read the pages by a name
that it points at this address (DNS rebinding).
"""

from __future__ import annotations

import re
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from flask import Flask, Response, abort, request

from deploy.embedded.loopback import LOOPBACK
from deploy.tools.preview.drawing import LocalPages

LONGEST_WAIT_SECONDS: Final = 20.0
_SCALES: Final = (0.5, 4.0)
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self' vscode-file: vscode-webview:",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class PreviewServer(ThreadingMixIn, WSGIServer):
    """The server of one set of files, on a port of loopback; 0 takes a free one."""

    daemon_threads = True

    def __init__(self, pages: LocalPages, *, title: str, port: int = 0) -> None:
        self._pages = pages  # first, as the base class closes a server that cannot bind
        self.title = title
        super().__init__((LOOPBACK, port), _Handler)
        self.set_app(_make_app(pages, title))

    def server_close(self) -> None:
        """Close the socket, and end the requests that wait for a change."""
        super().server_close()
        self._pages.files.stop()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
        """Write no line for each request."""


def _make_app(pages: LocalPages, title: str) -> Flask:
    app = Flask(__name__, static_folder="page", static_url_path="")
    # On any port: an editor in a browser serves the page through its own.
    app.config["TRUSTED_HOSTS"] = [LOOPBACK, "localhost"]

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(_HEADERS)
        return response

    @app.get("/")
    def send_page() -> Response:
        return app.send_static_file("index.html")

    @app.get("/state")
    def describe() -> dict[str, Any]:
        """Answer as soon as the files differ from those that the page has seen, or after a while."""
        pages.files.wait_for_change(request.args.get("seen"), LONGEST_WAIT_SECONDS)
        return {"title": title, **pages.describe()}

    @app.get("/pages/<int(min=1, max=999999):page>.png")
    def draw_page(page: int) -> Response:
        scale = request.args.get("scale", "1")
        smallest, largest = _SCALES
        is_number = re.fullmatch(r"[0-9](\.[0-9]{1,4})?", scale)
        if not is_number or not smallest <= float(scale) <= largest:
            abort(HTTPStatus.BAD_REQUEST, "The scale must be a number from 0.5 to 4.")
        data = pages.draw_page(page, float(scale))
        if data is None:
            abort(HTTPStatus.NOT_FOUND, "There is no such page.")
        return Response(data, content_type="image/png")

    return app
