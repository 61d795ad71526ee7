"""Overflow: content that its box does not hold shrinks, is cut off, ends in dots, or is drawn beyond."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.layout.builders import (
    body,
    column,
    div,
    group,
    laid,
    lines_of,
    of_kind,
    p,
    placed,
    row,
    runs,
    styled,
    table,
    template,
    texts,
    tr,
    ul,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import LaidOutPage, Save
from workers.engine.tree.nodes import Block, TextRun
from workers.engine.tree.styles.computed import Align, Overflow, WhiteSpace
from workers.engine.units import Length

NOWRAP = {"white_space": WhiteSpace.NOWRAP}


def sizes(page: LaidOutPage) -> list[float]:
    return [round(run.size, 2) for run in runs(page)]


def shrinking(*children: Block, height: float = 20.0, **given: Any) -> Block:
    return div(*children, height=Length(height), overflow=Overflow.SHRINK, **given)


class TestShrink:
    def test_fitting_text_is_not_changed(self):
        assert sizes(laid(shrinking(p("short"))).pages[0]) == [10]

    def test_text_is_rewrapped_in_steps_of_a_quarter_point(self):
        page = laid(shrinking(p("aaaa bbbb cc"), width=Length(50.0), height=10.0)).pages[0]
        assert texts(page) == ["aaaa bbbb cc"]
        assert sizes(page) == [8.25]

    def test_smaller_text_shrinks_in_proportion(self):
        small = TextRun("small", styled(size=8.0).text)
        box = shrinking(p("aaaaa", size=16.0, line_height=16.0), p(small), height=20.0)
        large, little = sizes(laid(box).pages[0])
        assert large == 12.25
        assert little == pytest.approx(large / 2, abs=0.01)

    def test_no_text_gets_smaller_than_the_least_size(self):
        findings = Findings()
        box = shrinking(p("aaaa bbbb cccc"), p("d", size=6.0), height=5.0, min_font_size=8.0)
        page = laid(box, findings=findings).pages[0]
        assert sizes(page) == [8, 6]
        (error,) = findings.errors
        assert error.code == "content-overflows"
        assert "min-font-size smaller" in error.message

    def test_without_a_least_size_it_is_seventy_per_cent(self):
        page = laid(shrinking(lines_of(9), height=20.0), findings=Findings()).pages[0]
        assert set(sizes(page)) == {7}

    def test_a_line_that_is_too_wide_shrinks_too(self):
        box = shrinking(p("aaaaaaaaaa", **NOWRAP), width=Length(45.0))
        assert sizes(laid(box).pages[0]) == [9]

    def test_rows_lists_and_tables_inside_shrink(self):
        shared = template(2)
        rows = table(
            body(tr(shared, "a", "b"), tr(shared, "c", (p("d"),))),
            columns=[column(20), column(20)],
            heads=[group(tr(shared, "h", "i"))],
        )
        page = laid(shrinking(row(p("x"), p("y")), ul("z"), rows, height=45.0)).pages[0]
        assert len(sizes(page)) == 10
        assert len(set(sizes(page))) == 1
        assert sizes(page)[0] < 10

    def test_a_box_in_a_box_shrinks_with_it(self):
        inner = shrinking(lines_of(2), height=16.0)
        page = laid(shrinking(p("a"), inner, height=24.0)).pages[0]
        assert len(set(sizes(page))) == 1

    def test_depth_does_not_multiply_the_work(self):
        block: Block = shrinking(lines_of(3), height=12.0)
        for _ in range(12):
            block = shrinking(block, height=12.0)
        laid(block, findings=Findings())


class TestHidden:
    def test_content_is_clipped_at_the_padding_edge_and_noted(self):
        findings = Findings()
        box = div(lines_of(3), tag="box", height=Length(15.0), overflow=Overflow.HIDDEN)
        page = laid(box, findings=findings).pages[0]
        assert of_kind(page, Save) == [Save(clip=(0, 0, 100, 15))]
        assert findings.errors == ()
        (note,) = findings.warnings
        assert note.code == "content-hidden"
        assert note.message.startswith("Text is cut off: `p` in `box` needs 10.6 mm")

    def test_a_wide_line_is_cut_off_and_noted(self):
        findings = Findings()
        laid(p("a" * 30, overflow=Overflow.HIDDEN, **NOWRAP), findings=findings)
        assert [d.code for d in findings] == ["content-hidden"]

    def test_a_box_of_its_own_width_inside_is_not_forgiven(self):
        findings = Findings()
        inner = div(p("a" * 30, **NOWRAP), width=Length(50.0))
        laid(div(inner, overflow=Overflow.HIDDEN), findings=findings)
        assert [d.code for d in findings.errors] == ["wider-than-container"]


class TestVisible:
    def test_a_wide_line_is_drawn_beyond_its_box(self):
        assert texts(laid(p("a" * 30, overflow=Overflow.VISIBLE, **NOWRAP)).pages[0]) == ["a" * 30]


def ending(*children: Block, height: float, **given: Any) -> list[tuple[str, float, float]]:
    box = div(*children, height=Length(height), overflow=Overflow.ELLIPSIS, **given)
    return placed(laid(box).pages[0])


class TestEllipsis:
    def test_as_many_lines_as_fit_and_the_last_ends_in_dots(self):
        given = {"width": Length(50.0)}
        assert ending(p("aaaa bbbb cccc dddd eeee ffff"), height=25.0, **given) == [
            ("aaaa bbbb", 0, 0),
            ("cccc dddd…", 0, 10),
        ]

    def test_fitting_text_has_no_ellipsis(self):
        assert ending(p("aaaa"), height=10.0) == [("aaaa", 0, 0)]

    def test_the_last_paragraph_that_fits_ends_in_dots(self):
        assert ending(p("aaaa"), p("bbbb"), height=15.0) == [("aaaa…", 0, 0)]

    def test_words_are_cut_where_the_dots_need_room(self):
        assert ending(p("aaaa bbbbb cccc"), height=10.0, width=Length(50.0)) == [
            ("aaaa bbbb…", 0, 0)
        ]

    def test_a_line_of_its_own_ends_in_dots_where_it_is_too_wide(self):
        style = {"overflow": Overflow.ELLIPSIS, "width": Length(40.0), **NOWRAP}
        assert placed(laid(p("aaaabbbbcccc", **style)).pages[0]) == [("aaaabbb…", 0, 0)]

    def test_aligned_lines_stay_aligned(self):
        paragraph = p("aaaa bbbb cccc", align=Align.RIGHT)
        assert ending(paragraph, height=10.0, width=Length(50.0)) == [("aaaa bbbb…", 0, 0)]
        centred = p("aaaabbbb cccc", align=Align.CENTER)
        assert ending(centred, height=10.0, width=Length(60.0)) == [("aaaabbbb…", 7.5, 0)]

    def test_justified_lines_are_set_close(self):
        paragraph = p("aa bb cccccccc dd", align=Align.JUSTIFY)
        assert ending(paragraph, height=10.0, width=Length(50.0)) == [("aa bb…", 0, 0)]

    def test_lists_are_cut_between_and_inside_items(self):
        found = ending(ul("aaaa", "bbbb", "cccc"), height=20.0)
        assert [text for text, _, _ in found] == ["*", "aaaa", "*", "bbbb…"]

    def test_several_looks_are_cut_in_the_last_that_has_room(self):
        bold = TextRun("bbb", styled(weight=700).text)
        assert ending(p("aaaa ", bold, " cccc"), height=10.0, width=Length(50.0)) == [
            ("aaaa ", 0, 0),
            ("bbb…", 25, 0),
        ]

    def test_not_even_one_line_is_an_error(self):
        findings = Findings()
        box = div(p("a"), tag="box", height=Length(5.0), overflow=Overflow.ELLIPSIS)
        laid(box, findings=findings)
        (error,) = findings.errors
        assert "Not even one line fits" in error.message
