"""Text that is shaped: joined letters, marks, syllables, and the characters they represent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.typefaces import find_face, split_by_face
from workers.engine.fonts import needs_shaping, shape_word
from workers.engine.layout.lines.fragments import (
    GlyphStyle,
    measure_shaped,
    place_clusters,
    shaped_character_ends,
)
from workers.engine.tree.styles.computed import TextStyle

SAMPLES = {"ar": "العربية", "he": "שָׁלוֹם", "hi": "हिन्दी", "bn": "ক্ষমা", "ta": "கொடு", "th": "น้ำใจ"}


def shaped(word: str, lang: str, *, is_rtl: bool = False):
    [(face, text)] = split_by_face((), 400, False, word, lang)
    return shape_word(face, text, is_rtl=is_rtl, lang=lang)


@pytest.mark.parametrize("lang", SAMPLES)
@pytest.mark.parametrize("weight", [400, 700])
def test_every_promised_script_has_a_font_that_shapes_it(lang, weight):
    [(face, _)] = split_by_face(("serif",), weight, False, SAMPLES[lang], lang)
    assert face.family.startswith("Noto Sans ")
    assert face.is_bold is (weight == 700)
    word = shape_word(face, SAMPLES[lang], is_rtl=lang in ("ar", "he"), lang=lang)
    assert all(glyph for cluster in word.clusters for glyph, *_ in cluster.glyphs)


@pytest.mark.parametrize("lang", SAMPLES)
def test_clusters_say_the_word_in_the_order_they_are_seen_in(lang):
    is_rtl = lang in ("ar", "he")
    said = "".join(cluster.text for cluster in shaped(SAMPLES[lang], lang, is_rtl=is_rtl).clusters)
    assert (said[::-1] if is_rtl else said) == SAMPLES[lang]


def test_arabic_letters_join():
    alone = [shaped(letter, "ar", is_rtl=True).width for letter in "بيت"]
    assert shaped("بيت", "ar", is_rtl=True).width < sum(alone)


def test_marks_end_with_their_letter():
    word = shaped("שָׁל", "he", is_rtl=True)
    assert word.ends[0] == word.ends[1] == word.ends[2] < word.ends[3]


def test_a_vowel_before_its_consonant_belongs_to_it():
    word = shaped("कि", "hi")
    assert len(word.clusters) == 1
    assert len(word.clusters[0].glyphs) == 2


def test_chinese_japanese_and_korean_take_their_own_fonts():
    for lang, family in [
        ("ja", "Noto Sans JP"),
        ("zh", "Noto Sans SC"),
        ("zh-Hant", "Noto Sans TC"),
        ("zh-TW", "Noto Sans TC"),
        ("ko", "Noto Sans KR"),
    ]:
        [(face, _)] = split_by_face((), 400, False, "直", lang)
        assert face.family == family


def test_without_a_language_kana_and_hangul_tell_whose_characters_they_are():
    assert {face.family for face, _ in split_by_face((), 400, False, "漢字かな", "en")} == {
        "Noto Sans JP"
    }
    assert {face.family for face, _ in split_by_face((), 400, False, "漢字 한글", "en")} == {
        "Noto Sans KR"
    }


def test_missing_glyphs_come_from_another_font_of_the_same_script():
    runs = split_by_face((), 400, False, "简繁", "ja")
    assert [face.family for face, _ in runs] == ["Noto Sans SC", "Noto Sans JP"]


def test_spaces_and_joiners_stay_in_the_face_before_them():
    runs = split_by_face((), 400, False, "می\u200cخواهم که", "fa")
    assert len(runs) == 1


def test_bold_without_a_font_of_its_own_is_emboldened():
    [(face, _)] = split_by_face((), 700, False, "☑")
    assert face.is_emboldened
    assert face.name == "NotoSansSymbols2-Bold"
    assert not find_face((), 700, False).is_emboldened


@pytest.mark.parametrize("text", ["plain", "Größe €", "日本語", "한국어", "Привет"])
def test_simple_text_is_not_shaped(text):
    assert not needs_shaping(text)


@pytest.mark.parametrize("text", [*SAMPLES.values(), "e\u0301", "\U00020bb7", "\u1100\u1161"])
def test_text_that_depends_on_its_neighbours_is_shaped(text):
    assert needs_shaping(text)


def run_of(text: str, lang: str, *, is_rtl: bool, letter_spacing: float = 0.0) -> GlyphStyle:
    [(face, _)] = split_by_face((), 400, False, text, lang)
    style = TextStyle((), 10.0, 400, False, letter_spacing=letter_spacing, lang=lang)
    return GlyphStyle(style, face, None, int(is_rtl), is_shaped=True)


def test_words_from_right_to_left_are_set_last_first():
    run = run_of("שלום עולם", "he", is_rtl=True)
    assert "".join(c.text for c in place_clusters(run, "שלום עולם", 0.0)) == "םלוע םולש"


def test_set_text_has_its_measured_width():
    for lang, text in SAMPLES.items():
        run = run_of(text, lang, is_rtl=lang in ("ar", "he"), letter_spacing=1.0)
        two = f"{text} {text}"
        set_width = sum(c.advance for c in place_clusters(run, two, 0.0)) / 100
        assert set_width == pytest.approx(measure_shaped(run, two), abs=0.01)
        assert shaped_character_ends(run, text)[-1] == pytest.approx(measure_shaped(run, text))


def test_word_spacing_is_added_to_spaces_alone():
    plain = run_of("Größe", "de", is_rtl=False)
    spaced = plain._replace(style=replace(plain.style, word_spacing=2.5))
    assert measure_shaped(spaced, "Größe") == measure_shaped(plain, "Größe")
    three = "zwei Größen je"
    assert measure_shaped(spaced, three) == pytest.approx(measure_shaped(plain, three) + 5.0)
    set_width = sum(c.advance for c in place_clusters(spaced, three, 1.0)) / 100
    assert set_width == pytest.approx(measure_shaped(spaced, three) + 2.0, abs=0.02)


def test_letters_that_join_are_not_spaced():
    spaced = run_of("بيت", "ar", is_rtl=True, letter_spacing=2.0)
    plain = run_of("بيت", "ar", is_rtl=True)
    assert measure_shaped(spaced, "بيت") == measure_shaped(plain, "بيت")
    spaced, plain = (run_of("न", "hi", is_rtl=False, letter_spacing=s) for s in (2.0, 0.0))
    assert measure_shaped(spaced, "नन") == measure_shaped(plain, "नन") + 4.0


@given(st.text(min_size=1, max_size=30), st.booleans())
def test_any_text_is_shaped_and_extracts_to_itself(text, is_rtl):
    for face, part in split_by_face((), 400, False, text):
        word = shape_word(face, part, is_rtl=is_rtl, lang="en")
        said = "".join(cluster.text for cluster in word.clusters)
        assert (said[::-1] if is_rtl else said) == part
        assert len(word.ends) == len(part)
        assert list(word.ends) == sorted(word.ends)
