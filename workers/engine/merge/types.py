"""The types of fields, with converters of JSON values and CSV cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeVar

from workers.engine.merge.dates import (
    YearOutOfRangeError,
    compile_pattern,
    read_date,
    read_instant,
    read_time,
)
from workers.engine.syntax import values as v

# A data value after merging and conversion. Numbers are always Decimal, never int or float.
Value = str | Decimal | bool | date | datetime | time | dict[str, Any] | list[Any] | None


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


def to_string(value: Any) -> str:
    """Return a text unchanged and a number in decimal notation; raise ValueError for other values."""
    if type(value) is str:
        return value
    if type(value) is Decimal:
        return f"{value:f}"
    raise ValueError("text")


def _to_text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("text")
    return value


def _to_integer(value: Any) -> Decimal:
    if type(value) is str and _INTEGER.fullmatch(value):
        return Decimal(value)
    if type(value) is Decimal and value == value.to_integral_value():
        return Decimal(int(value))
    raise ValueError("a whole number")


def _to_decimal(value: Any) -> Decimal:
    if type(value) is Decimal:
        return value
    if type(value) is str and _DECIMAL.fullmatch(value):
        return Decimal(value)
    raise ValueError("a number, or text such as -1234.56")


def _to_boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _to_date(value: Any) -> date:
    if type(value) is date:
        return value
    return _read_temporal(value, read_date, "a date as YYYY-MM-DD")


def _to_instant(value: Any) -> datetime:
    if type(value) is datetime:
        return value
    return _read_temporal(
        value, read_instant, "an instant with its offset, such as 2026-03-02T09:30:00Z"
    )


def _to_time(value: Any) -> time:
    if type(value) is time:
        return value
    return _read_temporal(value, read_time, "a time as HH:MM or HH:MM:SS")


def _read_temporal(value: Any, read: Callable[[str], TemporalT], accepts: str) -> TemporalT:
    if type(value) is str:
        try:
            return read(value.strip())
        except YearOutOfRangeError:
            raise ValueError(_YEARS) from None
        except ValueError:
            pass
    raise ValueError(accepts)


def _to_image(value: Any) -> str:
    text = _to_text(value)
    if text:  # an empty text means that there is no image
        v.IMAGE.parse(text)
    return text


def _to_anything(value: Any) -> Value:
    result: Value = value
    return result


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
        match kind:
            case FieldType.DATE:
                return moment.date()
            case FieldType.TIME:
                return moment.time()
            case _:
                return moment

    return convert


# Of the JSON values of each type, and of texts in attributes.
CONVERTERS: Final[Mapping[FieldType, Convert]] = {
    FieldType.STRING: to_string,
    FieldType.INTEGER: _to_integer,
    FieldType.DECIMAL: _to_decimal,
    FieldType.BOOLEAN: _to_boolean,
    FieldType.DATE: _to_date,
    FieldType.DATETIME: _to_instant,
    FieldType.TIME: _to_time,
    FieldType.IMAGE: _to_image,
    FieldType.MARKDOWN: _to_text,
    FieldType.JSON: _to_anything,
}
