"""GET / and GET /docs/openapi.json: the start, and the API description; /docs shows it (api/studio)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from flask import Response, current_app, request

from api.http import write_json
from api.operations.model import OperationResponse, Routes, get, json_content

DESCRIBE: Final = "describe"  # the extension of an app that describes its routes
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


_START: Final = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Pressroom</title></head>
<body>
<h1>Pressroom</h1>
<p>This service renders PDFs. Its <a href="/docs/">documentation</a> has tutorials, the language of templates and pages for
operators; its API is described <a href="/docs">as a page</a> and <a href="/docs/openapi.json">as OpenAPI</a>.</p>
</body>
</html>
"""


class OpenApiRoutes(Routes):
    """The views."""

    tag = "Operation"

    @get(
        "/",
        {
            200: OperationResponse(
                "The links.", {**json_content("Start"), "text/html": {"type": "string"}}
            )
        },
    )
    def read_start(self) -> Response:
        """Start page.

        Links to /docs, as HTML if Accept contains text/html, else as JSON.
        """
        if "text/html" in request.headers.get("Accept", ""):
            headers = {"Content-Security-Policy": _POLICY}
            response = Response(_START, 200, headers, content_type="text/html; charset=utf-8")
        else:
            response = write_json(
                {"name": "Pressroom", "docs": "/docs", "openapi": "/docs/openapi.json"}
            )
        response.vary.add("Accept")
        response.headers.add("Link", '</docs>; rel="service-doc"')
        response.headers.add("Link", '</docs/openapi.json>; rel="service-desc"')
        return response

    @get(
        "/docs/openapi.json",
        {200: OperationResponse("The description.", {"application/json": {"type": "object"}})},
    )
    def describe(self) -> Response:
        """OpenAPI description.

        OpenAPI 3.1.
        """
        return write_json(_describe())


@lru_cache(maxsize=1)  # every app has the same routes
def _describe() -> Mapping[str, Any]:
    description: Mapping[str, Any] = current_app.extensions[DESCRIBE]()
    return description
