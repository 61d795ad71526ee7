"""GET /docs/openapi.json and GET /docs: the interface described for programs and for people."""

from __future__ import annotations

from functools import lru_cache

from flask import Blueprint, Response

from api.exchange import write_json
from api.ops.description import describe
from api.ops.page import write_page
from api.ports import Ports

# The page loads nothing and runs nothing, in nobody's frame; its one style sheet stands in it.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class DocsRoutes:
    """The views; they need no part of the farm."""

    def __init__(self, ports: Ports) -> None:
        del ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("docs", __name__)
        routes.get("/docs/openapi.json")(self.describe)
        routes.get("/docs")(self.read_description)
        return routes

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
