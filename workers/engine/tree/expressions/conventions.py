"""The conventions of a locale: calendar and digits by CLDR and extensions of its tag, and numbers in words.

Babel writes dates of the Gregorian calendar, ICU those of the others. `spell` and `ordinal` are written
by num2words for some fifty languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import takewhile
from typing import Final, Protocol

from babel import Locale
from babel.core import get_global
from babel.numbers import get_currency_precision
from icu4py.messageformat import MessageFormat
from num2words import CONVERTER_CLASSES, num2words

from workers.engine.data_tables import read_table
from workers.engine.tree.expressions.runtime import (
    ExpressionError,
    Value,
    describe_type,
    require_number,
)

# RFC 6067: -u- with keys of two characters, each with its values.
_EXTENSION: Final = re.compile(r"-u((?:-[a-z0-9]{2,8})+)", re.IGNORECASE)
GREGORIAN: Final = "gregorian"
# The decimals with which num2words writes the currencies that Arabic knows.
_ARABIC_DIGITS: Final = {"EGP": 2, "KWD": 2, "SAR": 2, "TND": 3}
_EXACT_FLOATS: Final = 10**12  # Brazilian words are made from a float


# Of CLDR, by their names in attributes and, but for the first, in tags.
_CALENDARS: Final = (
    *(GREGORIAN, "buddhist", "coptic", "ethiopic", "hebrew", "indian", "islamic-civil"),
    *("islamic-umalqura", "japanese", "persian", "roc"),
)
_BY_TERRITORY: Final = {"TH": "buddhist", "IR": "persian", "AF": "persian"}

_ZEROS: Final = read_table(__package__, "conventions.txt")
LATIN: Final = "latn"


def find_calendar(name: str) -> str:
    """Return the name of a calendar as CLDR writes it.

    Raises:
        ValueError: the calendar is not known; the text says which are.
    """
    known = GREGORIAN if name.lower() == "gregory" else name.lower()
    if known not in _CALENDARS:
        accepted = ", ".join(_CALENDARS)
        raise ValueError(f'the calendar "{name[:40]}" is not known; accepted are {accepted}')
    return known


def find_locale_calendar(tag: str, locale: Locale) -> str:
    """Return the calendar of a language tag, by its extension or else by its territory.

    Raises:
        ValueError: the extension names a calendar that is not known.
    """
    if asked := _read_extension(tag, "ca"):
        return find_calendar(asked)
    territory = locale.territory or _find_likely_territory(locale)
    return _BY_TERRITORY.get(territory, GREGORIAN)


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


def _read_extension(tag: str, key: str) -> str:
    found = _EXTENSION.search(tag)
    if found is None:
        return ""
    parts = found[1].lower().split("-")[1:]
    if key not in parts:
        return ""
    return "-".join(takewhile(lambda part: len(part) > len(key), parts[parts.index(key) + 1 :]))


def _find_likely_territory(locale: Locale) -> str:
    likely = get_global("likely_subtags")
    name = "_".join(filter(None, (locale.language, locale.script)))
    return str(likely.get(name) or likely.get(locale.language) or "").rpartition("_")[2]


# ICU has the order of English for it, which readers of Persian take for an error.
_FULL_PERSIAN: Final = "EEEE d MMMM y"
_MAX_KEPT: Final = 4096  # texts of a formatter: a statement repeats the same few dates


def compile_message(
    locale: Locale, calendar: str, numbering: str, zone: str, parts: str
) -> Callable[[date], str]:
    """Return a formatter of instants, or of days at midnight UTC, in a calendar that is not Gregorian.

    `parts` has `{value,date,…}` and `{value,time,…}` with CLDR patterns or widths.

    Raises:
        ValueError: one of them is no pattern.
    """
    if locale.language == "fa":
        parts = parts.replace("{value,date,full}", f"{{value,date,{_FULL_PERSIAN}}}")
    keywords = f"calendar={calendar};numbers={numbering};timezone={zone}"
    message = MessageFormat(parts, f"{locale}@{keywords}")

    def write(value: date) -> str:
        is_instant = isinstance(value, datetime)
        return message.format(
            {"value": value if is_instant else datetime.combine(value, time(), UTC)}
        )

    return lru_cache(maxsize=_MAX_KEPT)(write)


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
