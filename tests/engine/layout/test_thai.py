"""Thai: where lines may break, found quickly and as a plain search of all ways would find it."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.engine.layout.fonts import find_shaper, split_by_face
from workers.engine.layout.lines.opportunities import cut_word
from workers.engine.layout.lines.parts import Look
from workers.engine.layout.lines.thai import cut_thai, is_thai
from workers.engine.tree.styles import TextStyle
from workers.engine.units import BLACK

WORDS = frozenset(
    word
    for word in (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8").split("\n")
    if 0 < len(word) <= 20
)
CLUSTER = re.compile("[\u0e40-\u0e44]?[\u0e01-\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*|.")
UNKNOWN = 10  # words

some_words = st.lists(st.sampled_from(sorted(filter(is_thai, WORDS))), min_size=1, max_size=6).map(
    "".join
)
some_letters = st.text(
    st.characters(min_codepoint=0xE01, max_codepoint=0xE4E), min_size=2, max_size=25
)


def cost_of(pieces: list[str]) -> int:
    return sum(1 if piece in WORDS else UNKNOWN for piece in pieces)


def least_cost(text: str) -> int:
    """Try every piece between every two borders of clusters."""
    borders = [0, *(match.end() for match in CLUSTER.finditer(text))]
    costs = {0: 0}
    for number, end in enumerate(borders[1:], start=1):
        ways = [costs[start] + 1 for start in borders[:number] if text[start:end] in WORDS]
        costs[end] = min([*ways, costs[borders[number - 1]] + UNKNOWN])
    return costs[len(text)]


@settings(deadline=None)  # the first reads the words
@given(st.one_of(some_words, some_letters, st.tuples(some_words, some_letters).map("".join)))
def test_no_way_of_cutting_has_fewer_words_and_less_that_is_none(text):
    pieces = cut_thai(text)
    assert "".join(pieces) == text
    assert [each for each in pieces if each not in WORDS and not CLUSTER.fullmatch(each)] == []
    assert cost_of(pieces) == least_cost(text)


@pytest.mark.parametrize(
    "words",
    [
        ["ภาษาไทย", "เขียน", "ติดกัน"],
        ["กรุงเทพมหานคร", "เป็น", "เมืองหลวง"],
        ["โปรด", "ชำระ", "ภายใน", "วันที่"],
    ],
)
def test_lines_break_between_the_words_of_a_sentence(words):
    assert cut_word("".join(words)) == words


def test_what_is_not_thai_stays_with_the_word_before_it():
    assert cut_word("ภาษาไทยเขียน(2026)") == ["ภาษาไทย", "เขียน(2026)"]


@pytest.mark.parametrize("text", ["ภาษาไทยเขียนติดกัน", "กฎหมายแรงงานเวียนไปเร็วแล้ว" * 5])
def test_a_phrase_is_as_wide_as_its_words(text):
    [(face, _)] = split_by_face((), 400, False, text, "th")
    style = TextStyle(("sans-serif",), 10, 400, False, BLACK, 0, "none", 0, None, "th")
    look = Look(style, face, None, is_shaped=True)
    assert sum(look.measure_words(cut_word(text))) == pytest.approx(look.measure(text))


def test_equal_letters_of_all_words_are_one_object():
    [(face, _)] = split_by_face((), 400, False, "น้ำ", "th")
    first, second = map(find_shaper(face, is_rtl=False, lang="th").shape_clusters, ("น้ำ", "ใจน้ำ"))
    assert first[-1] is second[-1]
