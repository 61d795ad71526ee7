"""Decimal alignment: in a column the decimal signs stand below each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workers.engine.layout.context import Context
from workers.engine.layout.lines import Look
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Paragraph,
    RowTemplate,
    Run,
    TableRow,
)
from workers.engine.tree.styles import Align


def find_fraction(text: str, sign: str) -> str:
    """Give a number's decimal sign with all after it; empty for a text that has none."""
    at = text.rfind(sign)
    return text[at:] if at >= 0 and text[at + 1 : at + 2].isdigit() else ""


def text_of(content: CellContent) -> str:
    """Give the text of a cell that holds one paragraph at most; empty for any other."""
    if isinstance(content, str):
        return content
    if len(content) != 1 or not isinstance(content[0], Paragraph):
        return ""
    return "".join(inline.text for inline in content[0].inlines if isinstance(inline, Run))


class DecimalEdge:
    """How far the texts of a cell stand from its right edge, so that their decimal signs line up."""

    __slots__ = ("_measure", "_reserve", "_shifts", "_sign")

    def __init__(self, sign: str, reserve: float, measure: Callable[[str], float]) -> None:
        self._sign = sign
        self._reserve = reserve  # the widest fraction of the column
        self._measure = measure
        self._shifts: dict[str, float] = {"": 0.0}  # a text without a sign stands at the edge

    def shift(self, text: str) -> float:
        """Give the distance of a text from the right edge."""
        fraction = find_fraction(text, self._sign)
        shift = self._shifts.get(fraction)
        if shift is None:
            shift = self._shifts[fraction] = max(self._reserve - self._measure(fraction), 0.0)
        return shift


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
            measure = measurer(Look(cell.style.text, context.fonts.find(cell.style.text), None))
            sign = cell.style.paragraph.decimal_sign
            found = {find_fraction(text_of(row.cells[index]), sign) for row in rows}
            column = start + cell.colspan - 1
            widest[column] = max(widest.get(column, 0.0), *map(measure, found), 0.0)
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
