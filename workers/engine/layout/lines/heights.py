"""How high lines are: the strut of a paragraph, and what sticks out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workers.engine.layout.context import Fonts, Typeface
from workers.engine.layout.lines.parts import Inset, Look, Part
from workers.engine.tree.styles import ParagraphStyle, TextStyle


def line_metrics(base: TextStyle, style: ParagraphStyle, fonts: Fonts) -> tuple[float, float]:
    """Give the height of an ordinary line and the distance from its top to its baseline."""
    metrics = Metrics.of(base, style, fonts.find(base))
    return metrics.height, metrics.baseline


@dataclass(frozen=True, slots=True)
class Metrics:
    """The strut of a paragraph: what every line is at least (CSS 2, 10.8.1)."""

    base: TextStyle
    height: float
    baseline: float

    @staticmethod
    def of(base: TextStyle, style: ParagraphStyle, face: Typeface) -> Metrics:
        """Work out the strut: the leading is shared between above and below the font's own box."""
        box = (face.ascent + face.descent) * base.size
        baseline = (style.line_height - box) / 2 + face.ascent * base.size
        return Metrics(base, style.line_height, baseline)

    def of_line(self, parts: Sequence[Part]) -> tuple[float, float]:
        """Give the height and baseline of a line with these parts."""
        base = self.base
        above, below = self.baseline, self.height - self.baseline
        for part in parts:
            look = part.look
            if isinstance(look, Inset):
                above = max(above, look.piece.height)
            elif look.style is not base and (look.style.size > base.size or look.style.rise):
                high, low = self._extent(look)
                above, below = max(above, high), max(below, low)
        return above + below, above

    def of_empty(self, style: TextStyle | None) -> tuple[float, float]:
        """Give the height and baseline of a line without text."""
        if style is None or style.size <= self.base.size:
            return self.height, self.baseline
        factor = style.size / self.base.size
        return self.height * factor, self.baseline * factor

    def _extent(self, look: Look) -> tuple[float, float]:
        style, face = look.style, look.face
        if style.rise:
            return face.cap_height * style.size + style.rise, -style.rise
        height = self.height * style.size / self.base.size
        box = (face.ascent + face.descent) * style.size
        above = (height - box) / 2 + face.ascent * style.size
        return above, height - above
