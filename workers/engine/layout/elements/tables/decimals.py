"""Decimal alignment: the decimal signs of a column are aligned.

An integer is aligned as if its sign followed its last digit. Text after the digits (a unit, a
closing bracket, the dash of `12.–`) extends beyond the sign like a fraction. Text without a number,
or with several, is aligned right; so is a head cell without a decimal sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from workers.engine.bidi import CONTROLS, reorder, resolve_levels
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines.phrases import text_measurer
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Paragraph,
    Role,
    RowTemplate,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.computed import Align

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

    def __init__(self, context: LayoutContext, cell: CellTemplate, reserve: float = 0.0) -> None:
        paragraph = cell.style.paragraph
        self._fonts = context.fonts
        self._sign = paragraph.decimal_sign
        self._is_rtl = paragraph.is_rtl
        # A year above a column is not aligned.
        self._accepts_integers = cell.role is not Role.HEAD_CELL
        self.reserve = reserve  # the widest fraction of the column
        self._measure = text_measurer(context.fonts, cell.style.text)
        self._widths: dict[str, float] = {}  # by fraction

    def find(self, text: str) -> str | None:
        """Return the part of a text to the right of its digits, None for no number."""
        fraction = find_fraction(text, self._sign, accepts_integers=self._accepts_integers)
        if fraction is not None and self._is_rtl:
            return _drawn_after(text, len(text) - len(fraction))
        return fraction

    def shift(self, content: CellContent) -> float:
        """Return the distance of a cell's text from its right edge, in points."""
        width = self.measure(content)
        return 0.0 if width is None else max(self.reserve - width, 0.0)

    def measure(self, content: CellContent) -> float | None:
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

    def _measure_end(self, runs: Sequence[TextRun], left: int) -> float:
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


def text_of(content: CellContent) -> str:
    """Return the text of a cell that holds at most one paragraph; empty for any other."""
    return content if isinstance(content, str) else "".join(run.text for run in _runs_of(content))


def _runs_of(content: CellContent) -> list[TextRun]:
    if isinstance(content, str) or len(content) != 1 or not isinstance(content[0], Paragraph):
        return []
    return [inline for inline in content[0].inlines if isinstance(inline, TextRun)]


def is_decimal(cell: CellTemplate) -> bool:
    """Return whether the text of a cell is aligned on its decimal sign."""
    return cell.style.paragraph.align is Align.DECIMAL


def measure_fractions(
    context: LayoutContext, groups: Sequence[tuple[RowTemplate, Sequence[TableRow]]]
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
