"""Calls from pages of other origins (the Fetch standard's CORS protocol), and `OPTIONS`.

A key is sent in a header, never by a browser on its own: an origin that is admitted can do nothing
for which its page has no key.
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
    "If-None-Match, traceparent"
)
_EXPOSED_HEADERS: Final = (
    "Location, Preference-Applied, ETag, Content-Disposition, X-Page-Count, X-Job-Id, Server-Timing, "
    "X-Warning-Count, X-Warning-Codes, "
    "Retry-After, RateLimit, RateLimit-Policy, Allow, Accept-Encoding"
)


def answer_options(asked: Request, ports: Ports) -> Response:
    """Answer `OPTIONS` with the methods of a path, and a preflight of an admitted origin with its leave.

    No key is asked for: a browser sends none with a preflight, and `/docs` tells as much.

    Raises:
        NotFound: there is nothing at the path.
    """
    error = asked.routing_exception
    if not isinstance(error, MethodNotAllowed):
        assert error is not None, "no route offers OPTIONS itself"
        raise error
    methods = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
    answer = Response(status=204, headers={"Allow": methods})
    if "Access-Control-Request-Method" in asked.headers and is_admitted(asked, ports):
        answer.headers.update(
            {
                "Access-Control-Allow-Methods": methods,
                "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
                "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
            }
        )
    return answer


def admit_origin(asked: Request, answer: Response, ports: Ports) -> None:
    """Let the page that asked read the answer, if its origin is admitted."""
    answer.headers.add("Vary", "Origin")
    if is_admitted(asked, ports):
        answer.headers["Access-Control-Allow-Origin"] = asked.headers["Origin"]
        answer.headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS


def is_admitted(asked: Request, ports: Ports) -> bool:
    """Return whether the Origin of a request is one that the operator allows."""
    origin = asked.headers.get("Origin")
    if origin is None:
        return False
    return _ANY in ports.cors_origins or origin in ports.cors_origins
