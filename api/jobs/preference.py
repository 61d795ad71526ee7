"""The `Prefer` header (RFC 7240)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flask import Request

from api.http import MAX_WAIT_SECONDS

RESPOND_ASYNC: Final = "respond-async"
_WAIT: Final = "wait"
# Preferences are separated by commas, their parameters by semicolons; quoted strings may contain both.
_PREFERENCE: Final = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.|(?!))*+")+)')
_NAMED: Final = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*"
    r'(?:=[ \t]*(?:"([0-9]{1,9})"|([0-9]{1,9}))[ \t]*(?=;|\Z)|(?=[;=]|\Z))'
)


@dataclass(frozen=True, slots=True)
class AsyncPreference:
    """The preference for an asynchronous response, after at most `wait_seconds`."""

    wait_seconds: int

    @property
    def applied(self) -> str:
        """The value of `Preference-Applied`."""
        return f"{RESPOND_ASYNC}, wait={self.wait_seconds}" if self.wait_seconds else RESPOND_ASYNC


def read_async_preference(request: Request) -> AsyncPreference | None:
    """Read `respond-async` and its `wait`; None for a synchronous request.

    Invalid preferences are ignored (RFC 7240, 2). `wait` is limited to 60 s.
    """
    header = request.headers.get("Prefer")  # several headers are joined by commas
    return None if header is None else _read(header)


@lru_cache(maxsize=100)  # few values occur
def _read(header: str) -> AsyncPreference | None:
    given: dict[str, str] = {}
    for preference in _PREFERENCE.findall(header):
        if (found := _NAMED.match(preference)) is not None:
            # The first of several equal preferences counts (RFC 7240, 2).
            given.setdefault(found[1].lower(), found[2] or found[3] or "")
    if RESPOND_ASYNC not in given:
        return None
    return AsyncPreference(min(int(given.get(_WAIT) or "0"), MAX_WAIT_SECONDS))
