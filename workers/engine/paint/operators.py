"""Operators of content streams that recur, and what they are made of (ISO 32000-1, annex A)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from workers.engine.caches import BoundedCache
from workers.engine.paint.objects import HUNDREDTHS, write_number
from workers.engine.units import Color, ColorSpace

# Rectangles of bar codes: all symbols share a few thousand.
RECTANGLES: Final = BoundedCache[tuple[int, int, int, int], bytes](b"%d %d %d %d re\n".__mod__)
# Moves along a baseline, by the distance in hundredths of a point.
ALONG: Final = BoundedCache[int, bytes](lambda distance: HUNDREDTHS[distance] + b" 0 Td ")
# Places in hundredths of a point: those of a column of texts recur.
ROUNDED: Final = BoundedCache[float, int](lambda value: round(value * 100))


@lru_cache(256)
def write_fill_color(color: Color) -> bytes:
    """Return the operator that sets the colour of fills and text."""
    return _color_operator(color, b"g\n", b"rg\n", b"k\n")


@lru_cache(256)
def write_stroke_color(color: Color) -> bytes:
    """Return the operator that sets the colour of strokes."""
    return _color_operator(color, b"G\n", b"RG\n", b"K\n")


def _color_operator(color: Color, gray: bytes, rgb: bytes, cmyk: bytes) -> bytes:
    components = color.components
    if color.space is ColorSpace.CMYK:
        return b" ".join(map(write_number, components)) + b" " + cmyk
    if components[0] == components[1] == components[2]:
        return write_number(components[0]) + b" " + gray
    return b" ".join(map(write_number, components)) + b" " + rgb


def write_fraction(value: float) -> bytes:
    """Return a number with up to six decimals, such as a part of a matrix."""
    return b"%.10g" % (round(value * 1_000_000) / 1_000_000 + 0.0)
