"""Blocks are placed below each other: margins meet, keeps hold, breaks are made where they may be."""

from __future__ import annotations

import pypdfium2
import pytest

from tests.engine.layout.builders import (
    GREY,
    LINE,
    PLAIN,
    RED,
    at,
    div,
    fills,
    heading,
    laid,
    lines_of,
    master,
    p,
    placed,
    points,
    row,
    sides,
    strokes,
    texts,
    ul,
)
from tests.engine.layout.test_page_references import pdf_of
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import GlyphRun, Restore, Save, StrokedRectangle
from workers.engine.tree.nodes import Block, Break, Container, LineBreak, TextRun
from workers.engine.tree.styles.computed import BreakTo, Overflow, WhiteSpace
from workers.engine.units import AUTO, ZERO, Length, LengthKind, Sides


def pages(*blocks, **given):
    return [texts(page) for page in laid(*blocks, **given).pages]


def tops(*blocks, **given):
    return [(text, y) for text, _, y in placed(laid(*blocks, **given).pages[0])]


class TestMargins:
    def test_the_larger_of_two_margins_that_meet_stands_between_blocks(self):
        above, below = p("a", margin=points(0, 0, 6, 0)), p("b", margin=points(4, 0, 0, 0))
        assert tops(above, below) == [("a", 0), ("b", 16)]

    def test_a_negative_margin_is_taken_off(self):
        above, below = p("a", margin=points(0, 0, 6, 0)), p("b", margin=points(-4, 0, 0, 0))
        assert tops(above, below) == [("a", 0), ("b", 12)]

    def test_margins_go_through_a_bare_box_and_meet_the_outside(self):
        inner = div(p("b", margin=points(5, 0, 7, 0)), margin=points(3, 0, 3, 0))
        assert tops(p("a"), inner, p("c")) == [("a", 0), ("b", 15), ("c", 32)]

    def test_padding_keeps_a_first_childs_margin_inside_and_drops_the_last_ones(self):
        inner = div(p("b", margin=points(5, 0, 7, 0)), padding=sides(1))
        assert tops(p("a"), inner, p("c")) == [("a", 0), ("b", 16), ("c", 27)]

    @pytest.mark.parametrize("padding", [0, 1])
    def test_a_built_in_margin_is_only_between_blocks(self, padding):
        built_in = points(0)._replace(top=Length(20.0, LengthKind.BETWEEN))
        inner = div(p("b", margin=built_in), padding=sides(padding))
        above = 0 if padding else 20  # that of a padded box is inside
        assert tops(inner) == [("b", padding)]
        assert tops(p("a"), inner) == [("a", 0), ("b", 10 + above + padding)]
        assert tops(row(p("b", margin=built_in), p("c"))) == [("b", 0), ("c", 0)]
        after_break = laid(p("a"), p("b", margin=built_in, before=BreakTo.PAGE))
        assert placed(after_break.pages[1]) == [("b", 0, 0)]

    def test_a_margin_at_the_foot_of_a_page_pushes_nothing_over(self):
        assert pages(lines_of(10, margin=points(0, 0, 20, 0))) == [[str(n) for n in range(1, 11)]]

    def test_a_margin_is_dropped_at_the_top_of_the_next_page(self):
        document = laid(lines_of(10), p("b", margin=points(8, 0, 0, 0)))
        assert placed(document.pages[1]) == [("b", 0, 0)]

    def test_a_margin_stays_after_a_forced_break_and_on_the_first_page(self):
        document = laid(
            p("a", margin=points(3, 0, 0, 0)),
            p("b", margin=points(8, 0, 0, 0), before=BreakTo.PAGE),
        )
        assert placed(document.pages[0]) == [("a", 0, 3)]
        assert placed(document.pages[1]) == [("b", 0, 8)]

    def test_an_auto_margin_pushes_to_the_foot_of_the_page(self):
        pushed = p("foot", margin=Sides(AUTO, *points(0)[1:]))
        assert tops(p("a"), pushed, p("end")) == [("a", 0), ("foot", 80), ("end", 90)]

    def test_an_auto_margin_reaches_the_foot_from_inside_the_last_box(self):
        inner = div(p("b"), p("foot", margin=Sides(AUTO, *points(0)[1:])))
        assert tops(p("a"), inner) == [("a", 0), ("b", 10), ("foot", 90)]

    def test_an_auto_margin_reaches_the_foot_of_a_box_of_fixed_height(self):
        inner = div(p("b"), p("foot", margin=Sides(AUTO, *points(0)[1:])), height=Length(40.0))
        assert tops(inner, p("c")) == [("b", 0), ("foot", 30), ("c", 40)]

    def test_auto_margins_share_the_remaining_space(self):
        auto = Sides(AUTO, *points(0)[1:])
        assert tops(p("a", margin=auto), p("b", margin=auto)) == [("a", 40), ("b", 90)]

    def test_side_margins_of_auto_place_a_narrower_box(self):
        centred = div(p("a"), width=Length(40.0), margin=Sides(Length(0), AUTO, Length(0), AUTO))
        right = div(p("b"), width=Length(40.0), margin=Sides(Length(0), Length(5), Length(0), AUTO))
        assert placed(laid(centred, right).pages[0]) == [("a", 30, 0), ("b", 55, 10)]


class TestBreaks:
    def test_lines_go_on_on_the_next_page(self):
        assert pages(lines_of(12)) == [[str(n) for n in range(1, 11)], ["11", "12"]]

    def test_orphans_send_a_paragraph_on(self):
        assert pages(lines_of(9), lines_of(5, orphans=2, widows=2))[1] == list("12345")

    def test_widows_take_lines_along(self):
        assert pages(lines_of(6), lines_of(5, orphans=2, widows=2))[1] == ["4", "5"]

    def test_widows_that_leave_no_orphans_send_the_whole_paragraph_on(self):
        assert pages(lines_of(8), lines_of(3, orphans=2, widows=2))[1] == ["1", "2", "3"]

    def test_a_page_ends_before_a_hyphenated_line_where_orphans_allow(self):
        words = "aaaa bbbb cccc dddd\u00adee ffff gggg"
        for before in (6, 7):
            assert pages(lines_of(before), p(words, width=Length(25.0)))[1][0] == "dddd-"
        kept = p(words, width=Length(25.0), orphans=4)
        assert pages(lines_of(6), kept)[1][0] == "ee"

    def test_orphans_and_widows_are_dropped_when_a_page_cannot_hold_them(self):
        assert pages(lines_of(12, orphans=11, widows=1))[0] == [str(n) for n in range(1, 11)]

    def test_a_heading_stays_with_the_next_block(self):
        assert pages(lines_of(9), heading("h"), p("text"))[1] == ["h", "text"]

    def test_a_heading_stays_with_text_that_needs_its_orphans(self):
        assert pages(lines_of(8), heading("h"), lines_of(4, orphans=2))[1][:2] == ["h", "1"]

    def test_a_heading_at_the_end_of_a_box_stays_with_the_block_after_it(self):
        assert pages(lines_of(9), div(heading("h")), p("text"))[1] == ["h", "text"]

    def test_headings_that_fill_a_page_are_broken_from_each_other(self):
        document = pages(*[heading(str(n)) for n in range(12)])
        assert [len(page) for page in document] == [10, 2]

    def test_a_box_that_avoids_breaks_moves_as_a_whole(self):
        assert pages(lines_of(6), div(lines_of(5), avoid_inside=True))[1] == list("12345")

    def test_a_box_taller_than_a_page_is_broken_all_the_same(self):
        whole = div(lines_of(12), avoid_inside=True)
        assert [len(page) for page in pages(p("a"), whole)] == [1, 10, 2]

    def test_a_block_that_avoids_a_break_before_it_takes_the_last_lines_along(self):
        end = div(lines_of(2), before=BreakTo.AVOID, avoid_inside=True)
        assert pages(lines_of(9, orphans=2, widows=3), end) == [list("123456"), [*"789", "1", "2"]]
        inside = div(p("a"), div(lines_of(8, orphans=2, widows=2)))
        assert pages(inside, end) == [["a", *"123456"], [*"78", "1", "2"]]

    def test_lines_that_cannot_be_parted_go_along_whole(self):
        end = div(lines_of(2), before=BreakTo.AVOID, avoid_inside=True)
        short = lines_of(3, orphans=2, widows=2)
        assert pages(lines_of(6), short, end) == [list("123456"), [*"123", "1", "2"]]
        unbroken = div(lines_of(4), avoid_inside=True)
        assert pages(lines_of(5), unbroken, end) == [list("12345"), [*"1234", "1", "2"]]

    def test_a_block_as_tall_as_a_page_takes_nothing_along_that_it_has_no_room_for(self):
        tall = div(lines_of(10), before=BreakTo.AVOID, avoid_inside=True)
        made = pages(lines_of(5, orphans=1, widows=1), tall)
        assert made == [list("1234"), ["5"], [str(n) for n in range(1, 11)]]

    def test_a_heading_of_many_lines_is_not_broken_to_stay_with_its_text(self):
        title = lines_of(5, after=BreakTo.AVOID, orphans=2, widows=2)
        assert pages(lines_of(4), title, div(lines_of(2), avoid_inside=True)) == [
            list("1234"),
            [*"12345", "1", "2"],
        ]

    def test_boxes_that_avoid_breaks_in_boxes_cost_no_more_than_they_are(self):
        inner: Container = div(lines_of(3, orphans=1, widows=1))
        for _ in range(60):
            inner = div(inner, p("x", before=BreakTo.AVOID), p("y", before=BreakTo.AVOID))
        assert len(pages(inner, inner)) == 27

    def test_a_forced_break_begins_a_page(self):
        assert pages(p("a"), p("b", before=BreakTo.PAGE), p("c")) == [["a"], ["b", "c"]]
        assert pages(p("a", after=BreakTo.PAGE), p("b")) == [["a"], ["b"]]

    def test_a_forced_break_inside_a_box_begins_a_page(self):
        assert pages(div(p("a"), p("b", before=BreakTo.PAGE)), p("c")) == [["a"], ["b", "c"]]
        assert pages(p("a"), div(p("b", before=BreakTo.PAGE))) == [["a"], ["b"]]

    def test_a_forced_break_before_the_first_block_makes_no_empty_page(self):
        assert pages(p("a", before=BreakTo.PAGE)) == [["a"]]

    def test_a_break_to_the_right_leaves_an_even_page_blank(self):
        assert pages(p("a"), p("b", before=BreakTo.RIGHT)) == [["a"], [], ["b"]]
        assert pages(p("a"), p("b", before=BreakTo.LEFT)) == [["a"], ["b"]]

    def test_a_break_element_begins_a_page(self):
        assert pages(p("a"), Break(at("break"), PLAIN, "page", None), p("b")) == [["a"], ["b"]]

    def test_a_break_with_a_need_is_made_only_if_less_is_left(self):
        need = Break(at("break"), PLAIN, "page", 30.0)
        assert pages(lines_of(7), need, p("b"))[0][-1] == "b"
        assert pages(lines_of(8), need, p("b"))[1] == ["b"]


class TestBoxes:
    def test_padding_and_border_surround_the_content(self):
        box = div(p("a"), padding=sides(2, 3), border=Sides(LINE, LINE, LINE, LINE))
        page = laid(box, p("b")).pages[0]
        assert placed(page) == [("a", 4, 3), ("b", 0, 16)]
        (outline,) = (item for item in page.items if isinstance(item, StrokedRectangle))
        assert outline[:5] == (0.5, 0.5, 99, 15, 1)

    def test_a_broken_box_is_open_at_the_break(self):
        box = div(
            lines_of(12), padding=sides(5, 0), border=Sides(LINE, LINE, LINE, LINE), background=RED
        )
        first, second = laid(box).pages
        assert placed(first)[0] == ("1", 1, 6)
        assert placed(second)[0][1:] == (1, 0)
        assert len(strokes(first)) == len(strokes(second)) == 3
        assert fills(first) == [(0, 0, 100, 86)]
        assert fills(second) == [(0, 0, 100, 46)]

    def test_a_box_of_stated_size_keeps_it(self):
        box = div(p("a"), width=Length(40.0), height=Length(30.0), background=RED)
        page = laid(box, p("b")).pages[0]
        assert fills(page) == [(0, 0, 40, 30)]
        assert placed(page)[1] == ("b", 0, 30)

    def test_a_least_height_is_filled_up(self):
        assert tops(div(p("a"), min_height=Length(25.0)), p("b")) == [("a", 0), ("b", 25)]

    def test_an_opaque_box_turned_is_drawn_in_its_own_group(self):
        items = laid(div(p("a"), opacity=0.5, rotate=45.0, height=Length(20.0))).pages[0].items
        assert items[0] == Save(rotate=(45, 50, 10), opacity=0.5)
        assert items[-1] == Restore()

    def test_a_box_turned_by_a_quarter_takes_the_room_of_its_turned_shape(self):
        turned = div(p("a"), rotate=90.0, width=Length(40.0), height=Length(20.0), background=RED)
        page = laid(turned, p("b")).pages[0]
        assert page.items[0] == Save(rotate=(90, 10, 20), opacity=1.0)
        assert fills(page) == [(-10, 10, 40, 20)]
        assert placed(page)[-1] == ("b", 0, 40)

    def test_overflow_is_an_error_with_element_place_amount_and_advice(self):
        findings = Findings()
        laid(
            div(p("Example with a very long text"), tag="box", height=Length(15.0)),
            findings=findings,
        )
        (error,) = findings.errors
        assert error.message == (
            "Text does not fit: `p` in `box` needs 7.1 mm, the box allows 5.3 mm "
            '(page 1, "Example with a very …"). '
            'Make the box taller, or set overflow="shrink".'
        )
        assert [place.tag_name for place in error.chain] == ["p", "box"]

    def test_text_wider_than_its_stated_width_is_reported(self):
        findings = Findings()
        wide = {"white_space": WhiteSpace.NOWRAP}
        loose = p("seven characters", tag="box", **wide)
        laid(p("seven characters", width=Length(50.0), **wide), findings=findings)
        laid(div(loose, tag="box", width=Length(50.0)), findings=findings)
        own, around = findings.errors
        assert "`p` needs 28.2 mm of width, its width allows 17.6 mm" in own.message
        assert "`box` needs 28.2 mm of width, its width allows 17.6 mm" in around.message

    def test_a_line_break_parts_the_words_of_a_message(self):
        findings = Findings()
        broken = p(TextRun("one", PLAIN.text), LineBreak(PLAIN.text), TextRun("two", PLAIN.text))
        laid(div(broken, height=Length(15.0)), findings=findings)
        (error,) = findings.errors
        assert '"one two"' in error.message

    def test_visible_overflow_is_no_error(self):
        box = div(lines_of(3), height=Length(15.0), overflow=Overflow.VISIBLE)
        assert tops(box, p("b"))[-1] == ("b", 15)

    def test_a_greatest_height_is_an_error_only_beyond_it(self):
        assert tops(div(p("a"), max_height=Length(15.0)), p("b"))[-1] == ("b", 10)
        findings = Findings()
        laid(div(lines_of(2), max_height=Length(15.0)), findings=findings)
        assert [error.code for error in findings.errors] == ["content-overflows"]

    def test_a_box_of_limited_height_moves_as_a_whole(self):
        assert pages(lines_of(9), div(lines_of(2), max_height=Length(40.0)))[1] == ["1", "2"]

    def test_a_box_taller_than_a_page_is_an_error(self):
        findings = Findings()
        laid(p("a"), div(p("b"), height=Length(120.0)), findings=findings)
        (error,) = findings.errors
        assert error.code == "taller-than-area"
        assert "needs 42.3 mm, an empty area allows 35.3 mm (page 2)" in error.message


class TestRows:
    def test_blocks_share_the_width_and_stand_side_by_side(self):
        page = laid(row(p("a"), p("b"), gap=10.0), p("c")).pages[0]
        assert placed(page) == [("a", 0, 0), ("b", 55, 0), ("c", 0, 10)]

    def test_a_stated_width_is_honoured_and_the_rest_is_shared(self):
        page = laid(row(p("a", width=Length(30.0)), p("b"), gap=10.0)).pages[0]
        assert placed(page) == [("a", 0, 0), ("b", 40, 0)]

    @pytest.mark.parametrize(("align", "y"), [("start", 0), ("center", 10), ("end", 20)])
    def test_lower_blocks_are_placed_by_align_items(self, align, y):
        assert tops(row(lines_of(3), p("b"), align=align))[-1] == ("b", y)

    @pytest.mark.parametrize(("align", "y"), [("start", 0), ("center", 15), ("end", 30)])
    @pytest.mark.parametrize("own", ["height", "min_height"])
    def test_blocks_stand_in_the_rows_own_height(self, own, align, y):
        assert tops(row(p("a"), align=align, **{own: Length(40.0)}), p("x")) == [
            ("a", y),
            ("x", 40),
        ]

    def test_padding_and_border_are_no_room_for_blocks(self):
        framed = row(p("a"), align="end", height=Length(40.0), padding=sides(5, 0, 10, 0))
        assert tops(framed) == [("a", 20)]

    def test_a_margin_that_is_auto_pushes_a_block_of_a_row_down(self):
        pushed = p("b", margin=Sides(AUTO, ZERO, ZERO, ZERO))
        assert tops(row(lines_of(3), pushed))[-1] == ("b", 20)

    def test_stretched_boxes_are_as_high_as_the_row(self):
        low = div(p("a"), background=GREY)
        assert fills(laid(row(low, lines_of(3), align="stretch")).pages[0]) == [(0, 0, 50, 30)]
        own = div(p("a"), background=GREY, height=Length(12.0))
        assert fills(laid(row(own, lines_of(3), align="stretch")).pages[0]) == [(0, 0, 50, 12)]
        most = div(p("a"), background=GREY, max_height=Length(20.0))
        assert fills(laid(row(most, lines_of(3), align="stretch")).pages[0]) == [(0, 0, 50, 20)]

    @pytest.mark.parametrize("align", ["normal", "baseline"])
    def test_label_and_amount_of_different_size_share_a_baseline(self, align):
        page = laid(row(p("a"), p("b", size=30.0, line_height=40.0), align=align)).pages[0]
        assert len({item.y for item in page.items if isinstance(item, GlyphRun)}) == 1

    def test_text_stands_on_the_baseline_of_others_though_a_plain_box_is_around(self):
        big = p("b", size=30.0, line_height=40.0)
        page = laid(row(div(p("a"), p("x")), big, align="normal")).pages[0]
        a, _, b = (item.y for item in page.items if isinstance(item, GlyphRun))
        assert a == b

    def test_visible_boxes_align_to_the_start_unless_baseline_is_set(self):
        card = div(p("a"), background=GREY, padding=sides(5, 5, 5, 5))
        big = p("b", size=30.0, line_height=40.0)
        assert fills(laid(row(card, big, align="normal")).pages[0])[0][1] == 0
        assert fills(laid(row(card, big, align="baseline")).pages[0])[0][1] > 0

    def test_text_that_is_lowered_onto_a_baseline_stays_on_its_page(self):
        above = p("x", line_height=40.0)
        blocks = (lines_of(6, orphans=1, widows=1), p("b", line_height=40.0, size=30.0))
        first, second = laid(above, row(*blocks, align="normal")).pages
        assert texts(first) == ["x", "1", "2", "3", "b"]
        assert texts(second) == ["4", "5", "6"]

    @pytest.mark.parametrize("align", ["normal", "start", "stretch"])
    def test_the_last_margin_in_a_block_of_a_row_is_honoured(self, align):
        inner = div(p("a"), p("b", margin=points(0, 0, 7, 0)))
        assert tops(row(inner, p("c"), align=align), p("x"))[-1] == ("x", 27)
        assert tops(div(row(inner, p("c"), align=align)), p("x"))[-1] == ("x", 27)
        assert tops(row(row(inner, p("c"), align=align)), p("x"))[-1] == ("x", 27)

    def test_a_margin_beside_a_higher_block_is_no_gap_below_the_row(self):
        short = p("a", margin=points(0, 0, 15, 0))
        assert tops(row(short, lines_of(2)), p("x"))[-1] == ("x", 25)
        assert tops(row(short, lines_of(3)), p("x"))[-1] == ("x", 30)

    def test_the_margins_of_blocks_meet_those_above_and_below_the_row(self):
        blocks = [p(text, margin=points(6, 0, 8, 0)) for text in "ab"]
        below = p("x", margin=points(5, 0, 0, 0))
        assert tops(p("t"), row(*blocks), below) == [("t", 0), ("a", 16), ("b", 16), ("x", 34)]

    def test_a_block_with_a_larger_top_margin_stands_lower_than_its_neighbour(self):
        blocks = p("a", margin=points(2, 0, 0, 0)), p("b", margin=points(7, 0, 0, 0))
        assert tops(p("t"), row(*blocks, align="start")) == [("t", 0), ("a", 12), ("b", 17)]

    def test_rows_in_rows_cost_no_more_than_they_are(self):
        inner: Block = lines_of(40, orphans=1, widows=1)
        for size in range(11, 51):
            big = p("b", size=float(size), line_height=float(size), width=Length(40.0))
            inner = row(big, div(inner), align="baseline")
        assert len(pages(p("a"), inner, masters=[master(2000.0, 200.0)])) > 1

    def test_a_row_is_broken_and_each_block_continues_by_itself(self):
        first, second = laid(p("a"), row(lines_of(12), lines_of(11), p("c"))).pages
        assert len(texts(first)) == 1 + 9 + 9 + 1
        assert texts(second) == ["10", "11", "12", "10", "11"]

    def test_blocks_wider_than_the_row_are_an_error(self):
        findings = Findings()
        laid(row(p("a", width=Length(80.0)), p("b", width=Length(40.0))), findings=findings)
        (error,) = findings.errors
        assert "`row` needs 42.3 mm of width, the page allows 35.3 mm" in error.message


class TestLists:
    def test_markers_hang_before_the_first_line(self):
        page = laid(ul("one two three four five six")).pages[0]
        assert placed(page) == [("*", 11, 0), ("one two three", 20, 0), ("four five six", 20, 10)]

    def test_a_broken_item_has_one_marker(self):
        document = laid(lines_of(9), ul("one two three four five six"))
        assert texts(document.pages[0])[-2:] == ["*", "one two three"]
        assert texts(document.pages[1]) == ["four five six"]


def test_headings_are_entries_of_the_outline_with_page_and_height():
    document = laid(lines_of(9), heading("One"), p("text"))
    assert [tuple(entry)[:4] for entry in document.outline] == [(1, "One", 1, 0)]


def test_page_counts_do_not_change_from_one_run_to_the_next():
    blocks = [heading("h"), lines_of(25, orphans=2, widows=2), ul("a", "b"), div(lines_of(7))]
    assert len({len(pages(*blocks, masters=[master()])) for _ in range(3)}) == 1


def test_boxes_in_boxes_cost_no_more_than_they_are():
    inner: Container = div(lines_of(15, margin=points(2)))
    for _ in range(60):
        inner = div(inner, avoid_inside=True)
    assert len(pages(inner, inner)) == 4


def test_totals_that_avoid_a_break_before_them_stand_below_the_last_rows():
    source = (
        '<document lang="en"><page size="74mm 105mm" margin="5mm"/><flow><table>'
        '<tr for="n in range(1, 16)"><td>item {{ n }}</td></tr></table>'
        '<p break-before="avoid" break-inside="avoid">Net<br/>Tax<br/>Total</p></flow></document>'
    )
    with pypdfium2.PdfDocument(pdf_of(source)) as file:
        last = file[len(file) - 1].get_textpage().get_text_range().split()
    assert last[-3:] == ["Net", "Tax", "Total"]
    assert last.count("item") >= 2
