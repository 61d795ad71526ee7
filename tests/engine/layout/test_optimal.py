"""Line breaks that are chosen together are no worse than any others, measured in the square font."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, groupby, pairwise

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.layout.builders import context, styled
from tests.engine.layout.test_page_references import pdf_of
from workers.engine.layout.lines.breaking import break_lines
from workers.engine.layout.lines.horizontal_lists import DISCRETIONARY
from workers.engine.layout.lines.optimal import RAGGED_RUNT_DEMERITS, SHRINK
from workers.engine.tree.nodes import TextRun
from workers.engine.tree.styles.computed import Align, HyphenLimits, TextWrap
from workers.engine.units import Length

WIDTH = 100.0
LETTER = 5.0  # the width of every character of the square font in these tests


def lines_of(text: str, *, width: float = WIDTH, **given_style: object):
    style = styled(**given_style)
    inlines = [TextRun(text, style.text)]
    return break_lines(
        context(), inlines, base=style.text, style=style.paragraph, width=width
    ).lines


def broken(text: str, *, width: float = WIDTH, **given_style: object) -> list[str]:
    lines = lines_of(text, width=width, **given_style)
    return ["".join(part.text for part in line.fragments) for line in lines]


def demerits(words: list[str], breaks: tuple[int, ...]) -> float:
    """Return the demerits of ragged lines that begin with these words; infinite if one is too long."""
    total = 0.0
    bounds = [0, *breaks, len(words)]
    for first, last in pairwise(bounds):
        slack = WIDTH - len(" ".join(words[first:last])) * LETTER
        if slack < -0.01:
            return float("inf")
        is_last = last == len(words)
        badness = 0.0 if is_last else 100 * (slack / (WIDTH * 0.1)) ** 3
        total += (1 + badness) ** 2
        if is_last and last - first == 1 and breaks:
            total += RAGGED_RUNT_DEMERITS
    return total


WORDS = st.lists(st.integers(1, 12).map("x".__mul__), min_size=2, max_size=9)


@given(WORDS)
def test_pretty_breaks_have_the_fewest_demerits_of_all(words: list[str]):
    found = broken(" ".join(words), text_wrap=TextWrap.PRETTY)
    ends: list[int] = []
    for line in found[:-1]:
        ends.append((ends[-1] if ends else 0) + len(line.split()))
    every = [
        demerits(words, breaks)
        for count in range(len(words))
        for breaks in combinations(range(1, len(words)), count)
    ]
    assert demerits(words, tuple(ends)) <= min(every)


@given(WORDS)
def test_nothing_is_lost_whatever_chooses_the_breaks(words: list[str]):
    text = " ".join(words)
    for wrap in TextWrap:
        for align in (Align.LEFT, Align.JUSTIFY):
            assert " ".join(broken(text, text_wrap=wrap, align=align)) == text


@given(WORDS)
def test_justified_lines_end_at_the_margin_but_for_the_last(words: list[str]):
    lines = lines_of(" ".join(words), align=Align.JUSTIFY)
    for line in lines[:-1]:
        if line.word_spacing or " " not in line.fragments[0].text:
            continue
        assert abs(line.width - WIDTH) < 0.01
    assert all(line.width <= WIDTH + 0.01 for line in lines)
    assert all(line.word_spacing >= -SHRINK * LETTER - 0.01 for line in lines)


def test_spaces_shrink_where_one_more_word_then_fits():
    # 21 characters in 20: five spaces give a character's width.
    text = "aaaa bb cc dd ee ffff gggggggg hhhhhhhhh iiii"
    lines = lines_of(text, align=Align.JUSTIFY)
    assert lines[0].word_spacing < 0
    assert abs(lines[0].width - WIDTH) < 0.01


def test_a_last_line_gets_a_second_word_where_others_allow():
    text = "aaaa bbbb cccc dddd eeee"
    assert broken(text, text_wrap=TextWrap.STABLE)[-1] == "eeee"
    assert broken(text, text_wrap=TextWrap.PRETTY)[-1] == "dddd eeee"


def test_ragged_lines_leave_no_single_word_for_the_last_unless_stable():
    text = "aaaa bbbb cccc ddd eeee"
    assert broken(text)[-1] == "ddd eeee"
    assert broken(text, text_wrap=TextWrap.STABLE)[-1] == "eeee"
    # The line above would be less than 60 % full.
    assert broken("aaaa bbbb dddddddd eeee")[-1] == "eeee"
    # A whole word is moved, not a piece of one, and alone there is nothing to move.
    assert broken("aaaa bbbb ccc d\u00add eeee")[-1] == "dd eeee"
    assert broken("aaaaaaaaaaaaaaaaaaaa eeee") == ["aaaaaaaaaaaaaaaaaaaa", "eeee"]


def test_two_lines_in_a_row_end_in_hyphens_only_where_nothing_else_is_possible():
    word = "aaaaaa\u00adbbbbbb\u00adcccccc"
    text = f"xxxx {word} yyyy {word} zzzz {word} wwww {word} vvvv"
    hyphens = [line.endswith("-") for line in broken(text, align=Align.JUSTIFY, width=140)]
    assert (True, True) not in list(pairwise(hyphens))


def test_a_line_gives_up_its_hyphen_where_a_later_one_would_be_the_third_in_a_row():
    text = "aaa bbb\u00adbbb ccccc\u00adcccc dddd\u00adddddd eeee\u00adeeeee\u00adeeee ffff"
    assert broken(text, align=Align.JUSTIFY, width=85) == [
        "aaa bbbbbb",
        "ccccccccc dddd-",
        "ddddd eeeeeeeee-",
        "eeee ffff",
    ]


def test_balanced_lines_are_as_few_as_others_and_about_equally_long():
    text = "one two three four five"
    stable = broken(text, text_wrap=TextWrap.STABLE)
    balanced = broken(text, text_wrap=TextWrap.BALANCE)
    assert len(balanced) == len(stable)
    assert max(map(len, balanced)) - min(map(len, balanced)) <= 5
    assert max(map(len, balanced)) < max(map(len, stable))


def test_more_than_ten_lines_are_not_balanced():
    text = " ".join(["aaaa bbbb"] * 30)
    assert broken(text, text_wrap=TextWrap.BALANCE) == broken(text, text_wrap=TextWrap.STABLE)


def test_a_word_wider_than_the_line_is_cut_and_the_rest_is_chosen_again():
    lines = broken("aa " + "b" * 45 + " cc dddd eeee ffff gggg hhhh", text_wrap=TextWrap.PRETTY)
    assert lines[:3] == ["aa", "b" * 20, "b" * 20]
    assert lines[3].startswith("bbbbb cc")
    assert " " in lines[-1]


@pytest.mark.long
def test_a_long_text_is_broken_in_linear_time():
    text = "aaaa bbbb cc\u00addd " * 8_000  # more chances than are weighed
    assert broken(text, align=Align.JUSTIFY) == broken(
        text, align=Align.JUSTIFY, text_wrap=TextWrap.STABLE
    )


@pytest.mark.parametrize("wrap", list(TextWrap))
@pytest.mark.parametrize("align", [Align.LEFT, Align.RIGHT, Align.JUSTIFY])
def test_what_hangs_takes_no_room_however_lines_are_broken(wrap: TextWrap, align: Align):
    # Twenty characters and a comma: only with the comma in the margin does the second word fit.
    text = "aaaaaaaaa bbbbbbbbbb, cccc dddd"
    hanging = lines_of(text, align=align, text_wrap=wrap, hanging=("force-end",))
    assert hanging[0].fragments[-1].text.endswith("bbb,")
    assert hanging[0].x == 0
    assert hanging[0].width == WIDTH
    assert hanging[0].fragments[-1].width == WIDTH + LETTER
    allowed = lines_of(text, align=align, text_wrap=wrap, hanging=("allow-end",))
    assert allowed[0].fragments == hanging[0].fragments
    assert not lines_of(text, align=align, text_wrap=wrap)[0].fragments[0].text.endswith(",")


def test_allowed_punctuation_hangs_only_where_it_does_not_fit():
    line = lines_of("aaaa, bbbb", align=Align.RIGHT, hanging=("allow-end",), width=45)[0]
    assert (line.x, line.width) == (20, 25)
    line = lines_of("aaaa, bbbb", align=Align.RIGHT, hanging=("force-end",), width=45)[0]
    assert (line.x, line.width) == (25, 20)


def test_a_quote_hangs_at_the_start_of_the_first_line_only_and_at_the_end_of_the_last():
    inlines = "\u201caaaa\u201d \u201cbbbb\u201d"
    first, last = lines_of(inlines, hanging=("first", "last"), width=30)
    assert first.fragments[0].x == -LETTER
    assert first.width == 5 * LETTER
    assert last.fragments[0].x == 0
    assert last.width == 5 * LETTER


def test_hyphens_hang_by_a_part_with_optical():
    text = "aaaaaaaaaaaaaaaaaaa\u00adbbbb cc"
    hanging = lines_of(text, hanging=("optical",), align=Align.RIGHT, width=WIDTH - 2)
    assert hanging[0].fragments[0].text.endswith("a-")
    assert hanging[0].x + hanging[0].fragments[0].width == pytest.approx(WIDTH - 2 + 0.55 * LETTER)


@pytest.mark.parametrize("wrap", list(TextWrap))
@pytest.mark.parametrize("align", [Align.LEFT, Align.JUSTIFY])
def test_the_lines_beside_an_initial_letter_are_shorter_however_they_are_broken(
    wrap: TextWrap, align: Align
):
    text = "A" + "aaa bbbb cc ddddd " * 10
    lines = lines_of(text, align=align, text_wrap=wrap, initial_letter=(3.0, 3))
    letter = lines[0].initial[0]
    assert letter.x == 0
    assert [line.x == 0 for line in lines[:4]] == [False, False, False, True]
    assert all(letter.width < line.x for line in lines[:3])
    assert all(line.x + line.width <= WIDTH + 0.01 for line in lines)


def test_an_initial_letter_reaches_from_the_first_capitals_to_its_baseline():
    plain = lines_of("Aaaa bbbb cccc dddd")
    dropped = lines_of("Aaaa " * 20, initial_letter=(3.0, 3))
    raised = lines_of("Aaaa " * 20, initial_letter=(3.0, 1))
    (letter,) = dropped[0].initial
    high = letter.glyph_style.style.size * 0.7
    top_of_capitals = plain[0].baseline - 10 * 0.7
    down = dropped[2].y + dropped[2].baseline
    assert -letter.glyph_style.style.rise == pytest.approx(down - plain[0].baseline)
    assert down - high == pytest.approx(top_of_capitals)
    assert raised[0].baseline - high == pytest.approx(top_of_capitals)
    assert raised[1].y == raised[0].height


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_short_paragraph_is_as_high_as_its_letter(count: int):
    style = styled(initial_letter=(3.0, 3))
    inlines = [TextRun("A" + "aaaaaaaaaa " * count, style.text)]
    lines = break_lines(context(), inlines, base=style.text, style=style.paragraph, width=WIDTH)
    assert lines.height == pytest.approx(30)
    assert lines.together == len(lines.lines) == count


def test_an_initial_letter_takes_the_quotes_around_it_and_keeps_its_place_in_the_text():
    style = styled(initial_letter=(2.0, 2))
    inlines = [TextRun("\u201c", style.text), TextRun("A. bcd", style.text)]
    line = break_lines(
        context(), inlines, base=style.text, style=style.paragraph, width=WIDTH
    ).lines[0]
    assert [part.text for part in line.initial] == ["\u201c", "A.", " "]
    assert [part.text for part in line.fragments] == ["bcd"]


def test_no_line_takes_the_space_that_others_would_have_too_much_of():
    words = (
        "Die Auflage des Flugblatts war häufig höher als die der Zeitung, denn auf der Schifffahrt"
    )
    file = pdf_of(
        '<document lang="de"><page size="56mm 200mm" margin="4mm"/><flow><p font-family="serif" font-size="9pt" '
        f'text-align="justify" hyphens="auto">{words} nach Helgoland wurde es unentgeltlich verteilt. Stoffliche Einwände '
        "gegen das Geschäft mit der Öffentlichkeit blieben aus; trefflich stritt man nur über die Auffassung, ob das "
        "Kaufhaus an der Hafenstraße eine Rechtsschutzversicherung brauche. Die Donaudampfschifffahrtsgesellschaft "
        "hielt sich heraus.</p></flow></document>"
    )
    text = pypdfium2.PdfDocument(file)[0].get_textpage().get_text_range()
    assert min(len(line.split()) for line in text.splitlines()[:-2]) >= 2


HYPHENATED = (
    "Die Versicherungsgesellschaft verpflichtet Versicherungsnehmer unverzüglich zur "
    "Schadensmeldung, andernfalls Leistungskürzungen vorbehalten bleiben. Die Vertragsbedingungen "
    "der Haftpflichtversicherung unterscheiden grundsätzlich Personenschäden und Sachschäden."
)
WRAPS = [(TextWrap.STABLE, Align.LEFT), (TextWrap.PRETTY, Align.JUSTIFY)]


def count_hyphens(width: float, wrap: TextWrap, align: Align, limits: HyphenLimits) -> list[int]:
    """Return the lengths of the ladders of hyphens in a German text."""
    style = styled(hyphens="auto", text_wrap=wrap, align=align, hyphen_limits=limits)
    run = TextRun(HYPHENATED, replace(style.text, lang="de"))
    lines = break_lines(context(), [run], base=style.text, style=style.paragraph, width=width).lines
    ends = [line.boundary == DISCRETIONARY for line in lines]
    return [len(list(row)) for is_hyphen, row in groupby(ends) if is_hyphen]


@pytest.mark.parametrize(("wrap", "align"), WRAPS)
def test_ladders_of_hyphens_are_short_by_their_limit(wrap: TextWrap, align: Align):
    def longest(lines: int) -> int:
        widths = range(170, 250, 4)
        limits = HyphenLimits(lines=lines)
        return max(max(count_hyphens(width, wrap, align, limits), default=0) for width in widths)

    assert longest(0) > 3
    assert longest(2) <= (2 if wrap is TextWrap.STABLE else 3)  # where nothing else fits
    assert longest(1) < longest(0)


@pytest.mark.parametrize(("wrap", "align"), WRAPS)
def test_zone_and_last_leave_words_whole_where_a_limit_asks(wrap: TextWrap, align: Align):
    def total(limits: HyphenLimits) -> int:
        widths = range(170, 250, 4)
        return sum(sum(count_hyphens(width, wrap, align, limits)) for width in widths)

    free = total(HyphenLimits(lines=0))
    assert total(HyphenLimits(lines=0, zone=Length(60.0))) < free
    assert total(HyphenLimits(lines=0, last="always")) < free


@pytest.mark.parametrize(("wrap", "align"), WRAPS)
def test_no_last_line_is_a_piece_of_less_than_four_letters(wrap: TextWrap, align: Align):
    style = styled(hyphens="manual", text_wrap=wrap, align=align)
    for width in range(40, 160, 3):
        run = TextRun("Ein Auszug des großen Stadt\u00adra\u00adtes.", style.text)
        lines = break_lines(
            context(), [run], base=style.text, style=style.paragraph, width=width
        ).lines
        last = "".join(fragment.text for fragment in lines[-1].fragments)
        assert last not in {"tes.", "ra\u00adtes."[3:]}
