"""Whatever an inserted value contains, the text around it stays where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.bidi import CONTROLS, join_isolates, reorder, resolve_levels
from workers.engine.tree.expressions.running_text import continue_in_lines, isolate

LETTERS = "aZ5-(). \u05d0\u05e9\u0627\u0664\u200f\u202a\u202b\u202c\u202e\u2066\u2067\u2068\u2069"
AROUND = [("Item ", " - 5 pcs (9)", False), ("\u05d0 ", " - 5 \u05d1 (9)", True)]


def order_around(before: str, value: str, after: str, *, is_rtl: bool) -> list[int | str]:
    """Return the order in which the characters around a value are seen, and the place of the value."""
    text = before + value + after
    levels = [n for start, end, n in resolve_levels(text, is_rtl=is_rtl) for _ in range(start, end)]
    seen: list[int | str] = []
    for at in reorder(levels):
        if len(before) <= at < len(before) + len(value):
            if "value" not in seen and not CONTROLS.match(text[at]):
                seen.append("value")
        else:
            seen.append(at if at < len(before) else at - len(value))
    return seen


@pytest.mark.parametrize(("before", "after", "is_rtl"), AROUND)
@given(value=st.text(LETTERS, min_size=1, max_size=12))
def test_text_around_a_value_is_seen_in_one_order(before, after, is_rtl, value):
    isolated = isolate(f"a{value}\u05d0", is_mixed=True)
    expected = order_around(before, isolate("x", is_mixed=True), after, is_rtl=is_rtl)
    assert order_around(before, isolated, after, is_rtl=is_rtl) == expected


@given(value=st.text(LETTERS, min_size=1, max_size=12))
@pytest.mark.parametrize(("before", "after", "is_rtl"), AROUND)
def test_isolates_joined_to_their_line_are_seen_in_the_same_order(before, after, is_rtl, value):
    text = before + isolate(f"a{value}\u05d0", is_mixed=True) + after
    runs = resolve_levels(text, is_rtl=is_rtl)

    def see(found):
        return reorder([level for start, end, level in found for _ in range(start, end)])

    assert see(join_isolates(text, runs)) == see(runs)


def test_an_arabic_value_in_arabic_is_one_run_with_the_comma_after_it():
    text = isolate("\u0627\u0644", is_mixed=True) + "\u060c"
    assert join_isolates(text, resolve_levels(text, is_rtl=True)) == [(0, 5, 1)]


def test_values_without_right_to_left_letters_stay_as_they_are():
    assert isolate("Müller (5)", is_mixed=False) == "Müller (5)"
    assert isolate("1 234,50".replace(" ", "\u202f"), is_mixed=True) == "1\u202f234,50"


@pytest.mark.parametrize(
    "number",
    ["2026-0042", "+49 30 1234", "7/2026", "+49301234", "-5.50", "100×50", "10–20", "(02) 12345"],
)
def test_a_number_with_a_sign_or_parts_keeps_its_order_after_arabic_letters(number):
    assert isolate(number, is_mixed=False) == number
    text = "\u0631\u0642\u0645 " + isolate(number, is_mixed=True)
    levels = [n for start, end, n in resolve_levels(text, is_rtl=True) for _ in range(start, end)]
    assert "".join(text[at] for at in reorder(levels)).startswith(f"\u2069{number}\u2068")


def test_spaces_around_a_value_stay_outside():
    assert isolate(" \u05d0 ", is_mixed=False) == " \u2068\u05d0\u2069 "


def test_isolates_end_with_a_line_and_go_on_in_the_next():
    lines = ["a \u2068\u05d0", "\u05d1\u2069 b", "c"]
    assert continue_in_lines(lines) == ["a \u2068\u05d0\u2069", "\u2068\u05d1\u2069 b", "c"]
