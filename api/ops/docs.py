"""GET /docs/openapi.json and GET /docs: the interface described for programs and for people."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, Response, request

from api.exchange import write_json
from api.ops.description import describe
from api.ops.page import write_page
from api.ports import Ports

# The page loads nothing and runs nothing, in nobody's frame; its one style sheet stands in it.
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
<p>This service renders PDFs. <a href="/docs">Its interface</a> is described for people, and
<a href="/docs/openapi.json">as OpenAPI</a> for programs.</p>
</body>
</html>
"""


class DocsRoutes:
    """The views; they need no part of the farm."""

    def __init__(self, ports: Ports) -> None:
        del ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("docs", __name__)
        routes.get("/")(self.read_start)
        routes.get("/docs/openapi.json")(self.describe)
        routes.get("/docs")(self.read_description)
        return routes

    def read_start(self) -> Response:
        """Return the links to the description, as HTML to browsers and JSON to programs."""
        if "text/html" in request.headers.get("Accept", ""):
            headers = {"Content-Security-Policy": _POLICY}
            answer = Response(_START, 200, headers, content_type="text/html; charset=utf-8")
        else:
            answer = write_json(
                {"name": "Pressroom", "docs": "/docs", "openapi": "/docs/openapi.json"}
            )
        answer.headers.add("Vary", "Accept")
        answer.headers.add("Link", '</docs>; rel="service-doc"')
        answer.headers.add("Link", '</docs/openapi.json>; rel="service-desc"')
        return answer

    def describe(self) -> Response:
        """Give the OpenAPI description."""
        return write_json(describe())

    def read_description(self) -> Response:
        """Give the description as a page."""
        headers = {"Content-Security-Policy": _POLICY}
        return Response(_page(), 200, headers, content_type="text/html; charset=utf-8")


@lru_cache(maxsize=1)
def _page() -> str:
    return write_page(describe())
