"""Lines of scripts without spaces break between words."""

from __future__ import annotations

import pytest

from tests.engine.typefaces import split_by_face
from workers.engine.fonts import find_shaper
from workers.engine.layout.lines.fragments import GlyphStyle
from workers.engine.layout.lines.opportunities import split_at_opportunities
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import BLACK


@pytest.mark.parametrize(
    "words",
    [
        ["ภาษา", "ไทย", "เขียน", "ติด", "กัน"],
        ["กรุงเทพมหานคร", "เป็น", "เมือง", "หลวง"],
        ["ມະນຸດ", "ທຸກຄົນ", "ເກີດ", "ມາ"],
        ["មនុស្ស", "ទាំងអស់", "កើតមក"],
        ["လူ", "တိုင်း", "သည်"],
    ],
    ids=["a phrase", "a capital", "lo", "km", "my"],
)
def test_lines_break_between_the_words_of_a_sentence(words):
    assert split_at_opportunities("".join(words)) == words


def test_non_thai_characters_stay_with_the_word_before():
    assert split_at_opportunities("ภาษาไทยเขียน(2026)") == ["ภาษา", "ไทย", "เขียน(2026)"]


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
