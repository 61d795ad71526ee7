"""Row plans: the geometry of table rows that does not depend on their texts.

Borders collapse: a border between two cells is drawn once, centred on their common edge. The wider
border wins; among equal ones that of the cell before the row before the group, then the one above
and to the left (CSS 2.2, 17.6.2.1). Cell content is inset by its padding and half its borders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Final

from workers.engine.layout.context import LayoutContext
from workers.engine.layout.elements.tables.widths import DecimalAlignment, is_decimal
from workers.engine.layout.lines.fragments import GlyphStyle, line_metrics, make_glyph_style
from workers.engine.tree.nodes import CellTemplate, RowTemplate
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
        if is_decimal(cell):
            reserve = fractions.get(min(column + cell.colspan, len(edges) - 1) - 1, 0.0)
            alignment = DecimalAlignment(context, cell, reserve)
        cells.append(
            _plan_cell(context, cell, *seen(column, column + cell.colspan), edges, alignment)
        )
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
