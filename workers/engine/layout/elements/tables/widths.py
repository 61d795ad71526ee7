"""Column widths of a table, measured over all its rows before any row is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

from workers.engine.layout.blocks.tracks import Track, distribute_width
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.elements.tables.decimals import (
    DecimalAlignment,
    is_decimal,
    measure_fractions,
)
from workers.engine.layout.lines.opportunities import split_at_opportunities
from workers.engine.layout.lines.phrases import text_measurer
from workers.engine.tree.nodes import (
    Block,
    CellContent,
    CellTemplate,
    Column,
    InlineAnchor,
    LineBreak,
    Paragraph,
    Reference,
    RowTemplate,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.computed import WhiteSpace
from workers.engine.units import AUTO, ZERO, LengthKind

_ANY: Final = Column(AUTO, ZERO, None)
# Of a table: with less left, the words of `fr` columns are measured too.
_ROOM_FOR_SHARES: Final = 0.15


class MeasureMode(Enum):
    """The part of a cell's content that is measured."""

    LINE = "its lines, as far as nothing but their author breaks them"
    WORD = "its longest word"
    CUT = "what cannot be cut: where words may break anywhere, nothing of them"


Groups = Sequence[tuple[RowTemplate, Sequence[TableRow]]]


def group_by_template(rows: Iterable[TableRow]) -> Groups:
    """Group rows by template."""
    groups: dict[RowTemplate, list[TableRow]] = {}
    for row in rows:
        groups.setdefault(row.template, []).append(row)
    return list(groups.items())


def find_widths(
    context: LayoutContext, columns: Sequence[Column], groups: Groups, width: float
) -> tuple[list[float], dict[int, float]]:
    """Return the width of each column, and the widest fraction of those with aligned numbers, in
    points.

    The sum of the columns exceeds `width` only if stated widths demand it.
    """
    rows = _measured_rows(context, columns, groups, width)
    columns = rows.columns
    measured = {i for i, column in enumerate(columns) if column.width.kind is LengthKind.AUTO}
    shares = {i for i, column in enumerate(columns) if column.width.kind is LengthKind.FRACTION}
    low = high = unbreakable = [0.0] * len(columns)
    if measured:
        high = _measure(rows, measured, MeasureMode.LINE)
    stated = sum(column.width.resolve(width) or 0.0 for column in columns)
    if width - stated - sum(high) < (_ROOM_FOR_SHARES * width if shares else 0.0):
        low = _measure(rows, measured | shares, MeasureMode.WORD)
        if sum(low) > width - stated:
            unbreakable = _measure(rows, measured | shares, MeasureMode.CUT)
    tracks = [
        Track(
            *(column.width, low[i], high[i], column.min_width.resolve(width) or 0.0),
            None if column.max_width is None else column.max_width.resolve(width),
            unbreakable[i],
        )
        for i, column in enumerate(columns)
    ]
    return distribute_width(tracks, width, base=width, stretch=True), rows.fractions


def measure_columns(
    context: LayoutContext, columns: Sequence[Column], groups: Groups
) -> tuple[float, float]:
    """Return the min-content and max-content widths of all columns together, in points."""
    rows = _measured_rows(context, columns, groups, 0.0)
    every = set(range(len(rows.columns)))
    stated = [column.width.resolve(0.0) or 0.0 for column in rows.columns]
    low, high = (_measure(rows, every, mode) for mode in (MeasureMode.WORD, MeasureMode.LINE))
    return sum(map(max, low, stated)), sum(map(max, high, stated))


class _MeasuredRows(NamedTuple):
    """The rows of each template, all columns in a width, and the widest fractions of these."""

    context: LayoutContext
    groups: Groups
    columns: Sequence[Column]
    width: float
    fractions: dict[int, float]


def _measured_rows(
    context: LayoutContext, columns: Sequence[Column], groups: Groups, width: float
) -> _MeasuredRows:
    count = max((_span(template) for template, _ in groups), default=0)
    columns = [*columns, *[_ANY] * (count - len(columns))]
    return _MeasuredRows(context, groups, columns, width, measure_fractions(context, groups))


def _span(template: RowTemplate) -> int:
    ends = [
        start + cell.colspan for cell, start in zip(template.cells, template.columns, strict=True)
    ]
    return max(ends, default=0)


def _measure(rows: _MeasuredRows, wanted: set[int], mode: MeasureMode) -> list[float]:
    """Return the widths that the content of some columns needs."""
    columns = rows.columns
    needs = [0.0] * len(columns)
    spanning: list[tuple[int, int, float]] = []
    for template, alike in rows.groups:
        for index, (cell, at) in enumerate(zip(template.cells, template.columns, strict=True)):
            end = min(at + cell.colspan, len(columns))
            if wanted.isdisjoint(range(at, end)):
                continue
            contents = [row.cells[index] for row in alike]
            reserve = rows.fractions.get(end - 1, 0.0) if is_decimal(cell) else None
            need = _measure_cells(rows.context, cell, contents, reserve, mode=mode)
            if end == at + 1:
                needs[at] = max(needs[at], need)
            else:
                spanning.append((at, end, need))
    for start, end, need in spanning:
        _widen(needs, columns, wanted, (start, end), need, rows.width)
    return needs


def _widen(
    needs: list[float],
    columns: Sequence[Column],
    wanted: set[int],
    span: tuple[int, int],
    need: float,
    width: float,
) -> None:
    """Distribute the width a spanning cell needs beyond its columns among those sized by content."""
    covered = range(*span)
    if any(columns[i].width.kind is LengthKind.FRACTION for i in covered):
        return
    have = sum(max(needs[i], columns[i].width.resolve(width) or 0.0) for i in covered)
    growing = [i for i in covered if i in wanted]
    if need > have and growing:
        for i in growing:
            needs[i] += (need - have) / len(growing)


def _breaks_anywhere(block: Block) -> bool:
    """Return whether a block is text whose words may break anywhere."""
    if not isinstance(block, Paragraph):
        return False
    style = block.style.paragraph
    is_text = all(
        isinstance(inline, TextRun | LineBreak | Reference | InlineAnchor)
        for inline in block.inlines
    )
    wraps = style.white_space not in (WhiteSpace.NOWRAP, WhiteSpace.PRE)
    return is_text and wraps and style.breaks_anywhere


def _measure_cells(
    context: LayoutContext,
    cell: CellTemplate,
    contents: Sequence[CellContent],
    reserve: float | None,
    *,
    mode: MeasureMode,
) -> float:
    """Return the width a template's cells need, in points; `reserve` is for fractions, None for
    none.
    """
    box, paragraph = cell.style.box, cell.style.paragraph
    edges = box.padding.left + box.padding.right
    edges += (box.border.left.width + box.border.right.width) / 2
    measure = text_measurer(context.fonts, cell.style.text)
    texts = {content for content in contents if isinstance(content, str)}
    unbreakable = paragraph.white_space in (WhiteSpace.NOWRAP, WhiteSpace.PRE)
    if paragraph.white_space in (WhiteSpace.PRE, WhiteSpace.PRE_LINE, WhiteSpace.PRE_WRAP):
        texts = {line for text in texts for line in text.split("\n")}
    if mode is MeasureMode.CUT and paragraph.breaks_anywhere and not unbreakable:
        texts = set()
    if mode is not MeasureMode.LINE and not unbreakable:
        words = set(" ".join(texts).split(" "))
        texts = {part for word in words for part in split_at_opportunities(word)}
    need = max(map(measure, texts), default=0.0) + (paragraph.indent if texts else 0.0)
    edge = None if reserve is None else DecimalAlignment(context, cell, reserve)
    if edge is not None:
        whole = (text.removesuffix(edge.find(text) or "") for text in texts)
        need = max(need, max(map(measure, whole), default=0.0) + edge.reserve)
    for content in contents:
        if not isinstance(content, str):
            beyond = 0.0 if edge is None else edge.shift(content)
            for block in content:
                low, high = context.measure(block)
                if mode is MeasureMode.CUT and _breaks_anywhere(block):
                    continue
                need = max(need, (high if mode is MeasureMode.LINE else low) + beyond)
    return need + edges
