"""Parsers of dates and times: the forms of ISO 8601 in JSON, and the `format` patterns of CSV fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

_TIME: Final = re.compile(r"\d\d:\d\d(?::\d\d)?", re.ASCII)
# ISO 8601-1, 5.2 to 5.4: calendar, week and ordinal dates, extended and basic, also with a time.
_MOMENT: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}|(?P<year>\d{4})-?(?P<ordinal>\d{3}))"
    r"(?:[T ](?P<time>\d\d(?::\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d\d(?:\d\d(?:[.,]\d{1,9})?)?)?)"
    r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_FAR_YEAR: Final = re.compile(r"(?:[+-]\d{4,9}|\d{5,9}|0000)-\d\d-\d\d(?:T.*)?", re.ASCII)
_FRACTION: Final = re.compile(r"[.,](\d{1,6})\d*")

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


class YearOutOfRangeError(ValueError):
    """A date or instant has a year before 1 or after 9999."""


@lru_cache(4096)  # records of a dataset repeat few dates
def read_date(text: str) -> date:
    """Parse a date of ISO 8601; of one with a time, return the date as written.

    Raises:
        ValueError: the text is not a date.
    """
    moment = _match_moment(text)
    if moment["time"] is not None:
        _read_clock(moment)
    return _read_day(moment)


def read_instant(text: str) -> datetime:
    """Parse a date and time of ISO 8601 with an offset.

    Raises:
        ValueError: the text is not an instant.
    """
    moment = _match_moment(text)
    if moment["zone"] is None:
        raise ValueError(text)
    instant = datetime.combine(_read_day(moment), _read_clock(moment))
    try:
        instant.astimezone(UTC)
    except OverflowError:
        raise YearOutOfRangeError(text) from None
    return instant


def _match_moment(text: str) -> re.Match[str]:
    moment = _MOMENT.fullmatch(text.upper())
    if _FAR_YEAR.fullmatch(text.upper()) is not None:
        raise YearOutOfRangeError(text)
    if moment is None:
        raise ValueError(text)
    return moment


def _read_day(moment: re.Match[str]) -> date:
    if moment["ordinal"] is None:
        return date.fromisoformat(moment["day"])
    first = date(int(moment["year"]), 1, 1)
    day = first + timedelta(days=int(moment["ordinal"]) - 1)
    if day.year != first.year:
        raise ValueError(moment["day"])
    return day


def _read_clock(moment: re.Match[str]) -> time:
    digits = _FRACTION.sub(lambda m: f".{m[1]:0<6}", moment["time"])
    return time.fromisoformat(digits + (moment["zone"] or ""))


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
        if found.get("year") == 0:
            raise YearOutOfRangeError(text)
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
