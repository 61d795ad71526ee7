"""Column widths of a table, and decimal alignment: measured over all its rows before any is laid out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

from workers.engine.bidi import CONTROLS, reorder, resolve_levels
from workers.engine.layout.blocks.columns import Track, distribute_width
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines.drawing import text_measurer
from workers.engine.layout.lines.hyphenation import hyphenate
from workers.engine.layout.lines.opportunities import split_at_opportunities
from workers.engine.tree import nodes
from workers.engine.tree.styles.computed import Align, WhiteSpace
from workers.engine.units import AUTO, ZERO, LengthKind

# Digits of any script, one sign or space between two of them: 1,234 or 1 234 or 1'234.
_WHOLE: Final = re.compile(r"\d(?:[.,'’\u066c\s]?\d)*")
_DIGIT: Final = re.compile(r"\d")
_MAX_WORDS: Final = 2  # around an integer, such as a currency or unit; more make it a sentence
_MAX_NUMBER: Final = 100  # characters of a number, its unit included


def find_fraction(text: str, sign: str, *, accepts_integers: bool = True) -> str | None:
    """Return a number's decimal sign with the text after it, or the text after an integer's digits.

    None for text that is not a number, and without `accepts_integers` for one without a decimal sign.
    """
    at = text.rfind(sign)
    if at >= 0 and text[at + 1 : at + 2].isdigit():
        return text[at:]
    return _after_whole(text) if accepts_integers else None


def _after_whole(text: str) -> str | None:
    if text.isdigit():
        return ""
    if len(text) > _MAX_NUMBER:
        return None
    found = _WHOLE.search(text)
    if found is None or _DIGIT.search(text, found.end()):
        return None
    before, after = text[: found.start()], text[found.end() :]
    return after if len(before.split()) + len(after.split()) <= _MAX_WORDS else None


class DecimalAlignment:
    """The distances of a cell's texts from its right edge that align their decimal signs."""

    def __init__(
        self,
        context: LayoutContext,
        cell: nodes.CellTemplate,
        reserve: float = 0.0,
        *,
        beyond: float = 0.0,
        width: float = 0.0,
    ) -> None:
        """Prepare a cell of `width` points; `beyond` of these are right of the column it is aligned in."""
        paragraph = cell.style.paragraph
        self._fonts = context.fonts
        self._sign = paragraph.decimal_sign
        self._is_rtl = paragraph.is_rtl
        # A year above a column is not aligned.
        self._accepts_integers = cell.role is not nodes.Role.HEAD_CELL
        self.reserve = reserve  # the widest fraction of the column
        self._beyond, padding = beyond, cell.style.box.padding
        self._room = width - padding.left - padding.right
        self._measure = text_measurer(context.fonts, cell.style.text)
        self._widths: dict[str, float] = {}  # by fraction

    def find(self, text: str) -> str | None:
        """Return the part of a text to the right of its digits, None for no number."""
        fraction = find_fraction(text, self._sign, accepts_integers=self._accepts_integers)
        if fraction is not None and self._is_rtl:
            return _drawn_after(text, len(text) - len(fraction))
        return fraction

    def shift(self, content: nodes.CellContent) -> float:
        """Return the distance of a cell's text from its right edge, in points."""
        width = self.measure(content)
        if width is None:
            return 0.0
        shift = max(self.reserve - width, 0.0)
        if self._beyond:
            runs = _runs_of(content)
            whole = (
                self._measure_end(runs, _MAX_NUMBER) if runs else self._measure(text_of(content))
            )
            shift += max(min(self._beyond, self._room - whole - shift), 0.0)
        return shift

    def measure(self, content: nodes.CellContent) -> float | None:
        """Return the width to the right of a number's digits, in points, None for no number."""
        fraction = self.find(text_of(content))
        if fraction is None:
            return None
        if not isinstance(content, str) and not self._is_rtl:
            return self._measure_end(_runs_of(content), len(fraction))
        width = self._widths.get(fraction)
        if width is None:
            width = self._widths[fraction] = self._measure(fraction)
        return width

    def _measure_end(self, runs: Sequence[nodes.TextRun], left: int) -> float:
        """Return the width of the last characters of some runs."""
        width = 0.0
        for run in reversed(runs):
            part = run.text[max(len(run.text) - left, 0) :] if left else ""
            left -= len(part)
            width += text_measurer(self._fonts, run.style)(part)
        return width


def _drawn_after(text: str, at: int) -> str:
    """Return the part of right-to-left text that is drawn to the right of an index.

    A unit after the number is drawn to its left, a sign before it may be drawn to its right.
    """
    if len(text) > _MAX_NUMBER or not 0 < at <= len(text):
        return text[at:]
    levels = [
        level for start, end, level in resolve_levels(text, is_rtl=True) for _ in range(start, end)
    ]
    order = reorder(levels)
    seen = order[order.index(at - 1) + 1 :]
    return CONTROLS.sub("", "".join(text[index] for index in seen))


def text_of(content: nodes.CellContent) -> str:
    """Return the text of a cell that holds at most one paragraph; empty for any other."""
    return content if isinstance(content, str) else "".join(run.text for run in _runs_of(content))


def _runs_of(content: nodes.CellContent) -> list[nodes.TextRun]:
    if isinstance(content, str) or len(content) != 1 or not isinstance(content[0], nodes.Paragraph):
        return []
    return [inline for inline in content[0].inlines if isinstance(inline, nodes.TextRun)]


def is_decimal(cell: nodes.CellTemplate) -> bool:
    """Return whether the text of a cell is aligned on its decimal sign."""
    return cell.style.paragraph.align is Align.DECIMAL


def measure_fractions(
    context: LayoutContext, groups: Sequence[tuple[nodes.RowTemplate, Sequence[nodes.TableRow]]]
) -> dict[int, float]:
    """Return the width of the widest fraction of each column with aligned numbers, in points."""
    widest: dict[int, float] = {}
    for template, rows in groups:
        for index, (cell, start) in enumerate(zip(template.cells, template.columns, strict=True)):
            if not is_decimal(cell):
                continue
            edge = DecimalAlignment(context, cell)
            column = start + cell.colspan - 1
            most = max([edge.measure(row.cells[index]) or 0.0 for row in rows])
            widest[column] = max(widest.get(column, 0.0), most)
    return widest


_ANY: Final = nodes.Column(AUTO, ZERO, None)
# Of a table: with less left, the words of `fr` columns are measured too.
_ROOM_FOR_SHARES: Final = 0.15


class MeasureMode(Enum):
    """The part of a cell's content that is measured."""

    LINE = "its lines, as far as nothing but their author breaks them"
    WORD = "its longest word"
    CUT = "what cannot be cut: where words may break anywhere, nothing of them"


Groups = Sequence[tuple[nodes.RowTemplate, Sequence[nodes.TableRow]]]


def group_by_template(rows: Iterable[nodes.TableRow]) -> Groups:
    """Group rows by template."""
    groups: dict[nodes.RowTemplate, list[nodes.TableRow]] = {}
    for row in rows:
        groups.setdefault(row.template, []).append(row)
    return list(groups.items())


def find_widths(
    context: LayoutContext, columns: Sequence[nodes.Column], groups: Groups, width: float
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
    context: LayoutContext, columns: Sequence[nodes.Column], groups: Groups
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
    columns: Sequence[nodes.Column]
    width: float
    fractions: dict[int, float]


def _measured_rows(
    context: LayoutContext, columns: Sequence[nodes.Column], groups: Groups, width: float
) -> _MeasuredRows:
    ends = [each.columns[-1] + each.cells[-1].colspan for each, _ in groups if each.cells]
    count = max(ends, default=0)
    columns = [*columns, *[_ANY] * (count - len(columns))]
    return _MeasuredRows(context, groups, columns, width, measure_fractions(context, groups))


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
    columns: Sequence[nodes.Column],
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


def _breaks_anywhere(block: nodes.Block) -> bool:
    """Return whether a block is text whose words may break anywhere."""
    if not isinstance(block, nodes.Paragraph):
        return False
    style = block.style.paragraph
    is_text = all(
        isinstance(inline, nodes.TextRun | nodes.LineBreak | nodes.Reference | nodes.InlineAnchor)
        for inline in block.inlines
    )
    wraps = style.white_space not in (WhiteSpace.NOWRAP, WhiteSpace.PRE)
    return is_text and wraps and style.breaks_anywhere


def _measure_cells(
    context: LayoutContext,
    cell: nodes.CellTemplate,
    contents: Sequence[nodes.CellContent],
    reserve: float | None,
    *,
    mode: MeasureMode,
) -> float:
    """Return the width a template's cells need, in points; `reserve` is for fractions, None for none."""
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
        if paragraph.hyphens == "auto":
            limits = paragraph.hyphen_limits.chars
            words = {hyphenate(word, cell.style.text.lang, limits) for word in words}
        kana = paragraph.breaks_before_kana
        texts = {part for word in words for part in split_at_opportunities(word, before_kana=kana)}
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
