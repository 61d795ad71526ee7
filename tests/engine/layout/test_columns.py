"""Columns of a div: they end at one height, and go on in columns on the next page."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from tests.engine.layout.builders import (
    area,
    columns,
    context,
    div,
    laid,
    lines_of,
    master,
    p,
    placed,
    points,
    texts,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.context import Region
from workers.engine.tree.styles.computed import BreakTo


def test_balanced_columns_end_at_one_height():
    page = laid(columns(lines_of(6)), p("after")).pages[0]
    assert placed(page)[2:4] == [("3", 0, 20), ("4", 50, 0)]
    assert placed(page)[-1] == ("after", 0, 30)


def test_columns_that_are_filled_leave_the_last_one_short():
    page = laid(columns(lines_of(12), is_balanced=False)).pages[0]
    assert placed(page)[9:11] == [("10", 0, 90), ("11", 50, 0)]


def test_the_first_columns_are_the_longer_ones():
    page = laid(columns(lines_of(7), count=3)).pages[0]
    assert [x for _, x, _ in placed(page)] == [0, 0, 0, 33.33, 33.33, 33.33, 66.67]


def test_overflowing_columns_continue_on_the_next_page():
    document = laid(columns(lines_of(24)))
    assert [len(texts(page)) for page in document.pages] == [20, 4]
    assert placed(document.pages[1]) == [("21", 0, 0), ("22", 0, 10), ("23", 50, 0), ("24", 50, 10)]


def test_the_gap_stands_between_columns():
    page = laid(columns(lines_of(2), gap=20)).pages[0]
    assert placed(page) == [("1", 0, 0), ("2", 60, 0)]


def test_a_block_that_is_kept_in_one_piece_makes_the_columns_higher():
    kept = div(lines_of(4), avoid_inside=True)
    page = laid(columns(lines_of(2), kept)).pages[0]
    assert [y for _, x, y in placed(page) if x == 50] == [0, 10, 20, 30]


def test_a_column_break_ends_a_column():
    page = laid(columns(p("a"), p("b", before=BreakTo.COLUMN), p("c"))).pages[0]
    assert placed(page) == [("a", 0, 0), ("b", 50, 0), ("c", 50, 10)]


def test_a_page_break_in_columns_breaks_the_page():
    document = laid(columns(p("a"), p("b", before=BreakTo.PAGE)))
    assert [texts(page) for page in document.pages] == [["a"], ["b"]]


def test_margins_of_the_first_and_last_block_stand_outside_of_the_columns():
    inside = columns(p("a", margin=points(8, 0, 0, 0)), p("b", margin=points(0, 0, 6, 0)))
    page = laid(p("top"), inside, p("after")).pages[0]
    assert placed(page) == [("top", 0, 0), ("a", 0, 18), ("b", 50, 18), ("after", 0, 34)]


def test_columns_balance_where_the_content_decides_on_the_height():
    piece = context().lay_out(columns(lines_of(8)), Region(100.0, inf))
    assert piece is not None
    assert piece.height == 40


def test_columns_inside_columns_are_an_error():
    findings = Findings()
    laid(columns(columns(lines_of(4))), findings=findings)
    (error,) = findings.errors
    assert error.code == "nested-columns"


def test_columns_may_stand_after_columns():
    page = laid(columns(lines_of(2)), columns(lines_of(2))).pages[0]
    assert [y for _, _, y in placed(page)] == [0, 0, 10, 10]


def _two_columns(*, is_balanced: bool) -> list:
    balanced = area(columns=2)
    return [
        master(
            areas=(replace(balanced, columns=replace(balanced.columns, is_balanced=is_balanced)),)
        )
    ]


def test_columns_of_an_area_are_balanced_at_the_end_of_the_flow():
    pages = laid(lines_of(26), masters=_two_columns(is_balanced=True)).pages
    assert [len(texts(page)) for page in pages] == [20, 6]
    assert [y for _, x, y in placed(pages[1]) if x] == [0, 10, 20]
    (page,) = laid(lines_of(6), masters=_two_columns(is_balanced=False)).pages
    assert [y for _, x, y in placed(page) if x] == []


def test_columns_of_an_area_are_balanced_before_a_page_break():
    pages = laid(
        lines_of(8), p("next", before=BreakTo.PAGE), masters=_two_columns(is_balanced=True)
    ).pages
    assert [y for _, x, y in placed(pages[0]) if x] == [0, 10, 20, 30]
    assert texts(pages[1]) == ["next"]


def test_balanced_columns_have_the_orphans_and_widows_of_their_paragraphs():
    paragraphs = [lines_of(3, orphans=2, widows=2) for _ in range(3)]
    (page,) = laid(*paragraphs, masters=_two_columns(is_balanced=True)).pages
    left = [text for text, x, _ in placed(page) if not x]
    assert left == ["1", "2", "3", "1", "2", "3"]
