"""The bidirectional algorithm, compared with another implementation (UAX #9)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from bidi import get_display
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.layout.builders import PARAGRAPH, TEXT, SquareFonts, context
from workers.engine.bidi import join_isolates, reorder, resolve_levels
from workers.engine.characters import has_right_to_left
from workers.engine.layout.lines.breaking import break_lines
from workers.engine.layout.lines.drawing import set_phrase
from workers.engine.layout.lines.fragments import InlineFragment
from workers.engine.tree.nodes import TextRun

CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ALPHABET = "abאבגשس123٤٥ +-.,:;$%/()[]!?\u0301"


def levels(text: str, *, is_rtl: bool) -> list[int]:
    runs = resolve_levels(text, is_rtl=is_rtl)
    assert [start for start, _, _ in runs] == [0, *(end for _, end, _ in runs[:-1])][: len(runs)]
    return [level for start, end, level in runs for _ in range(start, end)]


def seen(text: str, *, is_rtl: bool = False) -> str:
    return "".join(text[at] for at in reorder(levels(text, is_rtl=is_rtl)))


def test_text_of_one_direction_is_one_run():
    assert resolve_levels("abc def", is_rtl=False) == [(0, 7, 0)]
    assert resolve_levels("אבג דה", is_rtl=True) == [(0, 6, 1)]


def test_words_of_the_other_direction_are_turned():
    assert seen("abc אבג def") == "abc גבא def"
    assert seen("אבג abc", is_rtl=True) == "abc גבא"


def test_numbers_keep_their_direction():
    assert seen("אבג 12,345.67", is_rtl=True) == "12,345.67 גבא"
    assert seen("מחיר 12%", is_rtl=True) == "12% ריחמ"
    assert seen("المبلغ 12.50", is_rtl=True) == "12.50 غلبملا"


def test_brackets_take_the_direction_of_their_content():
    # Each bracket is drawn mirrored, so this is seen as a whole pair.
    assert seen("אב (cd)", is_rtl=True) == ")cd( בא"
    assert levels("a (אב) b", is_rtl=False) == [0, 0, 0, 1, 1, 0, 0, 0]


def test_isolates_do_not_affect_the_surrounding_text():
    assert seen("\u2067אב 1\u2069 2") == "\u2067" + "1 בא" + "\u2069 2"


def test_an_unclosed_embedding_ends_with_the_text():
    assert levels("\u202eab", is_rtl=False)[1:] == [1, 1]
    assert levels("\u2069\u202cab", is_rtl=False)[2:] == [0, 0]


def test_embeddings_beyond_the_deepest_are_counted_not_opened():
    text = "\u202b" * 200 + "a" + "\u202c" * 200 + "b"
    assert max(levels(text, is_rtl=False)) <= 126
    assert levels(text, is_rtl=False)[-1] == 0


@pytest.mark.parametrize("is_rtl", [False, True])
@given(text=st.text(alphabet=ALPHABET + CONTROLS, min_size=1, max_size=20))
def test_lines_look_as_another_implementation_sets_them(is_rtl, text):
    # Spaces at the end of a line are set by the line's own rule (L1), which is not asked here.
    text += "a" if not is_rtl else "א"
    ours = seen(text, is_rtl=is_rtl)
    theirs = get_display(text, base_dir="R" if is_rtl else "L")
    assert plain(ours) == plain(theirs)


@given(st.text(max_size=60), st.booleans())
def test_any_text_has_a_level_for_each_character(text, is_rtl):
    assert len(levels(text, is_rtl=is_rtl)) == len(text)
    assert sorted(seen(text, is_rtl=is_rtl)) == sorted(text)


@pytest.mark.parametrize("initiator", ["\u2067", "\u2068"])
def test_isolates_deeper_than_any_level_cost_little(initiator: str):
    text = initiator * 20_000 + "\u05d0" + "\u2069" * 20_000
    begun_at = time.process_time()
    join_isolates(text, resolve_levels(text, is_rtl=False))
    assert time.process_time() - begun_at < 1


def test_text_with_right_to_left_characters_is_detected():
    assert has_right_to_left("a א")
    assert has_right_to_left("a \u2067")
    assert not has_right_to_left("日本 हिन्दी é")


def plain(text: str) -> str:
    """Drop controls and the side of brackets, which the other turns while it orders."""
    shown = (char for char in text if char not in CONTROLS)
    return "".join(shown).translate(str.maketrans(")]", "(["))


ISOLATED = "\u2068אב\u2069\u2068גד\u2069"  # two values that nothing separates


@pytest.mark.parametrize(("is_rtl", "order"), [(False, ["אב", "גד"]), (True, ["גד", "אב"])])
def test_adjacent_isolated_values_are_placed_one_by_one(is_rtl: bool, order: list[str]):
    style = replace(PARAGRAPH, is_rtl=is_rtl)
    inlines = [TextRun(ISOLATED, TEXT)]
    lines = break_lines(context(), inlines, base=TEXT, style=style, width=100.0)
    line = [fragment.text for fragment in by_place(lines.lines[0].fragments)]
    # In right-to-left text both are one run, whose characters are drawn from its end.
    assert line == (["אבגד"] if is_rtl else order)
    phrase = set_phrase(SquareFonts(), TEXT, ISOLATED, is_rtl=is_rtl)
    assert [(fragment.text, fragment.x) for fragment in by_place(phrase)] == [
        (text, 10.0 * number) for number, text in enumerate(order)
    ]


def by_place(fragments: Sequence[InlineFragment]) -> list[InlineFragment]:
    return sorted(fragments, key=lambda fragment: fragment.x)
