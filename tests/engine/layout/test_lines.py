"""Lines are broken, spread and placed as CSS says, measured in the square font."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.layout.builders import TEXT, context, laid, p, placed, styled
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import Fill, GlyphRun, LinkArea, Stroke
from workers.engine.layout.lines.breaking import break_lines, measure_inlines
from workers.engine.tree.nodes import Inline, LineBreak, TextRun
from workers.engine.tree.styles.computed import Align, WhiteSpace
from workers.engine.units import BLACK


def broken(*inlines: str | Inline, width: float = 100.0, **given_style: object) -> list[str]:
    style = styled(**given_style)
    made = [TextRun(i, style.text) if isinstance(i, str) else i for i in inlines]
    lines = break_lines(context(), made, base=style.text, style=style.paragraph, width=width)
    return ["".join(part.text for part in line.fragments) for line in lines.lines]


def test_words_fill_lines_up_to_the_last_that_fits():
    assert broken("aaaa bbbb cccc dddd", width=50) == ["aaaa bbbb", "cccc dddd"]


def test_a_line_that_fits_exactly_is_not_broken():
    assert broken("aaaa bbbb", width=45) == ["aaaa bbbb"]


def test_lines_break_after_hyphens_between_letters_but_not_before_digits():
    assert broken("well-known 2026-0042", width=50) == ["well-known", "2026-0042"]
    assert broken("well-known", width=30) == ["well-", "known"]
    assert broken("a 2026-0042", width=45) == ["a", "2026-0042"]


def test_a_soft_hyphen_shows_only_where_the_line_breaks():
    word = "Donau\u00addampf\u00adschiff"
    assert broken(word, width=100) == ["Donaudampfschiff"]
    assert broken(word, width=60) == ["Donaudampf-", "schiff"]


def test_a_soft_hyphen_between_two_styles_shows_only_where_the_line_breaks():
    bold = replace(TEXT, weight=700)
    parts = TextRun("dampf\u00ad", bold), "schiff"
    assert broken(*parts, width=100) == ["dampfschiff"]
    assert broken(*parts, width=40) == ["dampf-", "schiff"]


def test_a_soft_hyphen_that_does_not_fit_itself_breaks_earlier():
    assert broken("ab\u00adcd\u00adef", width=20) == ["ab-", "cdef"]


def test_soft_hyphens_are_no_chance_without_hyphens():
    assert broken("ab\u00adcd\u00adef", width=20, hyphens="none") == ["abcd", "ef"]


def test_a_zero_width_space_breaks_without_a_mark():
    assert broken("abc\u200bdef", width=20) == ["abc\u200b", "def"]


def test_no_break_spaces_hold_words_together():
    assert broken("a 10\u00a0km b", width=30) == ["a", "10\u00a0km", "b"]
    assert broken("a 10\u202fkm b", width=30) == ["a", "10\u202fkm", "b"]


def test_a_word_wider_than_the_line_goes_on_its_own_line_and_breaks_anywhere():
    assert broken("ab abcdefghij", width=20) == ["ab", "abcd", "efgh", "ij"]


def test_text_follows_a_word_that_was_cut():
    assert broken("abcdef gh", width=25) == ["abcde", "f gh"]


def test_a_combining_mark_stays_with_its_letter():
    assert broken("abe\u0301fg", width=15) == ["ab", "e\u0301f", "g"]


def test_every_line_takes_a_character_however_narrow():
    assert broken("abc", width=1) == ["a", "b", "c"]


def test_a_word_of_two_looks_is_one_word():
    bold = replace(TEXT, weight=700)
    assert broken("aa un", TextRun("bold", bold), "ed b", width=50) == ["aa", "unbolded b"]


def test_a_space_between_looks_is_a_chance_to_break():
    bold = replace(TEXT, weight=700)
    assert broken("aaaa ", TextRun("bbbb", bold), width=30) == ["aaaa", "bbbb"]
    assert broken("aaaa", TextRun(" bbbb", bold), width=30) == ["aaaa", "bbbb"]


def test_a_forced_break_ends_the_line_and_one_at_the_end_adds_none():
    assert broken("a", LineBreak(TEXT), "b", LineBreak(TEXT)) == ["a", "b"]
    assert broken("a", LineBreak(TEXT), LineBreak(TEXT), "b") == ["a", "", "b"]


def test_preformatted_text_keeps_spaces_and_line_ends():
    assert broken("a  b\n\tc\n", white_space=WhiteSpace.PRE) == ["a  b", "        c"]


def test_pre_line_keeps_line_ends_and_wraps():
    assert broken("aaaa bbbb\ncc", width=30, white_space=WhiteSpace.PRE_LINE) == [
        "aaaa",
        "bbbb",
        "cc",
    ]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("aa  bb\n  cc", 100, ["aa  bb", "  cc"]),  # spaces and line ends are kept
        ("a\tb\n\tc", 100, ["a       b", "        c"]),
        ("aaaa   bbbb", 40, ["aaaa", "bbbb"]),  # spaces at the end of a line hang
        ("  aaaa bbbb", 40, ["  aaaa", "bbbb"]),
        ("aa  bb cc", 40, ["aa  bb", "cc"]),
        ("a   ", 100, ["a"]),
        ("   ", 100, ["   "]),
        ("aa\n\nbb", 100, ["aa", "", "bb"]),
        ("aaaaaaaaaa", 30, ["aaaaaa", "aaaa"]),  # a long word breaks anywhere
        ("    aaaaaaaaaa", 30, ["    aa", "aaaaaa", "aa"]),
    ],
)
def test_pre_wrap_keeps_spaces_and_line_ends_and_wraps(text, width, lines):
    assert broken(text, width=width, white_space=WhiteSpace.PRE_WRAP) == lines


def test_preserved_spaces_are_preserved_between_styles():
    bold = replace(TEXT, weight=700)
    inlines = ("aa ", TextRun("  bb", bold), TextRun("   ", bold), "cc")
    given = {"white_space": WhiteSpace.PRE_WRAP}
    assert broken(*inlines, width=100, **given) == ["aa   bb   cc"]
    assert broken(*inlines, width=50, **given) == ["aa   bb", "cc"]
    assert placed(laid(p(*inlines, **given)).pages[0])[-1] == ("cc", 50, 0)


def test_text_that_wraps_with_its_spaces_measures_as_it_is_drawn():
    narrow, wide = context().measure(p("aa   bb\ncccc", white_space=WhiteSpace.PRE_WRAP))
    assert (narrow, wide) == (20, 35)


def test_nowrap_text_stays_on_one_line():
    assert broken("aaaa bbbb", width=10, white_space=WhiteSpace.NOWRAP) == ["aaaa bbbb"]


def test_the_first_line_is_indented():
    page = laid(p("aa bb cc", indent=15.0)).pages[0]
    assert placed(page) == [("aa bb cc", 15, 0)]
    assert broken("aaaa bbbb cccc", width=45, indent=10.0) == ["aaaa", "bbbb cccc"]


@pytest.mark.parametrize(
    ("align", "x"), [(Align.LEFT, 0), (Align.RIGHT, 80), (Align.CENTER, 40), (Align.JUSTIFY, 0)]
)
def test_lines_are_aligned_by_text_align(align, x):
    assert placed(laid(p("aaaa", align=align)).pages[0]) == [("aaaa", x, 0)]


def test_justified_lines_share_the_rest_among_their_spaces_but_not_on_the_last():
    page = laid(p("aaaa bbbb ccccc dddd ee ff", align=Align.JUSTIFY)).pages[0]
    first, last = (item for item in page.items if isinstance(item, GlyphRun))
    assert first.text == "aaaa bbbb ccccc dddd"
    assert (first.width, first.codes) == (100, b"aaaa bbbb ccccc dddd")
    page = laid(p("aaaa bbbb ccccccccccc dddd", align=Align.JUSTIFY)).pages[0]
    first, last = (item for item in page.items if isinstance(item, GlyphRun))
    assert (first.text, last.text) == ("aaaa bbbb", "ccccccccccc dddd")
    assert first.codes == b"[aaaa bbbb 5500]"
    assert last.codes == b"ccccccccccc dddd"


def test_letter_spacing_counts_for_every_character():
    assert broken("aaaa bbbb", width=45, letter_spacing=1.0) == ["aaaa", "bbbb"]


def test_larger_characters_make_their_line_higher_and_others_stay():
    large = replace(TEXT, size=20.0)
    page = laid(p("a ", TextRun("B", large), LineBreak(TEXT), "c")).pages[0]
    tops = {item.text: item.y for item in page.items if isinstance(item, GlyphRun)}
    assert tops["a "] == tops["B"] == 16
    assert tops["c"] == 28


def test_raised_text_does_not_spread_lines():
    small = replace(TEXT, size=7.0, rise=3.0)
    page = laid(p("a", TextRun("2", small), LineBreak(TEXT), "b")).pages[0]
    assert [item.y for item in page.items if isinstance(item, GlyphRun)] == [8, 5, 18]


def test_underlines_and_backgrounds_are_as_wide_as_their_text():
    style = replace(TEXT, decoration="underline", background=BLACK)
    items = laid(p("aa ", TextRun("bb", style))).pages[0].items
    assert [type(item) for item in items] == [GlyphRun, Fill, GlyphRun, Stroke]
    assert items[1][:4] == (15, 0, 10, 10)
    assert items[3][:4] == (15, 9, 25, 9)


def test_a_link_has_an_area_on_every_line_it_stands_on():
    page = laid(p(TextRun("aaaa bbbb cccc dddd eeee", TEXT, "https://example.com/"))).pages[0]
    assert page.links == [
        LinkArea(0, 0, 95, 10, "https://example.com/"),
        LinkArea(0, 10, 20, 10, "https://example.com/"),
    ]


def test_a_word_that_may_not_break_is_an_error_with_both_widths():
    findings = Findings()
    laid(p("abcdefghijklmnopqrstuvwxyz", breaks_anywhere=False), findings=findings)
    (error,) = findings.errors
    assert error.code == "wider-than-container"
    assert "`p` needs 45.9 mm of width, the page allows 35.3 mm (page 1, " in error.message


def test_a_character_no_font_has_is_a_warning_that_names_it():
    findings = Findings()
    laid(p("ab \u0e01"), findings=findings)
    assert [w.code for w in findings.warnings] == ["missing-glyph"]
    assert "U+0E01" in findings.warnings[0].message


def test_widths_are_those_of_the_longest_word_and_of_the_unbroken_text():
    runs = [TextRun("aa bbbb cc", TEXT), LineBreak(TEXT), TextRun("dddddd", TEXT)]
    assert measure_inlines(context(), runs, TEXT, styled().paragraph) == (30, 50)


@given(
    words=st.lists(st.text("abc-\u00ad\u200b–", min_size=1, max_size=12), max_size=40),
    width=st.floats(1, 200),
    cuts=st.lists(st.integers(0, 300), max_size=4),
)
def test_all_characters_come_out_in_order_at_any_width(words, width, cuts):
    text = " ".join(words)
    marks = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    styles = [TEXT, replace(TEXT, weight=700)]
    runs = [
        TextRun(text[start:end], styles[number % 2])
        for number, (start, end) in enumerate(pairwise(marks))
    ]
    shown = "".join(broken(*runs, width=width))
    ignored = {ord(char): None for char in " -\u00ad"}
    assert shown.translate(ignored) == text.translate(ignored)


@pytest.mark.long
def test_a_megabyte_of_text_is_broken_in_linear_time():
    lines = broken("lorem ipsum dolor " * 55_000, width=450.0)
    assert len(lines) == 11_000
    assert len(broken("x" * 1_000_000, width=450.0)) == 11_112
