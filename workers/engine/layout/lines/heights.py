"""Heights of line boxes: the strut of a paragraph, and content that exceeds it (CSS 2 §10.8.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workers.engine.fonts import Face
from workers.engine.layout.context import Fonts
from workers.engine.layout.lines.fragments import AtomicInline, GlyphStyle, InlineFragment
from workers.engine.tree.styles.computed import ParagraphStyle, TextStyle


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
