"""Areas: flows fill the rectangles that pages have for them, one after the other."""

from __future__ import annotations

import pytest

from tests.engine.layout.builders import (
    LINE,
    PLAIN,
    area,
    at,
    box,
    flow,
    laid,
    lines_of,
    master,
    p,
    placed,
    sides,
    strokes,
    texts,
)
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.display import Restore, Save
from workers.engine.layout.pages import pagination
from workers.engine.tree.nodes import Break, Occurrence
from workers.engine.tree.styles.computed import BreakTo, Overflow


def test_a_flow_fills_the_areas_of_a_page_in_their_order():
    given = master(200, 100, areas=(area(width=90), area(left=100)))
    document = laid(lines_of(15), masters=[given])
    assert placed(document.pages[0])[0] == ("1", 0, 0)
    assert placed(document.pages[0])[10] == ("11", 100, 0)
    assert len(document.pages) == 1


def test_a_flow_continues_in_the_areas_of_the_next_page():
    given = master(areas=(area(height=30), area(top=60, height=20)))
    document = laid(lines_of(8), masters=[given])
    assert [texts(page) for page in document.pages] == [["1", "2", "3", "4", "5"], ["6", "7", "8"]]


def test_each_area_of_a_page_is_measured_once(monkeypatch):
    measured = []
    resolve = pagination.resolve_area
    monkeypatch.setattr(
        pagination, "resolve_area", lambda *each: measured.append(each) or resolve(*each)
    )
    areas = tuple(area(left=10 * n, width=10, height=10) for n in range(20))
    document = laid(lines_of(40), masters=[master(200, 100, areas=areas)])
    assert (len(document.pages), len(measured)) == (2, 40)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"left": 10, "top": 20}, (10, 20)),
        ({"right": 10, "width": 30, "bottom": 0, "height": 40}, (60, 60)),
        ({"left": 5, "padding": sides(3, 4, 5, 6)}, (11, 3)),
        ({}, (0, 0)),
    ],
)
def test_sides_that_are_not_given_are_the_regions(
    given: dict[str, float], expected: tuple[float, float]
):
    page = laid(p("a"), masters=[master(areas=(area(**given),))]).pages[0]
    assert placed(page) == [("a", *expected)]


def test_columns_of_an_area_fill_one_after_the_other_with_a_rule_between():
    given = master(110, 100, areas=(area(columns=2, gap=10, rule=LINE),))
    page = laid(lines_of(12), masters=[given]).pages[0]
    assert placed(page)[9:11] == [("10", 0, 90), ("11", 60, 0)]
    assert strokes(page) == [(55, 0, 55, 100)]


def test_a_column_break_continues_in_the_next_column_an_area_break_in_the_next_area():
    given = master(200, 100, areas=(area(width=100, columns=2), area(left=100)))
    page = laid(
        p("a"),
        p("b", before=BreakTo.COLUMN),
        Break(at("break"), PLAIN, "area", None),
        p("c"),
        masters=[given],
    ).pages[0]
    assert placed(page) == [("a", 0, 0), ("b", 50, 0), ("c", 100, 0)]


def test_an_area_break_leaves_the_columns_that_are_left():
    given = master(200, 100, areas=(area(width=100, columns=2), area(left=100)))
    page = laid(p("a"), Break(at("break"), PLAIN, "area", None), p("b"), masters=[given]).pages[0]
    assert placed(page) == [("a", 0, 0), ("b", 100, 0)]


def test_flows_run_side_by_side_and_each_continues():
    given = master(200, areas=(area(width=90, height=50), area("side", left=100, height=50)))
    document = laid(lines_of(3), flows=[flow("side", lines_of(7))], masters=[given])
    assert [texts(page) for page in document.pages] == [
        ["1", "2", "3", "1", "2", "3", "4", "5"],
        ["6", "7"],
    ]


def test_a_flow_waits_for_the_first_page_that_has_an_area_for_it():
    cover = master(on=Occurrence.FIRST, areas=(area("cover"),))
    document = laid(p("text"), flows=[flow("cover", p("cover"))], masters=[master(), cover])
    assert [texts(page) for page in document.pages] == [["cover"], ["text"]]


def test_a_flow_with_pages_of_its_own_follows_the_body():
    back = master(60, 60, name="back", areas=(area("terms"),))
    document = laid(
        p("text"), flows=[flow("terms", p("terms"), page="back")], masters=[master(), back]
    )
    assert [texts(page) for page in document.pages] == [["text"], ["terms"]]
    assert document.pages[1].width == 60


def test_a_flow_that_finds_no_area_to_go_on_in_is_an_error_at_flow_and_page():
    first = master(on=Occurrence.FIRST, areas=(area(), area("side", height=20)))
    with pytest.raises(AuthoringError) as raised:
        laid(
            p("text"), flows=[flow("side", lines_of(5))], masters=[master(), first],
            findings=Findings(),
        )  # fmt: skip
    (error,) = raised.value.diagnostics
    assert error.code == "no-area"
    assert 'The flow "side" has content left on page 2' in error.message
    assert [place.tag_name for place in error.chain] == ["flow", "page"]


def test_a_body_that_never_finds_an_area_ends_in_an_error():
    given = master(areas=(area("other"),))
    with pytest.raises(AuthoringError) as raised:
        laid(p("text"), masters=[given], findings=Findings())
    assert raised.value.diagnostics[0].code == "no-area"


def test_an_area_without_room_is_an_error():
    given = master(areas=(area(left=60, right=60),))
    with pytest.raises(AuthoringError) as raised:
        laid(p("text"), masters=[given], findings=Findings())
    assert (raised.value.diagnostics[0].code, raised.value.diagnostics[0].location) == (
        "no-room",
        at("area").location,
    )


def test_an_area_beyond_the_paper_is_an_error():
    findings = Findings()
    given = master(areas=(area(left=60, width=60),))
    laid(p("text"), masters=[given], findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "The `area` stands 7.1 mm beyond the right edge of the paper (page 1)."
    )


def test_a_bound_area_keeps_its_flow_and_reports_overflow():
    findings = Findings()
    given = master(areas=(area(height=20, overflow=Overflow.ERROR),))
    document = laid(lines_of(3), masters=[given], findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "Text does not fit: `p` in `area` needs 10.6 mm, the area allows 7.1 mm"
    )
    assert texts(document.pages[0]) == ["1", "2", "3"]


def test_a_hiding_area_cuts_at_its_edge():
    given = master(areas=(area(height=20, overflow=Overflow.HIDDEN),))
    findings = Findings()
    document = laid(lines_of(3), masters=[given], findings=findings)
    assert not findings.errors
    items = document.pages[0].items
    assert items[0] == Save(clip=(0, 0, 100, 20))
    assert isinstance(items[-1], Restore)


def test_a_shrinking_area_sets_its_flow_smaller():
    given = master(areas=(area(height=20, overflow=Overflow.SHRINK),))
    page = laid(lines_of(2, line_height=12), masters=[given]).pages[0]
    assert texts(page) == ["1", "2"]
    assert {round(item.size, 2) for item in page.items} == {8.25}  # type: ignore[union-attr]


def test_a_bound_area_continues_a_paragraph_begun_before_it():
    given = master(areas=(area(height=20), area(top=30, height=40, overflow=Overflow.SHRINK)))
    page = laid(lines_of(4), masters=[given]).pages[0]
    assert placed(page) == [("1", 0, 0), ("2", 0, 10), ("3", 0, 30), ("4", 0, 40)]


def test_a_bound_area_of_columns_fills_them_in_turn():
    given = master(areas=(area(columns=2, height=20, overflow=Overflow.ERROR),))
    page = laid(lines_of(3), masters=[given]).pages[0]
    assert placed(page) == [("1", 0, 0), ("2", 0, 10), ("3", 50, 0)]


def test_a_box_in_the_text_counts_from_the_paper_not_from_the_area():
    given = master(areas=(area(left=20, top=20),))
    page = laid(p("a"), box(p("b"), left=5, top=0), masters=[given]).pages[0]
    assert placed(page) == [("a", 20, 20), ("b", 5, 0)]


def test_a_paragraph_continues_in_an_area_of_another_width():
    given = master(areas=(area(width=20, height=20), area(top=30, width=45)))
    page = laid(p("aa bb cc dd ee ff gg hh"), masters=[given]).pages[0]
    assert texts(page) == ["aa", "bb", "cc dd ee", "ff gg hh"]


def test_words_cut_in_one_area_go_on_behind_the_cut_in_the_next():
    given = master(
        areas=(area(width=20, height=20), area(top=30, width=30, height=10), area(top=50))
    )
    page = laid(p("abcdefghijklmnopqrstu vw"), masters=[given]).pages[0]
    assert texts(page) == ["abcd", "efgh", "ijklmn", "opqrstu vw"]


def test_lines_that_end_by_force_are_not_lost_or_doubled_in_the_next_area():
    given = master(areas=(area(width=20, height=20), area(top=30, width=50)))
    page = laid(lines_of(5), masters=[given]).pages[0]
    assert placed(page) == [("1", 0, 0), ("2", 0, 10), ("3", 0, 30), ("4", 0, 40), ("5", 0, 50)]


def test_a_paragraph_continues_over_pages_of_different_widths():
    first = master(50, 60, on=Occurrence.FIRST)
    last = master(30, 60, on=Occurrence.LAST)
    document = laid(p("aa bb cc " * 12), masters=[master(60, 60), first, last])
    words = " ".join(text for page in document.pages for text in texts(page)).split()
    assert words == ["aa", "bb", "cc"] * 12
