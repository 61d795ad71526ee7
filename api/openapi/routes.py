"""GET /docs/openapi.json and GET /docs: the API description as OpenAPI and as a page."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, Response, request

from api.http import write_json
from api.openapi.description import describe
from api.openapi.html_page import write_page
from api.ports import Ports

# The page has no scripts and no external resources, and cannot be framed; its style sheet is inline.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


_START: Final = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Pressroom</title></head>
<body>
<h1>Pressroom</h1>
<p>This service renders PDFs. Its API is described <a href="/docs">as a page</a> and
<a href="/docs/openapi.json">as OpenAPI</a>, <a href="/docs/language">the language of its templates</a> page by page.</p>
</body>
</html>
"""


class OpenApiRoutes:
    """The views; they use none of the ports."""

    def __init__(self, ports: Ports) -> None:
        del ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("docs", __name__)
        routes.get("/")(self.read_start)
        routes.get("/docs/openapi.json")(self.describe)
        routes.get("/docs")(self.read_description)
        return routes

    def read_start(self) -> Response:
        """Return the links to the description, as HTML to browsers and JSON to programs."""
        if "text/html" in request.headers.get("Accept", ""):
            headers = {"Content-Security-Policy": _POLICY}
            response = Response(_START, 200, headers, content_type="text/html; charset=utf-8")
        else:
            response = write_json(
                {"name": "Pressroom", "docs": "/docs", "openapi": "/docs/openapi.json"}
            )
        response.headers.add("Vary", "Accept")
        response.headers.add("Link", '</docs>; rel="service-doc"')
        response.headers.add("Link", '</docs/openapi.json>; rel="service-desc"')
        return response

    def describe(self) -> Response:
        """Return the OpenAPI description."""
        return write_json(describe())

    def read_description(self) -> Response:
        """Return the description as an HTML page."""
        headers = {"Content-Security-Policy": _POLICY}
        return Response(_page(), 200, headers, content_type="text/html; charset=utf-8")


@lru_cache(maxsize=1)
def _page() -> str:
    return write_page(describe())
