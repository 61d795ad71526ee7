"""Drawing of charts: pen, label style, shapes and legends, mirrored in right-to-left documents.

`x` is the distance from the start side and `y` from the top, in points, from the chart's corner; in
right-to-left documents the pen mirrors `x` and the anchors of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby, pairwise
from math import ceil, cos, floor, pi, radians, sin, tan
from typing import Final, NamedTuple, TypeVar

from workers.engine.characters import cut_to_width
from workers.engine.diagnostics import Severity
from workers.engine.layout.context import Fonts, LayoutProblem, PageCanvas, shorten_value
from workers.engine.layout.display import Owner, Path, Restore, Save, Stroke, Subpath
from workers.engine.layout.lines.drawing import phrase_items, set_phrase
from workers.engine.layout.lines.fragments import GlyphStyle, InlineFragment
from workers.engine.tree.nodes import Chart, Source
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import BLACK, WHITE, Color, relative_luminance, rgb_from_hex, tint_color

LINE_HEIGHT: Final = 1.2  # em, of labels below each other
MAX_LABEL: Final = 200  # characters; the rest of a label is ignored
_WORDS: Final = re.compile(r"[^\s-]*(?:-+|\s+|$)|-+")
_ARC: Final = 0.5523  # control points of a quarter circle, in radii


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
        self.canvas = canvas
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
        self.canvas.items.append(Stroke(*place, width, color, self._owner, tuple(dash)))

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
        items = self.canvas.items
        if rotation:
            items.append(Save(rotate=(-rotation if self._is_rtl else rotation, place, y)))
        items += phrase_items(phrase, place - width * fraction, y, self._owner)
        if rotation:
            items.append(Restore())

    def begin_opacity_group(self, opacity: float) -> None:
        """Start a translucent group; `end_opacity_group` ends it."""
        self.canvas.items.append(Save(opacity=opacity))

    def end_opacity_group(self) -> None:
        """End the group of `begin_opacity_group`."""
        self.canvas.items.append(Restore())

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
            self.canvas.items.append(Path(placed, color, self._owner, width, dash))


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


Point = tuple[float, float]
Place = TypeVar("Place")

COLUMN: Final = 0.5  # points; less than a pixel of a high-resolution screen
_MAX_ARC: Final = pi / 2  # of one Bézier curve
_MAX_HATCHES: Final = 2_000  # lines of one hatch


def downsample(points: Sequence[Point]) -> list[Point]:
    """Reduce a line to the first, lowest, highest and last point of each half point of width.

    This is M4 (Jugel, Jerzak, Hackenbroich and Markl, "M4: a visualization-oriented time series
    data aggregation", VLDB 2014): the rendered line is the same, with at most four points a column.
    """
    sampled: list[Point] = []
    for _, column in groupby(points, key=lambda point: floor(point[0] / COLUMN)):
        here = list(column)
        if len(here) > 4:
            lowest = min(range(len(here)), key=lambda at: here[at][1])
            highest = max(range(len(here)), key=lambda at: here[at][1])
            kept = sorted({0, lowest, highest, len(here) - 1})
            here = [here[at] for at in kept]
        sampled += here
    return sampled


def hatch(polygon: Sequence[Point], degrees: float, distance: float) -> list[Subpath]:
    """Return lines at an angle in degrees, `distance` points apart, inside a polygon (even-odd rule)."""
    angle = radians(degrees)
    along, across = (cos(angle), sin(angle)), (-sin(angle), cos(angle))
    rotated = [(_dot(point, along), _dot(point, across)) for point in polygon]
    heights = [y for _, y in rotated]
    first, last = ceil(min(heights) / distance), floor(max(heights) / distance)
    edges = list(pairwise([*rotated, rotated[0]]))
    lines: list[Subpath] = []
    for at in range(first, min(last, first + _MAX_HATCHES) + 1):
        y = at * distance
        crossed = sorted(
            x1 + (y - y1) * (x2 - x1) / (y2 - y1)
            for (x1, y1), (x2, y2) in edges
            if (y1 <= y) is not (y2 <= y)
        )
        for start, end in zip(crossed[::2], crossed[1::2], strict=False):
            lines.append(
                tuple(
                    (x * along[0] + y * across[0], x * along[1] + y * across[1])
                    for x in (start, end)
                )
            )
    return lines


def ring_sector(
    center: Point, inner: float, outer: float, start: float, end: float
) -> tuple[Subpath, list[Point]]:
    """Return the sector of a ring between two angles, clockwise from the top in radians.

    It is returned as a path of curves, and as an approximating polygon for hatches. An `inner`
    radius of 0 makes it a sector of a pie.
    """
    out = list(_arc(center, outer, start, end))
    back = list(_arc(center, inner, end, start)) if inner else [center]
    path: Subpath = (*out, back[0], *back[1:])
    steps = max(ceil((end - start) / 0.1), 1)
    angles = [start + (end - start) * at / steps for at in range(steps + 1)]
    polygon = [point_on_circle(center, outer, angle) for angle in angles]
    polygon += (
        [point_on_circle(center, inner, angle) for angle in reversed(angles)] if inner else [center]
    )
    return path, polygon


def point_on_circle(center: Point, radius: float, angle: float) -> Point:
    """Return the point of a circle at an angle, clockwise from the top in radians."""
    return center[0] + radius * sin(angle), center[1] - radius * cos(angle)


def _arc(center: Point, radius: float, start: float, end: float) -> Iterator[tuple[float, ...]]:
    """Yield an arc: its start, then Bézier curves of at most a quarter circle."""
    yield point_on_circle(center, radius, start)
    count = max(ceil(abs(end - start) / _MAX_ARC - 1e-9), 1)
    size = (end - start) / count
    reach = 4 / 3 * tan(size / 4) * radius
    for at in range(count):
        from_, to = start + at * size, start + (at + 1) * size
        x1, y1 = point_on_circle(center, radius, from_)
        x2, y2 = point_on_circle(center, radius, to)
        yield (
            *(x1 + reach * cos(from_), y1 + reach * sin(from_)),
            *(x2 - reach * cos(to), y2 - reach * sin(to)),
            *(x2, y2),
        )


def _dot(point: Point, direction: Point) -> float:
    return point[0] * direction[0] + point[1] * direction[1]


def split_gaps(points: Iterable[Place | None]) -> list[list[Place]]:
    """Return the runs of points, or of pairs of them, between gaps."""
    runs: list[list[Place]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


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


def is_dark(color: Color) -> bool:
    """Return whether white text on a colour has more contrast than black (WCAG 2.2, relative luminance)."""
    return relative_luminance(color) < 0.179


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
    pen: Pen, entry: LegendEntry, subpath: Subpath, polygon: Sequence[Point] | None = None
) -> None:
    """Fill an area in the colour of an entry, with its hatch if any; `polygon` is that of curves."""
    pen.fill((subpath,), entry.color)
    if entry.hatch is not None:
        lines = hatch(polygon or [(x, y) for x, y in subpath], entry.hatch, HATCH_DISTANCE)
        pen.stroke(lines, HATCH_WIDTH, WHITE if is_dark(entry.color) else BLACK)


def draw_symbol(pen: Pen, entry: LegendEntry, x: float, middle: float, size: float) -> None:
    """Draw the symbol of an entry: from `x` on, centred at a height."""
    if entry.is_area:
        side = _SWATCH * size
        square = rectangle((x, middle - side / 2), (x + side, middle + side / 2))
        fill_with_entry(pen, entry, square)
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


# The entries of each row of a legend, with their places and their names as far as they fit.
LegendRows = list[list[tuple[float, str, LegendEntry]]]


def legend_rows(
    entries: Sequence[LegendEntry], width: float, label_style: LabelStyle
) -> LegendRows:
    """Return a legend in rows of at most a width, from the start side."""
    rows: LegendRows = [[]]
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


def legend_height(rows: LegendRows, label_style: LabelStyle) -> float:
    """Return the height of a legend, in points."""
    return len(rows) * label_style.line_height * _LEADING


LINE_WIDTH: Final = 1.4
THIN_LINE: Final = 1.0  # where many lines cross, or one goes up and down at every point
MARKER: Final = 2.1  # points, a marker's radius
MANY_LINES: Final = 6
MANY_RECORDS: Final = 150
EMPTY: Final = "chart-empty"
RANGE: Final = "chart-range"
LABELS: Final = "chart-labels"
_LINED: Final = frozenset({"line", "sparkline"})


@dataclass(slots=True)
class ChartDrawing:
    """A chart being drawn; `width` and `height` in points."""

    pen: Pen
    chart: Chart
    label_style: LabelStyle
    width: float
    height: float
    chain: tuple[Source, ...]  # of the chart, for problems

    @property
    def ink(self) -> Color:
        """The colour of labels."""
        return self.chart.style.text.color

    @property
    def rule(self) -> Color:
        """The colour of base lines and ticks."""
        return tint_color(self.ink, 0.6)

    @property
    def faint(self) -> Color:
        """The colour of grid lines."""
        return tint_color(self.ink, 0.16)

    def report(
        self, code: str, what: str, advice: str, severity: Severity = Severity.WARNING
    ) -> None:
        """Report data that are not visible, or not at their place."""
        about = shorten_value(self.chart.alt)
        self.pen.canvas.report(LayoutProblem(code, what, advice, self.chain, about, severity))

    def refuse(self, what: str, advice: str, code: str = "chart-too-dense") -> None:
        """Report why the chart is not drawn."""
        self.report(code, what, advice, Severity.ERROR)


def make_entries(
    chart: Chart, labels: Sequence[str], given: Sequence[Color | None]
) -> list[LegendEntry]:
    """Return the appearance of each series or slice."""
    is_line, is_point = chart.kind in _LINED, chart.kind == "scatter"
    colors = chart.colors or (LINES if is_line or is_point else PALETTE)
    entries: list[LegendEntry] = []
    for at, (label, own) in enumerate(zip(labels, given, strict=True)):
        color = color_of(at, own, colors)
        if is_line:
            is_thin = len(labels) > MANY_LINES or len(chart.xs) > MANY_RECORDS
            width = THIN_LINE if is_thin else LINE_WIDTH
            dash = DASHES[at % len(DASHES)] if len(labels) > 1 else ()
            entries.append(LegendEntry(label, color, None, width, dash))
        elif is_point:
            entries.append(
                LegendEntry(label, color, marker=MARKERS[at % len(MARKERS)], radius=MARKER)
            )
        else:
            hatch = hatch_of(at, len(colors), is_hatched=chart.is_hatched)
            entries.append(LegendEntry(label, color, hatch))
    return entries


def draw_title(drawing: ChartDrawing) -> float:
    """Draw the title in at most two lines; return the top of the remaining space."""
    if not drawing.chart.title:
        return 0.0
    title = drawing.label_style.bold()
    text = " ".join(drawing.chart.title.split())
    lines = title.wrap(text, drawing.width, 2) or (title.truncate(text, drawing.width),)
    y = title.cap_height
    for line in lines:
        drawing.pen.text(0.0, y, line, title)
        y += title.line_height
    return y - title.cap_height + 0.55 * title.size


def write_on(drawing: ChartDrawing, entry: LegendEntry, x: float, y: float, text: str) -> None:
    """Write a text centred on an area, in black or white; on a white background where it is hatched."""
    label_style = drawing.label_style
    color = WHITE if is_dark(entry.color) else BLACK
    if entry.hatch is not None:
        across, down = label_style.width(text) / 2 + 1.5, label_style.cap_height / 2 + 1.5
        drawing.pen.fill((rectangle((x - across, y - down), (x + across, y + down)),), WHITE)
        color = BLACK
    baseline = y + label_style.cap_height / 2
    drawing.pen.text(x, baseline, text, label_style, anchor=TextAnchor.MIDDLE, color=color)


def place_legend(
    drawing: ChartDrawing, entries: Sequence[LegendEntry], top: float, bottom: float
) -> tuple[float, float]:
    """Draw a legend above or below the chart; return top and bottom of the remaining space."""
    label_style = drawing.label_style
    rows = legend_rows(entries, drawing.width, label_style)
    pitch = label_style.line_height * _LEADING
    fitting = rows[: max(int((bottom - top) * _MAX_HEIGHT_FRACTION / pitch), 1)]
    left_out = len(entries) - sum(map(len, fitting))
    if left_out:
        drawing.report(
            LABELS,
            f"{left_out} of the {len(entries)} names of the legend are left out",
            "Make the chart larger, or group small ones.",
        )
    gap = 0.4 * label_style.size
    used = legend_height(fitting, label_style) + gap
    is_below = drawing.chart.legend == "bottom"
    middle = (bottom - used + gap if is_below else top) + pitch / 2
    for row in fitting:
        for x, text, entry in row:
            draw_symbol(drawing.pen, entry, x, middle, label_style.size)
            place = x + symbol_width(entry, label_style.size) + _GAP * label_style.size
            drawing.pen.text(place, middle + label_style.cap_height / 2, text, label_style)
        middle += pitch
    return (top, bottom - used) if is_below else (top + used, bottom)
