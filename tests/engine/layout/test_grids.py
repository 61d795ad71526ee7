"""Grids: cells filled in order, rows kept whole, content held to its cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.engine.layout.builders import (
    GREY,
    PLAIN,
    at,
    div,
    fills,
    laid,
    lines_of,
    p,
    percent,
    placed,
    points,
    share,
    styled,
    texts,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import LaidOutPage
from workers.engine.tree.nodes import Block, Break, Grid, Position
from workers.engine.units import Length


def grid(
    *children: Block,
    columns: Sequence[float | Length] = (50.0, 50.0),
    rows: float | None = 20.0,
    gaps: tuple[float, float] = (0.0, 0.0),
    skip: int = 0,
    down: bool = False,
    **given: Any,
) -> Grid:
    tracks = tuple(w if isinstance(w, Length) else Length(w) for w in columns)
    return Grid(at("grid"), styled(**given), children, tracks, rows, *gaps, skip, down)


def named(count: int) -> list[Block]:
    return [p(str(number)) for number in range(1, count + 1)]


def found(*blocks: Block) -> list[list[tuple[str, float, float]]]:
    return [placed(page) for page in laid(*blocks).pages]


def test_cells_are_filled_in_order_row_by_row():
    assert found(grid(*named(3))) == [[("1", 0, 0), ("2", 50, 0), ("3", 0, 20)]]


def test_column_by_column_the_next_cell_is_the_one_below():
    assert found(grid(*named(3), down=True)) == [[("1", 0, 0), ("2", 0, 20), ("3", 50, 0)]]


def test_gaps_stand_between_cells_only():
    block = grid(*named(4), columns=(40, 40), gaps=(10, 5))
    assert found(block, p("x"))[0] == [
        ("1", 0, 0), ("2", 50, 0), ("3", 0, 25), ("4", 50, 25), ("x", 0, 45),
    ]  # fmt: skip


def test_skipped_cells_stay_empty_even_beyond_a_page():
    assert found(grid(*named(2), skip=1)) == [[("1", 50, 0), ("2", 0, 20)]]
    assert found(grid(*named(1), skip=11)) == [[], [("1", 50, 0)]]


def test_a_grid_continues_with_a_whole_row_on_the_next_page():
    pages = found(p("x"), grid(*named(9)))
    assert [text for text, _, _ in pages[0]] == ["x", "1", "2", "3", "4", "5", "6", "7", "8"]
    assert pages[1] == [("9", 0, 0)]


def test_columns_on_two_pages_are_filled_page_by_page():
    pages = found(grid(*named(12), rows=40.0, down=True))
    assert [[text for text, _, _ in page] for page in pages] == [
        ["1", "2", "3", "4"], ["5", "6", "7", "8"], ["9", "10", "11", "12"],
    ]  # fmt: skip


def test_shares_and_percentages_are_of_the_grid():
    assert found(grid(*named(3), columns=(percent(20), share(1), share(3)))) == [
        [("1", 0, 0), ("2", 20, 0), ("3", 40, 0)]
    ]


def test_rows_without_a_height_are_as_high_as_their_highest_block():
    assert found(grid(lines_of(2), p("b"), p("c"), rows=None))[0][-1] == ("c", 0, 20)
    pages = found(p("x"), grid(*[lines_of(4) for _ in range(6)], rows=None))
    assert [len(page) for page in pages] == [1 + 16, 8]


def test_a_row_taller_than_a_page_begins_below_others_and_goes_on():
    block = grid(lines_of(12), lines_of(3), p("x"), rows=None, gaps=(0, 5))
    pages = found(p("a"), block)
    assert [len(page) for page in pages] == [1 + 9 + 3, 3 + 1]
    assert pages[0][1:3] == [("1", 0, 10), ("2", 0, 20)]
    assert pages[1] == [("10", 0, 0), ("11", 0, 10), ("12", 0, 20), ("x", 0, 35)]


def test_a_block_fills_its_cell_within_its_margins():
    block = div(p("a"), background=GREY, margin=points(2, 3, 2, 3))
    assert fills(laid(grid(block)).pages[0]) == [(3, 2, 44, 16)]


def test_a_block_with_a_height_of_its_own_keeps_it():
    block = div(p("a"), background=GREY, height=Length(12.0))
    assert fills(laid(grid(block)).pages[0]) == [(0, 0, 50, 12)]


def test_boxes_with_a_position_count_from_their_cell():
    corner = replace(div(p("c"), width=Length(20.0)), position=Position(bottom=Length(0.0)))
    page = laid(grid(p("a"), corner)).pages[0]
    assert placed(page) == [("a", 0, 0), ("c", 50, 10)]


def test_content_higher_than_its_cell_is_an_error_at_the_block():
    findings = Findings()
    laid(grid(div(lines_of(3), tag="box")), findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "Text does not fit: `p` in `box` needs 10.6 mm, the box allows 7.1"
    )
    assert [place.tag_name for place in error.chain] == ["p", "box", "grid"]


def test_a_block_higher_than_its_cell_is_an_error():
    findings = Findings()
    laid(grid(div(p("a"), tag="box", height=Length(30.0))), findings=findings)
    (error,) = findings.errors
    assert "`box` in `grid` needs 10.6 mm, the cell allows 7.1 mm" in error.message


def test_a_grid_wider_than_its_area_is_an_error():
    findings = Findings()
    laid(grid(*named(2), columns=(60, 50)), findings=findings)
    (error,) = findings.errors
    assert error.code == "wider-than-container"
    assert "`grid` needs 38.8 mm of width, the page allows 35.3 mm" in error.message


def test_rows_higher_than_a_page_are_an_error_and_layout_ends():
    findings = Findings()
    page_texts = [texts(page) for page in pages_of(grid(*named(3), rows=120.0), findings)]
    assert page_texts == [["1", "2"], ["3"]]
    assert {error.code for error in findings.errors} == {"taller-than-area"}


def test_an_empty_grid_takes_no_room():
    assert found(grid(), p("x")) == [[("x", 0, 0)]]
    assert found(grid(Break(at("break"), PLAIN, "page", None)), p("x")) == [[("x", 0, 0)]]


def pages_of(block: Block, findings: Findings) -> list[LaidOutPage]:
    return list(laid(block, findings=findings).pages)
