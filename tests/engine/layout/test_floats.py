"""Figures that float: where they are, in which order, and that every document ends."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pypdfium2
import pytest

from tests.engine.finish.structure import write_structure
from tests.engine.layout.test_footnotes import document, numbers_in, pages_of
from tests.engine.layout.test_page_references import pdf_of, texts_of
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render

LINE = "<p>word{} and words that fill a line and a part of the next one of this page.</p>"
EDGES = ("top", "bottom", "page", "here")


def lines(first: int, end: int) -> str:
    return "".join(LINE.format(number) for number in range(first, end))


def figure(number: int, float_: str, height: float = 20, more: str = "") -> str:
    return (
        f'<figure float="{float_}" {more}><div height="{height}mm"/>'
        f"<caption>fig{number}.</caption></figure>"
    )


def figures_in(pages: list[str]) -> list[list[int]]:
    return numbers_in(pages, r"fig(\d+)\.")


def words_in(pages: list[str]) -> list[list[int]]:
    return numbers_in(pages, r"word(\d+) ")


def height_of(file: bytes, page: int, text: str) -> float:
    """Return how high the first letter of a text is on a page."""
    words = pypdfium2.PdfDocument(file)[page].get_textpage()
    found = words.search(text).get_next()
    assert found is not None
    return float(words.get_charbox(found[0])[1])


def test_a_figure_stands_on_the_page_of_its_anchor_if_the_text_up_to_it_does():
    for edge in EDGES[:2]:
        file = pdf_of(document(lines(0, 4) + figure(1, edge) + lines(4, 40)))
        assert figures_in(texts_of(file))[0] == [1]
        above, below = ("fig1", "word0") if edge == "top" else ("word7", "fig1")
        assert height_of(file, 0, above) > height_of(file, 0, below)


def test_a_figure_that_would_push_its_anchor_away_stands_on_the_next_page():
    pages = pages_of(lines(0, 9) + figure(1, "top", 40) + lines(9, 40))
    assert figures_in(pages)[:2] == [[], [1]]
    assert words_in(pages)[0][-1] > 8  # the text continues meanwhile
    assert [word for page in words_in(pages) for word in page] == list(range(40))


def test_a_section_ends_behind_its_figures():
    section = lines(0, 6) + figure(1, "top", 90) + "<h1>Next</h1>" + lines(10, 14)
    file = pdf_of(document("<h1>First</h1>" + section))
    assert figures_in(texts_of(file))[:2] == [[], [1]]
    assert height_of(file, 1, "fig1") > height_of(file, 1, "Next")
    leaving = section.replace('float="top"', 'float="top" float-within="flow"')
    assert "Next" in pages_of("<h1>First</h1>" + leaving)[0]


def test_a_figure_stands_below_the_title_that_starts_its_page():
    file = pdf_of(document("<h1>First</h1>" + lines(0, 3) + figure(1, "top")))
    assert height_of(file, 0, "fig1") < height_of(file, 0, "word2")


@pytest.mark.parametrize("last", ["top", "bottom"])
def test_no_figure_of_a_section_that_waited_is_lost(last):
    body = f"{figure(1, 'bottom')}<p>a</p>{figure(2, 'top')}<div>{figure(3, last)}<h2>b</h2></div>"
    found = [number for page in figures_in(pages_of(body)) for number in page]
    assert sorted(found) == [1, 2, 3]


def test_no_figure_is_drawn_again_where_its_anchor_would_move():
    free = figure(1, "bottom", 8, 'float-within="flow"')
    section = f"<div><div><ul><li><h2>b</h2></li></ul>{free}</div>{figure(2, 'top', 50)}</div>"
    pages = pages_of(f"<p>a</p>{section}<ul><li><h2>c</h2></li></ul>")
    assert sorted(number for page in figures_in(pages) for number in page) == [1, 2]


@pytest.mark.parametrize("box", ["{}<h1>next</h1>", "<div>{}<h1>next</h1></div>"])
def test_a_figure_for_a_page_at_the_start_of_an_area_has_that_page(box: str):
    pages = pages_of(box.format(figure(1, "page")) + LINE.format(0))
    assert figures_in(pages) == [[1], []]
    assert words_in(pages) == [[], [0]]


def test_no_page_follows_a_figure_that_has_the_last_one():
    pages = pages_of(LINE.format(0) + figure(1, "page"))
    assert figures_in(pages) == [[], [1]]


def test_a_page_break_waits_for_the_figures_before_it():
    pages = pages_of(
        lines(0, 10) + figure(1, "top", 40) + figure(2, "page")
        + f'<h1 break-before="right" counter-reset="page">Next</h1>{figure(3, "bottom")}'
    )  # fmt: skip
    assert figures_in(pages) == [[], [1], [2], [], [3]][: len(pages)]
    assert pages[-1].startswith("Next")


def test_notes_of_a_caption_stand_below_figure_and_text_in_order():
    note = "<footnote>note{}.</footnote>"
    caption = f"<caption>fig1.{note.format(2)}</caption>"
    file = pdf_of(
        document(
            f"<p>word0 a{note.format(1)}</p>"
            f'<figure float="bottom"><div height="20mm"/>{caption}</figure>'
            f"<p>b{note.format(3)}</p>"
        )
    )
    assert numbers_in(texts_of(file), r"note(\d)\.") == [[1, 2, 3]]
    assert height_of(file, 0, "word0") > height_of(file, 0, "fig1") > height_of(file, 0, "note1")


def test_a_figure_is_read_where_it_is_written():
    source = document("<h1>One</h1>" + LINE.format(1) + figure(1, "top") + LINE.format(2), head="")
    assert re.findall(r"word1|fig1|word2", write_structure(pdf_of(source))) == [
        "word1",
        "fig1",
        "word2",
    ]


def test_a_figure_in_a_clipped_area_stands_in_the_text():
    page = '<page size="A6" margin="10mm"><area overflow="hidden"/></page>'
    pages = pages_of(LINE.format(1) + figure(1, "bottom") + LINE.format(2), page=page)
    assert [pages[0].index(text) for text in ("word1", "fig1", "word2")] == sorted(
        pages[0].index(text) for text in ("word1", "fig1", "word2")
    )


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))]
)
def test_figures_keep_their_order_and_nothing_is_lost(seed: int, columns: int):
    """Random figures, sections, notes and breaks: each figure once, in order, none before its text."""
    choose = random.Random(seed)
    flow, figures, words = "", 0, 0
    for _ in range(25):
        match choose.randrange(7):
            case 0:
                flow += f"<h{(level := choose.randint(1, 3))}>Heading</h{level}>"
            case 1 if choose.random() < 0.4:
                flow += choose.choice(
                    ['<break to="page"/>', '<break to="right"/>', '<break to="column"/>']
                )
            case 2 | 3:
                figures += 1
                span = ' span="columns"' if choose.random() < 0.4 else ""
                within = choose.choice(["section", "flow"])
                height = choose.choice([0, 5, 20, 40, 90])
                flow += figure(
                    figures, choose.choice(EDGES[:3]), height, f'{span} float-within="{within}"'
                )
            case _:
                count = choose.randint(1, 12)
                flow += lines(words, words + count)
                flow += f"<p>n<footnote>{'note ' * choose.randint(1, 60)}</footnote></p>"
                words += count
    area = f'<area columns="{columns}"/>'
    pages = pages_of(flow, page=f'<page size="A6" margin="10mm">{area}</page>')
    placed = [number for page in figures_in(pages) for number in page]
    assert sorted(placed) == list(range(1, figures + 1))
    by_page = [page for page in figures_in(pages) if page]
    assert all(max(one) < min(other) for one, other in pairwise(by_page))
    assert [word for page in words_in(pages) for word in page] == list(range(words))


def test_a_figure_higher_than_a_page_is_an_error_at_the_figure():
    with pytest.raises(AuthoringError) as refused:
        pages_of(LINE.format(1) + figure(1, "bottom", 300) + lines(2, 30))
    (finding,) = refused.value.diagnostics
    assert (finding.code, finding.location and finding.location.tag_name) == (
        "taller-than-area",
        "figure",
    )


def test_three_hundred_figures_of_one_line_find_their_pages():
    pages = pages_of(
        LINE.format(0) + "".join(figure(n, "top", 10) for n in range(300)) + LINE.format(1)
    )
    assert [number for page in figures_in(pages) for number in page] == list(range(300))
    assert 30 < len(pages) < 80


@pytest.mark.long
def test_ten_thousand_figures_without_height_are_laid_out():
    flow = '<figure for="n in range(1, 10001)" float="bottom"/>' + lines(0, 5)
    template = prepare_template(document(flow).encode())
    assert render(template, None, options=OPTIONS).pages >= 1
