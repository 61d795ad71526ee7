"""Paths and basic shapes as segments (SVG 2 §9 and §10): move, line, cubic curve and close, in user units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import dist
from typing import Final

from fontTools.misc.arrayTools import calcBounds
from fontTools.misc.bezierTools import approximateCubicArcLength, calcCubicBounds
from fontTools.svgLib.path.arc import EllipticalArc

from workers.engine.prepared_images import Matrix
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.values import (
    IDENTITY,
    MAX_NUMBER,
    NUMBERS,
    Box,
    Viewport,
    read_length,
    read_lengths,
    to_numbers,
    transform_point,
)

# ("M", x, y), ("L", x, y), ("C", x1, y1, x2, y2, x, y) and ("Z",).
Segment = (
    tuple[str, float, float] | tuple[str, float, float, float, float, float, float] | tuple[str]
)
Segments = list[Segment]
Point = tuple[float, float]

CLOSE: Final[Segment] = ("Z",)
_ARC: Final = 0.5522847498  # control points of a quarter circle, in radii
_COMMANDS: Final = re.compile(r"([MmZzLlHhVvCcSsQqTtAa])([^MmZzLlHhVvCcSsQqTtAa]*)")
_BLANK: Final = re.compile(r"[\s,]*\Z")
_ARC_ARGUMENTS: Final = re.compile(
    r"{1}({0}){1}({0}){1}({0}){1}([01]){1}([01]){1}({0}){1}({0})".format(
        NUMBERS.pattern, r"[\s,]*+"
    )
)
_ARGUMENTS: Final = re.compile(rf"(?:[\s,]*+{NUMBERS.pattern}|(?!))*+")
_COUNTS: Final = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


def parse_path(data: str) -> Segments:
    """Parse path data (SVG 2 §9.3); after an error the segments before it are drawn (§9.5.4)."""
    pen = _PathBuilder()
    matches = _COMMANDS.finditer(data)
    is_first = True
    for match in matches:
        if is_first and (match[1] not in "Mm" or not _BLANK.match(data[: match.start()])):
            break
        is_first = False
        if not pen.append(match[1], match[2]):
            break
    return pen.segments


class _PathBuilder:
    """Builds segments command by command."""

    def __init__(self) -> None:
        self.segments: Segments = []
        self._here = self._start = (0.0, 0.0)
        self._control = (0.0, 0.0)  # the last control point of the previous curve
        self._last = ""
        self._is_closed = False

    def append(self, command: str, text: str) -> bool:
        """Append a command with all its repeats; return False when its arguments are invalid."""
        kind = command.upper()
        if kind == "Z":
            self._close()
            return _BLANK.match(text) is not None
        values, is_complete = _arc_values(text) if kind == "A" else _values(text)
        count = _COUNTS[kind]
        complete = len(values) - len(values) % count
        if not complete:
            return False
        for at in range(0, complete, count):
            if self._is_closed and kind != "M":
                self.segments.append(("M", *self._here))
            self._is_closed = False
            each = values[at : at + count]
            if command != kind:
                each = self._to_absolute(kind, each)
            self._draw("L" if kind == "M" and at else kind, each)
            self._last = kind
        return is_complete and complete == len(values)

    def _close(self) -> None:
        if self.segments and not self._is_closed:
            self.segments.append(CLOSE)
            self._is_closed = True
        self._here = self._start
        self._last = "Z"

    def _to_absolute(self, kind: str, values: list[float]) -> list[float]:
        x, y = self._here
        if kind == "A":  # its end alone is a point
            return [*values[:5], values[5] + x, values[6] + y]
        return [value + (y if at % 2 or kind == "V" else x) for at, value in enumerate(values)]

    def _draw(self, kind: str, values: list[float]) -> None:
        x, y = self._here
        match kind:
            case "M" | "L":
                x, y = values
                self.segments.append((kind, x, y))
            case "H" | "V":
                x, y = (values[0], y) if kind == "H" else (x, values[0])
                self.segments.append(("L", x, y))
            case "C" | "S":
                x1, y1, x2, y2, x, y = values if kind == "C" else (*self._reflect("CS"), *values)
                self._control = (x2, y2)
                self.segments.append(("C", x1, y1, x2, y2, x, y))
            case "Q" | "T":
                qx, qy, end_x, end_y = values if kind == "Q" else (*self._reflect("QT"), *values)
                self._control = (qx, qy)
                first, second = raise_quadratic((x, y), (qx, qy), (end_x, end_y))
                self.segments.append(("C", *first, *second, end_x, end_y))
                x, y = end_x, end_y
            case _:
                rx, ry, rotation, is_large, is_clockwise, end_x, end_y = values
                start, end = complex(x, y), complex(end_x, end_y)
                arc = EllipticalArc(
                    start, rx, ry, rotation, bool(is_large), bool(is_clockwise), end
                )
                self._draw_arc(arc)
                x, y = end_x, end_y
        self._here = (x, y)
        if kind == "M":
            self._start = self._here

    def _draw_arc(self, arc: EllipticalArc) -> None:
        is_line = not (arc.rx and arc.ry)  # SVG 2 §9.5.1
        try:
            arc.draw(SegmentPen(self.segments))
        except (ArithmeticError, ValueError):  # too flat for floating point
            is_line = True
        if is_line and arc.target_point != arc.current_point:
            self.segments.append(("L", arc.target_point.real, arc.target_point.imag))

    def _reflect(self, kinds: str) -> tuple[float, float]:
        x, y = self._here
        if self._last and self._last in kinds:
            return 2 * x - self._control[0], 2 * y - self._control[1]
        return x, y


def raise_quadratic(start: Point, control: Point, end: Point) -> tuple[Point, Point]:
    """Return the control points of the cubic curve that is a quadratic one."""
    (x0, y0), (x1, y1), (x2, y2) = start, control, end
    return (
        (x0 + (x1 - x0) * 2 / 3, y0 + (y1 - y0) * 2 / 3),
        (x2 + (x1 - x2) * 2 / 3, y2 + (y1 - y2) * 2 / 3),
    )


def _values(text: str) -> tuple[list[float], bool]:
    good = _ARGUMENTS.match(text)
    assert good is not None  # it matches the empty text too
    return _clamped(NUMBERS.findall(good[0])), _BLANK.match(text, good.end()) is not None


def _arc_values(text: str) -> tuple[list[float], bool]:
    """Return the arguments of arcs, whose two flags need no separators."""
    values: list[float] = []
    at = 0
    while match := _ARC_ARGUMENTS.match(text, at):
        values += _clamped(match.groups())
        at = match.end()
    return values, _BLANK.match(text, at) is not None


def _clamped(texts: Iterable[str]) -> list[float]:
    values = [float(text) for text in texts]
    if values and (max(values) > MAX_NUMBER or min(values) < -MAX_NUMBER):
        return [max(-MAX_NUMBER, min(MAX_NUMBER, value)) for value in values]
    return values


class SegmentPen:
    """A pen of fontTools that collects segments, mapped by a matrix; method names are those of pens."""

    def __init__(self, segments: Segments, matrix: Matrix = IDENTITY) -> None:
        self._segments = segments
        self._matrix = matrix
        self._here: Point = (0.0, 0.0)

    def moveTo(self, point: Point) -> None:
        self._here = point
        self._segments.append(("M", *self._place(point)))

    def lineTo(self, point: Point) -> None:
        self._here = point
        self._segments.append(("L", *self._place(point)))

    def curveTo(self, first: Point, second: Point, end: Point) -> None:
        self._here = end
        self._segments.append(("C", *self._place(first), *self._place(second), *self._place(end)))

    def qCurveTo(self, control: Point, end: Point) -> None:
        self.curveTo(*raise_quadratic(self._here, control, end), end)

    def closePath(self) -> None:
        self._segments.append(CLOSE)

    def _place(self, point: Point) -> Point:
        return transform_point(self._matrix, *point)


# --- shapes (SVG 2, 10) -----------------------------------------------------------------------------


def rectangle(x: float, y: float, width: float, height: float, rx: float, ry: float) -> Segments:
    """Return a rectangle, with round corners where the radii are not 0."""
    right, bottom = x + width, y + height
    if rx <= 0 or ry <= 0:
        return [("M", x, y), ("L", right, y), ("L", right, bottom), ("L", x, bottom), CLOSE]
    rx, ry = min(rx, width / 2), min(ry, height / 2)
    kx, ky = rx * (1 - _ARC), ry * (1 - _ARC)
    return [
        ("M", x + rx, y),
        ("L", right - rx, y),
        ("C", right - kx, y, right, y + ky, right, y + ry),
        ("L", right, bottom - ry),
        ("C", right, bottom - ky, right - kx, bottom, right - rx, bottom),
        ("L", x + rx, bottom),
        ("C", x + kx, bottom, x, bottom - ky, x, bottom - ry),
        ("L", x, y + ry),
        ("C", x, y + ky, x + kx, y, x + rx, y),
        CLOSE,
    ]


def ellipse(cx: float, cy: float, rx: float, ry: float) -> Segments:
    """Return an ellipse, starting at its right (SVG 2 §10.4)."""
    kx, ky = rx * _ARC, ry * _ARC
    return [
        ("M", cx + rx, cy),
        ("C", cx + rx, cy + ky, cx + kx, cy + ry, cx, cy + ry),
        ("C", cx - kx, cy + ry, cx - rx, cy + ky, cx - rx, cy),
        ("C", cx - rx, cy - ky, cx - kx, cy - ry, cx, cy - ry),
        ("C", cx + kx, cy - ry, cx + rx, cy - ky, cx + rx, cy),
        CLOSE,
    ]


def polygon(points: list[float], *, is_closed: bool) -> Segments:
    """Return lines from point to point; a last number without a partner is ignored."""
    pairs = list(zip(points[::2], points[1::2], strict=False))
    if not pairs:
        return []
    found: Segments = [("M", *pairs[0]), *(("L", x, y) for x, y in pairs[1:])]
    return [*found, CLOSE] if is_closed else found


# --- the box around them ----------------------------------------------------------------------------


def find_box(segments: Segments) -> Box | None:
    """Return left, top, right and bottom of the segments, None for none."""
    points: list[Point] = []
    here: Point = (0.0, 0.0)
    for segment in segments:
        match segment:
            case (_, x1, y1, x2, y2, x, y):
                left, top, right, bottom = calcCubicBounds(here, (x1, y1), (x2, y2), (x, y))
                points += ((left, top), (right, bottom))
                here = (x, y)
            case (_, x, y):
                here = (x, y)
                points.append(here)
    return calcBounds(points) if points else None


def find_length(segments: Segments) -> float:
    """Return the length of the segments, of curves approximately."""
    total = 0.0
    start = here = (0.0, 0.0)
    for segment in segments:
        match segment:
            case ("M", x, y):
                start = here = (x, y)
            case (_, x1, y1, x2, y2, x, y):
                total += approximateCubicArcLength(here, (x1, y1), (x2, y2), (x, y))
                here = (x, y)
            case (_, x, y):
                total += dist(here, (x, y))
                here = (x, y)
            case _:
                total += dist(here, start)
                here = start
    return total


RECTANGLE: Final = ("x", "y", "width", "height")


def read_rectangle(
    attributes: Mapping[str, str],
    viewport: Viewport,
    box: Box | None,
    default: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float, float, float]:
    """Return x, y, width and height; with a box, they are fractions of its sides.

    `default` is the share that missing ones have of the sides: of x and y, and of width and height.
    """
    if box is not None:
        viewport = Viewport(1.0, 1.0, viewport.font_size)
    start, extent = default
    found = [
        read_length(attributes, name, viewport, share * viewport.basis_of(name))
        for name, share in zip(RECTANGLE, (start, start, extent, extent), strict=True)
    ]
    x, y, width, height = found
    if box is None:
        return x, y, width, height
    across, down = box[2] - box[0], box[3] - box[1]
    return box[0] + x * across, box[1] + y * down, width * across, height * down


def _rectangle(element: SvgElement, viewport: Viewport) -> Segments:
    x, y, width, height = read_lengths(element.attributes, RECTANGLE, viewport)
    if width <= 0 or height <= 0:
        return []
    return rectangle(x, y, width, height, *_read_radii(element, viewport))


def _circle(element: SvgElement, viewport: Viewport) -> Segments:
    radius = read_length(element.attributes, "r", viewport)
    return _round(element, viewport, radius, radius)


def _ellipse(element: SvgElement, viewport: Viewport) -> Segments:
    return _round(element, viewport, *_read_radii(element, viewport))


def _read_radii(element: SvgElement, viewport: Viewport) -> tuple[float, float]:
    """Return `rx` and `ry`, of which a missing one is the other."""
    rx, ry = read_lengths(element.attributes, ("rx", "ry"), viewport, -1.0)
    return (ry if rx < 0 else rx), (rx if ry < 0 else ry)


def _round(element: SvgElement, viewport: Viewport, rx: float, ry: float) -> Segments:
    if rx <= 0 or ry <= 0:
        return []
    cx, cy = read_lengths(element.attributes, ("cx", "cy"), viewport)
    return ellipse(cx, cy, rx, ry)


def _line(element: SvgElement, viewport: Viewport) -> Segments:
    x1, y1, x2, y2 = read_lengths(element.attributes, ("x1", "y1", "x2", "y2"), viewport)
    return [("M", x1, y1), ("L", x2, y2)]


def _polyline(element: SvgElement, _: Viewport) -> Segments:
    return polygon(to_numbers(element.attributes.get("points", "")), is_closed=False)


def _polygon(element: SvgElement, _: Viewport) -> Segments:
    return polygon(to_numbers(element.attributes.get("points", "")), is_closed=True)


def _path(element: SvgElement, _: Viewport) -> Segments:
    return parse_path(element.attributes.get("d", ""))


SHAPES: Final[dict[str, Callable[[SvgElement, Viewport], Segments]]] = {
    "rect": _rectangle,
    "circle": _circle,
    "ellipse": _ellipse,
    "line": _line,
    "polyline": _polyline,
    "polygon": _polygon,
    "path": _path,
}
