"""Operators of content streams that recur, and what they are made of (ISO 32000-1, annex A)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from workers.engine.paint.objects import HUNDREDTHS, write_number
from workers.engine.units import Color, ColorSpace

_MAX_ENTRIES: Final = 10_000  # two megabytes


class _RectangleCache(dict[tuple[int, int, int, int], bytes]):
    """Rectangles of bar codes as operators: all symbols share a few thousand."""

    def __missing__(self, rectangle: tuple[int, int, int, int]) -> bytes:
        if len(self) >= _MAX_ENTRIES:
            self.clear()
        written = self[rectangle] = b"%d %d %d %d re\n" % rectangle
        return written


class _AlongCache(dict[int, bytes]):
    """Operators that move along a baseline, by the distance in hundredths."""

    def __missing__(self, distance: int) -> bytes:
        if len(self) >= _MAX_ENTRIES:
            self.clear()
        written = self[distance] = HUNDREDTHS[distance] + b" 0 Td "
        return written


class _RoundedCache(dict[float, int]):
    """Places in hundredths of a point: those of a column of texts recur."""

    def __missing__(self, value: float) -> int:
        if len(self) >= _MAX_ENTRIES:
            self.clear()
        rounded = self[value] = round(value * 100)
        return rounded


RECTANGLES: Final = _RectangleCache()
ALONG: Final = _AlongCache()
ROUNDED: Final = _RoundedCache()


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
