"""Path data and shapes as segments: move, line, cubic curve and close, in user units."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import acos, ceil, cos, pi, radians, sin, sqrt, tan
from typing import Final

from workers.engine.svg.values import MAX_NUMBER, NUMBERS, Box

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
                flags = {"is_large": bool(is_large), "is_clockwise": bool(is_clockwise)}
                end = (end_x, end_y)
                self.segments += arc_segments((x, y), (rx, ry), rotation, end, **flags)
                x, y = end
        self._here = (x, y)
        if kind == "M":
            self._start = self._here

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


# --- arcs (SVG 2, appendix B.2) ---------------------------------------------------------------------


def arc_segments(
    start: tuple[float, float],
    radii: tuple[float, float],
    rotation: float,
    end: tuple[float, float],
    *,
    is_large: bool,
    is_clockwise: bool,
) -> Segments:
    """Return the curves of an elliptical arc between two points (SVG 2 appendix B.2)."""
    rx, ry = abs(radii[0]), abs(radii[1])
    if start == end:
        return []
    if rx < 1e-9 or ry < 1e-9:
        return [("L", *end)]
    cosine, sine = cos(radians(rotation)), sin(radians(rotation))
    half_x, half_y = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
    x = (cosine * half_x + sine * half_y) / rx
    y = (cosine * half_y - sine * half_x) / ry
    reach = x * x + y * y
    if reach > 1:  # radii too small: scaled up (B.2.5)
        rx, ry, x, y = rx * sqrt(reach), ry * sqrt(reach), x / sqrt(reach), y / sqrt(reach)
        reach = 1.0
    away = sqrt(max(0.0, 1 / reach - 1)) * (-1 if is_large == is_clockwise else 1)
    cx, cy = away * y, -away * x
    first = _angle(x - cx, y - cy)
    sweep = _angle(-x - cx, -y - cy) - first
    if is_clockwise and sweep < 0:
        sweep += 2 * pi
    elif not is_clockwise and sweep > 0:
        sweep -= 2 * pi
    middle = (
        (start[0] + end[0]) / 2 + cosine * cx * rx - sine * cy * ry,
        (start[1] + end[1]) / 2 + sine * cx * rx + cosine * cy * ry,
    )

    def place(px: float, py: float) -> tuple[float, float]:
        px, py = px * rx, py * ry
        return middle[0] + cosine * px - sine * py, middle[1] + sine * px + cosine * py

    count = max(1, ceil(abs(sweep) / (pi / 2) - 1e-6))
    step = sweep / count
    handle = 4 / 3 * tan(step / 4)
    found: Segments = []
    for number in range(count):
        a, b = first + number * step, first + (number + 1) * step
        p1 = place(cos(a) - handle * sin(a), sin(a) + handle * cos(a))
        p2 = place(cos(b) + handle * sin(b), sin(b) - handle * cos(b))
        found.append(("C", *p1, *p2, *(end if number == count - 1 else place(cos(b), sin(b)))))
    return found


def _angle(x: float, y: float) -> float:
    length = sqrt(x * x + y * y) or 1.0
    angle = acos(max(-1.0, min(1.0, x / length)))
    return -angle if y < 0 else angle


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
    xs: list[float] = []
    ys: list[float] = []
    x = y = 0.0
    for segment in segments:
        if len(segment) == 1:
            continue
        if len(segment) == 7:
            _, x1, y1, x2, y2, end_x, end_y = segment
            xs += _extremes(x, x1, x2, end_x)
            ys += _extremes(y, y1, y2, end_y)
        *_, x, y = segment
        xs.append(x)
        ys.append(y)
    return (min(xs), min(ys), max(xs), max(ys)) if xs else None


def _extremes(p0: float, p1: float, p2: float, p3: float) -> list[float]:
    """Return the extrema of a curve in one direction that lie outside its ends."""
    low, high = min(p0, p3), max(p0, p3)
    if low <= p1 <= high and low <= p2 <= high:
        return []
    a, b, c = p3 - 3 * p2 + 3 * p1 - p0, 2 * (p2 - 2 * p1 + p0), p1 - p0
    if abs(a) < 1e-12:
        roots = [-c / b] if abs(b) > 1e-12 else []
    else:
        square = b * b - 4 * a * c
        if square < 0:
            return []
        root = sqrt(square)
        roots = [(-b + root) / (2 * a), (-b - root) / (2 * a)]
    return [
        (1 - t) ** 3 * p0 + 3 * (1 - t) ** 2 * t * p1 + 3 * (1 - t) * t * t * p2 + t**3 * p3
        for t in roots
        if 0 < t < 1
    ]
