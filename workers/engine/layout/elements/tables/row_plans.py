"""Row plans: the geometry of table rows that does not depend on their texts.

Borders collapse: a border between two cells is drawn once, centred on their common edge. The wider
border wins; among equal ones that of the cell before the row before the group, then the one above
and to the left (CSS 2.2, 17.6.2.1). Cell content is inset by its padding and half its borders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON, LayoutContext
from workers.engine.layout.elements.tables.decimals import (
    DecimalAlignment,
    columns_of,
    is_decimal,
    make_measure,
)
from workers.engine.layout.elements.tables.spans import SpanningCell
from workers.engine.layout.lines import GlyphStyle, line_metrics, make_glyph_style
from workers.engine.tree.nodes import CellTemplate, RowTemplate
from workers.engine.tree.styles.computed import (
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

_ALIGN_SHARES: Final = {Align.RIGHT: 1.0, Align.DECIMAL: 1.0, Align.CENTER: 0.5}
_VERTICAL_SHARES: Final = {VerticalAlign.MIDDLE: 0.5, VerticalAlign.BOTTOM: 1.0}

# The box of text that is alone in a cell: none, since the cell has its own.
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
    left: float  # of the content
    width: float
    insets: Sides[float]
    room: float
    limit: float  # the greatest width of a line, with a tolerance for rounding
    glyph_style: GlyphStyle
    baseline: float
    plain_height: float
    align_share: float  # share of the free width before a line of text
    vertical_share: float  # share of the free height above the content
    allows_plain_text: bool
    is_rtl: bool
    measure: Callable[[str], float]
    decimal_alignment: DecimalAlignment | None = None


class RunPlan(NamedTuple):
    """Adjacent cells of a row whose lines of plain text have one style and one baseline.

    A line starts `left` of its cell from the row's left edge, plus the `share` of its free width.
    """

    cells: slice  # of the row
    glyph_style: GlyphStyle
    baseline: float  # in a row of the plan's height
    plain_height: float
    vertical_share: float
    places: tuple[tuple[float, float, float], ...]  # left, room and share of each cell
    decimals: tuple[tuple[int, DecimalAlignment], ...]  # by the index in the run
    templates: tuple[CellTemplate, ...]


class CellBorders(NamedTuple):
    """The borders around columns of a row: those of a cell, or of one that spans from above."""

    first: int
    last: int
    border: Sides[Border]
    is_covered: bool = False
    continues_below: bool = False  # below this row


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """The common geometry of all rows of one template at one set of column widths."""

    template: RowTemplate
    cells: tuple[CellPlan, ...]
    runs: tuple[RunPlan, ...]  # of all cells; none where a line of text may need one of its own
    limits: tuple[float, ...]  # of all cells; none where a text may be wider or narrower than it is
    width: float
    plain_height: float
    has_baselines: bool
    backgrounds: tuple[tuple[float, float, Color], ...]
    cell_borders: tuple[CellBorders, ...]
    has_borders: bool
    vertical_borders: tuple[tuple[float, Border], ...]
    anchors: tuple[tuple[float, str], ...]  # ids of the row and its cells


def plan_row(
    context: LayoutContext,
    template: RowTemplate,
    edges: Sequence[float],
    *,
    fractions: Mapping[int, float],
    covers: Sequence[SpanningCell] = (),
    is_rtl: bool = False,
) -> RowPlan:
    """Return the plan of a template's rows; `edges` are the columns' left edges and the right end.

    `fractions` are the widest of each column with aligned numbers, `covers` the cells that span
    into the row from above. Right-to-left tables have their columns in that order.
    """
    cells: list[CellPlan] = []
    last_column = len(edges) - 1
    for cell, column in zip(template.cells, columns_of(template), strict=True):
        first, end = min(column, last_column), min(column + cell.colspan, last_column)
        seen = (last_column - end, last_column - first) if is_rtl else (first, end)
        plan = _plan_cell(context, cell, *seen, edges)
        if is_decimal(cell):
            edge = DecimalAlignment(context, cell, fractions.get(end - 1, 0.0))
            plan = replace(plan, decimal_alignment=edge)
        cells.append(plan)
    box = template.style.box
    heights = [cell.plain_height for cell in cells if cell.template.rowspan == 1]
    if is_rtl:
        covers = [
            cover._replace(first=last_column - cover.last, last=last_column - cover.first)
            for cover in covers
        ]
    cell_borders = _frames(cells, covers)
    has_borders = any(any(map(_is_drawn, cell_borders.border)) for cell_borders in cell_borders)
    has_borders = has_borders or any(map(_is_drawn, box.border))
    return RowPlan(
        template=template,
        cells=tuple(cells),
        runs=_plan_runs(cells),
        limits=_plan_limits(cells),
        width=edges[-1],
        plain_height=max(box.height.value, box.min_height.value, *heights, 0.0),
        has_baselines=any(
            cell.style.box.vertical_align is VerticalAlign.BASELINE for cell in template.cells
        ),
        backgrounds=_backgrounds(cells),
        cell_borders=cell_borders,
        has_borders=has_borders,
        vertical_borders=_vertical_borders(template, cell_borders, edges) if has_borders else (),
        anchors=_anchors(template, cells),
    )


def layout_key(template: RowTemplate) -> tuple[object, ...]:
    """Return a key that is equal for templates with equal layout; rows of rich cells have one each."""
    cells = tuple(
        (id(cell.style), cell.colspan, cell.rowspan, cell.role, cell.source.location, cell.id)
        for cell in template.cells
    )
    row = (id(template.style), template.source.location, template.repeats, template.id)
    return (*row, template.starts, cells)


def bare_style(context: LayoutContext, style: Style) -> Style:
    """Return the style of text that is alone in a cell, without the cell's box, cached by style."""
    bare: Style | None = context.style_cache.get(style, "bare")
    if bare is None:
        bare = replace(style, box=BARE_BOX, breaks=BARE_BREAKS)
        context.style_cache.set(style, "bare", value=bare)
    return bare


def resolve_borders(
    upper: RowPlan | None,
    lower: RowPlan | None,
    edges: Sequence[float],
    extra: tuple[Border, ...],
) -> tuple[tuple[float, float, Border], ...]:
    """Return the borders on the edge between two rows (None outside the table), from left to right.

    `extra` are the borders of groups that start or end on this edge.
    """
    plans = [plan for plan in (upper, lower) if plan]
    if not any(plan.has_borders for plan in plans) and not any(map(_is_drawn, extra)):
        return ()
    columns = len(edges) - 1
    rivals: list[list[Border]] = [[] for _ in range(columns)]
    inside = set(range(columns))  # columns where a cell continues over the edge
    for plan, is_upper in ((upper, True), (lower, False)):
        spanned: set[int] = set()
        for cell_borders in plan.cell_borders if plan else ():
            covered = range(cell_borders.first, cell_borders.last)
            if cell_borders.continues_below if is_upper else cell_borders.is_covered:
                spanned.update(covered)
            for column in covered:
                rivals[column].append(
                    cell_borders.border.bottom if is_upper else cell_borders.border.top
                )
        inside &= spanned
    outer = [plan.template.style.box.border for plan in plans]
    rows = [outer[0].bottom] if upper else []
    rows += [outer[-1].top] if lower else []
    winners = [
        NO_BORDER if column in inside else _winning_border((*cells, *rows, *extra))
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
    context: LayoutContext, template: CellTemplate, first: int, last: int, edges: Sequence[float]
) -> CellPlan:
    style = template.style
    box, text, paragraph = style.box, style.text, style.paragraph
    insets = Sides(*map(_inset, box.padding, box.border))
    width = edges[last] - edges[first]
    room = max(width - insets.left - insets.right, 0.0)
    glyph_style = make_glyph_style(text, context.fonts.find(text))
    context.warn_of_missing_features(text, template.source)
    line_height, baseline = line_metrics(text, paragraph, context.fonts)
    least = max(box.height.value, box.min_height.value)
    plain_height = max(line_height + insets.top + insets.bottom, least)
    allows_plain_text = (
        paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)
        and not paragraph.indent
        and not text.rise
        and text.decoration == "none"
        and text.background is None
    )
    vertical_share = _VERTICAL_SHARES.get(box.vertical_align, 0.0)
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
        glyph_style=glyph_style,
        baseline=insets.top + baseline + free * vertical_share,
        plain_height=plain_height,
        align_share=_ALIGN_SHARES.get(paragraph.align, 0.0),
        vertical_share=vertical_share,
        allows_plain_text=allows_plain_text,
        is_rtl=paragraph.is_rtl,
        measure=make_measure(glyph_style),
    )


def _plan_runs(cells: Sequence[CellPlan]) -> tuple[RunPlan, ...]:
    """Return the runs of a row's cells, empty if a cell is drawn in another way."""
    if not all(map(_is_in_run, cells)):
        return ()
    runs = []
    end = 0
    for _, alike in groupby(cells, key=_run_key):
        members = list(alike)
        start, end = end, end + len(members)
        first = members[0]
        decimals = [
            (at, cell.decimal_alignment)
            for at, cell in enumerate(members)
            if cell.decimal_alignment is not None
        ]
        runs.append(
            RunPlan(
                cells=slice(start, end),
                glyph_style=first.glyph_style,
                baseline=first.baseline,
                plain_height=first.plain_height,
                vertical_share=first.vertical_share,
                places=tuple((cell.left, cell.room, cell.align_share) for cell in members),
                decimals=tuple(decimals),
                templates=tuple(cell.template for cell in members),
            )
        )
    return tuple(runs)


def _is_in_run(cell: CellPlan) -> bool:
    return (
        cell.template.rowspan == 1
        and not cell.glyph_style.is_shaped
        and cell.template.style.box.vertical_align is not VerticalAlign.BASELINE
    )


def _run_key(cell: CellPlan) -> tuple[object, ...]:
    text, face = cell.glyph_style.style, cell.glyph_style.face
    style = id(face), text.size, text.color, text.letter_spacing
    return (*style, cell.baseline, cell.plain_height, cell.vertical_share)


def _plan_limits(cells: Sequence[CellPlan]) -> tuple[float, ...]:
    """Return the greatest widths of lines in a row's cells, if each is ASCII text as it is."""
    is_simple = all(
        cell.allows_plain_text
        and not cell.is_rtl
        and cell.decimal_alignment is None
        and not cell.glyph_style.style.letter_spacing
        for cell in cells
    )
    return tuple(cell.limit for cell in cells) if is_simple else ()


def _inset(padding: float, border: Border) -> float:
    return padding + _width(border) / 2


def _frames(cells: Sequence[CellPlan], covers: Sequence[SpanningCell]) -> tuple[CellBorders, ...]:
    own = [
        CellBorders(
            cell.first,
            cell.last,
            cell.template.style.box.border,
            continues_below=cell.template.rowspan > 1,
        )
        for cell in cells
    ]
    above = [
        CellBorders(
            cover.first,
            cover.last,
            cover.cell.style.box.border,
            True,
            continues_below=cover.continues_below,
        )
        for cover in covers
    ]
    return tuple(sorted([*own, *above], key=lambda borders: borders.first))


def _vertical_borders(
    template: RowTemplate, cell_borders: Sequence[CellBorders], edges: Sequence[float]
) -> tuple[tuple[float, Border], ...]:
    row = template.style.box.border
    lines: list[tuple[float, Border]] = []
    before: tuple[Border, ...] = (row.left,)
    for cell in cell_borders:
        border = cell.border
        lines.append((edges[cell.first], _winning_border((*before[:1], border.left, *before[1:]))))
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
