"""Rows of a table: what all rows of one template share, how one row is laid out, how it is drawn.

A cell of plain text that fits on one line is never more than its string and its width: no
paragraph, no line, no box is made for it. All geometry that does not depend on the text is worked
out once for a template and a set of column widths, in a `RowPlan`.

Borders collapse: a line between two cells is drawn once, centred on the edge between them; the
wider border wins, among equal ones the cell's before the row's before the group's, and the one
above and to the left. A cell's content is inset by its padding and half its borders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON, Context, Piece, Resume, Sheet, Space
from workers.engine.layout.display import Fill, Glyphs
from workers.engine.layout.elements.decimals import DecimalEdge, columns_of, is_decimal, measurer
from workers.engine.layout.elements.spans import Cover
from workers.engine.layout.frames import draw_border
from workers.engine.layout.lines import Look, line_metrics
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.tree.nodes import (
    Block,
    CellTemplate,
    Paragraph,
    Role,
    RowTemplate,
    Run,
    Source,
    TableRow,
)
from workers.engine.tree.styles import (
    Align,
    BoxStyle,
    BreakStyle,
    BreakTo,
    Overflow,
    Style,
    VerticalAlign,
    WhiteSpace,
)
from workers.engine.units import (
    AUTO,
    NO_BORDER,
    ZERO,
    Border,
    BorderStyle,
    Color,
    Sides,
)

_FACTORS: Final = {Align.RIGHT: 1.0, Align.DECIMAL: 1.0, Align.CENTER: 0.5}
_DROPS: Final = {VerticalAlign.MIDDLE: 0.5, VerticalAlign.BOTTOM: 1.0}

# What a text has around it when it is alone in a cell: nothing, the cell has its own box.
BARE_BOX: Final = BoxStyle(
    width=AUTO,
    height=AUTO,
    min_width=ZERO,
    max_width=None,
    min_height=ZERO,
    max_height=None,
    margin=Sides(ZERO, ZERO, ZERO, ZERO),
    padding=Sides(0.0, 0.0, 0.0, 0.0),
    border=Sides(NO_BORDER, NO_BORDER, NO_BORDER, NO_BORDER),
    radius=0.0,
    background=None,
    background_image=None,
    opacity=1.0,
    overflow=Overflow.ERROR,
    min_font_size=None,
    rotate=0.0,
    vertical_align=VerticalAlign.TOP,
)
BARE_BREAKS: Final = BreakStyle(BreakTo.AUTO, BreakTo.AUTO, False, None, None)

_DONE: Final = ("done",)  # resume of a cell that is finished while others go on

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


@dataclass(frozen=True, slots=True)
class CellPlan:
    """What all cells made from one template share at one width; `x` from the row's left edge.

    `first` and `last` are the columns it covers, `last` not included.
    """

    template: CellTemplate
    first: int
    last: int
    x: float
    left: float  # of its content
    width: float
    insets: Sides[float]
    room: float
    limit: float  # how wide a line may be, rounding minded
    look: Look
    baseline: float
    plain_height: float
    shift: float  # share of the free width that goes before a line of text
    drop: float  # share of the free height that goes above the content
    takes_plain: bool
    measure: Callable[[str], float]
    inner_style: Style
    decimals: DecimalEdge | None = None


class CellFrame(NamedTuple):
    """The borders around columns of a row: a cell's own, or those of one that covers them from above."""

    first: int
    last: int
    border: Sides[Border]
    is_covered: bool = False
    goes_on: bool = False  # below this row


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What all rows of one template share at one set of column widths."""

    template: RowTemplate
    cells: tuple[CellPlan, ...]
    width: float
    plain_height: float
    has_baselines: bool
    fills: tuple[tuple[float, float, Color], ...]
    frames: tuple[CellFrame, ...]
    uprights: tuple[tuple[float, Border], ...]
    anchors: tuple[tuple[float, str], ...]  # ids of the row and its cells


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


def plan_row(
    context: Context,
    template: RowTemplate,
    edges: Sequence[float],
    *,
    fractions: Mapping[int, float],
    covers: Sequence[Cover] = (),
) -> RowPlan:
    """Work out the geometry of a template's rows; `edges` are the columns' left edges and the end.

    `fractions` are the widest of each column of aligned numbers; `covers` the cells of rows above
    that reach into the row.
    """
    cells: list[CellPlan] = []
    last_column = len(edges) - 1
    for cell, column in zip(template.cells, columns_of(template), strict=True):
        first, end = min(column, last_column), min(column + cell.colspan, last_column)
        plan = _plan_cell(context, cell, first, end, edges)
        if is_decimal(cell):
            sign = cell.style.paragraph.decimal_sign
            edge = DecimalEdge(sign, fractions.get(end - 1, 0.0), plan.measure)
            plan = replace(plan, decimals=edge)
        cells.append(plan)
    box = template.style.box
    heights = [cell.plain_height for cell in cells if cell.template.rowspan == 1]
    frames = _frames(cells, covers)
    return RowPlan(
        template=template,
        cells=tuple(cells),
        width=edges[-1],
        plain_height=max(box.height.value, box.min_height.value, *heights, 0.0),
        has_baselines=any(
            cell.style.box.vertical_align is VerticalAlign.BASELINE for cell in template.cells
        ),
        fills=_fills(cells),
        frames=frames,
        uprights=_uprights(template, frames, edges),
        anchors=_anchors(template, cells),
    )


def lay_out_row(context: Context, plan: RowPlan, row: TableRow) -> LaidRow:
    """Lay out a row as high as it wants to be."""
    contents: list[Content] = []
    height = plan.plain_height
    for cell, content in zip(plan.cells, row.cells, strict=False):
        if type(content) is str and cell.takes_plain:
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
        (cell.template.rowspan, _own_height(cell, value))
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
            style, face, _ = cell.look
            left = x + cell.left + (cell.room - value) * cell.shift
            if cell.decimals is not None:
                left -= cell.decimals.shift(content)  # type: ignore[arg-type]  # a width: it is text
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


def find_edges(
    upper: RowPlan | None,
    lower: RowPlan | None,
    edges: Sequence[float],
    extra: tuple[Border, ...],
) -> tuple[tuple[float, float, Border], ...]:
    """Find the lines on the edge between two rows (None outside the table), from left to right.

    `extra` are the borders of groups that begin or end on this edge.
    """
    columns = len(edges) - 1
    rivals: list[list[Border]] = [[] for _ in range(columns)]
    inside: set[int] = set()  # columns where a cell goes on over the edge
    for plan, is_upper in ((upper, True), (lower, False)):
        for frame in plan.frames if plan else ():
            covered = range(frame.first, frame.last)
            if frame.goes_on if is_upper else frame.is_covered:
                inside.update(covered)
            for column in covered:
                rivals[column].append(frame.border.bottom if is_upper else frame.border.top)
    outer = [plan.template.style.box.border for plan in (upper, lower) if plan]
    rows = [outer[0].bottom] if upper else []
    rows += [outer[-1].top] if lower else []
    winners = [
        NO_BORDER if column in inside else _strongest((*cells, *rows, *extra))
        for column, cells in enumerate(rivals)
    ]
    lines: list[tuple[float, float, Border]] = []
    for column, winner in enumerate(winners):
        if not _is_drawn(winner):
            continue
        if lines and lines[-1][1] == edges[column] and lines[-1][2] == winner:
            lines[-1] = (lines[-1][0], edges[column + 1], winner)
        else:
            lines.append((edges[column], edges[column + 1], winner))
    return tuple(lines)


# --- plans ------------------------------------------------------------------------------------------


def _plan_cell(
    context: Context, template: CellTemplate, first: int, last: int, edges: Sequence[float]
) -> CellPlan:
    style = template.style
    box, text, paragraph = style.box, style.text, style.paragraph
    insets = Sides(
        *(
            padding + _width(border) / 2
            for padding, border in zip(box.padding, box.border, strict=True)
        )
    )
    width = edges[last] - edges[first]
    room = max(width - insets.left - insets.right, 0.0)
    look = Look(text, context.fonts.find(text), None)
    line_height, baseline = line_metrics(text, paragraph, context.fonts)
    least = max(box.height.value, box.min_height.value)
    plain_height = max(line_height + insets.top + insets.bottom, least)
    takes_plain = (
        paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)
        and not paragraph.indent
        and not text.rise
        and text.decoration == "none"
        and text.background is None
    )
    drop = _DROPS.get(box.vertical_align, 0.0)
    free = plain_height - line_height - insets.top - insets.bottom
    return CellPlan(
        template=template,
        first=first,
        last=last,
        x=edges[first],
        left=edges[first] + insets.left,
        width=width,
        insets=insets,
        room=room,
        limit=room + EPSILON,
        look=look,
        baseline=insets.top + baseline + free * drop,
        plain_height=plain_height,
        shift=_FACTORS.get(paragraph.align, 0.0),
        drop=drop,
        takes_plain=takes_plain,
        measure=measurer(look),
        inner_style=replace(style, box=BARE_BOX, breaks=BARE_BREAKS),
    )


def _frames(cells: Sequence[CellPlan], covers: Sequence[Cover]) -> tuple[CellFrame, ...]:
    own = [
        CellFrame(
            cell.first,
            cell.last,
            cell.template.style.box.border,
            goes_on=cell.template.rowspan > 1,
        )
        for cell in cells
    ]
    above = [
        CellFrame(cover.first, cover.last, cover.cell.style.box.border, True, goes_on=cover.goes_on)
        for cover in covers
    ]
    return tuple(sorted([*own, *above], key=lambda frame: frame.first))


def _uprights(
    template: RowTemplate, frames: Sequence[CellFrame], edges: Sequence[float]
) -> tuple[tuple[float, Border], ...]:
    row = template.style.box.border
    lines: list[tuple[float, Border]] = []
    before: tuple[Border, ...] = (row.left,)
    for frame in frames:
        border = frame.border
        lines.append((edges[frame.first], _strongest((*before[:1], border.left, *before[1:]))))
        before = (border.right,)
    lines.append((edges[-1], _strongest((*before, row.right))))
    return tuple(line for line in lines if _is_drawn(line[1]))


def _strongest(borders: Sequence[Border]) -> Border:
    return max(borders, key=_width, default=NO_BORDER)


def _width(border: Border) -> float:
    return 0.0 if border.style is BorderStyle.NONE else border.width


def _is_drawn(border: Border) -> bool:
    return _width(border) > 0


def _anchors(template: RowTemplate, cells: Sequence[CellPlan]) -> tuple[tuple[float, str], ...]:
    own = [(0.0, template.id)] if template.id is not None else []
    inner = [(cell.x, cell.template.id) for cell in cells if cell.template.id is not None]
    return (*own, *inner)


def look_key(template: RowTemplate) -> tuple[object, ...]:
    """Give what makes two templates lay out alike: build makes one for each row of rich cells."""
    cells = tuple(
        (id(cell.style), cell.colspan, cell.rowspan, cell.role, cell.source.place, cell.id)
        for cell in template.cells
    )
    row = (id(template.style), template.source.place, template.repeats, template.id)
    return (*row, template.starts, cells)


def _fills(cells: Sequence[CellPlan]) -> tuple[tuple[float, float, Color], ...]:
    """Give the backgrounds of cells, neighbours of one colour together."""
    fills: list[tuple[float, float, Color]] = []
    for cell in cells:
        color = cell.template.style.box.background
        if color is None or cell.template.rowspan > 1:
            continue
        if fills and fills[-1][2] == color and fills[-1][0] + fills[-1][1] == cell.x:
            fills[-1] = (fills[-1][0], fills[-1][1] + cell.width, color)
        else:
            fills.append((cell.x, cell.width, color))
    return tuple(fills)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: Context, cell: CellPlan, text: str) -> bool:
    faces = context.fonts.split(cell.look.style, text)
    if len(faces) != 1 or faces[0][0] is not cell.look.face:
        return False
    context.warn_of_missing(text, cell.template.source)
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
    space = Space(cell.room, room)
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
        style, source = cell.inner_style, Source(cell.template.source.place, row.loop)
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
