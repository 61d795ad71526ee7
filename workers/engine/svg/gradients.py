"""Gradients as shadings (ISO 32000-1, 8.7.4.5): of SVG (SVG 2 §14.2) and of colour glyphs (OpenType, COLR).

A shading extends its last colours only. So a colour line that is repeated or reflected is written
as often as it is seen, and a sweep, which PDF has none of, as a fan of triangles.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, cos, floor, hypot, pi, sin
from struct import pack
from typing import Final, NamedTuple

from workers.engine.pdf_writer import PreparedObject
from workers.engine.prepared_images import Matrix
from workers.engine.svg.canvas import Shading, format_numbers
from workers.engine.svg.conversion import Conversion
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.styles import SvgStyle, opacity, parse_color
from workers.engine.svg.values import (
    RGB,
    Box,
    Viewport,
    invert,
    multiply_matrices,
    read_length,
    read_lengths,
    to_number,
    transform_box,
)

MAX_REPEATS: Final = 100  # of a colour line on either side
_MAX_WEDGES: Final = 1_440
_WEDGE: Final = pi / 60  # the largest angle of a triangle: its chord is 0.03 % inside the circle
_OVERLAP: Final = pi / 360
_TINY: Final = 1e-6  # a difference of offsets that is none
_STEP: Final = 1e-5  # between stops at one offset, which a stitching function separates

Components = tuple[float, ...]
Stop = tuple[float, Components]
Stops = tuple[Stop, ...]
# A colour or grey where a gradient is one.
AnyShading = Shading | Components

_SPACES: Final = {3: b"/DeviceRGB", 1: b"/DeviceGray"}  # by the number of components
_BYTES_PER_STOP: Final = 60


class GradientStop(NamedTuple):
    """A gradient stop."""

    offset: float
    color: RGB
    opacity: float


class GradientPaint(NamedTuple):
    """The shading of a gradient, and a second one for its opacity where that varies."""

    shading: AnyShading
    opacity: float  # of all stops, where it is constant
    mask: AnyShading | None


@dataclass(frozen=True, slots=True)
class _Line:
    """A colour line in the offsets of its gradient: stops in ascending order."""

    stops: Stops
    extend: str

    @property
    def first(self) -> float:
        return self.stops[0][0]

    @property
    def last(self) -> float:
        return self.stops[-1][0]

    @property
    def period(self) -> float:
        return self.last - self.first

    def unroll(self, start: float, end: float) -> Stops:
        """Return the stops that are seen between two offsets."""
        if self.extend == "pad" or self.period < _TINY:
            return self.stops
        middle = 0 if start <= self.last and end >= self.first else floor(start - self.first)
        lowest = max(floor((start - self.first) / self.period), middle - MAX_REPEATS)
        highest = min(ceil((end - self.first) / self.period), middle + MAX_REPEATS)
        return tuple(
            stop for at in range(lowest, max(highest, lowest + 1)) for stop in self._period(at)
        )

    def _period(self, at: int) -> Iterator[Stop]:
        moved = at * self.period
        if self.extend == "reflect" and at % 2:
            for offset, color in reversed(self.stops):
                yield self.first + self.last - offset + moved, color
        else:
            for offset, color in self.stops:
                yield offset + moved, color

    def at(self, offset: float) -> Components:
        """Return the colour at an offset."""
        if self.extend != "pad" and self.period >= _TINY:
            periods = (offset - self.first) / self.period
            offset = self.first + (periods - floor(periods)) * self.period
            if self.extend == "reflect" and floor(periods) % 2:
                offset = self.first + self.last - offset
        after = bisect_right(self.stops, offset, key=lambda stop: stop[0])
        if not after:
            return self.stops[0][1]
        if after == len(self.stops):
            return self.stops[-1][1]
        (start, color), (end, next_color) = self.stops[after - 1 : after + 1]
        share = (offset - start) / (end - start)
        return tuple(
            one + (other - one) * share for one, other in zip(color, next_color, strict=True)
        )


def make_gradient(
    kind: str,
    coordinates: Sequence[float],
    stops: Sequence[GradientStop],
    *,
    extend: str,
    area: Box,
    matrix: Matrix,
) -> GradientPaint | None:
    """Return the paint of a gradient in its own coordinates, which `matrix` maps to form space.

    `coordinates` are the ends of a `linear` gradient, the circles (x, y, radius) of a `radial` one, or
    the centre and two angles in radians of a `sweep`. `extend` is pad, repeat or reflect; `area`
    contains what is seen, in the coordinates of the gradient. Returns None where it paints nothing.
    """
    stops = sorted(stops, key=lambda stop: stop.offset)

    def make(*colors: Components) -> AnyShading | None:
        offsets = (stop.offset for stop in stops)
        line = _Line(tuple(zip(offsets, colors, strict=True)), extend)
        return _make_shading(kind, coordinates, line, area, matrix)

    shading = make(*(stop.color for stop in stops))
    if shading is None:
        return None
    opacities = [stop.opacity for stop in stops]
    if len(set(opacities)) == 1:
        return GradientPaint(shading, opacities[0], None)
    return GradientPaint(shading, 1.0, make(*((each,) for each in opacities)))


def _make_shading(
    kind: str, coordinates: Sequence[float], line: _Line, area: Box, matrix: Matrix
) -> AnyShading | None:
    if kind == "sweep":
        if len({color for _, color in line.stops}) == 1:
            return line.stops[0][1]
        return _make_sweep(coordinates, line, area, matrix)
    middle = len(coordinates) // 2
    start, end = coordinates[:middle], coordinates[middle:]
    change = [after - before for before, after in zip(start, end, strict=True)]
    seen = (_find_seen_part if kind == "linear" else _find_seen_circles)(start, change, area)
    if seen is None:
        return None
    found = line.unroll(*seen)
    if kind == "linear":
        return _make_axial(2, start, change, found, matrix)
    found = _cut_at_point(found, start[2], change[2])
    return _make_axial(3, start, change, found, matrix) if found else None


# --- linear and radial ------------------------------------------------------------------------


def _make_axial(
    kind: int, start: Sequence[float], change: Sequence[float], stops: Stops, matrix: Matrix
) -> Shading:
    """Return a shading of type 2 or 3 whose coordinates change linearly with the offset."""
    first, last = min(stops[0][0], 0.0), max(stops[-1][0], 1.0)
    scaled = [((offset - first) / (last - first), color) for offset, color in stops]
    coordinates = [
        value + at * step for at in (first, last) for value, step in zip(start, change, strict=True)
    ]
    stops = _separate(scaled)
    written = (
        b"<< /ShadingType %d /ColorSpace %b /Coords [%b] /Function %b /Extend [true true] >>"
        % (kind, _SPACES[len(stops[0][1])], format_numbers(coordinates), _write_function(stops))
    )
    return Shading(PreparedObject((written,)), matrix, _BYTES_PER_STOP * len(stops))


def _write_function(stops: Stops) -> bytes:
    """Return the interpolation of colour stops as stitched linear functions (ISO 32000-1, 7.10.4)."""
    stops = ((0.0, stops[0][1]), *stops) if stops[0][0] > 0 else stops
    stops = (*stops, (1.0, stops[-1][1])) if stops[-1][0] < 1 else stops
    functions = [
        _EXPONENTIAL % (format_numbers(before), format_numbers(after))
        for (_, before), (_, after) in pairwise(stops)
    ]
    if len(functions) == 1:
        return functions[0]
    return b"<< /FunctionType 3 /Domain [0 1] /Functions [%b] /Bounds [%b] /Encode [%b] >>" % (
        b" ".join(functions),
        format_numbers(offset for offset, _ in stops[1:-1]),
        b" ".join([b"0 1"] * len(functions)),
    )


_EXPONENTIAL: Final = b"<< /FunctionType 2 /Domain [0 1] /N 1 /C0 [%b] /C1 [%b] >>"


def _separate(stops: Sequence[Stop]) -> Stops:
    """Return stops of which no two have one offset: the bounds of a stitching function ascend
    (ISO 32000-1, 7.10.4).
    """
    kept: list[Stop] = []
    for at, (offset, color) in enumerate(stops):
        is_inner = 0 < at < len(stops) - 1
        if is_inner and offset == stops[at - 1][0] == stops[at + 1][0]:
            continue  # between two others at its offset it is not seen
        least = kept[-1][0] + _STEP if kept else 0.0
        kept.append((max(offset, least), color))
    end = max(kept[-1][0], 1.0)
    return tuple((offset / end, color) for offset, color in kept)


def _find_seen_part(
    start: Sequence[float], change: Sequence[float], area: Box
) -> tuple[float, float] | None:
    """Return the offsets of an axis at the corners of an area, None for an axis without a length."""
    squared = change[0] * change[0] + change[1] * change[1]
    if squared < _TINY * _TINY:
        return None
    seen = [
        ((x - start[0]) * change[0] + (y - start[1]) * change[1]) / squared
        for x, y in find_corners(area)
    ]
    return min(seen), max(seen)


def _find_seen_circles(
    start: Sequence[float], change: Sequence[float], area: Box
) -> tuple[float, float] | None:
    """Return the offsets of the circles that cross an area; they are bounded by the repeats."""
    if not any(change):
        return None
    away = max(hypot(x - start[0], y - start[1]) for x, y in find_corners(area))
    growth = abs(abs(change[2]) - hypot(change[0], change[1]))
    reach = (away + start[2]) / growth if growth > _TINY else float(MAX_REPEATS)
    return -min(reach, 4.0 * MAX_REPEATS), min(reach, 4.0 * MAX_REPEATS)


def _cut_at_point(stops: Stops, radius: float, growth: float) -> Stops:
    """Return the stops without those of circles whose radius would be negative."""
    if not growth:
        return stops
    point = -radius / growth  # the offset at which the circle is a point
    line = _Line(stops, "pad")
    if growth > 0:
        if line.last <= point:
            return ((point, stops[-1][1]), (point + 1, stops[-1][1]))
        if line.first >= point:
            return stops
        return ((point, line.at(point)), *(stop for stop in stops if stop[0] > point))
    if line.first >= point:
        return ((point - 1, stops[0][1]), (point, stops[0][1]))
    if line.last <= point:
        return stops
    return (*(stop for stop in stops if stop[0] < point), (point, line.at(point)))


# --- sweep ------------------------------------------------------------------------------------


def _make_sweep(numbers: Sequence[float], line: _Line, area: Box, matrix: Matrix) -> AnyShading:
    x, y, start, end = numbers
    span = end - start
    if span < 0:
        turned = tuple((1 - offset, color) for offset, color in reversed(line.stops))
        line, start, span = _Line(turned, line.extend), end, -span
    span = max(span, 1e-4)
    if line.period < _TINY and line.extend != "pad":
        return line.stops[-1][1]
    radius = max(hypot(a - x, b - y) for a, b in find_corners(area)) / cos(_WEDGE / 2) + 1
    triangles: list[tuple[float, float, Components]] = []
    for before, after in pairwise(_find_angles(line, start, span)):
        inset = min((after - before) / 1000, 1e-7)
        colors = [line.at((at - start) / span) for at in (before + inset, after - inset)]
        center = tuple((one + other) / 2 for one, other in zip(*colors, strict=True))
        triangles.append((x, y, center))
        # The next triangle covers the end of this one, so no seam is seen between them.
        reach = after if after >= 2 * pi else after + _OVERLAP
        for angle, color in zip((before, reach), colors, strict=True):
            triangles.append((x + radius * cos(angle), y + radius * sin(angle), color))
    return _make_mesh(triangles, matrix)


def _find_angles(line: _Line, start: float, span: float) -> list[float]:
    """Return the angles of the edges of all wedges in a full turn, in ascending order."""
    turn = 2 * pi
    stops = line.unroll(-start / span, (turn - start) / span)
    edges = sorted(
        {0.0, turn, *(at for offset, _ in stops if 0 < (at := start + offset * span) < turn)}
    )
    angles = [0.0]
    for before, after in pairwise(edges[:_MAX_WEDGES]):
        steps = max(ceil((after - before) / _WEDGE), 1)
        angles += (before + (after - before) * at / steps for at in range(1, steps + 1))
    return angles if angles[-1] == turn else [*angles, turn]


def _make_mesh(vertices: Sequence[tuple[float, float, Components]], matrix: Matrix) -> Shading:
    """Return triangles with colours at their corners, a shading of type 4 (ISO 32000-1, 8.7.4.5.5)."""
    xs, ys = [x for x, *_ in vertices], [y for _, y, _ in vertices]
    left, bottom = min(xs), min(ys)
    width, height = max(xs) - left, max(ys) - bottom
    data = b"".join(
        pack(
            f">B2H{len(color)}B",
            0,
            round((x - left) / width * 0xFFFF),
            round((y - bottom) / height * 0xFFFF),
            *(round(255 * min(max(part, 0.0), 1.0)) for part in color),
        )
        for x, y, color in vertices
    )
    components = len(vertices[0][2])
    entries = (
        b"/ShadingType 4 /ColorSpace %b /BitsPerFlag 8 /BitsPerCoordinate 16 /BitsPerComponent 8"
        b" /Decode [%b%b]"
        % (
            _SPACES[components],
            format_numbers((left, left + width, bottom, bottom + height)),
            b" 0 1" * components,
        )
    )
    return Shading(PreparedObject((entries,), (data,)), matrix, len(data))


def find_corners(area: Box) -> tuple[tuple[float, float], ...]:
    """Return the corners of a box."""
    left, bottom, right, top = area
    return (left, bottom), (right, bottom), (right, top), (left, top)


TAGS: Final = frozenset({"linearGradient", "radialGradient"})
_MAX_STOPS: Final = 256


def build_paint(
    element: SvgElement,
    *,
    box: Box | None,
    matrix: Matrix,
    viewport: Viewport,
    area: Box,
    conversion: Conversion,
    fallback: tuple[RGB, float] | None,
) -> GradientPaint | tuple[RGB, float] | None:
    """Return the paint of a gradient; a colour where it is constant, None for no paint.

    `box` is the bounding box of the shape, `matrix` maps its user space to form space, whose extent
    is `area`. `fallback` is the paint where the gradient has no bounding box to fit, or a singular
    transform.
    """
    chain = conversion.follow_references(element, TAGS)
    stops = _read_stops(chain, conversion.style_of)
    conversion.budget.count_segments(len(stops))
    if not stops:
        return None
    last = stops[-1]
    attributes = _merge_attributes(chain)
    is_relative = attributes.get("gradientUnits", "objectBoundingBox") != "userSpaceOnUse"
    own = conversion.read_transform(attributes, "gradient")
    if invert(own) is None:
        return fallback
    if len(stops) == 1:
        return last.color, last.opacity
    if is_relative:
        if box is None or box[2] <= box[0] or box[3] <= box[1]:
            return fallback
        matrix = multiply_matrices(matrix, (box[2] - box[0], 0, 0, box[3] - box[1], box[0], box[1]))
        viewport = Viewport(1.0, 1.0, viewport.font_size)
    matrix = multiply_matrices(matrix, own)
    inverse = invert(matrix)
    is_linear = element.tag == "linearGradient"
    coordinates = (_linear if is_linear else _radial)(attributes, viewport)
    if coordinates is None or inverse is None:
        return last.color, last.opacity
    spread = attributes.get("spreadMethod", "pad")
    if spread in ("repeat", "reflect"):  # all of the axis is repeated
        stops = [stops[0]._replace(offset=0.0), *stops, last._replace(offset=1.0)]
    paint = make_gradient(
        "linear" if is_linear else "radial",
        coordinates,
        stops,
        extend=spread if spread in ("repeat", "reflect") else "pad",
        area=transform_box(inverse, area),
        matrix=matrix,
    )
    if paint is None or not isinstance(paint.shading, Shading):
        return last.color, last.opacity
    conversion.budget.count_segments(paint.shading.size // _BYTES_PER_STOP)
    return paint


def _merge_attributes(chain: list[SvgElement]) -> dict[str, str]:
    """Return the attributes; geometry is inherited only from a gradient of the same kind."""
    merged: dict[str, str] = {}
    for element in reversed(chain):
        merged |= {
            name: value
            for name, value in element.attributes.items()
            if element.tag == chain[0].tag or name in _COMMON
        }
    return merged


_COMMON: Final = frozenset(
    {"gradientUnits", "gradientTransform", "spreadMethod", "transform-origin"}
)


def _read_stops(
    chain: list[SvgElement], style_of: Callable[[SvgElement], SvgStyle]
) -> list[GradientStop]:
    owner = next(
        (n for n in chain if any(child.tag == "stop" for child in n.child_elements())), None
    )
    if owner is None:
        return []
    stops: list[GradientStop] = []
    for child in owner.child_elements():
        if child.tag != "stop" or len(stops) >= _MAX_STOPS:
            continue
        offset = max(0.0, min(1.0, to_number(child.attributes.get("offset"))))
        style = style_of(child)
        color, alpha = parse_color(style["stop-color"], style) or ((0.0, 0.0, 0.0), 1.0)
        offset = max(offset, stops[-1].offset if stops else 0.0)
        stops.append(GradientStop(offset, color, alpha * opacity(style, "stop-opacity")))
    return stops


def _linear(attributes: Mapping[str, str], viewport: Viewport) -> tuple[float, ...] | None:
    x1, y1, y2 = read_lengths(attributes, ("x1", "y1", "y2"), viewport)
    x2 = read_length(attributes, "x2", viewport, viewport.width)
    return None if (x1, y1) == (x2, y2) else (x1, y1, x2, y2)


def _radial(attributes: Mapping[str, str], viewport: Viewport) -> tuple[float, ...] | None:
    cx = read_length(attributes, "cx", viewport, viewport.width / 2)
    cy = read_length(attributes, "cy", viewport, viewport.height / 2)
    radius = read_length(attributes, "r", viewport, viewport.diagonal / 2)
    fx, fy = (
        read_length(attributes, "fx", viewport, cx),
        read_length(attributes, "fy", viewport, cy),
    )
    inner = max(0.0, read_length(attributes, "fr", viewport))
    if radius <= 0:
        return None
    away = hypot(fx - cx, fy - cy)
    if away + inner > radius * 0.999:  # a focal point outside is moved onto the circle
        factor = max(0.0, radius * 0.999 - inner) / away if away else 1.0
        fx, fy = cx + (fx - cx) * factor, cy + (fy - cy) * factor
        inner = min(inner, radius * 0.999)
    return fx, fy, inner, cx, cy, radius
