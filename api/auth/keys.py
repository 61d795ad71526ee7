"""The API key in a request's headers."""

from __future__ import annotations

import re
from typing import Final

from werkzeug.datastructures import Headers

# Every key has this form (shared.identifiers); anything else is rejected without a lookup.
_KEY_PATTERN: Final = re.compile(r"pr_[0-9A-Za-z]{40}\Z")
_BEARER: Final = re.compile(r"bearer[ \t]+", re.IGNORECASE)


def find_api_key(headers: Headers) -> str | None:
    """Return the API key of a request, None without one; `Authorization` takes precedence."""
    authorization = headers.get("Authorization", "")
    if bearer := _BEARER.match(authorization):
        return authorization[bearer.end() :].strip()
    return headers.get("x-api-key", "").strip() or None


def is_well_formed_key(text: str) -> bool:
    """Return whether a text has the form of an API key."""
    return _KEY_PATTERN.match(text) is not None
