"""Numbers spelled out and ordinals: `spell` and `ordinal`, by num2words for some fifty languages."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, Protocol

from babel import Locale
from num2words import CONVERTER_CLASSES, num2words

from workers.engine.tree.expressions.runtime import (
    ExpressionError,
    Value,
    describe_type,
    require_number,
)

Formatter = Callable[[Value], str]

_HIGHEST: Final = Decimal(10) ** 15  # languages have no words beyond it, or several


class HasLocale(Protocol):
    """Anything with a locale, such as `formats.Formats`."""

    locale: Locale


def make_spell(formats: HasLocale, currency: Value = None) -> Formatter:
    """Spell out an integer; with a currency's code, an amount with its minor unit."""
    if currency is not None and not isinstance(currency, str):
        raise ExpressionError(f"spell takes a currency's code, not {describe_type(currency)}")
    lang = _find_language(formats.locale, "spell")

    def spell(value: Value) -> str:
        if currency is None:
            return _convert(_require_integer(value, "spell"), lang, "cardinal")
        amount = _require_number(value, "spell")
        try:
            return _convert(amount, lang, "currency", currency=currency)
        except NotImplementedError:
            raise ExpressionError(
                f'spell does not know the currency "{currency[:10]}" in {formats.locale.language}'
            ) from None

    return spell


def make_ordinal(formats: HasLocale) -> Formatter:
    """Write an integer as an ordinal: 1st, 2., 3e."""
    lang = _find_language(formats.locale, "ordinal")

    def write_ordinal(value: Value) -> str:
        return _convert(_require_integer(value, "ordinal"), lang, "ordinal_num")

    return write_ordinal


def _find_language(locale: Locale, what: str) -> str:
    for name in (f"{locale.language}_{locale.territory}", locale.language):
        if name in CONVERTER_CLASSES:
            return name
    known = ", ".join(sorted({name.partition("_")[0] for name in CONVERTER_CLASSES}))
    raise ExpressionError(f"{what} does not know the language {locale.language}; it knows {known}")


def _convert(value: Decimal | int, lang: str, form: str, **options: Any) -> str:
    try:
        return str(num2words(value, lang=lang, to=form, **options)).strip()
    except NotImplementedError:
        raise
    except Exception:  # noqa: BLE001 - its converters fail in ways of their own, one for each language
        raise ExpressionError(f"{value} has no such form in the language {lang}") from None


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
