"""Decimal alignment: the decimal signs of a column are aligned.

An integer is aligned as if its sign followed its last digit. Text after the digits (a unit, a
closing bracket, the dash of `12.–`) extends beyond the sign like a fraction. Text without a number,
or with several, is aligned right; so is a head cell without a decimal sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from workers.engine.bidi import CONTROLS, reorder, resolve_levels
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines import GlyphStyle, make_glyph_style
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

    __slots__ = (
        "_accepts_integers",
        "_context",
        "_is_rtl",
        "_measure",
        "_shifts",
        "_sign",
        "reserve",
    )

    def __init__(self, context: LayoutContext, cell: CellTemplate, reserve: float = 0.0) -> None:
        paragraph, text = cell.style.paragraph, cell.style.text
        self._context = context
        self._sign = paragraph.decimal_sign
        self._is_rtl = paragraph.is_rtl
        self._accepts_integers = (
            cell.role is not Role.HEAD_CELL
        )  # a year above a column is not aligned
        self.reserve = reserve  # the widest fraction of the column
        self._measure = make_measure(make_glyph_style(text, context.fonts.find(text)))
        # By fraction; text that is not a number is at the edge.
        self._shifts: dict[str | None, float] = {None: 0.0}

    def find(self, text: str) -> str | None:
        """Return the part of a text to the right of its digits, None for no number."""
        fraction = find_fraction(text, self._sign, accepts_integers=self._accepts_integers)
        if fraction is not None and self._is_rtl:
            return _drawn_after(text, len(text) - len(fraction))
        return fraction

    def shift(self, content: CellContent) -> float:
        """Return the distance of a cell's text from its right edge, in points."""
        if not isinstance(content, str):
            width = self.measure(content)
            return 0.0 if width is None else max(self.reserve - width, 0.0)
        fraction = self.find(content)
        shift = self._shifts.get(fraction)
        if shift is None:
            assert fraction is not None
            shift = self._shifts[fraction] = max(self.reserve - self._measure(fraction), 0.0)
        return shift

    def measure(self, content: CellContent) -> float | None:
        """Return the width to the right of a number's digits, in points, None for no number."""
        fraction = self.find(text_of(content))
        if fraction is None or isinstance(content, str) or self._is_rtl:
            return None if fraction is None else self._measure(fraction)
        left, width = len(fraction), 0.0
        for run in reversed(_runs_of(content)):
            part = run.text[max(len(run.text) - left, 0) :] if left else ""
            left -= len(part)
            width += text_measurer(self._context.fonts, run.style)(part)
        return width

    def measure_widest(self, contents: Sequence[CellContent]) -> float:
        """Return the greatest width to the right of digits in some cells, in points."""
        fractions = {self.find(content) for content in contents if isinstance(content, str)}
        widths = [self._measure(fraction) for fraction in fractions if fraction]
        widths += [self.measure(each) or 0.0 for each in contents if not isinstance(each, str)]
        return max(widths, default=0.0)


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


def make_measure(glyph_style: GlyphStyle) -> Callable[[str], float]:
    """Return the fastest function that measures text of a glyph style, in points."""
    if glyph_style.style.letter_spacing or glyph_style.is_shaped:
        return glyph_style.measure
    measure, size = glyph_style.face.measure, glyph_style.style.size
    return lambda text: measure(text) * size


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
            most = edge.measure_widest([row.cells[index] for row in rows])
            widest[column] = max(widest.get(column, 0.0), most)
    return widest
