"""Colours, dashes, markers and hatches that distinguish series.

The six colours differ by at least 10 in lightness (CIELAB L*), so that a black-and-white printer
shows six greys, and by a ΔE of 20 for people with protanopia, deuteranopia and tritanopia (Machado,
Oliveira and Fernandes 2009); tests/engine/layout/charts/test_palette.py computes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workers.engine.colors import rgb_from_hex
from workers.engine.units import Color, ColorSpace, relative_luminance

PALETTE: Final = tuple(
    map(rgb_from_hex, ("1c5490", "f0a03c", "46a393", "bf4560", "b9d6ea", "2e1a3f"))
)
# The lightest is too light for a line on white paper.
LINES: Final = tuple(color for color in PALETTE if color is not PALETTE[4])
DASHES: Final[tuple[tuple[float, ...], ...]] = (  # in line widths
    *((), (4.0, 1.6), (1.2, 1.4)),
    *((7.0, 1.6, 1.2, 1.6), (2.4, 1.2), (7.0, 1.6, 1.2, 1.6, 1.2, 1.6)),
)
MARKERS: Final = ("circle", "square", "triangle", "diamond", "cross", "down")
HATCHES: Final = (None, 45.0, -45.0, 0.0, 90.0, 20.0)  # degrees; the first is plain


def color_of(index: int, given: Color | None, colors: Sequence[Color]) -> Color:
    """Return the colour of a series or slice: its own, else the next of `colors`."""
    return colors[index % len(colors)] if given is None else given


def hatch_of(index: int, count: int, *, is_hatched: bool) -> float | None:
    """Return the hatch angle of an area in degrees, None for a plain one.

    Areas that repeat a colour are always hatched.
    """
    again = index // count  # how often the colours were used before
    return HATCHES[((index if is_hatched else 0) + again) % len(HATCHES)]


def tint(color: Color, fraction: float) -> Color:
    """Return a tint: `fraction` of a colour, the rest white."""
    if color.space is ColorSpace.CMYK:
        return Color(color.space, tuple(part * fraction for part in color.components))
    return Color(color.space, tuple(1 - (1 - part) * fraction for part in color.components))


def is_dark(color: Color) -> bool:
    """Return whether white text on a colour has more contrast than black (WCAG 2.2, relative luminance)."""
    return relative_luminance(color) < 0.179
