"""How long an answer may be used again without asking, as RFC 9111 has it, and within bounds of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final

from shared.outbound import Told

# RFC 9111 leaves it to a cache how long it uses what says nothing of it (4.2.2): long enough for a
# batch to ask for its letterhead seldom, short enough for its author to see a new one.
UNSAID_SECONDS: Final = 30.0
LONGEST_SECONDS: Final = 3600.0
# A wrong address is corrected and tried again; a batch must not ask for it with each document.
FAILURE_SECONDS: Final = 5.0

_DIRECTIVE: Final = re.compile(r'([A-Za-z-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,]+)))?')
_HEURISTIC: Final = frozenset({200, 203, 301, 308})  # RFC 9110, 15.1, of those that get here
_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
_DATE: Final = re.compile(r"[\x20-\x7e]{1,64}")


def read_lifetime(answers: Sequence[Told]) -> float | None:
    """Give for how many seconds what came over these answers may be used, None for not again.

    Of a redirected fetch every answer has a say, the redirects themselves included.
    """
    lifetimes = [_read_one(answer) for answer in answers]
    said = [lifetime for lifetime in lifetimes if lifetime is not None]
    if not said or len(said) < len(lifetimes):
        return None
    return min(*said, LONGEST_SECONDS)


def read_conditions(answers: Sequence[Told]) -> Mapping[str, str]:
    """Give the headers that ask whether an answer still holds; none where it cannot be asked.

    What was redirected to is not asked for under the first address. A server's words are sent back
    to itself only if they are what they should be.
    """
    if len(answers) != 1:
        return {}
    headers = answers[0].headers
    tag, modified = headers.get("etag", ""), headers.get("last-modified", "")
    if _TAG.fullmatch(tag):
        return {"If-None-Match": tag}
    return {"If-Modified-Since": modified} if _DATE.fullmatch(modified) else {}


def confirm(kept: Told, answer: Told) -> Told:
    """Give what is said of a kept answer now that a 304 confirmed it (RFC 9111, 4.3.4)."""
    older = {name: value for name, value in kept.headers.items() if name != "age"}
    return Told(kept.status, {**older, **answer.headers})


def _read_one(answer: Told) -> float | None:
    headers = answer.headers
    if "*" in headers.get("vary", ""):
        return None
    if "cache-control" not in headers and "no-cache" in headers.get("pragma", "").lower():
        return 0.0
    said = {
        name.lower(): quoted or plain
        for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", ""))
    }
    if "no-store" in said or "private" in said:
        return None
    if "no-cache" in said:
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in said:
            return max(_read_seconds(said[name]) - _read_seconds(headers.get("age", "")), 0.0)
    if "expires" in headers:
        return _read_expiry(headers)
    return UNSAID_SECONDS if answer.status in _HEURISTIC else None


def _read_seconds(text: str) -> float:
    """Read a number of seconds; what is none counts as none left (RFC 9111, 4.2.1)."""
    return float(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0.0


def _read_expiry(headers: Mapping[str, str]) -> float:
    try:
        expires = parsedate_to_datetime(headers["expires"])
        date = parsedate_to_datetime(headers["date"])
        return max((expires - date).total_seconds() - _read_seconds(headers.get("age", "")), 0.0)
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0
