"""Decimal alignment: in a column the decimal signs stand below each other.

A whole number stands as if its sign followed its last digit. What comes after the digits (a unit, a
closing bracket, the dash of `12.–`) reaches beyond the sign, as a fraction does. Text that holds no
number, or several, stands at the right edge; so does a head cell's, unless it has a decimal sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from workers.engine.layout.context import Context
from workers.engine.layout.lines import Look
from workers.engine.layout.lines.bidi import CONTROLS, reorder, resolve_levels
from workers.engine.layout.lines.phrases import text_measurer
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Paragraph,
    Role,
    RowTemplate,
    Run,
    TableRow,
)
from workers.engine.tree.styles import Align

# Digits of any script, one sign or space between two of them: 1,234 or 1 234 or 1'234.
_WHOLE: Final = re.compile(r"\d(?:[.,'’\u066c\s]?\d)*")
_DIGIT: Final = re.compile(r"\d")
_MAX_WORDS: Final = 2  # around a whole number: a currency, a unit; with more it is a sentence
_LONGEST: Final = 100  # characters of a number, its unit included


def find_fraction(text: str, sign: str, *, takes_whole: bool = True) -> str | None:
    """Find a number's decimal sign with all after it, or what follows a whole number's digits.

    None for a text that is no number; without `takes_whole` also for one without a decimal sign.
    """
    at = text.rfind(sign)
    if at >= 0 and text[at + 1 : at + 2].isdigit():
        return text[at:]
    return _after_whole(text) if takes_whole else None


def _after_whole(text: str) -> str | None:
    if text.isdigit():
        return ""
    if len(text) > _LONGEST:
        return None
    found = _WHOLE.search(text)
    if found is None or _DIGIT.search(text, found.end()):
        return None
    before, after = text[: found.start()], text[found.end() :]
    return after if len(before.split()) + len(after.split()) <= _MAX_WORDS else None


class DecimalEdge:
    """How far the texts of a cell stand from its right edge, so that their decimal signs line up."""

    __slots__ = ("_context", "_is_rtl", "_measure", "_shifts", "_sign", "_takes_whole", "reserve")

    def __init__(self, context: Context, cell: CellTemplate, reserve: float = 0.0) -> None:
        paragraph, text = cell.style.paragraph, cell.style.text
        self._context = context
        self._sign = paragraph.decimal_sign
        self._is_rtl = paragraph.is_rtl
        self._takes_whole = cell.role is not Role.HEAD_CELL  # the year above a column is no amount
        self.reserve = reserve  # the widest fraction of the column
        self._measure = measurer(Look(text, context.fonts.find(text), None))
        # By fraction; text that is no number stands at the edge.
        self._shifts: dict[str | None, float] = {None: 0.0}

    def find(self, text: str) -> str | None:
        """Return what of a text stands to the right of its digits, None for no number."""
        fraction = find_fraction(text, self._sign, takes_whole=self._takes_whole)
        if fraction is not None and self._is_rtl:
            return _seen_behind(text, len(text) - len(fraction))
        return fraction

    def shift(self, content: CellContent) -> float:
        """Return the distance of a cell's text from its right edge."""
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
        """Return the width of what stands to the right of a number's digits, None for no number."""
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
        """Return the width of the widest of some cells' fractions, each measured once."""
        fractions = {self.find(content) for content in contents if isinstance(content, str)}
        widths = [self._measure(fraction) for fraction in fractions if fraction]
        widths += [self.measure(each) or 0.0 for each in contents if not isinstance(each, str)]
        return max(widths, default=0.0)


def _seen_behind(text: str, at: int) -> str:
    """Return what is drawn to the right of a place in text that reads from right to left.

    A unit after the number is drawn to its left, a sign before it may be drawn to its right.
    """
    if len(text) > _LONGEST or not 0 < at <= len(text):
        return text[at:]
    levels = [
        level for start, end, level in resolve_levels(text, is_rtl=True) for _ in range(start, end)
    ]
    order = reorder(levels)
    seen = order[order.index(at - 1) + 1 :]
    return CONTROLS.sub("", "".join(text[index] for index in seen))


def text_of(content: CellContent) -> str:
    """Return the text of a cell that holds one paragraph at most; empty for any other."""
    return content if isinstance(content, str) else "".join(run.text for run in _runs_of(content))


def _runs_of(content: CellContent) -> list[Run]:
    if isinstance(content, str) or len(content) != 1 or not isinstance(content[0], Paragraph):
        return []
    return [inline for inline in content[0].inlines if isinstance(inline, Run)]


def is_decimal(cell: CellTemplate) -> bool:
    """Tell whether a cell's text is aligned on its decimal sign."""
    return cell.style.paragraph.align is Align.DECIMAL


def measurer(look: Look) -> Callable[[str], float]:
    """Give the quickest function that measures text of a look, in points."""
    if look.style.letter_spacing:
        return look.measure
    measure, size = look.face.measure, look.style.size
    return lambda text: measure(text) * size


def measure_fractions(
    context: Context, groups: Sequence[tuple[RowTemplate, Sequence[TableRow]]]
) -> dict[int, float]:
    """Give the width of the widest fraction in each column that has numbers to align."""
    widest: dict[int, float] = {}
    for template, rows in groups:
        for index, (cell, start) in enumerate(
            zip(template.cells, columns_of(template), strict=True)
        ):
            if not is_decimal(cell):
                continue
            edge = DecimalEdge(context, cell)
            column = start + cell.colspan - 1
            most = edge.measure_widest([row.cells[index] for row in rows])
            widest[column] = max(widest.get(column, 0.0), most)
    return widest


def columns_of(template: RowTemplate) -> Sequence[int]:
    """Give the column each cell of a template's rows begins at."""
    if template.starts:
        return template.starts
    starts, column = [], 0
    for cell in template.cells:
        starts.append(column)
        column += cell.colspan
    return starts
