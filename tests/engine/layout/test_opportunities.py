"""Line break opportunities: Unicode's own tests, whole, and what a French, German or Chinese reader expects."""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from time import process_time
from typing import Final

import pytest

from tests.engine.layout.builders import TEXT, context
from tests.engine.layout.test_lines import broken
from workers.engine.bidi import reorder, resolve_levels
from workers.engine.characters import cut_at_cluster, find_cluster_ends
from workers.engine.layout.lines.fragments import AtomicInline, GlyphStyle
from workers.engine.layout.lines.horizontal_lists import NO_BREAK, NO_BREAK_SPACE, HorizontalList
from workers.engine.layout.lines.opportunities import split_at_opportunities
from workers.engine.tree.expressions.filters import truncate
from workers.engine.tree.nodes import TextRun

UNICODE: Final = Path(__file__).parent / "unicode"  # of version 15.0; see its README
FORCED: Final = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")


def lines_of(name: str) -> list[str]:
    with lzma.open(UNICODE / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def read_case(line: str) -> tuple[str, set[int]]:
    """Return the text of a line of a test file, and where it is cut: ÷ 0061 × 0020 ÷."""
    text, cuts = "", set()
    for sign, code in zip(line.split()[0::2], line.split()[1::2], strict=False):
        if sign == "÷" and text:
            cuts.add(len(text))
        text += chr(int(code, 16))
    return text, cuts


def find_breaks(text: str) -> set[int]:
    """Return where the strip of a paragraph may break, as places in its text; spaces are not places."""
    strip = HorizontalList()
    strip.add_text(GlyphStyle(TEXT, context().fonts.find(TEXT), None), text, hyphens=True)
    places = [at for at, char in enumerate(text) if char != " "]
    breaks, count = set(), 0
    for unit, glue in zip(strip.texts, strip.boundaries, strict=True):
        count += len(unit)
        if count < len(places) and glue not in (NO_BREAK, NO_BREAK_SPACE):
            breaks.add(places[count])
    return breaks


# --- LineBreakTest ---------------------------------------------------------------------------------------

DASHES: Final = "-\u2010\u2012\u2013\u2014"
HANGUL: Final = "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7ff"
MARK: Final = "[\u0300-\u036f\u200d\x00-\x08\x0e-\x1f\x7f]*"

# What is not met, and why: a pattern of the text around the place, which is where the two meet.
NOT_MET: Final = {
    "Korean breaks at its spaces": (f"[{HANGUL}]{MARK}", ".", f".{MARK}", f"[{HANGUL}]"),
    "no line begins with a dash": (".", "[\u2014\u2e3a]"),
    "a dash, an exclamation or an ellipsis at the beginning of a word stays with it": (
        f"(^| )[\\[(«‘“]*[{DASHES}\u2014!?\u2024-\u2026]+{MARK}",
        ".",
    ),
    "a line ends behind a slash between words of two letters and more alone": (f"/{MARK}", "."),
    "a stop before a digit stays in its word, and begins a line behind a space (LB15c of 15.1)": (
        f"[.,:;]{MARK}",
        r"\d",
        " ",
        r"[.,:;]\d",
    ),
    "amounts and references stay with their signs over a space (decision 475)": (
        "[#§$%0] ",
        "[0$%]",
    ),
    "a quote and a bracket behind a space part (without LB15, since 15.1)": (
        '"\u0308? ',
        "[(\u2329]",
    ),
    "a hyphen between Hebrew words ends a line (LB21a, since 16.0)": ("\u05d0-", "\u05d0"),
    "quoted text with spaces inside stays with its quotes (LB15a and LB15b of 15.1)": (
        "[«‹“‘] ",
        ".",
        ".",
        "[»›”’]",
    ),
}


def name_reason(text: str, at: int) -> str | None:
    for name, patterns in NOT_MET.items():
        for before, behind in zip(patterns[0::2], patterns[1::2], strict=True):
            if re.search(f"{before}$", text[:at]) and re.match(behind, text[at:]):
                return name
    return None


def test_lines_break_by_uax_14_except_for_listed_deviations():
    cases = lines_of("LineBreakTest")
    assert len(cases) == 7654
    reasons: Counter[str] = Counter()
    for case in cases:
        for text, expected in split_at_forced_breaks(*read_case(case)):
            for at in find_breaks(text) ^ expected:
                reasons[name_reason(text, at) or f"{case} at {at}"] += 1
    assert set(reasons) == set(NOT_MET)
    assert sum(reasons.values()) < 250


def split_at_forced_breaks(text: str, cuts: set[int]) -> Iterator[tuple[str, set[int]]]:
    """Yield the lines of a text: what forces a break is an element, or was cut before."""
    start = 0
    for match in [*FORCED.finditer(text), None]:
        end = len(text) if match is None else match.start()
        line = text[start:end]
        places = {cut - start for cut in cuts if start < cut < end}
        yield line, {at for at in places if line[at] != " " and line[:at].strip(" ")}
        if match is not None:
            assert match.end() in {*cuts, len(text)}
            start = match.end()


# --- grapheme clusters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "नि", "각", "\u1100\u1161\u11a8", "✔\ufe0f"],
)
def test_text_is_never_cut_within_a_cluster(cluster: str):
    text = f"a{cluster}b"
    for end in range(1, len(cluster) + 1):
        assert cut_at_cluster(text, end) == 1
    assert cut_at_cluster(text, len(cluster) + 1) == len(cluster) + 1
    assert cut_at_cluster(text, 99) == len(text)


@pytest.mark.parametrize(
    "cluster", ["👩\u200d👩\u200d👧", "🇩🇪", "\u1100\u1161\u11a8", "e\u0301\u0302"]
)
def test_a_word_that_is_wider_than_its_line_breaks_between_clusters(cluster: str):
    for width in (5.0, 11.0, 26.0, 40.0):
        for line in broken(cluster * 12, width=width):
            assert line == cluster * (len(line) // len(cluster))


def test_truncate_and_ellipsis_leave_clusters_whole():
    assert truncate("ab👩\u200d👩\u200d👧cd", Decimal(5)) == "ab…"
    assert truncate("abe\u0301de", Decimal(4)) == "ab…"
    assert truncate("abcd", Decimal(4)) == "abcd"


# --- BidiCharacterTest -----------------------------------------------------------------------------------


@pytest.mark.long
def test_text_is_ordered_by_uax_9():
    cases = lines_of("BidiCharacterTest")
    assert len(cases) == 91_707
    different = [case for case in cases if not reads_as_said(*case.split(";"))]
    # Separators of segments have the level of the paragraph (L1): a tab is a space before it is read.
    assert different == ["0661 0009 0028 0662 0029;2;0;2 0 1 2 1;0 1 4 3 2"]


def reads_as_said(codes: str, _: str, base: str, levels: str, order: str) -> bool:
    text = "".join(chr(int(code, 16)) for code in codes.split())
    found = [
        level
        for start, end, level in resolve_levels(text, is_rtl=base == "1")
        for _ in range(start, end)
    ]
    kept = [at for at, level in enumerate(levels.split()) if level != "x"]
    seen = [kept[at] for at in reorder([found[at] for at in kept])]
    said = [int(level) for level in levels.split() if level != "x"]
    return [found[at] for at in kept] == said and seen == list(map(int, order.split()))


def test_a_mark_on_a_bracket_reads_as_the_bracket():
    assert resolve_levels("א(ב)\u0301 c", is_rtl=False) == [(0, 5, 1), (5, 7, 0)]


# --- what readers expect ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["!", "?", ":", ";", "»", ")", "!»", "?!", ".", ","])
@pytest.mark.parametrize("width", range(50, 125, 5))
def test_no_line_begins_with_a_mark_behind_a_space(mark: str, width: int):
    lines = broken(f"Bonjour {mark} Comment allez-vous {mark} bien", width=float(width))
    assert not any(line.startswith(mark) for line in lines)


@pytest.mark.parametrize("width", range(40, 125, 5))
def test_no_line_ends_with_a_quote_that_opens(width: int):
    lines = broken("Il dit « très bien » puis ( rien ) enfin", width=float(width))
    assert not any(line.endswith(("«", "(")) for line in lines)
    assert not any(line.startswith(("»", ")")) for line in lines)


def test_german_quotes_break_outside():
    assert find_breaks("Er sagte »Ja« und »Nein«.") == {3, 9, 14, 18}


def test_marks_stay_where_a_look_changes():
    bold = replace(TEXT, weight=700)
    for runs in (
        [TextRun("aaaa bbbb ", TEXT), TextRun("!", bold)],
        [TextRun("aaaa bbbb", TEXT), TextRun(" !", bold)],
        [TextRun("aaaa ", TEXT), TextRun("bbbb", bold), TextRun(" ", TEXT), TextRun("!", bold)],
        [TextRun("aaaa « ", TEXT), TextRun("bbbb", bold)],
    ):
        for width in (30.0, 32.0, 47.0):
            lines = broken(*runs, width=width)
            assert not any(line.startswith("!") or line.endswith("«") for line in lines)


def test_a_mark_begins_a_line_rather_than_be_an_error():
    lines = broken("aaaa bbbb ! cccc", width=20.0, breaks_anywhere=False)
    assert lines == ["aaaa", "bbbb", "!", "cccc"]


def test_lines_break_where_a_look_changes_as_elsewhere():
    bold = replace(TEXT, weight=700)
    assert broken(TextRun("漢字", TEXT), TextRun("漢字", bold), width=10.0) == ["漢字", "漢字"]
    assert broken(TextRun("Haftpflicht-", TEXT), TextRun("Schutz", bold), width=60.0) == [
        "Haftpflicht-",
        "Schutz",
    ]


def test_a_soft_hyphen_shows_before_another_look():
    bold = replace(TEXT, weight=700)
    assert broken(TextRun("Haft\u00ad", TEXT), TextRun("pflicht", bold), width=40.0) == [
        "Haft-",
        "pflicht",
    ]


def test_marks_stay_with_a_block_in_the_line():
    strip = HorizontalList()
    look = GlyphStyle(TEXT, context().fonts.find(TEXT), None)
    block = AtomicInline(None, 10.0)
    for content in ("aa (", block, "), bb", block, block, " , cc ", block, "dd « ", block, " »"):
        if isinstance(content, str):
            strip.add_text(look, content, hyphens=True)
        else:
            strip.add_atomic_inline(content)
    units = [text or "#" for text in strip.texts]
    ends = [
        unit
        for unit, glue in zip(units, strip.boundaries, strict=True)
        if glue not in (NO_BREAK, NO_BREAK_SPACE)
    ]
    assert units == ["aa", "(", "#", "),", "bb", "#", "#", ",", "cc", "#", "dd", "«", "#", "»"]
    assert ends == ["aa", "),", "bb", "#", ",", "cc", "#", "dd"]


def test_words_between_slashes_break_and_units_do_not():
    assert split_at_opportunities("und/oder") == ["und/", "oder"]
    assert split_at_opportunities("https://example.com/path") == ["https://example.com/", "path"]
    for whole in ("km/h", "12/2024", "c/o", "/usr", "1/abc"):
        assert split_at_opportunities(whole) == [whole]


@pytest.mark.parametrize(
    "whole",
    ["-foo", "--foo", "(-foo", "–5", "…und", "!important", "?a", "a-1", "3-4", "etc.)", "a…”"],
)
def test_signs_at_the_beginning_of_a_word_stay_with_it(whole: str):
    assert split_at_opportunities(whole) == [whole]


@pytest.mark.long
def test_long_words_of_signs_take_time_in_proportion():
    start = process_time()
    for sign in ("-a", "/ab", "!a", "a\u0301-", "🇩🇪", "漢\u0301", "…", "“漢”"):
        assert "".join(split_at_opportunities(sign * 100_000)) == sign * 100_000
        find_cluster_ends(sign * 100_000)
    find_breaks("« ! » " * 50_000)
    assert process_time() - start < 10


@pytest.mark.parametrize("amount", ["\u2212$5.00", "\u2212€5", "-$5.00", "5\u22123"])
def test_a_minus_sign_stays_with_its_amount(amount: str):
    assert split_at_opportunities(amount) == [amount]
