"""Families and numbering runs: which master a page has, how pages are counted, where runs end."""

from __future__ import annotations

import pytest

from tests.engine.layout.builders import (
    GREY,
    PLAIN,
    always,
    area,
    at,
    changing,
    columns,
    div,
    laid,
    lines_of,
    master,
    p,
    running,
    texts,
)
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.display import LaidOutDocument
from workers.engine.tree.document import Watermark
from workers.engine.tree.nodes import Block, Break, Occurrence
from workers.engine.tree.page_values import PageValues
from workers.engine.tree.styles.computed import BreakTo


def numbered(*blocks: Block, masters: list | None = None) -> list[str]:
    """Lay blocks out and give, for each page, its text and then `number/count index/total`."""
    footer = running(changing(lambda page: (p(tell(page)),)), tag="footer")
    document = laid(*blocks, masters=masters or [master(height=110, footer=footer)])
    return [" ".join(reversed(texts(page))) for page in document.pages]


def tell(page: PageValues) -> str:
    return f"{page.number}/{page.count} {page.index}/{page.total}"


def widths(document: LaidOutDocument) -> list[float]:
    return [page.width for page in document.pages]


def test_the_members_of_a_family_are_chosen_in_their_order():
    masters = [
        master(100),
        master(101, on=Occurrence.FIRST),
        master(102, on=Occurrence.LAST),
        master(103, on=Occurrence.ODD),
        master(104, on=Occurrence.REST),
        master(105, on=Occurrence.BLANK),
    ]
    document = laid(lines_of(45), masters=masters)
    assert widths(document) == [101, 104, 103, 104, 102]


def test_even_and_not_last_pages_have_masters_too():
    masters = [master(100), master(101, on=Occurrence.EVEN), master(102, on=Occurrence.NOT_LAST)]
    assert widths(laid(lines_of(35), masters=masters)) == [102, 101, 102, 101]
    assert widths(laid(lines_of(25), masters=masters)) == [102, 101, 100]


def test_another_family_begins_a_page_and_the_flows_own_comes_back():
    masters = [master(), master(200, name="wide")]
    wide = div(p("b", page="wide"), p("c", page="wide"), page="wide")
    assert widths(laid(p("a"), wide, p("d"), masters=masters)) == [100, 200, 100]


def test_the_family_is_that_of_the_innermost_block():
    masters = [master(), master(200, name="wide")]
    inner = div(p("a"), p("b", page="wide"))
    assert widths(laid(inner, masters=masters)) == [100, 200]


def test_a_family_that_stays_the_same_begins_no_page():
    masters = [master(), master(200, name="wide")]
    document = laid(p("a", page="wide"), p("b", page="wide"), masters=masters)
    assert widths(document) == [200]


def test_a_run_begins_on_a_new_page_and_counts_its_own_pages():
    assert numbered(lines_of(12), p("b", counter_reset=1), p("c")) == [
        "10 9 8 7 6 5 4 3 2 1 1/2 1/3",
        "12 11 2/2 2/3",
        "c b 1/1 3/3",
    ]


def test_a_run_may_begin_with_another_number():
    assert numbered(p("a", counter_reset=5), p("b", before=BreakTo.PAGE)) == [
        "a 5/6 1/2",
        "b 6/6 2/2",
    ]


def test_a_run_inside_of_blocks_begins_where_they_do():
    assert numbered(p("a"), div(div(p("b"), counter_reset=1), p("c"))) == [
        "a 1/1 1/2",
        "c b 1/1 2/2",
    ]


def test_letters_that_begin_on_the_right_leave_a_blank_page_that_no_run_counts():
    letter = {"before": BreakTo.RIGHT, "counter_reset": 1}
    assert numbered(p("a", **letter), p("b", **letter)) == ["a 1/1 1/3", "", "b 1/1 3/3"]


def test_sides_are_those_of_the_whole_document():
    pages = numbered(
        p("a"), p("b", counter_reset=1), p("c", before=BreakTo.RIGHT), p("d", before=BreakTo.LEFT)
    )
    assert [page.split()[0] for page in pages] == ["a", "b", "c", "d"]


def test_a_document_may_begin_on_the_left():
    assert numbered(p("a", before=BreakTo.LEFT)) == ["", "a 2/2 2/2"]


def test_a_blank_page_has_its_own_master():
    masters = [master(), master(200, on=Occurrence.BLANK)]
    document = laid(p("a"), Break(at("break"), PLAIN, "right", None), p("b"), masters=masters)
    assert widths(document) == [100, 200, 100]


def test_a_blank_page_has_only_what_its_own_master_says():
    header = running(always((p("head"),)))
    blank = running(always((p("left blank"),)))
    mark = Watermark("COPY", True, 0.5, 0.0, 10.0, GREY)
    masters = [master(header=header, watermarks=(mark,))]
    side = Break(at("break"), PLAIN, "right", None)
    found = [texts(page) for page in laid(p("a"), side, p("b"), masters=masters).pages]
    assert found == [["head", "a", "COPY"], [], ["head", "b", "COPY"]]
    masters.append(master(on=Occurrence.BLANK, header=blank))
    found = [texts(page) for page in laid(p("a"), side, p("b"), masters=masters).pages]
    assert found == [["head", "a", "COPY"], ["left blank"], ["head", "b", "COPY"]]


@pytest.mark.parametrize(
    ("on", "marked"),
    [("content", [1, 3, 4]), ("all", [1, 2, 3, 4]), ("blank", [2]), ("first", [1]), ("last", [4])],
)
def test_a_watermark_is_on_the_pages_that_it_names(on: str, marked: list[int]):
    mark = Watermark("COPY", True, 0.5, 0.0, 10.0, GREY, on=Occurrence(on))
    side = Break(at("break"), PLAIN, "right", None)
    blocks = p("a"), side, p("b"), p("c", before=BreakTo.PAGE)
    pages = laid(*blocks, watermarks=(mark,)).pages
    assert [n for n, page in enumerate(pages, 1) if "COPY" in texts(page)] == marked


def test_first_and_last_are_per_run():
    masters = [master(), master(101, on=Occurrence.FIRST), master(102, on=Occurrence.LAST)]
    document = laid(lines_of(12), div(lines_of(25), counter_reset=1), masters=masters)
    assert widths(document) == [101, 102, 101, 100, 102]


def test_content_too_tall_for_the_last_page_precedes_it():
    last = master(on=Occurrence.LAST, areas=(area(height=30),))
    document = laid(lines_of(19), masters=[master(), last])
    assert [len(texts(page)) for page in document.pages] == [10, 9, 0]


def test_content_that_fits_the_last_page_is_placed_on_it():
    last = master(on=Occurrence.LAST, areas=(area(height=30),))
    document = laid(lines_of(12), masters=[master(), last])
    assert [len(texts(page)) for page in document.pages] == [10, 2]


def test_a_last_page_with_more_room_takes_in_the_page_before():
    last = master(height=200, on=Occurrence.LAST)
    document = laid(lines_of(15), masters=[master(), last])
    assert [page.height for page in document.pages] == [100, 200]


def test_a_footer_that_is_higher_on_the_last_page_gets_a_page_where_it_fits():
    footer = running(changing(lambda page: (lines_of(4 if page.is_last else 1),)), tag="footer")
    document = laid(lines_of(18), masters=[master(footer=footer)])
    assert [len(texts(page)) - (4 if page is document.pages[-1] else 1) for page in document.pages] == [9, 9, 0]  # fmt: skip


def test_an_endless_page_change_names_the_pages():
    # An odd total asks for one line more, and so for one page more.
    footer = running(changing(lambda page: (lines_of(1 + page.total % 2),)), tag="footer")
    masters = [master(footer=footer)]
    findings = Findings()
    with pytest.raises(AuthoringError) as raised:
        laid(lines_of(9), masters=masters, findings=findings)
    assert raised.value.diagnostics[0].code == "not-settled"


def test_a_page_break_inside_columns_may_change_the_family():
    masters = [master(), master(200, name="wide")]
    document = laid(columns(p("a"), p("b", page="wide")), masters=masters)
    assert [texts(page) for page in document.pages] == [["a"], ["b"]]
    assert widths(document) == [100, 200]
