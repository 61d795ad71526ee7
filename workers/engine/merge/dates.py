"""Parsers of dates and times: the fixed formats of JSON, and the `format` patterns of CSV fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Final

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d(?::\d\d)?", re.ASCII)
_INSTANT: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_FRACTION: Final = re.compile(r"\.(\d{1,6})\d*")

# The numeric fields of CLDR date patterns (UTS #35, part 4).
_FIELD_PATTERNS: Final = {
    "yyyy": r"(?P<year>\d{4})",
    "y": r"(?P<year>\d{4})",
    "yy": r"(?P<short_year>\d\d)",
    "MM": r"(?P<month>\d\d)",
    "M": r"(?P<month>\d\d?)",
    "dd": r"(?P<day>\d\d)",
    "d": r"(?P<day>\d\d?)",
    "HH": r"(?P<hour>\d\d)",
    "H": r"(?P<hour>\d\d?)",
    "mm": r"(?P<minute>\d\d)",
    "m": r"(?P<minute>\d\d?)",
    "ss": r"(?P<second>\d\d)",
    "s": r"(?P<second>\d\d?)",
}
_TOKEN: Final = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+")


@lru_cache(4096)  # records of a dataset repeat few dates
def read_date(text: str) -> date:
    """Parse `YYYY-MM-DD`; raise ValueError for any other text."""
    if _DATE.fullmatch(text) is None:
        raise ValueError(text)
    return date.fromisoformat(text)


def read_instant(text: str) -> datetime:
    """Parse an RFC 3339 timestamp with its offset; raise ValueError for any other text."""
    if _INSTANT.fullmatch(text) is None:
        raise ValueError(text)
    instant = datetime.fromisoformat(_FRACTION.sub(lambda m: f".{m[1]:0<6}", text.upper()))
    try:
        instant.astimezone(UTC)  # fails for instants whose UTC date is out of range
    except OverflowError:
        raise ValueError(text) from None
    return instant


def read_time(text: str) -> time:
    """Parse `HH:MM` or `HH:MM:SS`; raise ValueError for any other text."""
    if _TIME.fullmatch(text) is None:
        raise ValueError(text)
    return time.fromisoformat(text)


@lru_cache(256)
def compile_pattern(pattern: str) -> Callable[[str], datetime]:
    """Compile a CLDR pattern of numeric fields into a parser of instants in UTC.

    A missing time is midnight; two-digit years are 1970 to 2069. The parser raises ValueError for a
    text that does not match.

    Raises:
        ValueError: the pattern has letters other than y M d H m s, repeats one, or is empty.
    """
    expression = re.compile("".join(_compile_fields(pattern)))

    def read(text: str) -> datetime:
        match = expression.fullmatch(text)
        if match is None:
            raise ValueError(text)
        found = {name: int(digits) for name, digits in match.groupdict().items()}
        if "short_year" in found:
            short = found.pop("short_year")
            found["year"] = short + (1900 if short >= 70 else 2000)
        return datetime(**{"year": 1970, "month": 1, "day": 1, **found}, tzinfo=UTC)

    return read


def _compile_fields(pattern: str) -> list[str]:
    pieces: list[str] = []
    fields: set[str] = set()
    position = 0
    for match in _TOKEN.finditer(pattern):
        if match.start() != position:
            raise ValueError(pattern)
        position = match.end()
        if match[2] is None:
            literal = match[0] if match[1] is None else match[1] or "'"
            pieces.append(re.escape(literal))
            continue
        if match[0] not in _FIELD_PATTERNS or match[2] in fields:
            raise ValueError(pattern)
        fields.add(match[2])
        pieces.append(_FIELD_PATTERNS[match[0]])
    if not fields or position != len(pattern) or len(pattern) > 100:
        raise ValueError(pattern)
    return pieces
