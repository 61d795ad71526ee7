"""Cross-origin requests (the Fetch standard's CORS protocol) and `OPTIONS`.

Browsers never send the API key on their own, so an allowed origin still needs a key of its own.
"""

from __future__ import annotations

from typing import Final

from flask import Request, Response
from werkzeug.exceptions import MethodNotAllowed

from api.ports import Ports

_MAX_AGE_SECONDS: Final = 600
_ANY: Final = "*"
_ALLOWED_HEADERS: Final = (
    "Authorization, x-api-key, Content-Type, Content-Encoding, Prefer, Idempotency-Key, If-Match, "
    "If-None-Match, If-Range, Range, traceparent"
)
_EXPOSED_HEADERS: Final = (
    "Location, Preference-Applied, ETag, Content-Disposition, X-Page-Count, X-Job-Id, Server-Timing, "
    "X-Warning-Count, X-Warning-Codes, Accept-Ranges, Content-Range, Idempotent-Replayed, "
    "Retry-After, RateLimit, RateLimit-Policy, Allow, Accept-Encoding"
)


def make_options_response(request: Request, ports: Ports) -> Response:
    """Return the response to `OPTIONS`: the methods of a path, and CORS headers for a preflight.

    It requires no key: browsers send none with a preflight, and `/docs` lists the methods anyway.

    Raises:
        NotFound: no route matches the path.
    """
    if request.environ.get("RAW_URI") == _ANY:  # the server as a whole (RFC 9110, 9.3.7)
        return Response(status=204)
    error = request.routing_exception
    if not isinstance(error, MethodNotAllowed):
        assert error is not None, "no route handles OPTIONS itself"
        raise error
    methods = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
    response = Response(status=204, headers={"Allow": methods})
    if "Access-Control-Request-Method" in request.headers and is_allowed_origin(request, ports):
        response.headers.update(
            {
                "Access-Control-Allow-Methods": methods,
                "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
                "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
            }
        )
    return response


def add_cors_headers(request: Request, response: Response, ports: Ports) -> None:
    """Add the CORS headers that let a page of an allowed origin read the response."""
    response.headers.add("Vary", "Origin")
    if is_allowed_origin(request, ports):
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS


def is_allowed_origin(request: Request, ports: Ports) -> bool:
    """Return whether the operator allows the Origin of a request."""
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    return _ANY in ports.cors_origins or origin in ports.cors_origins
