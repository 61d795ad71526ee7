"""The line grid: baselines of all columns of an area are on the same lines."""

from __future__ import annotations

from typing import Any

import pypdfium2
import pytest

from tests.engine.layout.builders import (
    TEXT,
    box,
    columns,
    div,
    heading,
    laid,
    lines_of,
    p,
    placed,
    points,
    row,
    sides,
    ul,
)
from tests.engine.layout.test_page_references import pdf_of
from workers.engine.syntax.typography import LINE_GRID_KIND
from workers.engine.tree.nodes import TextRun
from workers.engine.tree.styles.computed import LineGrid

GRID = LineGrid(12.0, TEXT)


def on(*inlines: Any, **given: Any) -> Any:
    return p(*inlines, line_grid=GRID, **given)


def grid_lines(page: Any) -> list[float]:
    """Return the position of each text in steps from that of the first line of a page of text."""
    return [round((y - 1) / GRID.step, 3) for _, _, y in placed(page)]


def test_lines_of_text_are_one_step_apart_from_the_top_of_the_area():
    page = laid(lines_of(3, line_grid=GRID)).pages[0]
    assert grid_lines(page) == [0, 1, 2]


def test_the_line_below_a_margin_or_another_size_is_on_the_grid():
    large = TextRun("L", TEXT.__class__(*_of_size(15.0)))
    page = laid(
        on("a", margin=points(0, 0, 3, 0)), on("b"), on(large), on("c", size=7, line_height=9.0)
    ).pages[0]
    assert all(line == int(line) for line in grid_lines(page))
    assert grid_lines(page)[:2] == [0, 2]


def _of_size(size: float) -> tuple[Any, ...]:
    values = {name: getattr(TEXT, name) for name in TEXT.__dataclass_fields__}
    return tuple({**values, "size": size}.values())


def test_columns_with_different_headings_share_one_grid():
    small = heading("h", size=7, line_height=8.0, line_grid=GRID, margin=points(5, 0, 2, 0))
    text = [lines_of(2, line_grid=GRID), small, lines_of(4, line_grid=GRID)]
    page = laid(columns(*text)).pages[0]
    tops = [y for _, x, y in placed(page) if x == 0], [y for _, x, y in placed(page) if x]
    assert all(len(column) > 1 for column in tops)
    assert all((y - 1) % 12 == pytest.approx(0) for column in tops for y in column)


def test_text_of_boxes_and_lists_is_on_the_grid_of_the_area():
    framed = div(on("a"), padding=sides(4), line_grid=GRID)
    page = laid(on("0"), framed, ul("b"), on("c")).pages[0]
    lines = dict(zip([text for text, _, _ in placed(page)], grid_lines(page), strict=True))
    assert [lines[text] for text in "0ac"] == [int(lines[text]) for text in "0ac"]


def test_rows_and_positioned_boxes_keep_their_own_lines():
    aside = box(on("b"), top=5, left=0)
    page = laid(on("0"), row(on("a")), aside).pages[0]
    tops = {text: y for text, _, y in placed(page)}
    assert tops["a"] == 12
    assert tops["b"] == 5


def test_the_grid_goes_on_below_a_figure_at_the_top_of_a_column():
    figure = '<figure float="top"><div height="23mm"/><caption>fig</caption></figure>'
    words = "<p>word and words that fill a line and a part of the next of a column.</p>"
    file = pdf_of(
        '<document lang="en"><style element="document" line-grid="12pt" font-size="8pt"/>'
        '<page size="A6"><area columns="2"/></page>'
        f"<flow>{words * 3}{figure}{words * 12}</flow></document>"
    )
    page = pypdfium2.PdfDocument(file)[0].get_textpage()
    search, bottoms = page.search("word and"), []
    while (found := search.get_next()) is not None:
        bottoms.append(page.get_charbox(found[0])[1])
    assert len(bottoms) > 8
    steps = [(bottoms[0] - bottom) / 12 for bottom in bottoms]
    assert steps == pytest.approx([round(step) for step in steps], abs=0.01)
    assert page.search("fig").get_next() is not None


def test_a_page_of_text_has_as_many_lines_as_steps_fit():
    pages = laid(lines_of(20, line_grid=GRID)).pages
    assert [len(placed(page)) for page in pages] == [8, 8, 4]
    assert all(grid_lines(page)[0] == 0 for page in pages)


@pytest.mark.parametrize("text", ["0", "-12pt", "3pt", "1m", "auto", "250pt", ""])
def test_a_grid_has_a_step_that_text_can_stand_on(text: str):
    with pytest.raises(ValueError, match=r".*"):
        LINE_GRID_KIND.parse(text)
