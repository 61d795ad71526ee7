"""Freshness of cached responses by RFC 9111, within limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final

from shared.outbound import CachingInfo

# Heuristic freshness (RFC 9111, 4.2.2): long enough for the letterhead of a batch, short enough for its author
# to see a new version.
HEURISTIC_SECONDS: Final = 30.0
MAX_SECONDS: Final = 3600.0
# Short, since authors correct wrong URLs; long enough that a batch does not request one for each document.
FAILURE_SECONDS: Final = 5.0

_DIRECTIVE: Final = re.compile(r'([A-Za-z-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,]+)))?')
_HEURISTIC: Final = frozenset({200, 203, 301, 308})  # heuristically cacheable (RFC 9110, 15.1)
_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
_DATE: Final = re.compile(r"[\x20-\x7e]{1,64}")


def read_lifetime(answers: Sequence[CachingInfo]) -> float | None:
    """Return the freshness lifetime of a response in seconds, None if it must not be reused.

    `answers` are the responses of a fetch, redirects included; the shortest lifetime applies.
    """
    lifetimes = [_read_one(answer) for answer in answers]
    known = [lifetime for lifetime in lifetimes if lifetime is not None]
    if not known or len(known) < len(lifetimes):
        return None
    return min(*known, MAX_SECONDS)


def read_conditions(answers: Sequence[CachingInfo]) -> Mapping[str, str]:
    """Return the headers of a conditional request, empty if revalidation is not possible.

    Redirected responses are not revalidated. Validators are only sent back if they are well-formed.
    """
    if len(answers) != 1:
        return {}
    headers = answers[0].headers
    tag, modified = headers.get("etag", ""), headers.get("last-modified", "")
    if _TAG.fullmatch(tag):
        return {"If-None-Match": tag}
    return {"If-Modified-Since": modified} if _DATE.fullmatch(modified) else {}


def freshen(stored: CachingInfo, answer: CachingInfo) -> CachingInfo:
    """Return the updated caching information of a stored response after a 304 (RFC 9111, 4.3.4)."""
    older = {name: value for name, value in stored.headers.items() if name != "age"}
    return CachingInfo(stored.status, {**older, **answer.headers})


def _read_one(answer: CachingInfo) -> float | None:
    headers = answer.headers
    if "*" in headers.get("vary", ""):
        return None
    if "cache-control" not in headers and "no-cache" in headers.get("pragma", "").lower():
        return 0.0
    directives = {
        name.lower(): quoted or plain
        for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", ""))
    }
    if "no-store" in directives or "private" in directives:
        return None
    if "no-cache" in directives:
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in directives:
            return max(_read_seconds(directives[name]) - _read_seconds(headers.get("age", "")), 0.0)
    if "expires" in headers:
        return _read_expiry(headers)
    return HEURISTIC_SECONDS if answer.status in _HEURISTIC else None


def _read_seconds(text: str) -> float:
    """Parse a number of seconds; invalid values count as 0 (RFC 9111, 4.2.1)."""
    return float(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0.0


def _read_expiry(headers: Mapping[str, str]) -> float:
    try:
        expires = parsedate_to_datetime(headers["expires"])
        date = parsedate_to_datetime(headers["date"])
        return max((expires - date).total_seconds() - _read_seconds(headers.get("age", "")), 0.0)
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0
