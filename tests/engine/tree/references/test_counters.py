"""Counters: formats, chains of headings, resets, and limits."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import build_source
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.syntax.numbers import read_number_format
from workers.engine.tree.nodes import Paragraph
from workers.engine.tree.references.resolver import sort_terms

HEADINGS = '<style element="h1" number="1"/><style element="h2" number="1.1"/>'


def numbers(styles: str, content: str) -> list[str]:
    (flow,) = build_source(f"<document>{styles}<flow>{content}</flow></document>").flows
    paragraphs = [block for block in flow.blocks if isinstance(block, Paragraph)]
    return [p.extra.label.text if p.extra and p.extra.label else "" for p in paragraphs]


def codes_of(source: str) -> list[str]:
    try:
        warnings = render(prepare_template(source.encode()), None, options=OPTIONS).warnings
    except AuthoringError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return [warning.code for warning in warnings]


def test_a_deeper_heading_restarts_under_a_higher_one():
    reported = numbers(HEADINGS, "<h1>a</h1><h2>b</h2><h2>c</h2><h1>d</h1><h2>e</h2>")
    assert reported == ["1", "1.1", "1.2", "2", "2.1"]


@pytest.mark.parametrize(
    ("number", "first"),
    [
        ("第1条", "第1条"),
        ("제1조", "제1조"),
        ("表1", "表1"),
        ("第I章", "第I章"),
        ("第i項", "第i項"),
    ],
)
def test_a_number_needs_no_space_beside_characters_written_without_spaces(number: str, first: str):
    assert numbers(f'<style element="h1" number="{number}"/>', "<h1>a</h1>") == [first]


@pytest.mark.parametrize("number", ["Nr1", "mais", "1st", "§a1"])
def test_a_letter_or_digit_of_a_word_is_no_number(number: str):
    with pytest.raises(ValueError):
        read_number_format(number)


def test_a_heading_without_number_is_no_level():
    styles = '<style element="h2" number="1"/><style element="h3" number="1.1"/>'
    assert numbers(styles, "<h1>a</h1><h2>b</h2><h3>c</h3>") == ["", "1", "1.1"]


@pytest.mark.parametrize(
    ("shape", "second"),
    [
        ("1", "2"),
        ("a)", "b)"),
        ("A", "B"),
        ("(i)", "(ii)"),
        ("Article I", "Article II"),
        ("§ 1", "§ 2"),
        ("{x:a}.", "b."),
        ("No. {x}", "No. 2"),
    ],
)
def test_a_format_is_text_with_a_number_in_it(shape: str, second: str):
    assert numbers(f'<style name="x" number="{shape}"/>', '<p class="x"/>' * 2)[1] == second


@pytest.mark.parametrize("shape", ["", "one", "{", "{x", "{1}", "{x:b}", "x" * 200, "{x} }"])
def test_a_format_needs_a_number_and_whole_braces(shape: str):
    with pytest.raises(ValueError, match=r"^[\s\S]*$"):
        read_number_format(shape)


def test_a_counter_restarts_under_those_that_its_number_names():
    styles = HEADINGS + '<style name="c" number="{h2}.{c}"/>'
    content = '<h1/><h2/><p class="c"/><p class="c"/><h2/><p class="c"/><h1/><h2/><p class="c"/>'
    assert numbers(styles, content)[2:] == ["1.1.1", "1.1.2", "1.2", "1.2.1", "2", "2.1", "2.1.1"]


def test_counters_that_stand_under_each_other_end():
    styles = '<style name="a" number="{b}.{a}"/><style name="b" number="{a}.{b}"/>'
    assert numbers(styles, '<p class="a"/><p class="b"/><p class="a"/>') == ["0.1"] * 3


def test_styles_may_share_a_counter():
    styles = '<style name="a" number="1"/><style name="b" counter="a" number="(1)"/>'
    assert numbers(styles, '<p class="a"/><p class="b"/><p class="a"/>') == ["1", "(2)", "3"]


def test_counters_are_set_and_reset_by_attributes():
    content = (
        '<p class="a"/><p class="a" counter-set="a 7"/><p class="a"/><p class="a" counter-reset="a"/>'
        '<p counter-reset="a 4"/><p class="a"/><p counter-set="a 4"/><p class="a"/>'
    )
    reported = numbers('<style name="a" number="1"/>', content)
    assert reported == ["1", "7", "8", "1", "", "4", "", "5"]


def test_elements_left_out_by_a_condition_are_not_counted():
    content = '<p class="a" for="n in [1, 2, 3]" if="n != 2">{{ n }}</p>'
    assert numbers('<style name="a" number="1"/>', content) == ["1", "2"]


def test_numbers_that_repeat_each_other_stay_short():
    styles = '<style name="s0" number="1"/>' + "".join(
        f'<style name="s{n}" number="{f"{{s{n - 1}}}" * 9}.{{s{n}}}"/>' for n in range(1, 20)
    )
    reported = numbers(styles, "".join(f'<p class="s{n}"/>' for n in range(20)))
    assert max(map(len, reported)) == 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('<p for="n in range(300)" number="1" counter="c{{ n }}">a</p>', "too-many-counters"),
        (
            '<p id="a">b</p><group for="n in range(400)"><p><group for="m in range(200)"><ref to="a"/><ref to="a"/></group></p></group>',
            "too-many-references",
        ),
        (
            '<p for="n in range(400)"><mark for="m in range(200)" term="a"/><mark for="m in range(51)" term="b"/></p>',
            "too-many-turns",
        ),
        (
            "<p for='n in range(90)'><group for='m in range(900)'><mark term='a'/><mark term='b'/></group></p>",
            "too-many-marks",
        ),
        (
            "<p for='n in range(90)'><group for='m in range(900)'><running name='a' value='m'/><running name='a' value='n'/></group></p>",
            "too-many-running-values",
        ),
        ('<toc for="n in range(300)"/><h1 for="n in range(1000)">a</h1>', "too-many-entries"),
    ],
)
def test_the_counters_of_a_document_are_bounded(body: str, code: str):
    assert code in codes_of(f"<document><flow>{body}</flow></document>")


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        ("en", ["10 days", "Elan", "Émile", "emu", "Zebra"]),
        ("sv", ["Arboga", "Zürich", "ål", "Ånge", "Ärlig", "Öland"]),
        ("de", ["Ähre", "Apfel", "Straße", "Strasse 2", "Zug"]),
        ("es", ["nube", "nuez", "ñandú", "oso"]),
        ("cs", ["cena", "čas", "hora", "chata", "jablko"]),
        ("da", ["Zebra", "Æble", "Øl", "Ål"]),
        ("ru", ["Арбуз", "Банан", "Яблоко"]),
    ],
)
def test_terms_stand_in_the_order_of_the_letters_of_their_language(lang: str, expected: list[str]):
    mixed = [*expected[1::2], *expected[::2]]
    terms = sort_terms({(text,): [] for text in mixed}, lang)
    assert [term.text for term in terms] == expected
