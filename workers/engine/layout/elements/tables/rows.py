"""Rows of a table: their layout and drawing.

A row is one of a block of rows whose cells are all lines of text, or it is general. A line of text
is only its string and its width: no paragraph, line or box is made for it. Any other cell is a box.
The geometry that does not depend on the content is computed once for a template and a set of column
widths, in a `RowPlan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby, repeat
from math import inf
from typing import Any, Final, NamedTuple

from workers.engine.characters import has_right_to_left
from workers.engine.fonts import needs_shaping
from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    PageCanvas,
    Region,
    Resume,
)
from workers.engine.layout.display import Fill, Item, Owner, TextRows
from workers.engine.layout.elements.tables.row_plans import CellPlan, RowPlan
from workers.engine.layout.lines.drawing import make_glyphs
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Paragraph,
    Role,
    Source,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.cascade import INITIAL_STYLE
from workers.engine.tree.styles.computed import Style

DONE: Final[object] = ("done",)  # the resume position of a finished cell while others continue

# Text without a direction in a right-to-left line: a number, or one word.
_DIRECTION_NEUTRAL: Final = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]*")

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


class ContinuedCell(NamedTuple):
    """The part after a break of cell number `at` of a row before it."""

    cell: CellPlan
    row: TableRow
    at: int
    value: CellLayout
    height: float


class RowBlock(NamedTuple):
    """Laid-out rows of one plan and of one height: rows of lines of text, or one general row.

    `first` is the number of the first row in its section, `contents` are those of the cells, row by
    row. In a general row, `resumes` are the resume positions of the cells of a split one, None for a
    whole one; `heights` those of the cells if one of them spans rows, None if all are as high as the
    row.
    """

    plan: RowPlan
    first: int
    rows: Sequence[TableRow]
    height: float  # of each row
    contents: list[CellLayout]
    has_lines_only: bool = False
    resumes: tuple[Resume, ...] | None = None
    heights: tuple[float, ...] | None = None
    continued: tuple[ContinuedCell, ...] = ()  # cells that span into it from before a break

    @property
    def end(self) -> int:
        """The number of the row after the last."""
        return self.first + len(self.rows)

    def between(self, first: int, end: int) -> RowBlock:
        """Return the rows from number `first` up to, not including, `end`."""
        if first <= self.first and end >= self.end:
            return self
        part = slice(max(first - self.first, 0), end - self.first)
        columns = len(self.plan.cells)
        contents = self.contents[part.start * columns : part.stop * columns]
        return self._replace(first=self.first + part.start, rows=self.rows[part], contents=contents)


def lay_out_lines(
    context: LayoutContext, plan: RowPlan, rows: Sequence[TableRow], first: int
) -> Iterator[RowBlock]:
    """Lay out those of some rows whose cells are all lines of text, without side effects."""
    columns = len(plan.cells)
    contents: list[CellLayout] = [None] * (len(rows) * columns)
    for at, cell in enumerate(plan.cells):
        contents[at::columns] = _measure_lines(context, cell, [row.cells[at] for row in rows])
    whole = RowBlock(plan, first, rows, plan.line_height, contents, has_lines_only=True)
    if None not in contents:
        yield whole
        return
    starts = range(0, len(contents), columns)
    fits = [None not in contents[start : start + columns] for start in starts]
    for has_lines_only, part in groupby(range(len(rows)), fits.__getitem__):
        numbers = [*part]
        if has_lines_only:
            yield whole.between(first + numbers[0], first + numbers[-1] + 1)


def lay_out_row(context: LayoutContext, plan: RowPlan, row: TableRow, number: int = 0) -> RowBlock:
    """Lay out one row at its natural height."""
    contents: list[CellLayout] = []
    for cell, content in zip(plan.cells, row.cells, strict=True):
        contents += _measure_lines(context, cell, [content])
    if None not in contents:
        return RowBlock(plan, number, [row], plan.line_height, contents, has_lines_only=True)
    for at, cell in enumerate(plan.cells):
        if contents[at] is None or cell.is_on_baseline:
            contents[at] = lay_out_cell(context, plan, row, at, Region(cell.room), None)
    return RowBlock(plan, number, [row], own_height(plan, contents), contents)


def _measure_lines(
    context: LayoutContext, cell: CellPlan, contents: Sequence[CellContent]
) -> list[CellLayout]:
    """Return the width of each text that is a line of a cell, None for other content."""
    if not cell.takes_lines:
        return [None] * len(contents)
    limit = cell.room + EPSILON
    style, face = cell.glyph_style.style, cell.glyph_style.face
    is_simple = not (
        style.letter_spacing
        or cell.glyph_style.is_shaped
        or cell.decimal_alignment
        or cell.template.style.paragraph.is_rtl
    )
    texts = [content for content in contents if isinstance(content, str)]
    if is_simple and len(texts) == len(contents) and face.draws_simply("".join(texts)):
        widths = [em * style.size for em in face.measure_all(texts)]
        if max(widths) <= limit:
            return [*widths]
        return [width if width <= limit else None for width in widths]
    return [_measure_line(context, cell, content, limit) for content in contents]


def _measure_line(
    context: LayoutContext, cell: CellPlan, content: CellContent, limit: float
) -> float | None:
    is_rtl = cell.template.style.paragraph.is_rtl
    if type(content) is not str or (is_rtl and not _DIRECTION_NEUTRAL.fullmatch(content)):
        return None
    if cell.decimal_alignment is not None:
        limit -= cell.decimal_alignment.shift(content)
    glyph_style = cell.glyph_style._replace(joined=None)
    width = glyph_style.measure(content)
    is_line = width <= limit and (
        glyph_style.face.draws_simply(content) or _has_one_face(context, cell, content)
    )
    return width if is_line else None


def own_height(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    """Return the height that a row needs for its cells, without those that span rows."""
    line = _baseline_of(plan, contents)
    heights = [
        cell_height(cell, value) + max(line - _own_baseline(cell, value), 0.0)
        for cell, value in zip(plan.cells, contents, strict=True)
        if cell.template.rowspan == 1
    ]
    return max(plan.line_height, *heights, 0.0)


# --- drawing --------------------------------------------------------------------------------------


def draw_rows(
    canvas: PageCanvas, block: RowBlock, x: float, y: float, elements: Sequence[range] | None = None
) -> None:
    """Draw the contents of the cells of rows; `elements` are the structure elements of each row's."""
    plan, count = block.plan, len(block.rows)
    tops = [*accumulate(repeat(block.height, count - 1), initial=y)]
    for left, name in plan.anchors:
        for top in tops:
            canvas.add_anchor(name, x + left, top)
    if canvas.records_boxes:
        _add_cell_boxes(canvas, block, x, tops)
    if not block.has_lines_only:
        _draw_general(canvas, block, x, y, None if elements is None else elements[0])
    elif canvas.is_dry_run:  # which looks for anchors
        return
    elif len(plan.runs) == 1:
        _draw_lines(canvas, block, plan.runs[0], x, tops, elements)
    else:  # in the order of reading
        for at, top in enumerate(tops):
            row = block.between(block.first + at, block.first + at + 1)
            own = None if elements is None else elements[at : at + 1]
            for run in plan.runs:
                _draw_lines(canvas, row, run, x, [top], own)


def _draw_lines(
    canvas: PageCanvas,
    block: RowBlock,
    run: slice,
    x: float,
    tops: Sequence[float],
    elements: Sequence[range] | None,
) -> None:
    """Draw adjacent cells of one style in some rows, all lines of text."""
    plan, rows = block.plan, block.rows
    cells, columns = plan.cells[run], len(plan.cells)
    texts: list[Any] = [*chain.from_iterable([row.cells[run] for row in rows])]
    if not any(texts):
        return
    widths: list[Any] = block.contents
    if len(cells) < columns:
        starts = range(0, len(widths), columns)
        widths = [*chain.from_iterable([widths[at:][run] for at in starts])]
        columns = len(cells)
    xs = [0.0] * len(texts)
    for at, cell in enumerate(cells):
        left, room, share = x + cell.left, cell.room, cell.align_share
        own = [left] * len(rows)
        if share:
            own = [left + (room - width) * share for width in widths[at::columns]]
        if cell.decimal_alignment is not None:
            shifts = map(cell.decimal_alignment.shift, texts[at::columns])
            own = [place - shift for place, shift in zip(own, shifts, strict=True)]
        xs[at::columns] = own
    owners: Sequence[Sequence[Owner]] | None = None
    if elements is not None:
        owners = elements if len(cells) == len(plan.cells) else [own[run] for own in elements]
    elif not canvas.is_artifact:
        owners = [[CellOwner(row, cell.template) for cell in cells] for row in rows]
    first = cells[0]
    below = first.baseline + (block.height - first.line_height) * first.vertical_share
    ys = [top + below for top in tops]
    style, face = first.glyph_style.style, first.glyph_style.face
    if not first.glyph_style.is_shaped:
        drawn = (xs, ys, face, style.size, style.color, face.encode_all(texts), texts, widths)
        canvas.items.append(TextRows(*drawn, owners, style.letter_spacing))
        return
    of_texts: Sequence[Owner] = [None] * len(texts) if owners is None else owners[0]
    for text, left, owner in zip(texts, xs, of_texts, strict=True):
        if text:
            canvas.items.append(make_glyphs(first.glyph_style, text, left, ys[0], owner))


def _draw_general(
    canvas: PageCanvas, block: RowBlock, x: float, y: float, elements: range | None
) -> None:
    """Draw the cells of a row: lines of text that are next to each other, and boxes."""
    plan, contents = block.plan, block.contents
    line = _baseline_of(plan, contents)
    for each in block.continued:
        _fill(canvas, each.cell, x, y, each.height)
        begun = None if canvas.tree is None else canvas.tree.cells_in(each.row)[each.at]
        _draw_in(canvas, begun, each.cell, each.value, (x, y), each.height, line)
    heights = block.heights or [block.height] * len(contents)
    for run in plan.runs:
        numbers = range(*run.indices(len(contents)))
        for is_line, part in groupby(numbers, lambda at: isinstance(contents[at], float)):
            cells = [*part]
            if is_line:
                own = None if elements is None else [elements]
                _draw_lines(canvas, block, slice(cells[0], cells[-1] + 1), x, [y], own)
                continue
            for at in cells:
                cell, height = plan.cells[at], heights[at]
                if cell.template.rowspan > 1:
                    _fill(canvas, cell, x, y, height)
                element = None if elements is None else elements[at]
                _draw_in(canvas, element, cell, contents[at], (x, y), height, line)


def _fill(canvas: PageCanvas, cell: CellPlan, x: float, y: float, height: float) -> None:
    background = cell.template.style.box.background
    if background is not None:
        canvas.items.append(Fill(x + cell.x, y, cell.width, height, background, None))


def _add_cell_boxes(canvas: PageCanvas, block: RowBlock, x: float, tops: Sequence[float]) -> None:
    """Report the border boxes of the cells of rows to the canvas."""
    heights = block.heights or repeat(block.height)
    for row, top in zip(block.rows, tops, strict=True):
        for cell, height in zip(block.plan.cells, heights, strict=False):
            canvas.add_box(CellOwner(row, cell.template), (x + cell.x, top, cell.width, height))
    for cell, row, _, _, height in block.continued:
        canvas.add_box(CellOwner(row, cell.template), (x + cell.x, tops[0], cell.width, height))


def draw_vertical_borders(
    items: list[Item], plan: RowPlan, x: float, top: float, bottom: float
) -> None:
    """Draw the borders between the cells of a row."""
    for at, border in plan.vertical_borders:
        draw_border(items, border, (x + at, top), (x + at, bottom), None)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: LayoutContext, cell: CellPlan, text: str) -> bool:
    if needs_shaping(text) or has_right_to_left(text):
        return False
    faces = context.fonts.split(cell.glyph_style.style, text)
    if len(faces) != 1 or faces[0][0] is not cell.glyph_style.face:
        return False
    context.report_missing_glyphs(text, cell.template.source)
    return True


def lay_out_cell(
    context: LayoutContext, plan: RowPlan, row: TableRow, at: int, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the content of cell number `at` of a row as high as its cell at most.

    None where nothing of it fits, which is not so at the top of an area.
    """
    cell, content = plan.cells[at], row.cells[at]
    edges = cell.insets.top + cell.insets.bottom
    width = cell.room
    if cell.decimal_alignment is not None:
        # Aligned right in the remaining width, so that its decimal sign is in line.
        width = max(width - cell.decimal_alignment.shift(content), 0.0)
    region = region._replace(width=width, height=max(region.height - edges, 0.0))
    context = context.inside(Source(plan.template.source.location, row.loop))
    if isinstance(content, str):
        return context.lay_out(_paragraph_of(context, cell, row, content), region, resume)
    context = context.inside(Source(cell.template.source.location, row.loop))
    return lay_out_stack(context, content, region, resume)


_BARE_STYLES: Final[Kind[int, Style]] = Kind()
_PARAGRAPHS: Final[Kind[tuple[TableRow, int], Paragraph]] = Kind()


def _paragraph_of(context: LayoutContext, cell: CellPlan, row: TableRow, text: str) -> Paragraph:
    """Return the paragraph of a cell that needs more than a line, cached for split rows."""

    def make() -> Paragraph:
        style = _without_box(context, cell.template.style)
        source = Source(cell.template.source.location, row.loop)
        return Paragraph(source, cell.template.role, style, (TextRun(text, style.text),))

    return context.memo.remember(_PARAGRAPHS, (row, cell.first), make)


def _without_box(context: LayoutContext, style: Style) -> Style:
    """Return the style of text that is alone in a cell, which has the box, cached by style."""
    return context.memo.template.remember(
        _BARE_STYLES,
        id(style),
        lambda: replace(style, box=INITIAL_STYLE.box, breaks=INITIAL_STYLE.breaks),
        holds=style,
    )


def _draw_in(
    canvas: PageCanvas,
    element: int | None,
    cell: CellPlan,
    value: CellLayout,
    at: tuple[float, float],
    height: float,
    line: float,
) -> None:
    """Draw a cell's fragment, inside its structure element if there is one."""
    if value is None or isinstance(value, float):
        return
    tree = None if element is None else canvas.structure
    if tree is not None and element is not None:
        tree.go_into(element)
    value.draw(canvas, at[0] + cell.left, at[1] + _content_top(cell, value, height, line))
    if tree is not None:
        tree.leave()


def _content_top(cell: CellPlan, fragment: Fragment, height: float, line: float) -> float:
    if cell.is_on_baseline:
        return line - (fragment.first_baseline or 0.0)
    free = height - fragment.height - cell.insets.top - cell.insets.bottom
    return cell.insets.top + max(free, 0.0) * cell.vertical_share


def _baseline_of(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    """Return the distance from the row's top to the common baseline of its `baseline` cells."""
    baselines = [*map(_own_baseline, plan.cells, contents)]
    return max([each for each in baselines if each < inf], default=0.0)


def _own_baseline(cell: CellPlan, value: CellLayout) -> float:
    """Return the distance from the row's top to the baseline of a box, infinite for other cells."""
    if value is None or isinstance(value, float) or not cell.is_on_baseline:
        return inf
    return cell.insets.top + (value.first_baseline or 0.0)


def cell_height(cell: CellPlan, value: CellLayout) -> float:
    """Return the height that a cell needs for its content."""
    if isinstance(value, float):
        return cell.line_height
    return (value.height if value else 0.0) + cell.insets.top + cell.insets.bottom
