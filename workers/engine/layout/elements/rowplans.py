"""Plans of rows: all geometry of a table's rows that does not depend on their texts.

Borders collapse: a line between two cells is drawn once, centred on the edge between them; the
wider border wins, among equal ones the cell's before the row's before the group's, and the one
above and to the left. A cell's content is inset by its padding and half its borders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON, Context
from workers.engine.layout.elements.decimals import DecimalEdge, columns_of, is_decimal, measurer
from workers.engine.layout.elements.spans import Cover
from workers.engine.layout.lines import Look, line_metrics
from workers.engine.tree.nodes import CellTemplate, RowTemplate
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
from workers.engine.units import AUTO, NO_BORDER, ZERO, Border, BorderStyle, Color, Sides

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
    is_rtl: bool
    measure: Callable[[str], float]
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
    has_borders: bool
    uprights: tuple[tuple[float, Border], ...]
    anchors: tuple[tuple[float, str], ...]  # ids of the row and its cells


def plan_row(
    context: Context,
    template: RowTemplate,
    edges: Sequence[float],
    *,
    fractions: Mapping[int, float],
    covers: Sequence[Cover] = (),
    is_rtl: bool = False,
) -> RowPlan:
    """Work out the geometry of a template's rows; `edges` are the columns' left edges and the end.

    `fractions` are the widest of each column of aligned numbers; `covers` the cells of rows above
    that reach into the row. In a table that reads from right to left columns stand in that order.
    """
    cells: list[CellPlan] = []
    last_column = len(edges) - 1
    for cell, column in zip(template.cells, columns_of(template), strict=True):
        first, end = min(column, last_column), min(column + cell.colspan, last_column)
        seen = (last_column - end, last_column - first) if is_rtl else (first, end)
        plan = _plan_cell(context, cell, *seen, edges)
        if is_decimal(cell):
            edge = DecimalEdge(context, cell, fractions.get(end - 1, 0.0))
            plan = replace(plan, decimals=edge)
        cells.append(plan)
    box = template.style.box
    heights = [cell.plain_height for cell in cells if cell.template.rowspan == 1]
    if is_rtl:
        covers = [
            cover._replace(first=last_column - cover.last, last=last_column - cover.first)
            for cover in covers
        ]
    frames = _frames(cells, covers)
    has_borders = any(any(map(_is_drawn, frame.border)) for frame in frames)
    has_borders = has_borders or any(map(_is_drawn, box.border))
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
        has_borders=has_borders,
        uprights=_uprights(template, frames, edges) if has_borders else (),
        anchors=_anchors(template, cells),
    )


def look_key(template: RowTemplate) -> tuple[object, ...]:
    """Give what makes two templates lay out alike: build makes one for each row of rich cells."""
    cells = tuple(
        (id(cell.style), cell.colspan, cell.rowspan, cell.role, cell.source.place, cell.id)
        for cell in template.cells
    )
    row = (id(template.style), template.source.place, template.repeats, template.id)
    return (*row, template.starts, cells)


def bare_style(context: Context, style: Style) -> Style:
    """Give the style of a text that is alone in a cell, which has the box; one for all such cells."""
    key = ("bare", id(style))
    known: tuple[Style, Style] | None = context.memory.get(key)
    if known is None:
        bare = replace(style, box=BARE_BOX, breaks=BARE_BREAKS)
        known = context.memory[key] = (style, bare)
    return known[1]


def find_edges(
    upper: RowPlan | None,
    lower: RowPlan | None,
    edges: Sequence[float],
    extra: tuple[Border, ...],
) -> tuple[tuple[float, float, Border], ...]:
    """Find the lines on the edge between two rows (None outside the table), from left to right.

    `extra` are the borders of groups that begin or end on this edge.
    """
    plans = [plan for plan in (upper, lower) if plan]
    if not any(plan.has_borders for plan in plans) and not any(map(_is_drawn, extra)):
        return ()
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
    outer = [plan.template.style.box.border for plan in plans]
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


# --- cells ---------------------------------------------------------------------------------------


def _plan_cell(
    context: Context, template: CellTemplate, first: int, last: int, edges: Sequence[float]
) -> CellPlan:
    style = template.style
    box, text, paragraph = style.box, style.text, style.paragraph
    insets = Sides(*map(_inset, box.padding, box.border))
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
        is_rtl=paragraph.is_rtl,
        measure=measurer(look),
    )


def _inset(padding: float, border: Border) -> float:
    return padding + _width(border) / 2


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


def _fills(cells: Sequence[CellPlan]) -> tuple[tuple[float, float, Color], ...]:
    """Give the backgrounds of cells, neighbours of one colour together."""
    fills: list[tuple[float, float, Color]] = []
    for cell in sorted(cells, key=lambda cell: cell.x):
        color = cell.template.style.box.background
        if color is None or cell.template.rowspan > 1:
            continue
        if fills and fills[-1][2] == color and fills[-1][0] + fills[-1][1] == cell.x:
            fills[-1] = (fills[-1][0], fills[-1][1] + cell.width, color)
        else:
            fills.append((cell.x, cell.width, color))
    return tuple(fills)
