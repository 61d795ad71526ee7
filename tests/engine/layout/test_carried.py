"""Tables over pages: what pieces carry, their captions, aligned numbers, and cells over rows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.layout.builders import (
    LINE,
    RED,
    SquareFonts,
    at,
    body,
    changing,
    column,
    document,
    fills,
    group,
    heading,
    laid,
    lines_of,
    master,
    p,
    placed,
    points,
    runs,
    share,
    sides,
    strokes,
    styled,
    table,
    template,
    texts,
    totalled,
    tr,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.passes import lay_out
from workers.engine.ports import Resources
from workers.engine.tree.nodes import (
    Caption,
    CellTemplate,
    Occurrence,
    Role,
    RowTemplate,
    SpanningCell,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues, Total, TotalMode
from workers.engine.tree.styles.computed import Align
from workers.engine.units import Length

ONE = template(1)
TWO = template(2)
MODES = (TotalMode.SUM, TotalMode.LAST, TotalMode.COUNT, TotalMode.MIN, TotalMode.MAX)
WIDE = [master(1000.0, 100.0)]


def pages(*blocks, **given):
    return [texts(page) for page in laid(*blocks, **given).pages]


def spanning(*cells, under=None, rows=1, **given):
    """A row template of cells given as (colspan, rowspan), under the first cell of another."""
    made = tuple(CellTemplate(at("td"), Role.CELL, styled(**given), c, r) for c, r in cells)
    covers = () if under is None else (SpanningCell(under.cells[0], 0, rows),)
    starts = (1,) if covers else ()
    shared = styled(avoid_inside=True)
    return RowTemplate(at("tr"), shared, made, repeats=False, starts=starts, covers=covers)


def show(figure: str, values: FragmentValues) -> tuple[TableRow, ...]:
    """Return a head or foot that shows one figure of every total."""
    return (tr(ONE, f"{figure}:{'/'.join(map(str, getattr(values, figure)))}"),)


def carrying(rows, figures, modes=MODES, start=None, **given):
    """A table of one column whose feet show figures of its totals on each piece."""
    totals = [
        Total(mode.value, mode, Decimal(0) if mode in ("sum", "count") else start) for mode in modes
    ]
    feet = [
        replace(group(on=Occurrence.ALL, tag="tfoot"), rows=changing(partial(show, figure)))
        for figure in figures
    ]
    return totalled(table(body(*rows), feet=feet, **given), *totals)


def counted(values, modes=MODES):
    return [
        tr(
            ONE,
            f"r{n}",
            contributions=tuple(Decimal(1) if mode == "count" else value for mode in modes),
        )
        for n, value in enumerate(values)
    ]


def figures_of(shown, figure):
    """Return what the feet of each page show of a figure."""
    found = [
        text.removeprefix(f"{figure}:")
        for page in shown
        for text in page
        if text.startswith(figure)
    ]
    return [tuple(None if v == "None" else Decimal(v) for v in text.split("/")) for text in found]


class TestCarriedTotals:
    def test_each_mode_carries_and_counts_its_own_way(self):
        rows = counted([Decimal(n) for n in (5, 1, 7, 3, 2, 9, 4)])
        shown = pages(carrying(rows, ["before", "here", "after", "overall"]), masters=WIDE)
        assert len(shown) == 2  # six rows and four feet fill a page
        assert figures_of(shown, "before") == [(0, None, 0, None, None), (27, 9, 6, 1, 9)]
        assert figures_of(shown, "here") == [(27, 9, 6, 1, 9), (4, 4, 1, 4, 4)]
        assert figures_of(shown, "after") == [(27, 9, 6, 1, 9), (31, 4, 7, 1, 9)]
        assert figures_of(shown, "overall") == [(31, 4, 7, 1, 9)] * 2

    def test_rows_that_are_not_counted_carry_nothing(self):
        rows = [tr(ONE, "head"), *counted([Decimal(2)], modes=("sum",)), tr(ONE, "between")]
        shown = pages(carrying(rows, ["after"], modes=(TotalMode.SUM,)))
        assert figures_of(shown, "after") == [(2,)]

    @given(
        values=st.lists(st.none() | st.decimals(-1000, 1000, places=3), min_size=1, max_size=60),
        above=st.integers(0, 12),
    )
    def test_the_pieces_add_up_to_the_table(self, values, above):
        modes = (TotalMode.SUM, TotalMode.COUNT, TotalMode.LAST, TotalMode.MIN, TotalMode.MAX)
        rows = [
            tr(ONE, f"r{n}", contributions=(v or Decimal(0), Decimal(1), v, v, v))
            for n, v in enumerate(values)
        ]
        made = carrying(rows, ["before", "here", "after"], modes=modes)
        shown = pages(*([lines_of(above)] if above else []), made, masters=WIDE)
        assert [t for page in shown for t in page if t.startswith("r")] == [
            f"r{n}" for n in range(len(values))
        ]
        before, here, after = (figures_of(shown, f) for f in ("before", "here", "after"))
        assert before[1:] == after[:-1]
        assert sum(piece[0] for piece in here) == after[-1][0] == sum(v or 0 for v in values)
        assert sum(piece[1] for piece in here) == after[-1][1] == len(values)
        known = [v for v in values if v is not None]
        last, least, most = after[-1][2:]
        assert last == (known[-1] if known else None)
        assert least == min(known, default=None) == min(_known(here, 3), default=None)
        assert most == max(known, default=None) == max(_known(here, 4), default=None)

    @given(st.integers(1, 60), st.integers(0, 12))
    def test_a_document_laid_out_again_has_as_many_pages(self, count, above):
        made = carrying(counted([Decimal(1)] * count), ["after"])
        blocks = [lines_of(above), made] if above else [made]
        assert pages(*blocks) == pages(*blocks)


def _known(pieces, position):
    return [piece[position] for piece in pieces if piece[position] is not None]


class TestCaptions:
    def captioned(self, *captions, count=14):
        made = table(body(*(tr(ONE, str(n)) for n in range(count))))
        return replace(made, captions=tuple(Caption(p(text), on) for text, on in captions))

    def test_a_caption_stands_above_the_pieces_it_names(self):
        made = self.captioned(
            ("first", Occurrence.FIRST), ("rest", Occurrence.REST), ("last", Occurrence.LAST)
        )
        first, second = pages(made)
        assert first == ["first", *map(str, range(9))]
        assert second == ["rest", "last", *map(str, range(9, 14))]

    def test_margins_of_a_caption_keep_rows_away(self):
        made = replace(
            self.captioned(count=1),
            captions=(Caption(p("title", margin=points(0, 0, 5)), Occurrence.FIRST),),
        )
        assert placed(laid(made).pages[0]) == [("title", 0, 0), ("0", 0, 15)]

    def test_a_repeated_caption_is_an_artifact(self):
        first, second = laid(self.captioned(("title", Occurrence.ALL))).pages
        assert [page.items[0].owner is None for page in (first, second)] == [False, True]


class TestDecimals:
    def aligned(self, *numbers, sign=".", columns=()):
        cell = styled(align=Align.DECIMAL, decimal_sign=sign)
        shared = template(1, cell=cell)
        return table(body(*(tr(shared, n) for n in numbers)), columns=columns)

    def test_decimal_signs_stand_below_each_other(self):
        page = laid(self.aligned("1.5", "22.25", "1,333.125")).pages[0]
        # A sign is 5 wide, as are the three decimals of the longest: the sign is at 80.
        assert [x + 5 * text.index(".") for text, x, _ in placed(page)] == [80, 80, 80]

    def test_text_without_a_sign_stands_to_the_right(self):
        page = laid(self.aligned("1.25", "none", "Dr. No")).pages[0]
        assert [x for _, x, _ in placed(page)] == [80, 80, 70]

    @pytest.mark.parametrize(
        "text",
        ["7", "1,200", "1 200", "-7", "−7", "(7)", "7%", "7 %", "7 €", "EUR 7", "7.–", "7-", "٧"],
    )
    def test_a_whole_number_ends_where_the_sign_would_stand(self, text):
        page = laid(self.aligned("1.234567", text)).pages[0]
        x = placed(page)[1][1]
        digits = max(at for at, char in enumerate(text) if char.isdigit()) + 1
        assert x + 5 * digits == 65

    @pytest.mark.parametrize("text", ["-", "n/a", "3 of 4", "see page 5 there", "2026-01-31", ""])
    def test_text_that_is_no_single_number_stands_to_the_right(self, text):
        page = laid(self.aligned("1.25", text or "x")).pages[0]
        assert placed(page)[1][1] == 100 - 5 * len(text or "x")

    def test_a_unit_behind_a_whole_number_takes_the_room_of_a_fraction(self):
        page = laid(self.aligned("7 pcs", "1.5")).pages[0]
        assert [(text, x) for text, x, _ in placed(page)] == [("7 pcs", 75), ("1.5", 75)]

    def test_the_year_above_a_column_of_amounts_stands_to_the_right(self):
        cell = styled(align=Align.DECIMAL)
        head, shared = template(1, cell=cell), template(1, cell=cell)
        named = replace(head, cells=(replace(head.cells[0], role=Role.HEAD_CELL),))
        page = laid(table(body(tr(named, "2026"), tr(shared, "7"), tr(shared, "1.25")))).pages[0]
        assert [x for _, x, _ in placed(page)] == [80, 80, 80]

    def test_marked_whole_numbers_widen_a_column_as_plain_ones_do(self):
        shared = template(2, cell=styled(align=Align.DECIMAL))
        marked = (p("1234", align=Align.DECIMAL),)
        made = table(
            body(tr(shared, "1.25", "a"), tr(shared, marked, "b")),
            columns=[column(), column(share())],
        )
        assert [x for text, x, _ in placed(laid(made).pages[0]) if text[0] == "1"] == [15, 0]

    def test_a_number_that_reads_from_the_right_has_its_unit_on_the_left(self):
        cell = styled(align=Align.DECIMAL, is_rtl=True)
        shared = template(1, cell=cell)
        made = table(body(*(tr(shared, n) for n in ("1.25", "7", "7 %"))), is_rtl=True)
        page = laid(made).pages[0]
        ends = [x + 5 * len(text) for text, x, _ in placed(page) if "7" in text]
        assert ends == [85, 85]

    def test_a_sum_over_columns_stands_in_the_last_of_them_from_the_right_too(self):
        cell = styled(align=Align.DECIMAL, is_rtl=True)
        one, two = template(2, cell=cell), template(0, spans=(2,), cell=cell)
        marked = (p("22.75", align=Align.DECIMAL, is_rtl=True),)
        rows = tr(one, "2.5", "1.25"), tr(two, "11.75"), tr(two, marked), tr(two, "1234567890.25")
        page = laid(table(body(*rows), is_rtl=True)).pages[0]
        # The widest sum reaches into the first.
        ends = {text: x + 5 * len(text) for text, x, _ in placed(page)}
        assert ends["1.25"] == ends["11.75"] == ends["22.75"] < ends["1234567890.25"] == 65

    def test_the_sign_is_the_languages(self):
        page = laid(self.aligned("1.234,5", "0,25", sign=",")).pages[0]
        assert [x + 5 * text.index(",") for text, x, _ in placed(page)] == [85, 85]

    def test_a_column_is_wide_enough_for_all_parts_before_and_after_the_sign(self):
        cell = styled(align=Align.DECIMAL)
        shared = template(2, cell=cell)
        made = table(
            body(tr(shared, "1234.5", "a"), tr(shared, "1.2345", "b")),
            columns=[column(), column(share())],
        )
        page = laid(made).pages[0]
        assert [x for text, x, _ in placed(page) if "." in text] == [0, 15]

    def test_signs_in_marked_text_stand_in_line_too(self):
        shared = template(1, cell=styled(align=Align.DECIMAL))
        marked = p("9.5", align=Align.DECIMAL)
        page = laid(table(body(tr(shared, "1.125"), tr(shared, (marked,))))).pages[0]
        assert [x + 5 * text.index(".") for text, x, _ in placed(page)] == [80, 80]


class TestSpans:
    def test_a_cell_over_two_rows_needs_no_height_of_the_first(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        made = table(body(tr(first, "a", "b"), tr(second, "c"), tr(TWO, "d", "e")))
        assert placed(laid(made).pages[0]) == [
            ("a", 0, 0), ("b", 50, 0), ("c", 50, 10), ("d", 0, 20), ("e", 50, 20),
        ]  # fmt: skip

    def test_the_excess_height_of_a_spanning_cell_goes_to_its_last_row(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        high = (lines_of(4),)
        made = table(body(tr(first, high, "b"), tr(second, "c"), tr(TWO, "d", "e")))
        tops = {text: y for text, _, y in placed(laid(made).pages[0])}
        assert (tops["b"], tops["c"], tops["d"]) == (0, 10, 40)

    def test_the_background_of_a_spanning_cell_lies_over_all_its_rows(self):
        first = spanning((1, 2), (1, 1), background=RED)
        second = spanning((1, 1), under=first)
        made = table(body(tr(first, "a", "b"), tr(second, "c")))
        assert fills(laid(made).pages[0]) == [(50, 0, 50, 10), (0, 0, 50, 20)]

    def test_no_line_is_drawn_through_a_spanning_cell(self):
        border = sides(0)._replace(top=LINE, right=LINE, bottom=LINE, left=LINE)
        first = spanning((1, 2), (1, 1), border=border)
        second = spanning((1, 1), under=first, border=border)
        page = laid(table(body(tr(first, "a", "b"), tr(second, "c")))).pages[0]
        across = [line for line in strokes(page) if line[1] == line[3]]
        assert [(x1, x2) for x1, _, x2, _ in across] == [(0, 100), (50, 100), (0, 100)]

    def test_rows_that_a_cell_joins_stay_on_one_page(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        rows = [tr(TWO, str(n), "") for n in range(9)]
        made = table(body(*rows, tr(first, "a", "b"), tr(second, "c")))
        assert pages(made)[1] == ["a", "b", "c"]

    def test_joined_rows_taller_than_a_page_break_between_each_other(self):
        first = spanning((1, 24), (1, 1), background=RED)
        others = [spanning((1, 1), under=first, rows=25 - n) for n in range(1, 24)]
        rows = [tr(first, "a", "1"), *(tr(each, str(n)) for n, each in enumerate(others, 2))]
        made = table(body(tr(TWO, "d", "e"), *rows))
        assert pages(made) == [
            ["d", "e", "a", *map(str, range(1, 10))],
            [*map(str, range(10, 20))],
            [*map(str, range(20, 25))],
        ]
        backgrounds = [fills(page)[-1] for page in laid(made).pages]
        assert [height for _, _, _, height in backgrounds] == [90, 100, 50]

    def test_a_row_beside_a_spanning_cell_begins_below_others_if_no_page_holds_it(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        made = table(body(tr(first, "a", "b"), tr(second, (lines_of(23),)), tr(TWO, "d", "e")))
        assert [len(page) for page in pages(p("x"), made)] == [1 + 2 + 8, 10, 5 + 2]
        lower = table(body(tr(first, "a", "b"), tr(second, (lines_of(10),))))
        assert [len(page) for page in pages(p("x"), lower)] == [1 + 2, 10]

    def test_a_spanning_cell_taller_than_a_page_goes_on_beside_its_last_row(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        high = (lines_of(25),)
        made = table(
            body(tr(TWO, "d", "e"), tr(first, high, "b"), tr(second, "c"), tr(TWO, "f", "g"))
        )
        assert [len(page) for page in pages(made)] == [2 + 9 + 2, 10, 6 + 2]
        tops = {text: y for text, _, y in placed(laid(made).pages[2])}
        assert (tops["f"], tops["g"]) == (60, 60)

    def test_heads_may_span_rows_too(self):
        first = spanning((1, 2), (1, 1))
        second = spanning((1, 1), under=first)
        head = group(tr(first, "H", "a"), tr(second, "b"))
        made = table(body(*(tr(TWO, str(n), "") for n in range(10))), heads=[head])
        assert [page[:3] for page in pages(made)] == [["H", "a", "b"]] * 2


def test_group_heads_of_several_rows_are_printed_again_together():
    head = template(1, repeats=True)
    rows = [tr(head, "A"), tr(head, "B"), *(tr(ONE, str(n)) for n in range(10))]
    first, second = laid(table(body(*rows, widows=1))).pages
    assert texts(first) == ["A", "B", *map(str, range(8))]
    assert texts(second) == ["A", "B", "8", "9"]
    owners = [run.owner is None for run in runs(second)]
    assert owners == [True, True, False, False]


@pytest.mark.parametrize("rows", range(1, 25))
def test_no_piece_holds_carried_lines_alone(rows):
    made = table(
        body(*(tr(ONE, f"r{n}") for n in range(rows)), orphans=1, widows=1),
        heads=[group(tr(ONE, "before"), on=Occurrence.REST)],
        feet=[
            group(tr(ONE, "after"), on=Occurrence.NOT_LAST),
            group(tr(ONE, "end"), tr(ONE, "of all"), on=Occurrence.LAST),
        ],
    )
    for page in pages(made):
        assert any(text.startswith("r") for text in page)


def test_a_cell_with_a_height_beyond_any_page_is_reported():
    findings = Findings()
    tall = template(1, cell=styled(height=Length(150.0)))
    laid(table(body(tr(tall, "a"), tr(ONE, "b"))), findings=findings)
    (error,) = findings.errors
    assert "`td` in `tr` needs 52.9 mm, an empty area allows 35.3 mm" in error.message


def test_pages_are_drawn_when_they_are_read_and_as_often():
    findings = Findings()
    made = document(heading("Title"), carrying(counted([Decimal(1)] * 30), ["after"]))
    laid_out = lay_out(made, resources=Resources(), findings=findings, fonts=SquareFonts())
    assert (len(laid_out.pages), laid_out.outline) == (4, [])
    first, again = laid_out.draw_all(), laid_out.draw_all()
    assert [texts(page) for page in first.pages] == [texts(page) for page in again.pages]
    assert [entry.text for entry in laid_out.outline] == ["Title"]
