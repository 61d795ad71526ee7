"""Reading the `Prefer` header (RFC 7240)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from flask import Request

RESPOND_ASYNC: Final = "respond-async"
# A preference ends at a comma, its parameters begin at a semicolon; both may stand in quotes.
_PREFERENCE: Final = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.|(?!))*+")+)')
_NAME: Final = re.compile(r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?:[;=]|\Z)")


def prefers_async(request: Request) -> bool:
    """Tell whether the caller would rather be answered before the render is done.

    What cannot be read is ignored, as preferences are.
    """
    header = request.headers.get("Prefer")  # several of them are one, joined by commas
    return header is not None and _names_async(header)


@lru_cache(maxsize=100)  # clients send the same few
def _names_async(header: str) -> bool:
    return any(
        (name := _NAME.match(preference)) is not None and name[1].lower() == RESPOND_ASYNC
        for preference in _PREFERENCE.findall(header)
    )
