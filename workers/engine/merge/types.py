"""The types of fields, with converters of JSON values and CSV cells.

Dates and times have the forms of ISO 8601 in JSON, and `format` patterns in CSV fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, TypeVar

from workers.engine.syntax import values as v

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
_DAY_END: Final = re.compile(r"24(?::?00){0,2}(?:[.,]0+)?")  # of ISO 8601-1/A1, 5.3.1.5

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
        if _DAY_END.fullmatch(moment["time"]):
            instant += timedelta(days=1)
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
    """Return the time of day; of the end of a day, the beginning of the next."""
    clock = "00:00" if _DAY_END.fullmatch(moment["time"]) else moment["time"]
    digits = _FRACTION.sub(lambda m: f".{m[1]:0<6}", clock)
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


# A data value after merging and conversion. Numbers are always Decimal, never int or float.
Value = str | Decimal | bool | date | datetime | time | dict[str, object] | list[object] | None


class FieldType(StrEnum):
    """The types of `field`."""

    STRING = "string"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    IMAGE = "image"
    MARKDOWN = "markdown"
    JSON = "json"


# Returns the value of a type, or raises ValueError with the accepted values as its message. Returns
# a value that is converted already unchanged.
Convert = Callable[[Any], Value]
TemporalT = TypeVar("TemporalT", date, datetime, time)

_INTEGER: Final = re.compile(r"[+-]?\d{1,60}", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,20})?", re.ASCII)
_YEARS: Final = "a date in the years 0001 to 9999"
_MAX_CELL: Final = 100
_DIGIT: Final = re.compile(r"\d")
# The signs and separators of numbers in CLDR as their ASCII forms, and those of Arabic as . and , there.
_NUMBER_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
        "\u2019": "'",
        **dict.fromkeys("\u200e\u200f\u061c"),  # direction marks, which are dropped
    }
)
_FOREIGN_SEPARATORS: Final = {
    decimal: str.maketrans({"\u066b": decimal, **dict.fromkeys("\u066c\u060c\u2e41", other)})
    for decimal, other in (".,", ",.")
}
# Digits, also in groups of three, or of two but for the last (as in India), separated by the other of
# . and , or by a space or an apostrophe.
_NUMBERS: Final = {
    decimal: re.compile(
        rf"(?P<whole>\d{{1,40}}|\d{{1,3}}(?P<separator>[{other}' ])(?:\d{{2,3}}(?P=separator)){{0,12}}\d{{3}})"
        rf"(?:[{decimal}](?P<fraction>\d{{1,20}}))?",
        re.ASCII,
    )
    for decimal, other in (".,", ",.")
}
# Before the number, after it, or around it as in accounting.
_SIGNED: Final = re.compile(r"([+-]?) ?([^()+-]+)|([^()+-]+?) ?(-)|(\() ?([^()+-]+?) ?\)")
# Those of the interface, and of spreadsheets in the languages that translate theirs.
_TRUE: Final = "true yes 1 wahr vrai verdadero verdadeiro vero waar prawda истина doğru sant sand sann tosi pravda igaz"
_FALSE: Final = "false no 0 falsch faux falso onwaar fałsz ложь yanliş falskt falsk usann epätosi nepravda hamis"
_BOOLEANS: Final = dict.fromkeys(_TRUE.split(), True) | dict.fromkeys(_FALSE.split(), False)


def make_csv_reader(kind: FieldType, *, decimal: str, pattern: str | None) -> Convert:
    """Return the converter of a type's CSV cells; dates and times may have a `pattern`."""
    if kind in (FieldType.INTEGER, FieldType.DECIMAL):
        return _csv_number(kind, decimal)
    if kind is FieldType.BOOLEAN:
        return _csv_boolean
    return CONVERTERS[kind] if pattern is None else _formatted_date(kind, pattern)


def to_string(value: object) -> str:
    """Return a text unchanged and a number in decimal notation; raise ValueError for other values."""
    if type(value) is str:
        return value
    if type(value) is Decimal:
        return f"{value:f}"
    raise ValueError("text")


def _to_text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("text")
    return value


def _to_integer(value: object) -> Decimal:
    if type(value) is str and _INTEGER.fullmatch(value.strip()):
        return Decimal(value)
    if type(value) is Decimal and value == value.to_integral_value():
        return Decimal(int(value))
    raise ValueError("a whole number")


def _to_decimal(value: object) -> Decimal:
    if type(value) is Decimal:
        return value
    if type(value) is str and _DECIMAL.fullmatch(value.strip()):
        return Decimal(value)
    raise ValueError("a number, or text such as -1234.56")


def _to_boolean(value: object) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _temporal(kind: type[TemporalT], read: Callable[[str], TemporalT], accepts: str) -> Convert:
    """Return the converter of a type of dates and times."""

    def convert(value: object) -> TemporalT:
        if type(value) is kind:
            return value
        if type(value) is str:
            try:
                return read(value.strip())
            except YearOutOfRangeError:
                raise ValueError(_YEARS) from None
            except ValueError:
                pass
        raise ValueError(accepts)

    return convert


def _to_image(value: object) -> str:
    text = _to_text(value)
    if text:  # an empty text means that there is no image
        v.IMAGE.parse(text)
    return text


def _csv_boolean(value: str) -> bool:
    found = _BOOLEANS.get(value.strip().casefold())
    if found is None:
        raise ValueError("true, false, yes, no, 1 or 0")
    return found


def _csv_number(kind: FieldType, decimal: str) -> Convert:
    finish = CONVERTERS[kind]
    plain = re.compile(rf"[+-]?\d{{1,40}}(?:[{decimal}]\d{{1,20}})?", re.ASCII)

    def read(text: str) -> Value:
        cell = text.strip()
        if plain.fullmatch(cell):
            return finish(cell.replace(decimal, "."))
        number = _read_formatted(cell, decimal) if len(cell) <= _MAX_CELL else None
        if number is None:
            raise ValueError(f'a number with the decimal sign "{decimal}"')
        return finish(number)

    return read


def _read_formatted(cell: str, decimal: str) -> str | None:
    """Return a number as a locale formats it in JSON's form, or None if it is none."""
    text = cell.translate(_NUMBER_SIGNS).translate(_FOREIGN_SEPARATORS[decimal]).strip()
    text = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    signed = _SIGNED.fullmatch(text)
    if signed is None:
        return None
    before, first, second, after, opened, third = signed.groups()
    number = _NUMBERS[decimal].fullmatch(first or second or third)
    if number is None:
        return None
    sign = "-" if after or opened else before
    whole = number["whole"].replace(number["separator"] or " ", "")
    fraction = "" if number["fraction"] is None else f".{number['fraction']}"
    return sign + whole + fraction


def _formatted_date(kind: FieldType, pattern: str) -> Convert:
    read = compile_pattern(pattern)

    def convert(text: str) -> Value:
        try:
            moment: datetime = read(text.strip())
        except YearOutOfRangeError:
            raise ValueError(_YEARS) from None
        except ValueError:
            raise ValueError(f"a {kind.value} in the form {pattern}") from None
        if kind is FieldType.DATETIME:
            return moment
        return moment.date() if kind is FieldType.DATE else moment.time()

    return convert


# Of the JSON values of each type, and of texts in attributes.
CONVERTERS: Final[Mapping[FieldType, Convert]] = {
    FieldType.STRING: to_string,
    FieldType.INTEGER: _to_integer,
    FieldType.DECIMAL: _to_decimal,
    FieldType.BOOLEAN: _to_boolean,
    FieldType.DATE: _temporal(date, read_date, "a date as YYYY-MM-DD"),
    FieldType.DATETIME: _temporal(
        datetime, read_instant, "an instant with its offset, such as 2026-03-02T09:30:00Z"
    ),
    FieldType.TIME: _temporal(time, read_time, "a time as HH:MM or HH:MM:SS"),
    FieldType.IMAGE: _to_image,
    FieldType.MARKDOWN: _to_text,
    FieldType.JSON: lambda value: value,
}
