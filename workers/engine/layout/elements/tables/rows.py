"""Rows of a table: their layout and drawing.

A cell of plain text that fits on one line is only its string and its width: no paragraph, line or
box is made for it. The geometry that does not depend on the text is computed once for a template
and a set of column widths, in a `RowPlan`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress, repeat
from math import inf
from operator import le
from typing import Any, Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import Fragment, LayoutContext, PageCanvas, Region, Resume
from workers.engine.layout.display import Fill, GlyphRun, Owner, TextRow
from workers.engine.layout.elements.tables.row_plans import CellPlan, RowPlan, bare_style
from workers.engine.layout.fonts import needs_shaping
from workers.engine.layout.lines import make_glyphs
from workers.engine.layout.lines.bidi import has_right_to_left
from workers.engine.tree.nodes import (
    Block,
    CellTemplate,
    Paragraph,
    Role,
    Source,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.computed import VerticalAlign

_DONE: Final[object] = ("done",)  # the resume position of a finished cell while others continue

# Text without a direction in a right-to-left line: a number, or one word.
_DIRECTION_NEUTRAL: Final = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]*")

# Making a named tuple from a tuple takes half the time, and a table makes two for each cell.
_new: Final = tuple.__new__

_ONLY_TEXT: Final = {str}
_ONLY_WIDTHS: Final = {float}

# A laid-out cell: the width of its line of text, a fragment, or None if it was finished on an
# earlier page.
CellLayout = float | Fragment | None


class CellOwner(NamedTuple):
    """The cell of one row: its template is shared, the row identifies it."""

    row: TableRow
    template: CellTemplate

    @property
    def role(self) -> Role:
        """The structure type of the cell."""
        return self.template.role

    @property
    def source(self) -> Source:
        """The source of the cell, with the loop iteration of its row."""
        return Source(self.template.source.location, self.row.loop)


class LaidOutRow(NamedTuple):
    """A row, laid out.

    `resumes` are the resume positions of the cells of a split row, None for a whole one; `heights`
    those of the cells if one of them spans rows, None if all are as high as the row.
    """

    plan: RowPlan
    row: TableRow
    height: float
    contents: list[CellLayout]
    resumes: tuple[Resume, ...] | None = None
    heights: tuple[float, ...] | None = None


def lay_out_table_row(context: LayoutContext, plan: RowPlan, row: TableRow) -> LaidOutRow:
    """Lay out a row at its natural height."""
    widths = _measure_plain(plan, row.cells)
    if widths is not None:
        return LaidOutRow(plan, row, plan.plain_height, widths)
    contents: list[CellLayout] = []
    height = plan.plain_height
    for cell, content in zip(plan.cells, row.cells, strict=False):
        if (
            type(content) is str
            and cell.allows_plain_text
            and (not cell.is_rtl or _DIRECTION_NEUTRAL.fullmatch(content))
        ):
            width = cell.measure(content)
            limit = cell.limit
            if cell.decimal_alignment is not None:
                limit -= cell.decimal_alignment.shift(content)
            if width <= limit and (
                cell.glyph_style.face.draws_simply(content) or _has_one_face(context, cell, content)
            ):
                contents.append(width)
                continue
        fragment = _lay_out_cell(context, plan, cell, row, content, inf, None)
        contents.append(fragment)
        if cell.template.rowspan == 1:
            height = max(height, fragment.height + cell.insets.top + cell.insets.bottom)
    if plan.has_baselines:
        height = max(height, _height_on_baseline(plan, contents))
    return LaidOutRow(plan, row, height, contents)


def _measure_plain(plan: RowPlan, texts: Sequence[object]) -> list[CellLayout] | None:
    """Return the widths of a row's cells, all of them ASCII text that fits on one line, else None."""
    if not plan.runs or not plan.limits or {*map(type, texts)} != _ONLY_TEXT:
        return None
    widths: list[CellLayout] = []
    for run in plan.runs:
        size = run.glyph_style.style.size
        widths += [em * size for em in map(run.glyph_style.face.measure, texts[run.cells])]  # type: ignore[arg-type]  # all are text
    is_fitting = all(map(le, widths, plan.limits))  # type: ignore[arg-type]  # all are widths
    return widths if is_fitting and "".join(texts).isascii() else None  # type: ignore[arg-type]


def split_row(
    context: LayoutContext,
    plan: RowPlan,
    row: TableRow,
    room: float,
    resumes: tuple[Resume, ...] | None,
) -> LaidOutRow:
    """Lay out the part of a row's cells that fits into `room`, from their resume positions."""
    contents: list[CellLayout] = []
    resume_positions: list[Resume] = []
    height = 0.0
    starts = resumes or (None,) * len(plan.cells)
    for cell, content, start in zip(plan.cells, row.cells, starts, strict=False):
        if start is _DONE:
            contents.append(None)
            resume_positions.append(_DONE)
            continue
        edges = cell.insets.top + cell.insets.bottom
        fragment = _lay_out_cell(context, plan, cell, row, content, max(room - edges, 0.0), start)
        contents.append(fragment)
        resume_positions.append(_DONE if fragment.resume is None else fragment.resume)
        height = max(height, fragment.height + edges)
    is_whole = all(resume is _DONE for resume in resume_positions)
    return LaidOutRow(plan, row, height, contents, None if is_whole else tuple(resume_positions))


def spanning_heights(laid_row: LaidOutRow) -> list[tuple[int, float]]:
    """Return the row span and minimum height of each cell of a row that spans rows."""
    return [
        (cell.template.rowspan, max(cell.plain_height, _own_height(cell, value)))
        for cell, value in zip(laid_row.plan.cells, laid_row.contents, strict=False)
        if cell.template.rowspan > 1
    ]


def with_heights(laid_row: LaidOutRow, heights: Sequence[float], at: int) -> LaidOutRow:
    """Return a row with its final height; `heights` are those of all joined rows, its own is at
    `at`.
    """
    spans = [cell.template.rowspan for cell in laid_row.plan.cells]
    if max(spans, default=1) == 1:
        return laid_row._replace(height=heights[at])
    own = tuple(sum(heights[at : at + rows]) for rows in spans)
    return laid_row._replace(height=heights[at], heights=own)


def draw_cells(
    canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float, elements: range | None = None
) -> None:
    """Draw the contents of a row's cells; `elements` are their structure elements."""
    plan, contents = laid_row.plan, laid_row.contents
    for left, name in plan.anchors:
        canvas.add_anchor(name, x + left, y)
    if canvas.records_boxes:
        _add_cell_boxes(canvas, laid_row, x, y)
    elif plan.runs and laid_row.heights is None and {*map(type, contents)} == _ONLY_WIDTHS:
        if not canvas.is_dry_run:  # which looks for anchors
            _draw_runs(canvas, laid_row, x, y, elements)
        return
    _draw_each(canvas, laid_row, x, y, elements)


def _draw_each(
    canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float, elements: range | None
) -> None:
    """Draw the cells of a row one by one."""
    plan, row, height, contents, _, heights = laid_row
    line = _baseline_of(plan, contents) if plan.has_baselines else 0.0
    is_artifact = canvas.is_artifact
    append = canvas.items.append
    cells = zip(
        plan.cells,
        row.cells,
        contents,
        heights or repeat(height),
        elements or repeat(None),
        strict=False,
    )
    for cell, content, value, own, element in cells:
        if cell.template.rowspan > 1 and cell.template.style.box.background is not None:
            append(Fill(x + cell.x, y, cell.width, own, cell.template.style.box.background, None))
        if type(value) is not float:
            if element is None:
                _draw_piece(canvas, cell, value, (x, y), own, line)
            else:
                _draw_in(canvas, element, cell, value, (x, y), own, line)
        elif content:
            style, face, _, _, is_shaped, _ = cell.glyph_style
            left = x + cell.left + (cell.room - value) * cell.align_share
            if cell.decimal_alignment is not None:
                left -= cell.decimal_alignment.shift(content)
            baseline = y + _baseline_in(cell, own, line)
            owner: Owner = element
            if element is None and not is_artifact:
                owner = _new(CellOwner, (row, cell.template))
            if is_shaped:
                append(make_glyphs(cell.glyph_style, content, left, baseline, owner))  # type: ignore[arg-type]  # a width: it is text
                continue
            append(
                _new(
                    GlyphRun,
                    (
                        left,
                        baseline,
                        face,
                        style.size,
                        style.color,
                        face.encode(content),  # type: ignore[arg-type]  # as above
                        content,
                        value,
                        owner,
                        0.0,
                        style.letter_spacing,
                        "",
                    ),
                )
            )


def _draw_runs(
    canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float, elements: range | None
) -> None:
    """Draw the cells of a row, each of them a line of plain text."""
    plan, row, height, contents, _, _ = laid_row
    for cells, glyph_style, baseline, plain_height, share, places, decimals, templates in plan.runs:
        texts: Sequence[Any] = row.cells[cells]
        widths: Sequence[Any] = contents[cells]
        lefts = [
            x + left + (room - width) * align_share
            for (left, room, align_share), width in zip(places, widths, strict=False)
        ]
        for at, alignment in decimals:
            lefts[at] -= alignment.shift(texts[at])
        owners: Sequence[Any] | None = None
        if elements is not None:
            owners = elements[cells]
        elif not canvas.is_artifact:
            owners = [_new(CellOwner, (row, template)) for template in templates]
        if "" in texts:
            is_drawn = [*map(bool, texts)]
            lefts, widths = [*compress(lefts, is_drawn)], [*compress(widths, is_drawn)]
            owners = owners and [*compress(owners, is_drawn)]
            texts = [*compress(texts, is_drawn)]
        if texts:
            style, face, *_ = glyph_style
            top = y + (baseline + (height - plain_height) * share)
            codes = [*map(face.encode, texts)]
            drawn = (lefts, top, face, style.size, style.color, codes, texts, widths, owners)
            canvas.items.append(TextRow(*drawn, style.letter_spacing))


def _add_cell_boxes(canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float) -> None:
    """Report the border boxes of a row's cells to the canvas."""
    heights = laid_row.heights or repeat(laid_row.height)
    for cell, height in zip(laid_row.plan.cells, heights, strict=False):
        canvas.add_box(CellOwner(laid_row.row, cell.template), (x + cell.x, y, cell.width, height))


def draw_vertical_borders(
    canvas: PageCanvas, plan: RowPlan, x: float, top: float, bottom: float
) -> None:
    """Draw the borders between the cells of a row."""
    for at, border in plan.vertical_borders:
        draw_border(canvas.items, border, (x + at, top), (x + at, bottom), None)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: LayoutContext, cell: CellPlan, text: str) -> bool:
    if needs_shaping(text) or has_right_to_left(text):
        return False
    faces = context.fonts.split(cell.glyph_style.style, text)
    if len(faces) != 1 or faces[0][0] is not cell.glyph_style.face:
        return False
    context.report_missing_glyphs(text, cell.template.source)
    return True


def _lay_out_cell(
    context: LayoutContext,
    plan: RowPlan,
    cell: CellPlan,
    row: TableRow,
    content: str | tuple[Block, ...],
    room: float,
    resume: Resume,
) -> Fragment:
    source = Source(cell.template.source.location, row.loop)
    width = cell.room
    if (
        cell.decimal_alignment is not None
    ):  # aligned right in the remaining width, so that its decimal sign is in line
        width = max(width - cell.decimal_alignment.shift(content), 0.0)
    region = Region(width, room)
    context.path.append(Source(plan.template.source.location, row.loop))
    if isinstance(content, str):
        paragraph = _paragraph_of(context, cell, row, content)
        fragment = context.lay_out(paragraph, region, resume)
    else:
        context.path.append(source)
        fragment = lay_out_stack(context, content, region, resume)
        context.path.pop()
    context.path.pop()
    assert fragment is not None
    return fragment


def _paragraph_of(context: LayoutContext, cell: CellPlan, row: TableRow, text: str) -> Paragraph:
    """Return the paragraph of a cell that needs more than a line, cached for split rows."""
    key = ("cell", row, cell.first)
    paragraph: Paragraph | None = context.cache.get(key)
    if paragraph is None:
        style = bare_style(context, cell.template.style)
        source = Source(cell.template.source.location, row.loop)
        paragraph = Paragraph(source, cell.template.role, style, (TextRun(text, style.text),))
        context.cache[key] = paragraph
    return paragraph


def _draw_piece(
    canvas: PageCanvas,
    cell: CellPlan,
    value: CellLayout,
    at: tuple[float, float],
    height: float,
    line: float,
) -> None:
    if value is None or isinstance(value, float):
        return
    value.draw(canvas, at[0] + cell.left, at[1] + _content_top(cell, value, height, line))


def _draw_in(
    canvas: PageCanvas,
    element: int,
    cell: CellPlan,
    value: CellLayout,
    at: tuple[float, float],
    height: float,
    line: float,
) -> None:
    """Draw a cell's fragment inside its structure element."""
    tree = canvas.structure
    assert tree is not None
    tree.enter_cell(element)
    _draw_piece(canvas, cell, value, at, height, line)
    tree.leave()


def _baseline_in(cell: CellPlan, height: float, line: float) -> float:
    """Return the distance from a row's top to the baseline of a cell with one line of text."""
    if line and cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line
    return cell.baseline + (height - cell.plain_height) * cell.vertical_share


def _content_top(cell: CellPlan, fragment: Fragment, height: float, line: float) -> float:
    if cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line - (fragment.first_baseline or 0.0)
    free = height - fragment.height - cell.insets.top - cell.insets.bottom
    return cell.insets.top + max(free, 0.0) * cell.vertical_share


def _baseline_of(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    """Return the distance from the row's top to the common baseline of its `baseline` cells."""
    return max(
        (_own_baseline(cell, value) for cell, value in _on_baseline(plan, contents)), default=0.0
    )


def _height_on_baseline(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    line = _baseline_of(plan, contents)
    return max(
        (
            line - _own_baseline(cell, value) + _own_height(cell, value)
            for cell, value in _on_baseline(plan, contents)
        ),
        default=0.0,
    )


def _on_baseline(
    plan: RowPlan, contents: Sequence[CellLayout]
) -> list[tuple[CellPlan, CellLayout]]:
    return [
        (cell, value)
        for cell, value in zip(plan.cells, contents, strict=False)
        if value is not None and cell.template.style.box.vertical_align is VerticalAlign.BASELINE
    ]


def _own_baseline(cell: CellPlan, value: CellLayout) -> float:
    if isinstance(value, float):
        return cell.baseline
    return cell.insets.top + ((value.first_baseline or 0.0) if value else 0.0)


def _own_height(cell: CellPlan, value: CellLayout) -> float:
    if isinstance(value, float):
        return cell.plain_height
    return (value.height if value else 0.0) + cell.insets.top + cell.insets.bottom
