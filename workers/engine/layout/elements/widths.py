"""Column widths of a table: measured over all its rows, text by text, before any row is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from workers.engine.layout.context import Context
from workers.engine.layout.elements.decimals import (
    DecimalEdge,
    columns_of,
    is_decimal,
    measure_fractions,
)
from workers.engine.layout.lines.opportunities import cut_word
from workers.engine.layout.lines.phrases import text_measurer
from workers.engine.layout.tracks import Track, share_width
from workers.engine.tree.nodes import (
    Block,
    CellContent,
    CellTemplate,
    Column,
    LineBreak,
    Paragraph,
    Reference,
    RowTemplate,
    Run,
    Spot,
    TableRow,
)
from workers.engine.tree.styles import WhiteSpace
from workers.engine.units import AUTO, ZERO, LengthKind

_ANY: Final = Column(AUTO, ZERO, None)
_ROOM_FOR_SHARES: Final = 0.15  # of a table: with less left, the words of `fr` columns are measured


@dataclass(slots=True)
class _Needs:
    """What the content of each column needs, in points."""

    narrowest: list[float] = field(default_factory=list)
    widest: list[float] = field(default_factory=list)
    solid: list[float] = field(default_factory=list)


class How(Enum):
    """What of a cell's content is measured."""

    LINE = "its lines, as far as nothing but their author breaks them"
    WORD = "its longest word"
    CUT = "what cannot be cut: where words may break anywhere, nothing of them"


Groups = Sequence[tuple[RowTemplate, Sequence[TableRow]]]


def group_rows(rows: Iterable[TableRow]) -> Groups:
    """Put rows of one template together."""
    groups: dict[int, tuple[RowTemplate, list[TableRow]]] = {}
    for row in rows:
        found = groups.get(id(row.template))
        if found is None:
            groups[id(row.template)] = (row.template, [row])
        else:
            found[1].append(row)
    return list(groups.values())


def find_widths(
    context: Context, columns: Sequence[Column], groups: Groups, width: float
) -> tuple[list[float], dict[int, float]]:
    """Give the width of each column, and of the widest fraction in those of aligned numbers.

    Together the columns are wider than `width` only if stated widths ask for it.
    """
    fractions = measure_fractions(context, groups)
    texts = _Texts(context, groups, fractions)
    count = max((_span(template) for template, _ in groups), default=0)
    all_columns = [*columns, *[_ANY] * (count - len(columns))]
    measured = {i for i, column in enumerate(all_columns) if column.width.kind is LengthKind.AUTO}
    nothing = [0.0] * len(all_columns)
    needs = _Needs(nothing, nothing, nothing)
    if measured:
        needs.widest = _measure(texts, measured, all_columns, width, how=How.LINE)
    stated = sum(column.width.resolve(width) or 0.0 for column in all_columns)
    left = width - stated - sum(needs.widest)
    shares = {i for i, column in enumerate(all_columns) if column.width.kind is LengthKind.SHARE}
    if left < (_ROOM_FOR_SHARES * width if shares else 0.0):
        wanted = measured | shares
        needs.narrowest = _measure(texts, wanted, all_columns, width, how=How.WORD)
        if sum(needs.narrowest) > width - stated:
            needs.solid = _measure(texts, wanted, all_columns, width, how=How.CUT)
    tracks = [
        Track(
            column.width,
            needs.narrowest[i],
            needs.widest[i],
            column.min_width.resolve(width) or 0.0,
            None if column.max_width is None else column.max_width.resolve(width),
            needs.solid[i],
        )
        for i, column in enumerate(all_columns)
    ]
    return share_width(tracks, width, base=width, stretch=True), fractions


def measure_columns(
    context: Context, columns: Sequence[Column], groups: Groups
) -> tuple[float, float]:
    """Give the narrowest and widest sensible width of all columns together."""
    texts = _Texts(context, groups, measure_fractions(context, groups))
    count = max((_span(template) for template, _ in groups), default=0)
    all_columns = [*columns, *[_ANY] * (count - len(columns))]
    every = set(range(len(all_columns)))
    low = _measure(texts, every, all_columns, 0.0, how=How.WORD)
    high = _measure(texts, every, all_columns, 0.0, how=How.LINE)
    stated = [column.width.resolve(0.0) or 0.0 for column in all_columns]
    return sum(map(max, low, stated)), sum(map(max, high, stated))


class _Texts(NamedTuple):
    """What is measured: the rows of each template, and the fractions of aligned numbers."""

    context: Context
    groups: Groups
    fractions: Mapping[int, float]


def _span(template: RowTemplate) -> int:
    ends = [
        start + cell.colspan
        for cell, start in zip(template.cells, columns_of(template), strict=True)
    ]
    return max(ends, default=0)


def _measure(
    texts: _Texts,
    wanted: set[int],
    columns: Sequence[Column],
    width: float,
    *,
    how: How,
) -> list[float]:
    needs = [0.0] * len(columns)
    spanning: list[tuple[int, int, float]] = []
    for template, rows in texts.groups:
        for index, (cell, at) in enumerate(zip(template.cells, columns_of(template), strict=True)):
            end = min(at + cell.colspan, len(columns))
            if wanted.isdisjoint(range(at, end)):
                continue
            contents = [row.cells[index] for row in rows if index < len(row.cells)]
            reserve = texts.fractions.get(end - 1, 0.0) if is_decimal(cell) else None
            need = _measure_cells(texts.context, cell, contents, reserve, how=how)
            if end == at + 1:
                needs[at] = max(needs[at], need)
            else:
                spanning.append((at, end, need))
    for start, end, need in spanning:
        _widen(needs, columns, wanted, (start, end), need, width)
    return needs


def _widen(
    needs: list[float],
    columns: Sequence[Column],
    wanted: set[int],
    span: tuple[int, int],
    need: float,
    width: float,
) -> None:
    """Share what a spanning cell needs beyond its columns among those that go by content."""
    covered = range(*span)
    if any(columns[i].width.kind is LengthKind.SHARE for i in covered):
        return
    have = sum(max(needs[i], columns[i].width.resolve(width) or 0.0) for i in covered)
    growing = [i for i in covered if i in wanted]
    if need > have and growing:
        for i in growing:
            needs[i] += (need - have) / len(growing)


def _can_be_cut(block: Block) -> bool:
    """Tell whether a block is text whose words may break anywhere."""
    if not isinstance(block, Paragraph):
        return False
    style = block.style.paragraph
    is_text = all(
        isinstance(inline, Run | LineBreak | Reference | Spot) for inline in block.inlines
    )
    wraps = style.white_space not in (WhiteSpace.NOWRAP, WhiteSpace.PRE)
    return is_text and wraps and style.breaks_anywhere


def _measure_cells(
    context: Context,
    cell: CellTemplate,
    contents: Sequence[CellContent],
    reserve: float | None,
    *,
    how: How,
) -> float:
    """Give the width a template's cells need; `reserve` is kept for fractions, None without any."""
    box, paragraph = cell.style.box, cell.style.paragraph
    edges = box.padding.left + box.padding.right
    edges += (box.border.left.width + box.border.right.width) / 2
    measure = text_measurer(context.fonts, cell.style.text)
    texts = {content for content in contents if isinstance(content, str)}
    solid = paragraph.white_space in (WhiteSpace.NOWRAP, WhiteSpace.PRE)
    if paragraph.white_space in (WhiteSpace.PRE, WhiteSpace.PRE_LINE, WhiteSpace.PRE_WRAP):
        texts = {line for text in texts for line in text.split("\n")}
    if how is How.CUT and paragraph.breaks_anywhere and not solid:
        texts = set()
    if how is not How.LINE and not solid:
        words = set(" ".join(texts).split(" "))
        texts = {piece for word in words for piece in cut_word(word)}
    need = max(map(measure, texts), default=0.0) + (paragraph.indent if texts else 0.0)
    edge = None if reserve is None else DecimalEdge(context, cell, reserve)
    if edge is not None:
        whole = (text.removesuffix(edge.find(text) or "") for text in texts)
        need = max(need, max(map(measure, whole), default=0.0) + edge.reserve)
    for content in contents:
        if not isinstance(content, str):
            beyond = 0.0 if edge is None else edge.shift(content)
            for block in content:
                low, high = context.measure(block)
                if how is How.CUT and _can_be_cut(block):
                    continue
                need = max(need, (high if how is How.LINE else low) + beyond)
    return need + edges
