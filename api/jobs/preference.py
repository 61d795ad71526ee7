"""Reading the `Prefer` header (RFC 7240)."""

from __future__ import annotations

import re
from typing import Final

from flask import Request

RESPOND_ASYNC: Final = "respond-async"
# A preference ends at a comma, its parameters begin at a semicolon; both may stand in quotes.
_PREFERENCE: Final = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.)*+")+)')
_NAME: Final = re.compile(r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?:[;=]|\Z)")


def prefers_async(request: Request) -> bool:
    """Tell whether the caller would rather be answered before the render is done.

    What cannot be read is ignored, as preferences are.
    """
    return any(
        (name := _NAME.match(preference)) is not None and name[1].lower() == RESPOND_ASYNC
        for header in request.headers.getlist("Prefer")
        for preference in _PREFERENCE.findall(header)
    )
