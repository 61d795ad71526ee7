"""Numbers as words and as ranks: `spell` and `ordinal`, by num2words for some fifty languages."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from babel import Locale
from num2words import CONVERTER_CLASSES, num2words

from workers.engine.tree.runtime import ExpressionError, Value, describe

if TYPE_CHECKING:
    from workers.engine.tree.formats import Formats

Format = Callable[[Value], str]

_HIGHEST: Final = Decimal(10) ** 15  # beyond it languages have no words, or several


def make_spell(formats: Formats, currency: Value = None) -> Format:
    """Write a whole number in words; with a currency's code, an amount with its smaller unit."""
    if currency is not None and not isinstance(currency, str):
        raise ExpressionError(f"spell takes a currency's code, not {describe(currency)}")
    lang = _find_language(formats.locale, "spell")

    def spell(value: Value) -> str:
        if value is None:
            return ""
        if currency is None:
            return _say(_whole(value, "spell"), lang, "cardinal")
        amount = _number(value, "spell")
        try:
            return _say(amount, lang, "currency", currency=currency)
        except NotImplementedError:
            raise ExpressionError(
                f'spell has no words for "{currency[:10]}" in {formats.locale.language}'
            ) from None

    return spell


def make_ordinal(formats: Formats) -> Format:
    """Write a whole number as a rank: 1st, 2., 3e."""
    lang = _find_language(formats.locale, "ordinal")

    def rank(value: Value) -> str:
        return "" if value is None else _say(_whole(value, "ordinal"), lang, "ordinal_num")

    return rank


def _find_language(locale: Locale, what: str) -> str:
    for name in (f"{locale.language}_{locale.territory}", locale.language):
        if name in CONVERTER_CLASSES:
            return name
    known = ", ".join(sorted({name.partition("_")[0] for name in CONVERTER_CLASSES}))
    raise ExpressionError(f"{what} does not know the language {locale.language}; it knows {known}")


def _say(value: Decimal | int, lang: str, form: str, **options: Any) -> str:
    try:
        return str(num2words(value, lang=lang, to=form, **options)).strip()
    except NotImplementedError:
        raise
    except Exception:  # noqa: BLE001 - its converters fail in ways of their own, one for each language
        raise ExpressionError(f"{value} has no such form in the language {lang}") from None


def _number(value: Value, what: str) -> Decimal:
    if value.__class__ is not Decimal:
        raise ExpressionError(f"{what} needs a number, not {describe(value)}")
    if abs(value) >= _HIGHEST:
        raise ExpressionError(f"{what} takes numbers below 10^15")
    return value


def _whole(value: Value, what: str) -> int:
    number = _number(value, what)
    if number != number.to_integral_value():
        raise ExpressionError(f"{what} needs a whole number; round it first, or name a currency")
    return int(number)
