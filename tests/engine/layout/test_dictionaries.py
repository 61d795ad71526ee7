"""Words without spaces between them: found quickly, and as a plain search of all ways would find them."""

from __future__ import annotations

import lzma
import re
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.typefaces import split_by_face
from workers.engine.fonts import find_shaper
from workers.engine.layout.lines.fragments import GlyphStyle
from workers.engine.layout.lines.opportunities import (
    KHMER,
    LAO,
    MYANMAR,
    THAI,
    Dictionary,
    split_at_opportunities,
)
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import BLACK

WORDS = frozenset(
    word
    for word in (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8").split("\n")
    if 0 < len(word) <= 20
)
CLUSTER = re.compile("[\u0e40-\u0e44]?[\u0e01-\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*|.")
UNKNOWN = 10  # words

some_words = st.lists(
    st.sampled_from(sorted(filter(THAI.matches_all, WORDS))), min_size=1, max_size=6
).map("".join)
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


@given(st.one_of(some_words, some_letters, st.tuples(some_words, some_letters).map("".join)))
def test_no_way_of_cutting_has_fewer_words_and_less_that_is_none(text):
    pieces = THAI.segment(text)
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
    assert split_at_opportunities("".join(words)) == words


def test_non_thai_characters_stay_with_the_word_before():
    assert split_at_opportunities("ภาษาไทยเขียน(2026)") == ["ภาษาไทย", "เขียน(2026)"]


@pytest.mark.parametrize("text", ["ภาษาไทยเขียนติดกัน", "กฎหมายแรงงานเวียนไปเร็วแล้ว" * 5])
def test_a_phrase_is_as_wide_as_its_words(text):
    [(face, _)] = split_by_face((), 400, False, text, "th")
    style = TextStyle(("sans-serif",), 10, 400, False, BLACK, 0, "none", 0, None, "th")
    look = GlyphStyle(style, face, None, is_shaped=True)
    assert sum(look.measure_words(split_at_opportunities(text))) == pytest.approx(
        look.measure(text)
    )


def test_equal_letters_of_all_words_are_one_object():
    [(face, _)] = split_by_face((), 400, False, "น้ำ", "th")
    first, second = map(find_shaper(face, is_rtl=False, lang="th").shape_clusters, ("น้ำ", "ใจน้ำ"))
    assert first[-1] is second[-1]


FURTHER = {"khmer": KHMER, "lao": LAO, "myanmar": MYANMAR}


def words_of(name: str) -> list[str]:
    path = files("pressroom_fonts") / "words" / f"{name}.txt.xz"
    return [
        word for word in lzma.decompress(path.read_bytes()).decode().split("\n") if len(word) > 1
    ]


def begins_syllable(word: str) -> bool:
    """Return whether a word stays apart from the one before; some of the lists begin with a vowel sign."""
    return unicodedata.category(word[0])[0] == "L" and word[1] not in "\u1037\u1039\u103a"


@pytest.mark.long
@pytest.mark.parametrize("name", FURTHER)
@settings(max_examples=100)
@given(data=st.data())
def test_joined_words_are_segmented_into_no_more_words(name: str, data: st.DataObject):
    words = words_of(name)
    numbers = st.integers(0, len(words) - 1)
    some = [words[n] for n in data.draw(st.lists(numbers, min_size=1, max_size=6))]
    some = [word for word in some if len(word) <= 20 and FURTHER[name].matches_all(word)]
    some = [word for word in some if begins_syllable(word)]
    pieces = split_at_opportunities("".join(some))
    assert "".join(pieces) == "".join(some)
    assert len(pieces) <= max(len(some), 1)


@pytest.mark.parametrize(
    ("words", "dictionary"),
    [
        (["ມະນຸດ", "ທຸກຄົນ", "ເກີດ", "ມາ"], LAO),
        (["មនុស្ស", "ទាំងអស់", "កើតមក"], KHMER),
        # Words of Myanmar take seconds to read; another test reads them among the long ones.
        pytest.param(["လူ", "တိုင်း", "သည်"], MYANMAR, marks=pytest.mark.long),
    ],
    ids=["lo", "km", "my"],
)
def test_lines_of_a_further_script_break_between_words(words: list[str], dictionary: Dictionary):
    assert dictionary.has_words("".join(words))
    assert split_at_opportunities("".join(words)) == words


def test_scripts_beside_each_other_are_cut_each_by_its_own_words():
    assert split_at_opportunities("ภาษาไทยເກີດມາមនុស្សទាំងអស់") == [
        "ภาษาไทย",
        "ເກີດ",
        "ມາ",
        "មនុស្ស",
        "ទាំងអស់",
    ]
