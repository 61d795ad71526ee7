"""Boxes out of the flow: they count from the nearest box or the paper, and take no room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.layout.builders import (
    GREY,
    LINE,
    always,
    box,
    changing,
    div,
    fills,
    laid,
    lines_of,
    master,
    p,
    placed,
    points,
    row,
    sides,
    texts,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import GlyphRun
from workers.engine.tree.nodes import Position
from workers.engine.tree.styles.computed import BreakTo, Overflow
from workers.engine.units import Length, Sides


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"left": 10, "top": 20}, (10, 20, 90, 10)),
        ({"left": 10, "right": 30, "top": 5, "bottom": 15}, (10, 5, 60, 80)),
        ({"right": 10, "width": Length(30), "bottom": 20}, (60, 70, 30, 10)),
        ({"bottom": 0, "height": Length(25)}, (0, 75, 100, 25)),
        ({"left": 10, "top": 0, "margin": points(3, 4, 5, 6)}, (16, 3, 80, 10)),
    ],
)
def test_offsets_and_sizes_make_the_rectangle(given: dict[str, float], expected: tuple[float, ...]):
    page = laid(box(p("a"), background=GREY, **given)).pages[0]
    assert fills(page) == [expected]


def test_a_box_out_of_the_flow_takes_no_room():
    page = laid(p("a"), box(p("b"), left=50, top=50), p("c")).pages[0]
    assert placed(page) == [("a", 0, 0), ("b", 50, 50), ("c", 0, 10)]


def test_it_counts_from_inside_the_border_of_the_box_around_it():
    inner = box(p("a"), left=5, top=5)
    outer = box(inner, width=Length(50), height=Length(40), border=Sides(LINE, LINE, LINE, LINE))
    page = laid(p("text"), outer).pages[0]
    assert placed(page) == [("text", 0, 0), ("a", 6, 16)]


def test_it_does_not_count_from_a_div():
    page = laid(p("text"), div(box(p("a"), left=5, top=50), padding=sides(5))).pages[0]
    assert placed(page)[1] == ("a", 5, 50)


def test_it_stands_on_the_page_its_place_in_the_text_is_on():
    document = laid(lines_of(12), box(p("a"), left=0, top=90))
    assert [texts(page)[-1] for page in document.pages] == ["10", "a"]


def test_it_goes_along_when_the_text_before_it_moves_to_the_next_page():
    moved = p("moved", after=BreakTo.AVOID)
    document = laid(
        lines_of(8), moved, box(p("a"), left=0, top=90), div(lines_of(3), avoid_inside=True)
    )
    assert "a" in texts(document.pages[1])


def test_a_box_out_of_the_flow_forces_no_break_and_hides_none():
    document = laid(
        p("a", after=BreakTo.PAGE), box(p("b"), left=0, top=50, before=BreakTo.PAGE), p("c")
    )
    assert [texts(page) for page in document.pages] == [["a", "b"], ["c"]]


def test_its_margins_do_not_reach_the_blocks_around_it():
    aside = box(p("b"), left=0, top=50, margin=points(30, 0, 0, 0))
    page = laid(p("a"), div(aside, p("c"))).pages[0]
    assert placed(page)[-1] == ("c", 0, 10)


def test_in_a_row_it_is_no_column():
    page = laid(row(p("a"), box(p("b"), left=5, top=50), p("c"))).pages[0]
    assert sorted(placed(page)) == [("a", 0, 0), ("b", 5, 50), ("c", 50, 0)]


def test_content_taller_than_the_box_is_its_error():
    findings = Findings()
    laid(box(lines_of(3), left=0, top=0, height=Length(20)), findings=findings)
    (error,) = findings.errors
    assert "`p` in `box` needs 10.6 mm, the box allows 7.1 mm" in error.message


def test_a_box_beyond_the_paper_is_an_error_that_names_edge_and_distance():
    findings = Findings()
    laid(box(p("a"), left=60, top=0, width=Length(60)), findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "The `box` stands 7.1 mm beyond the right edge of the paper (page 1)."
    )


def test_a_box_may_reach_into_the_bleed():
    given = master(bleed=10.0)
    laid(box(background=GREY, left=-10, top=-10, height=Length(5)), masters=[given])


def test_offsets_that_leave_no_width_are_an_error():
    findings = Findings()
    laid(box(p("a"), left=60, right=60, top=0), findings=findings)
    assert {error.code for error in findings.errors} >= {"no-room"}


def test_a_box_that_shrinks_shrinks_in_its_place():
    shrinking = box(
        p("aaaaaaaaaaaa", white_space="nowrap"),
        left=10, top=10, width=Length(50), height=Length(20), overflow=Overflow.SHRINK,
    )  # fmt: skip
    page = laid(shrinking).pages[0]
    (text,) = [item for item in page.items if isinstance(item, GlyphRun)]
    assert (text.x, text.size) == (10, 8.25)


def test_boxes_of_a_page_lie_under_the_text_or_over_it_and_are_artifacts():
    boxes = always((paper_box("under"), paper_box("over", is_over=True)))
    page = laid(p("text"), masters=[master(boxes=boxes)]).pages[0]
    assert texts(page) == ["under", "text", "over"]
    owners = [item.owner is None for item in page.items if isinstance(item, GlyphRun)]
    assert owners == [True, False, True]


def test_boxes_of_a_page_know_its_values():
    boxes = changing(lambda page: (paper_box(f"{page.number}/{page.count}"),))
    document = laid(lines_of(15), masters=[master(boxes=boxes)])
    assert [texts(page)[0] for page in document.pages] == ["1/2", "2/2"]


def test_boxes_of_a_page_do_not_mind_its_margins():
    given = master(margin=20.0, boxes=always((paper_box("a", left=Length(3), top=Length(4)),)))
    assert placed(laid(masters=[given]).pages[0]) == [("a", 3, 4)]


def paper_box(text: str, *, is_over: bool = False, **offsets: Length):
    return replace(box(p(text)), position=Position(**offsets, is_over=is_over))
