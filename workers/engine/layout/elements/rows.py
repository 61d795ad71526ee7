"""Rows of a table: how one row is laid out, and how it is drawn.

A cell of plain text that fits on one line is never more than its string and its width: no
paragraph, no line, no box is made for it. All geometry that does not depend on the text is worked
out once for a template and a set of column widths, in a `RowPlan`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import repeat
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import Context, Piece, Resume, Sheet, Space
from workers.engine.layout.display import Fill, Glyphs
from workers.engine.layout.elements.rowplans import CellPlan, RowPlan, bare_style
from workers.engine.layout.fonts import needs_shaping
from workers.engine.layout.frames import draw_border
from workers.engine.layout.lines.bidi import has_right_to_left
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.tree.nodes import (
    Block,
    CellTemplate,
    Paragraph,
    Role,
    Run,
    Source,
    TableRow,
)
from workers.engine.tree.styles import VerticalAlign
from workers.engine.units import Color

_DONE: Final = ("done",)  # resume of a cell that is finished while others go on

# What looks the same in a line from right to left: a number, or one word.
_ONE_WAY: Final = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]*")

# A named tuple made from a ready tuple: half the time, and a table makes two for each cell.
_new: Final = tuple.__new__

# A cell's content, laid out: the width of its one line of text, a piece, or None when all of it
# stood on the page before.
Content = float | Piece | None


class CellOwner(NamedTuple):
    """The cell of one row: the template is shared by all rows, the row makes it one cell."""

    row: TableRow
    template: CellTemplate

    @property
    def role(self) -> Role:
        """Give the cell's structure type."""
        return self.template.role

    @property
    def source(self) -> Source:
        """Give the cell's place, with the loop turns of its row."""
        return Source(self.template.source.place, self.row.loop)


class LaidRow(NamedTuple):
    """One row, laid out.

    `resumes` is where each cell goes on when the row was split, None for a whole row; `heights` are
    those of its cells where one spans rows, None where all are as high as the row.
    """

    plan: RowPlan
    row: TableRow
    height: float
    contents: list[Content]
    resumes: tuple[Resume, ...] | None = None
    heights: tuple[float, ...] | None = None


def lay_out_row(context: Context, plan: RowPlan, row: TableRow) -> LaidRow:
    """Lay out a row as high as it wants to be."""
    contents: list[Content] = []
    height = plan.plain_height
    for cell, content in zip(plan.cells, row.cells, strict=False):
        if (
            type(content) is str
            and cell.takes_plain
            and (not cell.is_rtl or _ONE_WAY.fullmatch(content))
        ):
            width = cell.measure(content)
            limit = cell.limit
            if cell.decimals is not None:
                limit -= cell.decimals.shift(content)
            if width <= limit and (content.isascii() or _has_one_face(context, cell, content)):
                contents.append(width)
                continue
        piece = _lay_out_cell(context, plan, cell, row, content, inf, None)
        contents.append(piece)
        if cell.template.rowspan == 1:
            height = max(height, piece.height + cell.insets.top + cell.insets.bottom)
    if plan.has_baselines:
        height = max(height, _height_on_baseline(plan, contents))
    return LaidRow(plan, row, height, contents)


def split_row(
    context: Context,
    plan: RowPlan,
    row: TableRow,
    room: float,
    resumes: tuple[Resume, ...] | None,
) -> LaidRow:
    """Lay out as much of a row's cells as stands in `room`, each from where it stopped."""
    contents: list[Content] = []
    going_on: list[Resume] = []
    height = 0.0
    starts = resumes or (None,) * len(plan.cells)
    for cell, content, start in zip(plan.cells, row.cells, starts, strict=False):
        if start is _DONE:
            contents.append(None)
            going_on.append(_DONE)
            continue
        edges = cell.insets.top + cell.insets.bottom
        piece = _lay_out_cell(context, plan, cell, row, content, max(room - edges, 0.0), start)
        contents.append(piece)
        going_on.append(_DONE if piece.resume is None else piece.resume)
        height = max(height, piece.height + edges)
    is_whole = all(resume is _DONE for resume in going_on)
    return LaidRow(plan, row, height, contents, None if is_whole else tuple(going_on))


def span_needs(laid: LaidRow) -> list[tuple[int, float]]:
    """Give the cells of a row that span rows: how many rows each spans, and how high it must be."""
    return [
        (cell.template.rowspan, max(cell.plain_height, _own_height(cell, value)))
        for cell, value in zip(laid.plan.cells, laid.contents, strict=False)
        if cell.template.rowspan > 1
    ]


def with_heights(laid: LaidRow, heights: Sequence[float], at: int) -> LaidRow:
    """Give a row its height; `heights` are those of the rows that cells join, its own is at `at`."""
    spans = [cell.template.rowspan for cell in laid.plan.cells]
    if max(spans, default=1) == 1:
        return laid._replace(height=heights[at])
    own = tuple(sum(heights[at : at + rows]) for rows in spans)
    return laid._replace(height=heights[at], heights=own)


def draw_fills(sheet: Sheet, laid: LaidRow, x: float, y: float, fill: Color | None) -> None:
    """Draw a row's backgrounds; borders are drawn by the table."""
    plan, items = laid.plan, sheet.items
    if fill is not None:
        items.append(Fill(x, y, plan.width, laid.height, fill, None))
    for left, width, color in plan.fills:
        items.append(Fill(x + left, y, width, laid.height, color, None))


def draw_cells(sheet: Sheet, laid: LaidRow, x: float, y: float) -> None:
    """Draw the contents of a row's cells."""
    plan, row, height, contents, _, heights = laid
    items = sheet.items
    for left, name in plan.anchors:
        sheet.anchor(name, x + left, y)
    line = _baseline_of(plan, contents) if plan.has_baselines else 0.0
    is_furniture = sheet.is_furniture
    append = items.append
    for cell, content, value, own in zip(
        plan.cells, row.cells, contents, heights or repeat(height), strict=False
    ):
        if cell.template.rowspan > 1 and cell.template.style.box.background is not None:
            append(Fill(x + cell.x, y, cell.width, own, cell.template.style.box.background, None))
        if type(value) is not float:
            _draw_piece(sheet, cell, value, (x, y), own, line)
        elif content:
            style, face, _, _, _ = cell.look
            left = x + cell.left + (cell.room - value) * cell.shift
            if cell.decimals is not None:
                left -= cell.decimals.shift(content)
            append(
                _new(
                    Glyphs,
                    (
                        left,
                        y + _baseline_in(cell, own, line),
                        face,
                        style.size,
                        style.color,
                        face.encode(content),  # type: ignore[arg-type]  # a width: it is text
                        content,
                        value,
                        None if is_furniture else _new(CellOwner, (row, cell.template)),
                        0.0,
                        style.letter_spacing,
                    ),
                )
            )


def draw_uprights(sheet: Sheet, plan: RowPlan, x: float, top: float, bottom: float) -> None:
    """Draw the lines between the cells of a row."""
    for at, border in plan.uprights:
        draw_border(sheet.items, border, (x + at, top), (x + at, bottom), None)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: Context, cell: CellPlan, text: str) -> bool:
    if needs_shaping(text) or has_right_to_left(text):
        return False
    faces = context.fonts.split(cell.look.style, text)
    if len(faces) != 1 or faces[0][0] is not cell.look.face:
        return False
    context.tell_missing(text, cell.template.source)
    return True


def _lay_out_cell(
    context: Context,
    plan: RowPlan,
    cell: CellPlan,
    row: TableRow,
    content: str | tuple[Block, ...],
    room: float,
    resume: Resume,
) -> Piece:
    source = Source(cell.template.source.place, row.loop)
    width = cell.room
    if cell.decimals is not None:  # set to the right of what is left, its sign stands in line
        width = max(width - cell.decimals.shift(content), 0.0)
    space = Space(width, room)
    context.path.append(Source(plan.template.source.place, row.loop))
    if isinstance(content, str):
        paragraph = _paragraph_of(context, cell, row, content)
        piece = context.lay_out(paragraph, space, resume)
    else:
        context.path.append(source)
        piece = lay_out_stack(context, content, space, resume)
        context.path.pop()
    context.path.pop()
    assert piece is not None
    return piece


def _paragraph_of(context: Context, cell: CellPlan, row: TableRow, text: str) -> Paragraph:
    """Give the paragraph of a cell whose text is more than a line; kept, a split row asks again."""
    key = ("cell", id(row), cell.first)
    known: tuple[TableRow, Paragraph] | None = context.memory.get(key)
    if known is None:
        style = bare_style(context, cell.template.style)
        source = Source(cell.template.source.place, row.loop)
        paragraph = Paragraph(source, cell.template.role, style, (Run(text, style.text),))
        known = context.memory[key] = (row, paragraph)
    return known[1]


def _draw_piece(
    sheet: Sheet,
    cell: CellPlan,
    value: Content,
    at: tuple[float, float],
    height: float,
    line: float,
) -> None:
    if value is None or isinstance(value, float):
        return
    value.draw(sheet, at[0] + cell.left, at[1] + _content_top(cell, value, height, line))


def _baseline_in(cell: CellPlan, height: float, line: float) -> float:
    """Give the distance from a row's top to the baseline of a cell's one line of text."""
    if line and cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line
    return cell.baseline + (height - cell.plain_height) * cell.drop


def _content_top(cell: CellPlan, piece: Piece, height: float, line: float) -> float:
    if cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line - (piece.first_baseline or 0.0)
    free = height - piece.height - cell.insets.top - cell.insets.bottom
    return cell.insets.top + max(free, 0.0) * cell.drop


def _baseline_of(plan: RowPlan, contents: Sequence[Content]) -> float:
    """Give the distance from the row's top to the line that `baseline` cells stand on."""
    return max(
        (_own_baseline(cell, value) for cell, value in _on_baseline(plan, contents)), default=0.0
    )


def _height_on_baseline(plan: RowPlan, contents: Sequence[Content]) -> float:
    line = _baseline_of(plan, contents)
    return max(
        (
            line - _own_baseline(cell, value) + _own_height(cell, value)
            for cell, value in _on_baseline(plan, contents)
        ),
        default=0.0,
    )


def _on_baseline(plan: RowPlan, contents: Sequence[Content]) -> list[tuple[CellPlan, Content]]:
    return [
        (cell, value)
        for cell, value in zip(plan.cells, contents, strict=False)
        if value is not None and cell.template.style.box.vertical_align is VerticalAlign.BASELINE
    ]


def _own_baseline(cell: CellPlan, value: Content) -> float:
    if isinstance(value, float):
        return cell.baseline
    return cell.insets.top + ((value.first_baseline or 0.0) if value else 0.0)


def _own_height(cell: CellPlan, value: Content) -> float:
    if isinstance(value, float):
        return cell.plain_height
    return (value.height if value else 0.0) + cell.insets.top + cell.insets.bottom
