"""Finding the API key in a request's headers."""

from __future__ import annotations

import re
from typing import Final

from werkzeug.datastructures import Headers

# Every key there ever was has this shape (shared.identifiers): anything else is unknown without
# asking anybody.
_SHAPE: Final = re.compile(r"pr_[0-9A-Za-z]{40}\Z")
_BEARER: Final = re.compile(r"bearer[ \t]+", re.IGNORECASE)


def find_api_key(headers: Headers) -> str | None:
    """Give the key sent, None when neither header has one; Bearer wins over `x-api-key`."""
    authorization = headers.get("Authorization", "")
    if bearer := _BEARER.match(authorization):
        return authorization[bearer.end() :].strip()
    return headers.get("x-api-key", "").strip() or None


def has_key_shape(text: str) -> bool:
    """Tell whether a text could be a key at all."""
    return _SHAPE.match(text) is not None
