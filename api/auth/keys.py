"""The API key in a request's headers."""

from __future__ import annotations

import re
from typing import Final

from werkzeug.datastructures import Headers

from shared.errors import ServiceError

# Every key has this form (shared.identifiers); anything else is rejected without a lookup.
_KEY_PATTERN: Final = re.compile(r"pr_[0-9A-Za-z]{40}\Z")
_BEARER: Final = re.compile(r"bearer[ \t]+", re.IGNORECASE)


def find_api_key(headers: Headers) -> str | None:
    """Return the API key of a request, None without one.

    Raises:
        ServiceError: 400, the headers `Authorization` and `x-api-key` have different keys.
    """
    keys = {headers.get("x-api-key", "").strip()}
    authorization = headers.get("Authorization", "")
    if bearer := _BEARER.match(authorization):
        keys.add(authorization[bearer.end() :].strip())
    keys.discard("")
    if len(keys) > 1:
        raise ServiceError(
            400,
            "The keys in Authorization and x-api-key differ: send one of them, or the same twice.",
        )
    return keys.pop() if keys else None


def is_well_formed_key(text: str) -> bool:
    """Return whether a text has the form of an API key."""
    return _KEY_PATTERN.match(text) is not None
