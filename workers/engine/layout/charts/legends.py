"""Legends: names of series or slices, each with a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from workers.engine.colors import rgb_from_hex
from workers.engine.layout.charts.geometry import hatch
from workers.engine.layout.charts.pen import LabelStyle, Pen, marker, rectangle
from workers.engine.layout.display import Subpath
from workers.engine.units import BLACK, Color, ColorSpace, relative_luminance

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


WHITE: Final = Color(ColorSpace.RGB, (1.0, 1.0, 1.0))
LINE_SYMBOL_WIDTH: Final = 1.8  # em, the length of a line's symbol
_SWATCH: Final = 0.75  # em, the side of an area's symbol
_GAP: Final = 0.45  # em, between symbol and name
_PITCH: Final = 1.4  # em, between entries
_MAX_HEIGHT_FRACTION: Final = 0.5  # of the chart's height, for a legend
_LEADING: Final = 1.15
HATCH_WIDTH: Final = 0.55
HATCH_DISTANCE: Final = 2.8


class LegendEntry(NamedTuple):
    """Appearance of a series or slice: an area, or a line with or without a marker."""

    label: str
    color: Color
    hatch: float | None = None
    line_width: float = 0.0
    dash: tuple[float, ...] = ()
    marker: str = ""
    radius: float = 0.0

    @property
    def is_area(self) -> bool:
        """Whether it is drawn as an area."""
        return not self.line_width and not self.marker


def fill_with_entry(
    pen: Pen, entry: LegendEntry, subpath: Subpath, polygon: Sequence[tuple[float, float]]
) -> None:
    """Fill an area in the colour of an entry, with its hatch if any."""
    pen.fill((subpath,), entry.color)
    if entry.hatch is not None:
        lines = hatch(polygon, entry.hatch, HATCH_DISTANCE)
        pen.stroke(lines, HATCH_WIDTH, WHITE if is_dark(entry.color) else BLACK)


def draw_symbol(pen: Pen, entry: LegendEntry, x: float, middle: float, size: float) -> None:
    """Draw the symbol of an entry: from `x` on, centred at a height."""
    if entry.is_area:
        side = _SWATCH * size
        corners = (x, middle - side / 2), (x + side, middle + side / 2)
        square = rectangle(*corners)
        fill_with_entry(pen, entry, square, [(p[0], p[1]) for p in square])
        return
    length = symbol_width(entry, size)
    if entry.line_width:
        ends = ((x, middle), (x + length, middle))
        pen.stroke((ends,), entry.line_width, entry.color, entry.dash)
    if entry.marker:
        pen.fill((marker(entry.marker, x + length / 2, middle, entry.radius),), entry.color)


def symbol_width(entry: LegendEntry, size: float) -> float:
    """Return the width of an entry's symbol in points."""
    if entry.is_area:
        return _SWATCH * size
    return (LINE_SYMBOL_WIDTH if entry.line_width else _SWATCH) * size


def fit_legend(
    entries: Sequence[LegendEntry], width: float, height: float, label_style: LabelStyle
) -> list[LegendEntry]:
    """Return the first entries of a legend, those that take at most half of a height."""
    max_rows = max(int(height * _MAX_HEIGHT_FRACTION / (label_style.line_height * _LEADING)), 1)
    rows = _rows(entries, width, label_style)[:max_rows]
    return list(entries[: sum(map(len, rows))])


def legend_height(entries: Sequence[LegendEntry], width: float, label_style: LabelStyle) -> float:
    """Return the height of a legend in rows, in points."""
    return len(_rows(entries, width, label_style)) * label_style.line_height * _LEADING


def draw_legend(
    pen: Pen, entries: Sequence[LegendEntry], top: float, width: float, label_style: LabelStyle
) -> None:
    """Draw a legend in rows, from the start side."""
    height = label_style.line_height * _LEADING
    for at, row in enumerate(_rows(entries, width, label_style)):
        middle = top + at * height + height / 2
        for x, text, entry in row:
            draw_symbol(pen, entry, x, middle, label_style.size)
            place = x + symbol_width(entry, label_style.size) + _GAP * label_style.size
            pen.text(place, middle + label_style.cap_height / 2, text, label_style)


def _rows(
    entries: Sequence[LegendEntry], width: float, label_style: LabelStyle
) -> list[list[tuple[float, str, LegendEntry]]]:
    rows: list[list[tuple[float, str, LegendEntry]]] = [[]]
    x = 0.0
    for entry in entries:
        symbol = symbol_width(entry, label_style.size) + _GAP * label_style.size
        text = label_style.truncate(entry.label, max(width - symbol, 0.0))
        used = symbol + label_style.width(text)
        if rows[-1] and x + used > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, text, entry))
        x += used + _PITCH * label_style.size
    return rows
