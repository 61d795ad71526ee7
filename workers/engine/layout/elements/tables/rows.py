"""Rows of a table: their layout and drawing.

A row is one of a block of rows whose cells are all lines of text, or it is general. A line of text
is only its string and its width: no paragraph, line or box is made for it. object other cell is a box.
The geometry that does not depend on the content is computed once for a template and a set of column
widths, in a `RowPlan`.

Borders collapse: a border between two cells is drawn once, centred on their common edge. The wider
border wins; among equal ones that of the cell before the row before the group, then the one above
and to the left (CSS 2.2, 17.6.2.1). Cell content is inset by its padding and half its borders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise, repeat
from math import inf
from operator import itemgetter
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
from workers.engine.layout.elements.tables.widths import DecimalAlignment, is_decimal
from workers.engine.layout.lines.drawing import make_glyphs
from workers.engine.layout.lines.east_asian import has_gaps
from workers.engine.layout.lines.fragments import GlyphStyle, line_metrics, make_glyph_style
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Paragraph,
    Role,
    RowTemplate,
    Source,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.cascade import INITIAL_STYLE
from workers.engine.tree.styles.computed import Align, VerticalAlign, WhiteSpace
from workers.engine.units import NO_BORDER, Border, BorderStyle, Color, Sides

_ALIGN_SHARES: Final = {Align.RIGHT: 1.0, Align.DECIMAL: 1.0, Align.CENTER: 0.5}
_VERTICAL_SHARES: Final = {VerticalAlign.MIDDLE: 0.5, VerticalAlign.BOTTOM: 1.0}


@dataclass(frozen=True, slots=True, eq=False)
class CellPlan:
    """The common geometry of all cells of one template at one width; `x` is from the row's left
    edge.

    The cell covers the columns from `first` up to, not including, `last`.
    """

    template: CellTemplate
    first: int
    last: int
    x: float
    width: float
    insets: Sides[float]
    glyph_style: GlyphStyle
    baseline: float  # of a line of text in a row of the least height
    line_height: float  # of the cell, with one line of text
    align_share: float  # share of the free width before a line of text
    vertical_share: float  # share of the free height above the content
    takes_lines: bool  # whether text that fits on one line needs no box
    decimal_alignment: DecimalAlignment | None

    @property
    def left(self) -> float:
        """The left edge of the content."""
        return self.x + self.insets.left

    @property
    def room(self) -> float:
        """The width of the content."""
        return max(self.width - self.insets.left - self.insets.right, 0.0)

    @property
    def is_on_baseline(self) -> bool:
        """Whether its first baseline is that of other cells of the row."""
        return self.template.style.box.vertical_align is VerticalAlign.BASELINE


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """The common geometry of all rows of one template at one set of column widths.

    A run is a sequence of cells whose lines of text have one style and one baseline.
    """

    template: RowTemplate
    cells: tuple[CellPlan, ...]
    runs: tuple[slice, ...]
    width: float
    line_height: float  # of a row of cells with one line of text
    backgrounds: tuple[tuple[float, float, Color], ...]
    borders: tuple[tuple[Border, Border], ...]  # of cells, above and below, for each column
    covered: frozenset[int]  # columns of cells that span into it
    continued: frozenset[int]  # columns of cells that span out of it
    has_borders: bool
    vertical_borders: tuple[tuple[float, Border], ...]
    anchors: tuple[tuple[float, str], ...]  # ids of the row and its cells


def plan_row(
    context: LayoutContext,
    template: RowTemplate,
    edges: Sequence[float],
    *,
    fractions: Mapping[int, float],
    is_rtl: bool = False,
) -> RowPlan:
    """Return the plan of a template's rows; `edges` are the columns' left edges and the right end.

    `fractions` are the widest of each column with aligned numbers. Right-to-left tables have their
    columns in that order.
    """

    def seen(first: int, last: int) -> tuple[int, int]:
        columns = len(edges) - 1
        first, last = min(first, columns), min(last, columns)
        return (columns - last, columns - first) if is_rtl else (first, last)

    cells: list[CellPlan] = []
    for cell, column in zip(template.cells, template.columns, strict=True):
        alignment = None
        first, last = seen(column, column + cell.colspan)
        if is_decimal(cell):
            reserve = fractions.get(min(column + cell.colspan, len(edges) - 1) - 1, 0.0)
            # Right to left, the last column of a cell is the one at its left.
            beyond = edges[last] - edges[min(first + 1, last)] if is_rtl else 0.0
            width = edges[last] - edges[first]
            alignment = DecimalAlignment(context, cell, reserve, beyond=beyond, width=width)
        cells.append(_plan_cell(context, cell, first, last, edges, alignment))
    box = template.style.box
    common = max((cell.baseline for cell in cells if cell.is_on_baseline), default=0.0)
    heights = [
        cell.line_height + (common - cell.baseline if cell.is_on_baseline else 0.0)
        for cell in cells
        if cell.template.rowspan == 1
    ]
    cells = [replace(cell, baseline=common) if cell.is_on_baseline else cell for cell in cells]
    placed = [(cell.first, cell.last, cell.template) for cell in cells]
    above = [(*seen(each.first, each.last), each.cell) for each in template.covers]
    placed = sorted([*placed, *above], key=itemgetter(0))
    borders = [(NO_BORDER, NO_BORDER)] * (len(edges) - 1)
    for first, last, cell in placed:
        border = cell.style.box.border
        borders[first:last] = [(border.top, border.bottom)] * (last - first)
    has_borders = any(
        map(_is_drawn, chain(box.border, *(cell.style.box.border for _, _, cell in placed)))
    )
    covers = [each for each in template.covers if each.rows > 1]
    below = [seen(each.first, each.last) for each in covers]
    below += [(cell.first, cell.last) for cell in cells if cell.template.rowspan > 1]
    return RowPlan(
        template=template,
        cells=tuple(cells),
        runs=_plan_runs(cells),
        width=edges[-1],
        line_height=max(box.height.value, box.min_height.value, *heights, 0.0),
        backgrounds=_backgrounds(cells),
        borders=tuple(borders),
        covered=_columns_in([(first, last) for first, last, _ in above]),
        continued=_columns_in(below),
        has_borders=has_borders,
        vertical_borders=_vertical_borders(template, placed, edges) if has_borders else (),
        anchors=_anchors(template, cells),
    )


def layout_key(template: RowTemplate) -> tuple[object, ...]:
    """Return a key that is equal for templates with equal layout; rows of rich cells have one each."""
    cells = tuple(
        (id(cell.style), cell.colspan, cell.rowspan, cell.role, cell.source.location, cell.id)
        for cell in template.cells
    )
    covers = tuple((id(each.cell.style), each.first, each.rows > 1) for each in template.covers)
    row = (id(template.style), template.source.location, template.repeats, template.id)
    return (*row, template.starts, cells, covers)


def resolve_borders(
    upper: RowPlan | None, lower: RowPlan | None, edges: Sequence[float], extra: tuple[Border, ...]
) -> tuple[tuple[float, float, Border], ...]:
    """Return the borders on the edge between two rows (None outside the table), from left to right.

    `extra` are the borders of groups that start or end on this edge.
    """
    plans = [plan for plan in (upper, lower) if plan]
    if not any(plan.has_borders for plan in plans) and not any(map(_is_drawn, extra)):
        return ()
    # Columns where a cell continues over the edge.
    inside = upper.continued & lower.covered if upper and lower else frozenset()
    outer = [plan.template.style.box.border for plan in plans]
    rows = [*([outer[0].bottom] if upper else []), *([outer[-1].top] if lower else [])]
    lines: list[tuple[float, float, Border]] = []
    for column, (left, right) in enumerate(pairwise(edges)):
        cells = [*([upper.borders[column][1]] if upper else [])]
        cells += [lower.borders[column][0]] if lower else []
        winner = _winning_border((*cells, *rows, *extra))
        if column in inside or not _is_drawn(winner):
            continue
        if lines and lines[-1][1:] == (left, winner):
            lines[-1] = (lines[-1][0], right, winner)
        else:
            lines.append((left, right, winner))
    return tuple(lines)


# --- cells ---------------------------------------------------------------------------------------


def _plan_cell(
    context: LayoutContext,
    template: CellTemplate,
    first: int,
    last: int,
    edges: Sequence[float],
    alignment: DecimalAlignment | None,
) -> CellPlan:
    style = template.style
    box, text, paragraph = style.box, style.text, style.paragraph
    insets = Sides(*map(_inset, box.padding, box.border))
    context.warn_of_missing_features(text, template.source)
    line_height, baseline = line_metrics(text, paragraph, context.fonts)
    content_height = line_height + insets.top + insets.bottom
    height = max(content_height, box.height.value, box.min_height.value)
    takes_lines = (
        template.rowspan == 1
        and paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)
        and not paragraph.indent
        and not text.rise
        and text.decoration == "none"
        and text.background is None
    )
    vertical_share = _VERTICAL_SHARES.get(box.vertical_align, 0.0)
    return CellPlan(
        template=template,
        first=first,
        last=last,
        x=edges[first],
        width=edges[last] - edges[first],
        insets=insets,
        glyph_style=make_glyph_style(text, context.fonts.find(text)),
        baseline=insets.top + baseline + (height - content_height) * vertical_share,
        line_height=height,
        align_share=_ALIGN_SHARES.get(paragraph.align, 0.0),
        vertical_share=vertical_share,
        takes_lines=takes_lines,
        decimal_alignment=alignment,
    )


def _plan_runs(cells: Sequence[CellPlan]) -> tuple[slice, ...]:
    starts = [0]
    for _, alike in groupby(cells, key=_run_key):
        starts.append(starts[-1] + len([*alike]))
    return tuple(map(slice, starts, starts[1:]))


def _run_key(cell: CellPlan) -> tuple[object, ...]:
    text, face = cell.glyph_style.style, cell.glyph_style.face
    style = id(face), text.size, text.color, text.letter_spacing, cell.glyph_style.is_shaped
    return (*style, cell.baseline, cell.line_height, cell.vertical_share)


def _columns_in(places: Sequence[tuple[int, int]]) -> frozenset[int]:
    return frozenset(column for first, last in places for column in range(first, last))


def _inset(padding: float, border: Border) -> float:
    return padding + _width(border) / 2


def _vertical_borders(
    template: RowTemplate, placed: Sequence[tuple[int, int, CellTemplate]], edges: Sequence[float]
) -> tuple[tuple[float, Border], ...]:
    row = template.style.box.border
    lines: list[tuple[float, Border]] = []
    before: tuple[Border, ...] = (row.left,)
    for first, _, cell in placed:
        border = cell.style.box.border
        lines.append((edges[first], _winning_border((*before[:1], border.left, *before[1:]))))
        before = (border.right,)
    lines.append((edges[-1], _winning_border((*before, row.right))))
    return tuple(line for line in lines if _is_drawn(line[1]))


def _winning_border(borders: Sequence[Border]) -> Border:
    return max(borders, key=_width, default=NO_BORDER)


def _width(border: Border) -> float:
    return 0.0 if border.style is BorderStyle.NONE else border.width


def _is_drawn(border: Border) -> bool:
    return _width(border) > 0


def _anchors(template: RowTemplate, cells: Sequence[CellPlan]) -> tuple[tuple[float, str], ...]:
    own = [(0.0, template.id)] if template.id is not None else []
    inner = [(cell.x, cell.template.id) for cell in cells if cell.template.id is not None]
    return (*own, *inner)


def _backgrounds(cells: Sequence[CellPlan]) -> tuple[tuple[float, float, Color], ...]:
    """Return the backgrounds of cells, adjacent ones of one colour merged."""
    backgrounds: list[tuple[float, float, Color]] = []
    for cell in sorted(cells, key=lambda cell: cell.x):
        color = cell.template.style.box.background
        if color is None or cell.template.rowspan > 1:
            continue
        if (
            backgrounds
            and backgrounds[-1][2] == color
            and backgrounds[-1][0] + backgrounds[-1][1] == cell.x
        ):
            backgrounds[-1] = (backgrounds[-1][0], backgrounds[-1][1] + cell.width, color)
        else:
            backgrounds.append((cell.x, cell.width, color))
    return tuple(backgrounds)


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


@dataclass(slots=True)
class PlacedCell:
    """Cell number `at` of a row in an area that breaks rows: its top in the area, where its content
    resumes after it, and the part of it in the area.
    """

    row_plan: RowPlan
    row: TableRow
    at: int
    number: int  # of the row
    resume: Resume
    top: float
    value: CellLayout = None
    height: float = 0.0

    @property
    def plan(self) -> CellPlan:
        """Its geometry."""
        return self.row_plan.cells[self.at]

    @property
    def end(self) -> int:
        """The number of the row after the last that it covers."""
        return self.number + self.plan.template.rowspan


class RowBlock(NamedTuple):
    """Laid-out rows of one plan and of one height: rows of lines of text, or one general row.

    `first` is the number of the first row in its section, `contents` are those of the cells, row by
    row. `heights` are those of the cells of a general row if one of them spans rows or is broken,
    None if all are as high as the row.
    """

    plan: RowPlan
    first: int
    rows: Sequence[TableRow]
    height: float  # of each row
    contents: list[CellLayout]
    has_lines_only: bool = False
    heights: list[float] | None = None
    continued: Sequence[PlacedCell] = ()  # cells that span into it from before a break
    is_cut_above: bool = False  # by a break inside it, which has no border
    is_cut_below: bool = False

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


def lay_out_rows(
    context: LayoutContext, plan: RowPlan, rows: Sequence[TableRow], first: int
) -> list[RowBlock]:
    """Lay out rows at their natural heights, those whose cells are all lines of text in blocks."""
    columns = len(plan.cells)
    contents: list[CellLayout] = [None] * (len(rows) * columns)
    for at, cell in enumerate(plan.cells):
        contents[at::columns] = _measure_lines(context, cell, [row.cells[at] for row in rows])
    whole = RowBlock(plan, first, rows, plan.line_height, contents, has_lines_only=True)
    if None not in contents:
        return [whole]
    starts = range(0, len(contents), columns)
    fits = [None not in contents[start : start + columns] for start in starts]
    blocks: list[RowBlock] = []
    for has_lines_only, part in groupby(range(first, whole.end), lambda at: fits[at - first]):
        numbers = [*part]
        if has_lines_only:
            blocks.append(whole.between(numbers[0], numbers[-1] + 1))
        else:
            blocks += [_lay_out_general(context, whole.between(at, at + 1)) for at in numbers]
    return blocks


def _lay_out_general(context: LayoutContext, block: RowBlock) -> RowBlock:
    """Lay out the boxes of a row, whose lines of text are measured."""
    plan, contents = block.plan, [*block.contents]
    for at, cell in enumerate(plan.cells):
        if contents[at] is None or cell.is_on_baseline:
            contents[at] = lay_out_cell(context, plan, block.rows[0], at, Region(cell.room), None)
    height = own_height(plan, contents)
    return block._replace(height=height, contents=contents, has_lines_only=False)


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
        for at, top in enumerate(tops):
            element = None if elements is None else elements[at].start - 1
            canvas.add_anchor(name, x + left, top, element)
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
    of_texts = [None] * len(texts) if owners is None else [*chain.from_iterable(owners)]
    lines = [line for line in ys for _ in cells]
    for text, left, line, owner in zip(texts, xs, lines, of_texts, strict=True):
        if text:
            canvas.items.append(make_glyphs(first.glyph_style, text, left, line, owner))


def _draw_general(
    canvas: PageCanvas, block: RowBlock, x: float, y: float, elements: range | None
) -> None:
    """Draw the cells of a row: lines of text that are next to each other, and boxes."""
    plan, contents = block.plan, block.contents
    line = _baseline_of(plan, contents)
    for each in block.continued:
        _fill(canvas, each.plan, x, y, each.height)
        begun = None if canvas.tree is None else canvas.tree.cells_in(each.row)[each.at]
        _draw_in(canvas, begun, each.plan, each.value, (x, y), each.height, line)
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
    for each in block.continued:
        area = x + each.plan.x, tops[0], each.plan.width, each.height
        canvas.add_box(CellOwner(each.row, each.plan.template), area)


def draw_vertical_borders(
    items: list[Item], plan: RowPlan, x: float, top: float, bottom: float
) -> None:
    """Draw the borders between the cells of a row."""
    for at, border in plan.vertical_borders:
        draw_border(items, border, (x + at, top), (x + at, bottom), None)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: LayoutContext, cell: CellPlan, text: str) -> bool:
    if needs_shaping(text) or has_right_to_left(text) or has_gaps(text):
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


_PARAGRAPHS: Final[Kind[tuple[TableRow, int], Paragraph]] = Kind()


def _paragraph_of(context: LayoutContext, cell: CellPlan, row: TableRow, text: str) -> Paragraph:
    """Return the paragraph of a cell that needs more than a line, cached for split rows."""

    def make() -> Paragraph:
        # The cell has the box and the breaks of its text.
        own = cell.template.style
        style = replace(own, box=INITIAL_STYLE.box, breaks=INITIAL_STYLE.breaks)
        source = Source(cell.template.source.location, row.loop)
        return Paragraph(source, cell.template.role, style, (TextRun(text, style.text),))

    return context.memo.remember(_PARAGRAPHS, (row, cell.first), make)


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
