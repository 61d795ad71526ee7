"""Heights of line boxes: the strut of a paragraph, and content that exceeds it (CSS 2 §10.8.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import Final, NamedTuple

from workers.engine.fonts import Face
from workers.engine.layout.context import EPSILON, Fonts
from workers.engine.layout.lines.fragments import AtomicInline, GlyphStyle, InlineFragment, Line
from workers.engine.tree.styles.computed import LineGrid, ParagraphStyle, TextStyle


def line_metrics(base: TextStyle, style: ParagraphStyle, fonts: Fonts) -> tuple[float, float]:
    """Return the height of an ordinary line and the distance from its top to its baseline, in points."""
    metrics = Strut.of(base, style, fonts.find(base))
    return metrics.height, metrics.baseline


class Strut(NamedTuple):
    """The strut: the minimum height and baseline of every line of a paragraph, in points (CSS 2 §10.8.1)."""

    base: TextStyle
    height: float
    baseline: float

    @staticmethod
    def of(base: TextStyle, style: ParagraphStyle, face: Face) -> Strut:
        """Return the strut of a paragraph; half of the leading goes above the font's own box, half below."""
        box = (face.ascent + face.descent) * base.size
        baseline = (style.line_height - box) / 2 + face.ascent * base.size
        return Strut(base, style.line_height, baseline)

    def of_line(self, fragments: Sequence[InlineFragment]) -> tuple[float, float]:
        """Return the height and the baseline of a line with these fragments, in points."""
        base = self.base
        above, below = self.baseline, self.height - self.baseline
        for fragment in fragments:
            glyph_style = fragment.glyph_style
            if isinstance(glyph_style, AtomicInline):
                ascent = glyph_style.ascent
                above = max(above, ascent)
                below = max(below, glyph_style.fragment.height - ascent)
            elif glyph_style.style is not base and (
                glyph_style.style.size > base.size or glyph_style.style.rise
            ):
                high, low = self._extent(glyph_style)
                above, below = max(above, high), max(below, low)
        return above + below, above

    def of_ordinary_lines(
        self, glyph_styles: Iterable[GlyphStyle | AtomicInline]
    ) -> tuple[float, float] | None:
        """Return the height and the baseline of all lines in some styles, None where they may differ."""
        base, height, baseline = self
        for glyph_style in glyph_styles:
            if isinstance(glyph_style, AtomicInline):
                return None
            style = glyph_style.style
            if style is not base and (style.size > base.size or style.rise):
                above, below = self._extent(glyph_style)
                if above > baseline or below > height - baseline:
                    return None
        return self.of_line(())

    def of_empty(self, style: TextStyle | None) -> tuple[float, float]:
        """Return the height and the baseline of a line without text, in points."""
        if style is None or style.size <= self.base.size:
            return self.height, self.baseline
        factor = style.size / self.base.size
        return self.height * factor, self.baseline * factor

    def _extent(self, glyph_style: GlyphStyle) -> tuple[float, float]:
        style, face = glyph_style.style, glyph_style.face
        if style.rise:
            return face.cap_height * style.size + style.rise, -style.rise
        height = self.height * style.size / self.base.size
        box = (face.ascent + face.descent) * style.size
        above = (height - box) / 2 + face.ascent * style.size
        return above, height - above


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
