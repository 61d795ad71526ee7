"""Reading the `Prefer` header (RFC 7240)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flask import Request

from api.exchange import MAX_WAIT_SECONDS

RESPOND_ASYNC: Final = "respond-async"
_WAIT: Final = "wait"
# A preference ends at a comma, its parameters begin at a semicolon; both may stand in quotes.
_PREFERENCE: Final = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.|(?!))*+")+)')
_NAMED: Final = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*"
    r'(?:=[ \t]*(?:"([0-9]{1,9})"|([0-9]{1,9}))[ \t]*(?=;|\Z)|(?=[;=]|\Z))'
)


@dataclass(frozen=True, slots=True)
class AsyncPreference:
    """A caller would rather have a job than wait for its render any longer than this."""

    wait_seconds: int

    @property
    def applied(self) -> str:
        """Return the value of `Preference-Applied`."""
        return f"{RESPOND_ASYNC}, wait={self.wait_seconds}" if self.wait_seconds else RESPOND_ASYNC


def read_async_preference(request: Request) -> AsyncPreference | None:
    """Read `respond-async`, and `wait` beside it; None where the caller waits for the render.

    What cannot be read is ignored, as preferences are. A longer wait is cut to 60 s.
    """
    header = request.headers.get("Prefer")  # several of them are one, joined by commas
    return None if header is None else _read(header)


@lru_cache(maxsize=100)  # clients send the same few
def _read(header: str) -> AsyncPreference | None:
    given: dict[str, str] = {}
    for preference in _PREFERENCE.findall(header):
        if (found := _NAMED.match(preference)) is not None:
            # Of a preference that is named twice the first one counts.
            given.setdefault(found[1].lower(), found[2] or found[3] or "")
    if RESPOND_ASYNC not in given:
        return None
    return AsyncPreference(min(int(given.get(_WAIT) or "0"), MAX_WAIT_SECONDS))
