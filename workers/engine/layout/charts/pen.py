"""Pen and label style of charts, mirrored in right-to-left documents.

`x` is the distance from the start side and `y` from the top, in points, from the chart's corner; in
right-to-left documents the pen mirrors `x` and the anchors of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final, NamedTuple

from workers.engine.characters import cut_to_width
from workers.engine.layout.context import Fonts, PageCanvas
from workers.engine.layout.display import (
    Owner,
    Path,
    Restore,
    Save,
    Stroke,
    Subpath,
)
from workers.engine.layout.lines import GlyphStyle, InlineFragment
from workers.engine.layout.lines.phrases import draw_phrase, set_phrase
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import Color

LINE_HEIGHT: Final = 1.2  # em, of labels below each other
MAX_LABEL: Final = 200  # characters; the rest of a label is ignored
_WORDS: Final = re.compile(r"[^\s-]*(?:-+|\s+|$)|-+")
_ARC: Final = 0.5523  # control points of a quarter circle, in radii

Point = tuple[float, float]


class TextAnchor(Enum):
    """The point of a text that is placed at its coordinates."""

    START = 0.0
    MIDDLE = 0.5
    END = 1.0


class PlotArea(NamedTuple):
    """A rectangle of a chart, in points."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """The width in points."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The height in points."""
        return self.bottom - self.top


class LabelStyle:
    """Style of labels: measures, wraps and truncates text."""

    def __init__(self, fonts: Fonts, style: TextStyle, *, is_rtl: bool) -> None:
        face = fonts.find(style)
        self.style = style
        self.size = style.size
        self.line_height = style.size * LINE_HEIGHT
        self.cap_height = face.cap_height * style.size
        self._fonts, self._is_rtl = fonts, is_rtl
        self._phrases: dict[str, tuple[InlineFragment, ...]] = {}

    def typeset(self, text: str) -> tuple[InlineFragment, ...]:
        """Return a text set on one line."""
        phrase = self._phrases.get(text)
        if phrase is None:
            phrase = set_phrase(self._fonts, self.style, text, is_rtl=self._is_rtl)
            self._phrases[text] = phrase
        return phrase

    def width(self, text: str) -> float:
        """Return the width of a text in points."""
        return sum(part.width for part in self.typeset(text))

    def widest(self, texts: Iterable[str]) -> float:
        """Return the width of the widest text in points, 0 for none."""
        return max(map(self.width, texts), default=0.0)

    def wrap(self, text: str, room: float, max_lines: int) -> tuple[str, ...] | None:
        """Wrap a text to at most `max_lines` lines; return None where it does not fit.

        Lines break at spaces and after hyphens.
        """
        lines: list[str] = []
        line = ""
        for word in _WORDS.findall(text):
            longer = line + word
            if line and self.width(longer.rstrip()) > room:
                lines.append(line.rstrip())
                longer = word
            if self.width(longer.rstrip()) > room or len(lines) >= max_lines:
                return None
            line = longer
        return (*lines, line.rstrip())

    def truncate(self, text: str, room: float) -> str:
        """Truncate a text to a width in points, with an ellipsis."""
        if self.width(text) <= room:
            return text
        return cut_to_width(text, self.width, room)

    def bold(self) -> LabelStyle:
        """Return the style of titles."""
        return LabelStyle(self._fonts, replace(self.style, weight=700), is_rtl=self._is_rtl)


class Pen:
    """Draws one chart on a page."""

    def __init__(
        self, canvas: PageCanvas, x: float, y: float, width: float, *, owner: Owner, is_rtl: bool
    ) -> None:
        self._canvas = canvas
        self._x, self._y, self._width = x, y, width
        self._owner, self._is_rtl = owner, is_rtl
        self.texts: dict[str, None] = {}

    def to_page(self, x: float, y: float) -> Point:
        """Return the page coordinates of a point of the chart."""
        return self._x + (self._width - x if self._is_rtl else x), self._y + y

    def line(
        self, start: Point, end: Point, width: float, color: Color, dash: Sequence[float] = ()
    ) -> None:
        """Draw a straight line; `dash` is in points."""
        place = (*self.to_page(*start), *self.to_page(*end))
        self._canvas.items.append(Stroke(*place, width, color, self._owner, tuple(dash)))

    def fill(self, subpaths: Iterable[Subpath], color: Color) -> None:
        """Fill subpaths."""
        self._draw(subpaths, color, 0.0, ())

    def stroke(
        self, subpaths: Iterable[Subpath], width: float, color: Color, dash: Sequence[float] = ()
    ) -> None:
        """Stroke subpaths; `dash` is in line widths."""
        self._draw(subpaths, color, width, tuple(part * width for part in dash))

    def text(
        self,
        x: float,
        baseline: float,
        text: str,
        label_style: LabelStyle,
        *,
        anchor: TextAnchor = TextAnchor.START,
        color: Color | None = None,
        rotation: float = 0.0,
    ) -> None:
        """Draw a text on one line; `rotation` is in degrees clockwise, about its anchor."""
        if not text:
            return
        self.texts[text] = None
        phrase = label_style.typeset(text)
        width = sum(part.width for part in phrase)
        if color is not None and color != label_style.style.color:
            phrase = tuple(_colored(part, color) for part in phrase)
        place, y = self.to_page(x, baseline)
        fraction = 1 - anchor.value if self._is_rtl else anchor.value
        items = self._canvas.items
        if rotation:
            items.append(Save(rotate=(-rotation if self._is_rtl else rotation, place, y)))
        draw_phrase(self._canvas, phrase, place - width * fraction, y, self._owner)
        if rotation:
            items.append(Restore())

    def begin_opacity_group(self, opacity: float) -> None:
        """Start a translucent group; `end_opacity_group` ends it."""
        self._canvas.items.append(Save(opacity=opacity))

    def end_opacity_group(self) -> None:
        """End the group of `begin_opacity_group`."""
        self._canvas.items.append(Restore())

    def _place(self, points: tuple[float, ...]) -> tuple[float, ...]:
        """Return the page coordinates of a point, or of the points of a curve."""
        if len(points) == 2:  # most are: no loop over them
            return self.to_page(points[0], points[1])
        pairs = zip(points[::2], points[1::2], strict=True)
        return tuple([value for pair in pairs for value in self.to_page(*pair)])

    def _draw(
        self, subpaths: Iterable[Subpath], color: Color, width: float, dash: tuple[float, ...]
    ) -> None:
        placed = tuple([tuple(map(self._place, path)) for path in subpaths])
        if placed:
            self._canvas.items.append(Path(placed, color, self._owner, width, dash))


def _colored(fragment: InlineFragment, color: Color) -> InlineFragment:
    glyph_style = fragment.glyph_style
    assert isinstance(glyph_style, GlyphStyle)
    style = replace(glyph_style.style, color=color)
    return fragment._replace(glyph_style=glyph_style._replace(style=style))


# --- shapes ---------------------------------------------------------------------------------------------


def rectangle(one: Point, other: Point) -> Subpath:
    """Return a rectangle by two opposite corners."""
    (x1, y1), (x2, y2) = one, other
    return ((x1, y1), (x2, y1), (x2, y2), (x1, y2))


def circle(x: float, y: float, radius: float) -> Subpath:
    """Return a circle as four curves."""
    r, a = radius, radius * _ARC
    return (
        (x + r, y),
        (x + r, y + a, x + a, y + r, x, y + r),
        (x - a, y + r, x - r, y + a, x - r, y),
        (x - r, y - a, x - a, y - r, x, y - r),
        (x + a, y - r, x + r, y - a, x + r, y),
    )


def marker(shape: str, x: float, y: float, radius: float) -> Subpath:
    """Return the marker of a point; all shapes have about the area of a circle of `radius`."""
    if shape == "circle":
        return circle(x, y, radius)
    return tuple((x + dx * radius, y + dy * radius) for dx, dy in _MARKERS[shape])


_MARKERS: Final[dict[str, tuple[Point, ...]]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0.0, -1.3), (1.2, 0.8), (-1.2, 0.8)),
    "down": ((0.0, 1.3), (1.2, -0.8), (-1.2, -0.8)),
    "diamond": ((0.0, -1.35), (1.1, 0.0), (0.0, 1.35), (-1.1, 0.0)),
    "cross": (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)),
        *((0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
}
