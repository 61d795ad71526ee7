"""Dates and times in the data: the fixed forms of JSON, and the `format` patterns of CSV fields."""

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

# Fields of a CLDR date pattern (Unicode TR 35, part 4) that are numbers.
_PIECES: Final = {
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


@lru_cache(4096)  # the rows of a statement have few days, and one object serves for all
def read_date(text: str) -> date:
    """Read `YYYY-MM-DD`; raises ValueError for anything else."""
    if _DATE.fullmatch(text) is None:
        raise ValueError(text)
    return date.fromisoformat(text)


def read_instant(text: str) -> datetime:
    """Read RFC 3339, with its offset; raises ValueError for anything else."""
    if _INSTANT.fullmatch(text) is None:
        raise ValueError(text)
    instant = datetime.fromisoformat(_FRACTION.sub(lambda m: f".{m[1]:0<6}", text.upper()))
    try:
        instant.astimezone(UTC)  # the first and last hours of the calendar have no such instant
    except OverflowError:
        raise ValueError(text) from None
    return instant


def read_time(text: str) -> time:
    """Read `HH:MM` or `HH:MM:SS`; raises ValueError for anything else."""
    if _TIME.fullmatch(text) is None:
        raise ValueError(text)
    return time.fromisoformat(text)


@lru_cache(256)
def compile_pattern(pattern: str) -> Callable[[str], datetime]:
    """Compile a CLDR pattern of numeric fields; what it reads is in UTC, times missing are midnight.

    Two-digit years are 1970 to 2069. The result raises ValueError for text that does not match.

    Raises:
        ValueError: the pattern has other letters than y M d H m s, one of them twice, or is empty.
    """
    expression = re.compile("".join(_pieces_of(pattern)))

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


def _pieces_of(pattern: str) -> list[str]:
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
        if match[0] not in _PIECES or match[2] in fields:
            raise ValueError(pattern)
        fields.add(match[2])
        pieces.append(_PIECES[match[0]])
    if not fields or position != len(pattern) or len(pattern) > 100:
        raise ValueError(pattern)
    return pieces
