"""Tables: widths by content, rows in pieces, heads and feet where they belong, lines drawn once."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.layout.builders import (
    GREY,
    LINE,
    PLAIN,
    RED,
    at,
    body,
    changing,
    column,
    fills,
    group,
    heading,
    laid,
    lines_of,
    master,
    of_kind,
    p,
    percent,
    placed,
    row,
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
from workers.engine.layout.display import Fill, StrokeRows, TextRows
from workers.engine.layout.elements.tables.rows import CellOwner
from workers.engine.tree.nodes import (
    CellTemplate,
    LoopStep,
    Occurrence,
    Role,
    RowTemplate,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues, Total, TotalMode
from workers.engine.tree.styles.computed import Align, BreakTo, VerticalAlign, WhiteSpace
from workers.engine.units import NO_BORDER, Border, BorderStyle, Sides

ONE = template(1)
TWO = template(2)
THREE = template(3)


def numbered(count, shared=ONE, first=1):
    return [tr(shared, str(n), index=n) for n in range(first, first + count)]


def pages(*blocks, **given):
    return [texts(page) for page in laid(*blocks, **given).pages]


class TestWidths:
    def test_autos_are_as_wide_as_their_widest_content_and_shares_take_the_rest(self):
        made = table(
            body(tr(THREE, "aaaa", "b", "cc"), tr(THREE, "a", "b", "cccc")),
            columns=[column(), column(share()), column()],
        )
        assert placed(laid(made).pages[0])[:3] == [("aaaa", 0, 0), ("b", 20, 0), ("cc", 80, 0)]

    def test_lengths_and_percentages_are_honoured(self):
        made = table(
            body(tr(THREE, "a", "b", "c")),
            columns=[column(30.0), column(percent(20)), column(share())],
        )
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 30, 50]

    def test_autos_without_a_share_fill_the_table_in_proportion(self):
        made = table(body(tr(TWO, "aaa", "b")))
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 75]

    def test_autos_that_do_not_fit_give_way_between_word_and_line(self):
        made = table(body(tr(TWO, "aaaa bbbb cccc dddd", "eeee ffff")))
        page = laid(made).pages[0]
        # Narrowest 20 and 20, widest 95 and 45; of the 60 left over, 75 of 100 go to the first.
        assert [x for text, x, _ in placed(page) if text == "eeee"] == [65]

    def test_a_word_longer_than_its_column_breaks_anywhere(self):
        made = table(body(tr(ONE, "abcdef")), columns=[column(20.0)])
        assert texts(laid(made).pages[0]) == ["abcd", "ef"]

    def test_rows_that_wrap_and_rows_that_do_not_follow_each_other_in_any_order(self):
        shared = template(2)
        contents = [
            ("a" if n % 4 else "a b c d e f g h i j", f"{n}" if n % 3 else "\u00e9")
            for n in range(90)
        ]
        rows = [tr(shared, *cells, index=n) for n, cells in enumerate(contents)]
        made = laid(table(body(*rows), columns=[column(50.0), column(50.0)]))
        drawn = [run for page in made.pages for run in runs(page)]
        assert [run.text for run in drawn] == [
            each
            for left, right in contents
            for each in (*(["a b c d e", "f g h i j"] if len(left) > 1 else ["a"]), right)
        ]
        assert [run.owner.row for run in drawn if run.x == 50] == rows

    def test_the_column_of_the_longest_word_yields_and_shorter_words_stay_whole(self):
        made = table(body(tr(THREE, "abcdefghijklmnopqrstuvwxyz", "bbbb", "cc")))
        assert [x for text, x, _ in placed(laid(made).pages[0]) if text in ("bbbb", "cc")] == [
            70,
            90,
        ]

    def test_columns_of_long_words_yield_to_one_width(self):
        made = table(body(tr(THREE, "a" * 30, "b" * 20, "cccc")))
        page = laid(made).pages[0]
        assert [x for text, x, _ in placed(page) if text in ("bbbbbbbb", "cccc")] == [40, 40, 80]

    def test_unbreakable_content_keeps_its_width(self):
        plain = template(2)
        held = replace(plain.cells[1], style=styled(white_space=WhiteSpace.NOWRAP))
        made = table(
            body(tr(replace(plain, cells=(plain.cells[0], held)), "a" * 30, "b b b b b b"))
        )
        assert [x for text, x, _ in placed(laid(made).pages[0]) if "b" in text] == [45]

    def test_bounds_hold_a_column(self):
        made = table(body(tr(TWO, "a", "b")), columns=[column(least=40.0), column(share())])
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 40]

    def test_a_spanning_cell_widens_the_columns_it_covers(self):
        wide = template(2, spans=(2,))
        made = table(
            body(tr(THREE, "a", "b", "c"), tr(template(2, spans=(2, 1)), "dddddddd", "e")),
            columns=[column(), column(), column(share())],
        )
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 20, 40, 0, 40]
        assert wide.cells[0].colspan == 2

    def test_blocks_in_cells_count_too(self):
        made = table(body(tr(TWO, (p("aaaa"),), "b")), columns=[column(), column(share())])
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 20]

    def test_padding_counts_for_the_width_and_the_place_of_the_text(self):
        padded = template(2, cell=styled(padding=sides(2, 3)))
        made = table(body(tr(padded, "aaaa", "b")), columns=[column(), column(share())])
        assert placed(laid(made).pages[0]) == [("aaaa", 3, 2), ("b", 29, 2)]

    def test_columns_wider_than_the_table_are_an_error_at_the_table(self):
        findings = Findings()
        laid(
            table(body(tr(TWO, "a", "b")), columns=[column(80.0), column(60.0)]), findings=findings
        )
        (error,) = findings.errors
        assert error.code == "columns-too-wide"
        assert "the columns of `table` need 49.4 mm, the table allows 35.3 mm" in error.message
        assert error.location == at("table").location

    def test_a_table_has_as_many_columns_as_its_longest_row(self):
        made = table(body(tr(THREE, "a", "b", "c")), columns=[column(20.0)])
        assert [x for _, x, _ in placed(laid(made).pages[0])] == [0, 20, 60]


class TestCells:
    @pytest.mark.parametrize(
        ("align", "x"), [(Align.LEFT, 2), (Align.RIGHT, 93), (Align.CENTER, 47.5)]
    )
    def test_text_is_placed_by_its_alignment(self, align, x):
        shared = template(1, cell=styled(align=align, padding=sides(0, 2)))
        assert placed(laid(table(body(tr(shared, "a")))).pages[0]) == [("a", x, 0)]

    @pytest.mark.parametrize(
        ("value", "y"),
        [(VerticalAlign.TOP, 0), (VerticalAlign.MIDDLE, 10), (VerticalAlign.BOTTOM, 20)],
    )
    def test_text_in_a_higher_row_is_placed_by_vertical_align(self, value, y):
        cell = styled(vertical_align=value)
        cells = (
            CellTemplate(at("td"), Role.CELL, PLAIN, 1, 1),
            CellTemplate(at("td"), Role.CELL, cell, 1, 1),
        )
        made = table(body(tr(RowTemplate(at("tr"), PLAIN, cells, False), (lines_of(3),), "b")))
        assert ("b", 50, y) in placed(laid(made).pages[0])

    def test_texts_of_two_sizes_stand_on_one_baseline(self):
        def cell(size):
            style = styled(vertical_align=VerticalAlign.BASELINE, size=size, line_height=size)
            return CellTemplate(at("td"), Role.CELL, style, 1, 1)

        shared = RowTemplate(at("tr"), PLAIN, (cell(10.0), cell(20.0)), False)
        page = laid(table(body(tr(shared, "a", "b")))).pages[0]
        assert [run.y for run in runs(page)] == [16, 16]

    def test_text_that_needs_two_lines_makes_its_row_higher(self):
        made = table(body(tr(TWO, "aaaa bbbb", "c"), tr(TWO, "d", "e")), columns=[column(25.0)])
        page = laid(made).pages[0]
        assert placed(page) == [
            ("aaaa", 0, 0),
            ("bbbb", 0, 10),
            ("c", 25, 0),
            ("d", 0, 20),
            ("e", 25, 20),
        ]

    def test_letter_spacing_counts_in_plain_cells(self):
        shared = template(1, cell=styled(letter_spacing=2.0, align=Align.RIGHT))
        assert placed(laid(table(body(tr(shared, "ab")))).pages[0]) == [("ab", 86, 0)]

    def test_every_cell_knows_its_row_and_its_place(self):
        page = laid(table(body(tr(TWO, "a", "b", index=7)))).pages[0]
        first, second = (run.owner for run in runs(page))
        assert isinstance(first, CellOwner)
        assert (first.role, first.source.loop) == (Role.CELL, (LoopStep("lines", 7),))
        assert first.row is second.row
        assert first.template is not second.template

    def test_text_that_may_not_wrap_is_an_error_with_its_row(self):
        findings = Findings()
        shared = template(1, cell=styled(white_space=WhiteSpace.NOWRAP))
        made = table(body(tr(shared, "abcdefgh", index=17)), columns=[column(20.0)])
        laid(made, findings=findings)
        (error,) = findings.errors
        assert error.message.startswith(
            "Content does not fit: `td` in `tr` needs 14.1 mm of width, its width allows 7.1 mm "
            '(page 1, lines row 17, "abcdefgh").'
        )
        assert [place.tag_name for place in error.chain] == ["td", "tr", "table"]


class TestLooks:
    def test_stripes_alternate_over_body_rows_and_a_rows_own_colour_wins(self):
        own = template(1, background=GREY)
        made = table(body(*numbered(2), tr(own, "3"), tr(ONE, "4")), stripe=(None, RED))
        page = laid(made).pages[0]
        painted = {(item.y, item.color) for item in of_kind(page, Fill)}
        assert painted == {(10, RED), (20, GREY), (30, RED)}

    def test_backgrounds_of_all_rows_precede_their_text_one_colour_after_the_other(self):
        made = table(body(*numbered(4)), stripe=(RED, GREY))
        items = laid(made).pages[0].items
        assert fills(laid(made).pages[0]) == [(0, y, 100, 10) for y in (0, 20, 10, 30)]
        assert [type(item) for item in items] == [*[Fill] * 4, TextRows]

    def test_rows_of_texts_are_drawn_together_where_their_style_is_one(self):
        plain, red = template(3), template(3)
        cells = [plain.cells[0], replace(plain.cells[1], style=styled(color=RED)), plain.cells[2]]
        made = table(
            body(
                tr(plain, "a", "", "c"),
                tr(plain, "g", "h", ""),
                tr(replace(red, cells=tuple(cells)), "d", "e", "f"),
            )
        )
        page = laid(made).pages[0]
        rows = [item.texts for item in page.items if isinstance(item, TextRows)]
        assert rows == [["a", "", "c", "g", "h", ""], ["d"], ["e"], ["f"]]
        assert texts(page) == ["a", "c", "g", "h", "d", "e", "f"]

    def test_neighbouring_cells_of_one_colour_are_filled_together(self):
        shared = template(2, cell=styled(background=RED))
        assert fills(laid(table(body(tr(shared, "a", "b")))).pages[0]) == [(0, 0, 100, 10)]

    def test_rows_with_borders_on_each_cell_are_drawn_as_one_block(self):
        boxed = template(2, cell=styled(border=Sides(LINE, LINE, LINE, LINE)))
        made = table(body(*(tr(boxed, str(n), "b") for n in range(8))), stripe=(GREY, None))
        kinds = [type(item) for item in laid(made).pages[0].items]
        assert kinds.count(TextRows) == kinds.count(StrokeRows) == 1

    def test_borders_of_neighbours_are_drawn_once(self):
        boxed = template(2, cell=styled(border=Sides(LINE, LINE, LINE, LINE)))
        page = laid(table(body(tr(boxed, "a", "b"), tr(boxed, "c", "d")))).pages[0]
        across = [s for s in strokes(page) if s[1] == s[3]]
        down = [s for s in strokes(page) if s[0] == s[2]]
        assert across == [(0, 0, 100, 0), (0, 11, 100, 11), (0, 22, 100, 22)]
        assert down == [(x, y, x, y + 11) for y in (0, 11) for x in (0, 50, 100)]

    def test_the_wider_of_two_borders_that_meet_is_drawn(self):
        thick = Border(3.0, BorderStyle.SOLID, RED)
        upper = template(1, cell=styled(border=Sides(NO_BORDER, NO_BORDER, LINE, NO_BORDER)))
        lower = template(1, cell=styled(border=Sides(thick, NO_BORDER, NO_BORDER, NO_BORDER)))
        page = laid(table(body(tr(upper, "a"), tr(lower, "b")))).pages[0]
        (line,) = (item for item in page.items if type(item).__name__ == "Stroke")
        assert (line.width, line.color) == (3, RED)

    def test_a_heads_border_stands_below_its_last_row(self):
        head = group(tr(TWO, "A", "B"), border=Sides(NO_BORDER, NO_BORDER, LINE, NO_BORDER))
        page = laid(table(body(tr(TWO, "a", "b")), heads=[head])).pages[0]
        assert strokes(page) == [(0, 10, 100, 10)]


class TestPieces:
    def test_a_head_is_repeated_and_a_foot_stands_once_at_the_end(self):
        made = table(
            body(*numbered(20)),
            heads=[group(tr(ONE, "H"))],
            feet=[group(tr(ONE, "F"), on=Occurrence.LAST)],
        )
        first, second, third = pages(made)
        assert first == ["H", *map(str, range(1, 10))]
        assert second == ["H", *map(str, range(10, 19))]
        assert third == ["H", "19", "20", "F"]

    def test_a_repeated_head_is_an_artifact_and_the_first_is_not(self):
        first, second = laid(table(body(*numbered(12)), heads=[group(tr(ONE, "H"))])).pages
        owners = [[run.owner is None for run in runs(page)][:2] for page in (first, second)]
        assert owners == [[False, False], [True, False]]

    def test_a_last_foot_takes_a_row_with_it(self):
        made = table(body(*numbered(10)), feet=[group(tr(ONE, "F"), on=Occurrence.LAST)])
        assert pages(made) == [list("123456789"), ["10", "F"]]

    @pytest.mark.parametrize(
        ("on", "where"),
        [
            (Occurrence.ALL, [True, True, True]),
            (Occurrence.FIRST, [True, False, False]),
            (Occurrence.REST, [False, True, True]),
            (Occurrence.LAST, [False, False, True]),
            (Occurrence.NOT_LAST, [True, True, False]),
        ],
    )
    def test_heads_and_feet_stand_on_the_pieces_they_name(self, on, where):
        rows = body(*numbered(25))
        assert [
            "H" in page for page in pages(table(rows, heads=[group(tr(ONE, "H"), on=on)]))
        ] == where
        assert [
            "F" in page for page in pages(table(rows, feet=[group(tr(ONE, "F"), on=on)]))
        ] == where

    def test_rows_are_kept_together_as_orphans_and_widows(self):
        made = table(body(*numbered(11), orphans=2, widows=3))
        assert pages(made) == [list("12345678"), ["9", "10", "11"]]
        made = table(body(*numbered(5), orphans=3, widows=1))
        assert pages(lines_of(8), made)[1] == list("12345")

    def test_a_table_gives_way_rather_than_leave_its_head_alone(self):
        made = table(body(*numbered(3)), heads=[group(tr(ONE, "H"))])
        assert pages(lines_of(9), made)[1] == ["H", "1", "2", "3"]

    def test_a_heading_stays_with_the_first_row(self):
        made = table(body(*numbered(3)), heads=[group(tr(ONE, "H"))])
        assert pages(lines_of(8), heading("h"), made)[1] == ["h", "H", "1", "2", "3"]

    def test_a_row_stays_with_the_next_if_set(self):
        kept = template(1, after=BreakTo.AVOID)
        made = table(body(*numbered(9), tr(kept, "10"), tr(ONE, "11")))
        assert pages(made)[1] == ["10", "11"]

    def test_a_block_that_avoids_a_break_before_it_takes_the_last_rows_along(self):
        sums = row(lines_of(3), before=BreakTo.AVOID, avoid_inside=True)
        made = table(
            body(*numbered(9), widows=2),
            heads=[group(tr(ONE, "H"))],
            feet=[group(tr(ONE, "carried"), on=Occurrence.NOT_LAST)],
        )
        assert pages(made, sums) == [["H", *"1234567", "carried"], ["H", "8", "9", *"123"]]
        assert pages(table(body(*numbered(2))), sums) == [["1", "2", *"123"]]

    def test_a_row_may_begin_a_page(self):
        made = table(body(*numbered(2), tr(template(1, before=BreakTo.PAGE), "3")))
        assert pages(made) == [["1", "2"], ["3"]]

    def test_a_group_head_is_repeated_while_its_group_continues(self):
        sticky = template(1, repeats=True)
        made = table(
            body(tr(sticky, "G1"), *numbered(11)), body(tr(sticky, "G2"), *numbered(3, first=12))
        )
        assert pages(made)[1] == ["G1", "10", "11", "G2", "12", "13", "14"]

    def test_a_group_head_is_never_the_last_row_of_a_page(self):
        sticky = template(1, repeats=True)
        made = table(body(*numbered(9)), body(tr(sticky, "G"), *numbered(2, first=10)))
        assert pages(made)[1] == ["G", "10", "11"]

    def test_a_table_that_avoids_breaks_moves_as_a_whole(self):
        assert pages(lines_of(8), table(body(*numbered(4)), avoid_inside=True))[1] == list("1234")

    def test_a_row_taller_than_a_page_is_split_inside_its_cells(self):
        made = table(body(tr(TWO, "1", ""), tr(TWO, (lines_of(23),), "x"), tr(TWO, "y", "z")))
        counts = [len(page) for page in pages(made)]
        assert counts == [11, 10, 6]

    def test_a_row_moves_to_the_next_page_before_it_is_split(self):
        made = table(body(*numbered(3), tr(ONE, (lines_of(9),))))
        assert [len(page) for page in pages(made)] == [3, 9]

    def test_a_row_that_may_break_fills_the_page_first(self):
        torn = template(1, avoid_inside=False)
        made = table(body(*numbered(3), tr(torn, (lines_of(9),)), tr(ONE, "end")))
        assert [len(page) for page in pages(made)] == [10, 3]

    def test_a_row_has_no_border_at_a_break_inside_it(self):
        lined = Sides(LINE, NO_BORDER, LINE, NO_BORDER)
        torn = template(1, avoid_inside=False, cell=styled(border=lined))
        made = laid(table(body(*numbered(3), tr(torn, (lines_of(9),)), tr(ONE, "end"))))
        assert [len(strokes(page)) for page in made.pages] == [1, 1]

    def test_a_table_without_rows_shows_head_and_foot(self):
        made = table(heads=[group(tr(ONE, "H"))], feet=[group(tr(ONE, "F"), on=Occurrence.LAST)])
        assert pages(made, p("after")) == [["H", "F", "after"]]

    @pytest.mark.parametrize("lines", [10, 12])
    def test_a_head_that_leaves_no_room_for_a_row_is_one_error(self, lines):
        findings = Findings()
        head = group(*[tr(ONE, "H")] * lines)
        laid(table(body(*numbered(25)), heads=[head]), findings=findings)
        assert [error.code for error in findings.errors] == ["taller-than-area"]

    def test_a_table_in_a_row_stands_beside_text(self):
        page = laid(row(p("a"), table(body(*numbered(2))))).pages[0]
        assert placed(page) == [("a", 0, 0), ("1", 50, 0), ("2", 50, 10)]

    @given(
        heights=st.lists(st.integers(1, 14), min_size=1, max_size=30),
        has_head=st.booleans(),
        has_foot=st.booleans(),
        orphans=st.integers(1, 3),
        widows=st.integers(1, 3),
        above=st.integers(0, 12),
    )
    def test_the_fragments_hold_every_row_once_and_in_order(
        self, heights, has_head, has_foot, orphans, widows, above
    ):
        rows = [
            tr(ONE, f"r{n}.0")
            if height == 1
            else tr(ONE, tuple(p(f"r{n}.{k}") for k in range(height)))
            for n, height in enumerate(heights)
        ]
        made = table(
            body(*rows, orphans=orphans, widows=widows),
            heads=[group(tr(ONE, "H"))] if has_head else [],
            feet=[group(tr(ONE, "F"), on=Occurrence.LAST)] if has_foot else [],
        )
        shown = pages(*([lines_of(above)] if above else []), made)
        found = [text for page in shown for text in page if text.startswith("r")]
        assert found == [f"r{n}.{k}" for n, height in enumerate(heights) for k in range(height)]
        assert sum(page.count("F") for page in shown) == has_foot
        assert all(len(page) <= 10 for page in shown)


def carried(values: FragmentValues) -> tuple[TableRow, ...]:
    """Return a foot that shows what was carried over."""
    text = "/".join(str(v[0]) for v in (values.before, values.here, values.after, values.overall))
    return (tr(ONE, f"{text} p{values.page.number}"),)


def test_carried_values_are_those_of_the_piece_and_its_page():
    rows = [tr(ONE, str(n), contributions=(Decimal(1),)) for n in range(1, 13)]
    foot = group(on=Occurrence.ALL)
    made = totalled(
        table(body(*rows), feet=[replace(foot, rows=changing(carried))]),
        Total("count", TotalMode.SUM, Decimal(0)),
    )
    assert [page[-1] for page in pages(made)] == ["0/9/9/12 p1", "9/3/12/12 p2"]


def test_page_values_that_outgrow_their_room_are_an_error():
    def growing(values: FragmentValues) -> tuple[TableRow, ...]:
        return (tr(ONE, "x" if values.page.number == 99 else "aaaa bbbb cccc dddd eeee ffff"),)

    findings = Findings()
    made = table(body(*numbered(2)), heads=[replace(group(), rows=changing(growing))])
    laid(made, findings=findings)
    (error,) = findings.errors
    assert error.code == "page-values-too-long"
    assert "`thead` in `table` needs 7.1 mm, 3.5 mm were kept free" in error.message


@pytest.mark.long
def test_fifty_thousand_rows_are_laid_out_in_order():
    document = laid(table(body(*numbered(50_000))), masters=[master(height=600)])
    assert [text for page in document.pages for text in texts(page)] == [
        str(n) for n in range(1, 50_001)
    ]


def test_rows_and_cells_with_an_id_can_be_pointed_to():
    cells = tuple(CellTemplate(at("td"), Role.CELL, PLAIN, 1, 1, name) for name in (None, "cell"))
    named = RowTemplate(at("tr"), PLAIN, cells, repeats=False, id="row")
    page = laid(table(body(tr(TWO, "a", "b"), tr(named, "c", "d")))).pages[0]
    assert [tuple(anchor)[:3] for anchor in page.anchors] == [("row", 0, 10), ("cell", 50, 10)]


def test_tables_in_tables_cost_no_more_than_they_are():
    inner = lines_of(25)
    for _ in range(30):
        inner = table(body(tr(ONE, (inner,))), columns=[column()])
    assert [len(page) for page in pages(p("a"), inner)] == [10, 10, 6]


@pytest.mark.parametrize("style", [styled(before=BreakTo.PAGE), styled(after=BreakTo.PAGE)])
def test_a_forced_break_in_a_table_in_a_cell_loses_no_rows(style):
    inner = table(body(tr(ONE, "a"), tr(replace(ONE, style=style), "b"), tr(ONE, "c")))
    outer = table(body(tr(ONE, (inner,)), tr(ONE, "d")))
    assert pages(outer) == [["a", "b", "c", "d"]]


def test_the_rule_below_the_heads_stands_once():
    def head(*rows):
        return replace(
            group(*rows, border=Sides(NO_BORDER, NO_BORDER, LINE, NO_BORDER)),
            has_built_in_rule=True,
        )

    heads = [head(tr(ONE, "a")), head(tr(ONE, "b")), head()]
    page = laid(table(body(*numbered(2)), heads=heads)).pages[0]
    assert strokes(page) == [(0, 20, 100, 20)]
