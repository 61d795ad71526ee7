"""Numbers spelled out, ordinals, and texts matched as a whole."""

from decimal import Decimal

import pytest

from tests.engine.tree.documents import evaluate
from workers.engine.tree.expressions.filters import matches
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.runtime import ExpressionError


def words(value, lang="en-GB", name="spell", *arguments):
    return get_formats(lang, "EUR", "UTC")[name, arguments, ()](value)


def test_a_whole_number_is_spelt_in_the_nearest_language():
    assert words(Decimal(1204)) == "one thousand, two hundred and four"
    assert words(Decimal(21), "fr-CA") == "vingt et un"
    assert words(Decimal("3.00")) == "three"


def test_an_amount_is_spelt_exactly_with_its_smaller_unit():
    spelt = words(Decimal("1000000000000.17"), "de", "spell", "EUR")
    assert spelt == "eine Billion Euro und siebzehn Cent"


def test_an_amount_is_spelt_as_it_is_printed():
    assert words(Decimal("12.345"), "en", "spell", "USD") == "twelve dollars, thirty-five cents"
    assert words(Decimal("12.6"), "ja", "spell", "JPY") == "十三円"
    assert words(Decimal("12.567"), "ar", "spell", "SAR").endswith("سبع و خمسون هللة")
    assert "خمسمائة و سبع و ستون مليم" in words(Decimal("12.567"), "ar", "spell", "TND")
    assert words(Decimal(12), "es", "spell", "KWD").startswith("doce dinares")


def test_an_amount_is_spelt_in_the_languages_of_south_america():
    brazilian = words(Decimal("12316.10"), "pt-BR", "spell", "BRL")
    assert brazilian == "doze mil, trezentos e dezesseis reais e dez centavos"
    assert (
        words(Decimal("21.5"), "es-CO", "spell", "COP") == "veintiún pesos con cincuenta centavos"
    )


def test_a_rank_is_written_as_the_language_does():
    assert words(Decimal(2), "en", "ordinal") == "2nd"
    assert words(Decimal(2), "de", "ordinal") == "2."


def test_an_empty_value_stays_empty():
    assert evaluate("none | spell") == evaluate("none | ordinal") == ""


@pytest.mark.parametrize(
    ("value", "lang", "arguments", "part"),
    [
        (Decimal("1.5"), "en", (), "whole number"),
        (Decimal(10) ** 15, "en", (), "below 10^15"),
        ("12", "en", (), "not text"),
        (Decimal(1), "en", ("XAU",), 'does not know the currency "XAU"'),
        (Decimal(1), "en", (Decimal(3),), "currency's code"),
        (Decimal(12), "ar", ("EUR",), 'does not know the currency "EUR"'),
        (Decimal("12.5"), "ar", ("KWD",), "or not the amount 12.5"),
        (Decimal("12.5"), "es", ("KWD",), "or not the amount 12.5"),
        (Decimal("999999999999999.17"), "pt-BR", ("BRL",), "or not the amount"),
        (Decimal("1.5"), "sv", ("SEK",), 'does not know the currency "SEK"'),
        (Decimal(-3), "vi", (), "no such form"),
        (Decimal(1234567), "am", (), "no such form"),
        (Decimal(1), "gsw", (), "does not know the language gsw"),
    ],
)
def test_a_number_that_cannot_be_spelled_out_is_reported(value, lang, arguments, part):
    with pytest.raises(ExpressionError) as caught:
        words(value, lang, "spell", *arguments)
    assert part in str(caught.value)


@pytest.mark.parametrize(("value", "lang"), [(3, "sv"), (3, "vi"), (-3, "ar")])
def test_a_rank_that_a_language_does_not_have_is_reported(value, lang):
    with pytest.raises(ExpressionError, match="no such form"):
        words(Decimal(value), lang, "ordinal")


def test_a_text_matches_as_a_whole():
    assert matches("GB33BUKB", "[A-Z0-9]+") is True
    assert matches("GB33 BUKB", "[A-Z0-9]+") is False
    assert matches(None, ".*") is False


@pytest.mark.parametrize("pattern", ["(", "a" * 201, "a{99999999999}"])
def test_an_invalid_pattern_is_reported(pattern):
    with pytest.raises(ExpressionError):
        matches("a", pattern)


@pytest.mark.parametrize(
    ("text", "titled", "capitalized"),
    [
        ("hELLO wORLD", "Hello World", "Hello world"),
        ("o'neil and foo-bar (baz)", "O'neil And Foo-Bar (Baz)", "O'neil and foo-bar (baz)"),
        ("éCOLE straße", "École Straße", "École straße"),
        ("", "", ""),
    ],
)
def test_titles_and_capitals_are_written_as_jinja_does(text, titled, capitalized):
    assert words(text, name="title") == titled
    assert words(text, name="capitalize") == capitalized
