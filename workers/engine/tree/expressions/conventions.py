"""The conventions of a locale: calendar and digits by CLDR and extensions of its tag, and numbers in words.

Babel has the data of the Gregorian calendar alone; these are of CLDR 48. `spell` and `ordinal` are
written by num2words for some fifty languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final, Literal, NamedTuple, Protocol

from babel import Locale
from babel import dates as babel_dates
from babel.core import get_global
from babel.numbers import get_currency_precision
from num2words import CONVERTER_CLASSES, num2words

from workers.engine.data_tables import read_groups
from workers.engine.tree.expressions.runtime import (
    ExpressionError,
    Value,
    describe_type,
    require_number,
)

# RFC 6067: -u- with keys of two characters, each with its values.
_EXTENSION: Final = re.compile(r"-u((?:-[a-z0-9]{2,8})+)", re.IGNORECASE)
GREGORIAN: Final = "gregorian"
_BUDDHIST_OFFSET: Final = 543
_DAYS_BEFORE_PERSIAN_ERA: Final = 226_895
# The decimals with which num2words writes the currencies that Arabic knows.
_ARABIC_DIGITS: Final = {"EGP": 2, "KWD": 2, "SAR": 2, "TND": 3}
_EXACT_FLOATS: Final = 10**12  # Brazilian words are made from a float


class CalendarDay(NamedTuple):
    """A day of a calendar."""

    year: int
    month: int
    day: int


class Calendar(NamedTuple):
    """A calendar. `months` are the names of its months by locale, empty if they are the Gregorian ones.

    `patterns` are its date formats by locale; others have the Gregorian ones.
    """

    convert: Callable[[date], CalendarDay]
    eras: Mapping[str, str]  # by language
    months: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, Mapping[str, str]]


def _to_buddhist(day: date) -> CalendarDay:
    return CalendarDay(day.year + _BUDDHIST_OFFSET, day.month, day.day)


@lru_cache(4096)
def _to_persian(day: date) -> CalendarDay:
    """Convert by the leap years of CLDR, eight in 33: exact from 1900 to 2119 at least."""
    days = day.toordinal() - _DAYS_BEFORE_PERSIAN_ERA
    year = 1 + (33 * days + 3) // 12_053
    since = days - 365 * (year - 1) - (8 * year + 21) // 33
    # Six months of 31 days, five of 30, and the rest.
    month, before = divmod(since, 31) if since < 186 else divmod(since - 6, 30)
    return CalendarDay(year, month + 1, before + 1)


_TABLE: Final = read_groups(__package__, "conventions.txt")


def _read_calendar(name: str, convert: Callable[[date], CalendarDay]) -> Calendar:
    eras: dict[str, str] = {}
    months: dict[str, tuple[str, ...]] = {}
    patterns: dict[str, dict[str, str]] = {}
    for entry, value in _TABLE[name].items():
        kind, _, language = entry.partition(" ")
        if kind == "era":
            eras[language] = value
        elif kind == "months":
            months[language] = tuple(value.split())
        else:
            patterns.setdefault(language, {})[kind.removeprefix("pattern-")] = value
    return Calendar(convert, eras, months, patterns)


_CALENDARS: Final = {
    name: _read_calendar(name, convert)
    for name, convert in (("buddhist", _to_buddhist), ("persian", _to_persian))
}
_BY_TERRITORY: Final = {"TH": "buddhist", "IR": "persian", "AF": "persian"}
# By their names in tags and in attributes.
_NAMES: Final = {"gregory": GREGORIAN, GREGORIAN: GREGORIAN, **{name: name for name in _CALENDARS}}

_ZEROS: Final = _TABLE["digits"]
LATIN: Final = "latn"


def find_calendar(name: str) -> Calendar | None:
    """Return a calendar by its name, None for the Gregorian one.

    Raises:
        ValueError: the calendar is not known; the text says which are.
    """
    known = _NAMES.get(name.lower())
    if known is None:
        accepted = ", ".join((GREGORIAN, *_CALENDARS))
        raise ValueError(f'the calendar "{name[:40]}" is not known; accepted are {accepted}')
    return _CALENDARS.get(known)


def find_locale_calendar(tag: str, locale: Locale) -> Calendar | None:
    """Return the calendar of a language tag, by its extension or else by its territory; None for the Gregorian one.

    Raises:
        ValueError: the extension names a calendar that is not known.
    """
    if asked := _read_extension(tag, "ca"):
        return find_calendar(asked)
    territory = locale.territory or _find_likely_territory(locale)
    return find_calendar(_BY_TERRITORY.get(territory, GREGORIAN))


def find_numbering(tag: str, locale: Locale) -> str:
    """Return the system of digits of a language tag, by its extension or else CLDR's default.

    Raises:
        ValueError: the extension names a system that is not known.
    """
    asked = _read_extension(tag, "nu")
    if asked == "native":
        others: Mapping[str, str] = locale.other_numbering_systems  # type: ignore[attr-defined] # stubs of an older Babel
        asked = others.get("native", LATIN)
    if asked and asked not in _ZEROS:
        raise ValueError(f'the digits "{asked}" are not known; accepted are {", ".join(_ZEROS)}')
    default: str = locale.default_numbering_system  # type: ignore[attr-defined] # the same
    return asked or (default if default in _ZEROS else LATIN)


def list_digits(numbering: str) -> Mapping[int, str]:
    """Return the digits of a system, as a table for `str.translate`; empty for Latin ones."""
    zero = ord(_ZEROS[numbering])
    return {} if numbering == LATIN else {ord("0") + n: chr(zero + n) for n in range(10)}


def find_months(calendar: Calendar, locale: Locale) -> tuple[str, ...] | None:
    """Return the names of the months in a language, None if they are the Gregorian ones."""
    names = calendar.months
    return names.get(str(locale)) or names.get(locale.language) or names.get("")


def find_era(calendar: Calendar, locale: Locale) -> str:
    """Return the name of the era in a language."""
    return calendar.eras.get(locale.language) or calendar.eras[""]


def _read_extension(tag: str, key: str) -> str:
    found = _EXTENSION.search(tag)
    if found is None:
        return ""
    parts = found[1].lower().split("-")[1:]
    if key not in parts:
        return ""
    after = parts[parts.index(key) + 1 :][:1]
    return after[0] if after and len(after[0]) > len(key) else ""


def _find_likely_territory(locale: Locale) -> str:
    likely = get_global("likely_subtags")
    name = "_".join(filter(None, (locale.language, locale.script)))
    return str(likely.get(name) or likely.get(locale.language) or "").rpartition("_")[2]


_CALENDAR_FIELDS: Final = "GyMLd"  # those that differ between calendars
_WIDTHS: Final[dict[int, Literal["abbreviated", "wide"]]] = {3: "abbreviated", 4: "wide"}


class DateFields:
    """The fields of a date or time in a locale, by their letters; `calendar` is None for the Gregorian one."""

    def __init__(
        self, value: date | datetime | time, locale: Locale, calendar: Calendar | None
    ) -> None:
        self._value, self._locale, self._calendar = value, locale, calendar
        self._fields = babel_dates.DateTimeFormat(value, locale)

    def __getitem__(self, name: str) -> str:
        if self._calendar is None or name[0] not in _CALENDAR_FIELDS:
            return self._fields[name]
        return self._write(self._calendar, name[0], len(name))

    def _write(self, calendar: Calendar, letter: str, length: int) -> str:
        """Return a field of another calendar."""
        if letter == "G":
            return find_era(calendar, self._locale)
        value = self._value
        if isinstance(value, time):
            raise AttributeError("a time has no date")
        year, month, day = calendar.convert(date(value.year, value.month, value.day))
        if letter == "y" and length != 3:
            return f"{year % 100:02}" if length == 2 else f"{year:0{length}}"
        if letter == "d" or length <= 2:
            return f"{day if letter == 'd' else month:0{length}}"
        width = _WIDTHS.get(length)
        if letter == "y" or width is None:
            raise ExpressionError(f'"{letter * length}" is not a field of dates of this calendar')
        months = find_months(calendar, self._locale)
        if months is not None:
            return months[month - 1]
        # Gregorian names of months have the numbers of the calendar.
        context: Literal["format", "stand-alone"] = "format" if letter == "M" else "stand-alone"
        return str(babel_dates.get_month_names(width, context, self._locale)[month])


Formatter = Callable[[Value], str]

_HIGHEST: Final = Decimal(10) ** 15  # languages have no words beyond it, or several


class HasLocale(Protocol):
    """Anything with a locale, such as `formats.Formats`."""

    locale: Locale


def make_spell(formats: HasLocale, currency: Value = None) -> Formatter:
    """Spell out an integer; with a currency's code, an amount with its minor unit."""
    if currency is not None and not isinstance(currency, str):
        raise ExpressionError(f"spell takes a currency's code, not {describe_type(currency)}")
    languages = _find_languages(formats.locale, "spell")

    def spell(value: Value) -> str:
        if currency is None:
            return _convert(_require_integer(value, "spell"), languages[0], "cardinal")
        amount = _require_number(value, "spell")
        for lang in languages:
            with suppress(ExpressionError):
                return _spell_amount(amount, currency, lang)
        raise ExpressionError(
            f'spell does not know the currency "{currency[:10]}" in {formats.locale.language}, '
            f"or not the amount {amount}"
        )

    return spell


def _spell_amount(amount: Decimal, currency: str, lang: str) -> str:
    """Spell out an amount, rounded as it is printed.

    num2words writes riyals for currencies that Arabic does not know, and hundredths for thousandths.
    """
    digits = get_currency_precision(currency)
    rounded = amount.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    written = _ARABIC_DIGITS.get(currency, -1) if lang == "ar" else 2
    is_brazilian = (lang, currency) == ("pt_BR", "BRL") and abs(amount) < _EXACT_FLOATS
    if written < 0 or (digits > written and rounded != rounded.to_integral_value()):
        raise ExpressionError(f"{amount} has no such form in the language {lang}")
    options = {} if is_brazilian else {"currency": currency}
    return _convert(rounded, lang, "currency", **options)


def make_ordinal(formats: HasLocale) -> Formatter:
    """Write an integer as an ordinal: 1st, 2., 3e."""
    lang = _find_languages(formats.locale, "ordinal")[0]

    def write_ordinal(value: Value) -> str:
        return _convert(_require_integer(value, "ordinal"), lang, "ordinal_num")

    return write_ordinal


def _find_languages(locale: Locale, what: str) -> list[str]:
    """Return the languages of num2words for a locale, that of its territory first."""
    names = (f"{locale.language}_{locale.territory}", locale.language)
    if found := [name for name in names if name in CONVERTER_CLASSES]:
        return found
    known = ", ".join(sorted({name.partition("_")[0] for name in CONVERTER_CLASSES}))
    raise ExpressionError(f"{what} does not know the language {locale.language}; it knows {known}")


def _convert(value: Decimal | int, lang: str, form: str, **options: object) -> str:
    words = ""
    is_wrong = value < 0 and (lang == "vi" or form == "ordinal_num")  # other words than those of 3
    is_endless = lang == "am" and not -(10**6) < value < 10**6  # its recursion has no bound
    with suppress(Exception):  # its converters fail in ways of their own, one for each language
        if not is_wrong and not is_endless:
            words = str(num2words(value, lang=lang, to=form, **options)).strip()
    if not words:
        raise ExpressionError(f"{value} has no such form in the language {lang}")
    return words


def _require_number(value: Value, what: str) -> Decimal:
    number = require_number(value, what)
    if abs(number) >= _HIGHEST:
        raise ExpressionError(f"{what} takes numbers below 10^15")
    return number


def _require_integer(value: Value, what: str) -> int:
    number = _require_number(value, what)
    if number != number.to_integral_value():
        raise ExpressionError(f"{what} needs a whole number; round it first, or name a currency")
    return int(number)
