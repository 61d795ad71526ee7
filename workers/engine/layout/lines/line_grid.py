"""The line grid: baselines at equal distances from the top of an area (CSS Line Grid 1).

In an area every column has the same grid. Its first line is where the first line of text would be
that is set in the style of the element with `line-grid` and as high as a step of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from workers.engine.layout.context import EPSILON, Fonts
from workers.engine.layout.lines.fragments import Line
from workers.engine.layout.lines.heights import line_metrics
from workers.engine.tree.styles.computed import LineGrid, ParagraphStyle

_SOLID: Final = 0.95  # of a font size: lines closer than that would touch


def fit_line_height(style: ParagraphStyle, grid: LineGrid, size: float) -> ParagraphStyle:
    """Return a style whose lines are whole steps high: the nearest number that the font size allows."""
    least = ceil((size * _SOLID - EPSILON) / grid.step)
    steps = max(round(style.line_height / grid.step), least, 1)
    return replace(style, line_height=steps * grid.step)


def place_on_grid(lines: Sequence[Line], step: float) -> Sequence[Line]:
    """Return lines whose baselines are whole steps apart; only higher lines move."""
    placed: list[Line] = []
    natural = 0.0
    for line in lines:
        baseline = line.y + line.baseline
        y = line.y
        if placed:
            before = placed[-1]
            apart = ceil((baseline - natural - EPSILON) / step) * step
            y = before.y + before.baseline + apart - line.baseline
        placed.append(line if abs(y - line.y) < EPSILON else line._replace(y=y))
        natural = baseline
    return placed


def find_shift(
    grid: LineGrid, style: ParagraphStyle, fonts: Fonts, *, top: float, baseline: float
) -> float:
    """Return how far text moves down for its first baseline to be on the grid, in points.

    `top` is the distance from the top of the area to that of the text.
    """
    base = replace(style, line_height=grid.step)
    first = line_metrics(grid.text, base, fonts)[1]
    natural = top + baseline - first
    return max(ceil((natural - EPSILON) / grid.step) * grid.step - natural, 0.0)
