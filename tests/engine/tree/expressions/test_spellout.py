"""Numbers spelled out, ordinals, and texts matched as a whole."""

from decimal import Decimal

import pytest

from tests.engine.tree.documents import evaluate
from workers.engine.tree.expressions.filters import capitalize, matches, title
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
        (Decimal(1), "gsw", (), "does not know the language gsw"),
    ],
)
def test_a_number_that_cannot_be_spelled_out_is_reported(value, lang, arguments, part):
    with pytest.raises(ExpressionError) as caught:
        words(value, lang, "spell", *arguments)
    assert part in str(caught.value)


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
    assert title(text) == titled
    assert capitalize(text) == capitalized
