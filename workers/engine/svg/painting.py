"""Painting of shapes: fill and stroke with colours, gradients and patterns, and markers (SVG 2 §13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import atan2, degrees, hypot
from typing import Final

from workers.engine.prepared_images import Matrix
from workers.engine.svg.canvas import (
    Canvas,
    FormXObject,
    Shading,
    format_number,
    format_numbers,
    uniform_scale,
)
from workers.engine.svg.conversion import Conversion, PaintContext, UserSpace
from workers.engine.svg.gradients import TAGS, GradientPaint, build_paint
from workers.engine.svg.paths import Point, Segments, find_box, find_length
from workers.engine.svg.reader import SvgElement, fit_content
from workers.engine.svg.styles import SvgStyle, font_size, opacity, parse_color
from workers.engine.svg.values import (
    RGB,
    Box,
    read_lengths,
    to_length,
    to_lengths,
    to_matrix,
    to_number,
    to_reference,
    transform_point,
)

SolidColor = tuple[RGB, float]
AnyPaint = SolidColor | GradientPaint | FormXObject
BuildPattern = Callable[[SvgElement, Box | None, UserSpace], FormXObject | None]

_CONTEXT: Final = {"context-fill": "fill", "context-stroke": "stroke"}
_CAPS: Final = {"round": 1, "square": 2}
_JOINS: Final = {"round": 1, "bevel": 2}
_MAX_DASHES: Final = 64
_MAX_FLAT_SEGMENTS: Final = 4  # segments of a shape that may be a mere line
_MIN_DASH: Final = 0.02  # form units: finer ones are invisible and cost a viewer minutes


@dataclass(frozen=True, slots=True)
class Painter:
    """Paints the shapes of one drawing; `build_pattern` returns the pattern of a `pattern` element."""

    _conversion: Conversion
    _build_pattern: BuildPattern

    def paint(
        self, segments: Segments, style: SvgStyle, space: UserSpace, stated_length: float = 0.0
    ) -> None:
        """Fill and stroke a shape; its dashes are measured in the `pathLength` that it states."""
        if not segments or style["visibility"] != "visible":
            return
        find_bounding_box = cache(lambda: find_box(segments))
        fill = self.find_paint(style, "fill", find_bounding_box, space)
        is_small = len(segments) <= _MAX_FLAT_SEGMENTS
        if is_small and fill is not None and _is_flat(find_bounding_box()):
            fill = None  # PDF paints the interior of a degenerate shape as a hairline
        stroke = self.find_paint(style, "stroke", find_bounding_box, space)
        is_stroked_first = style["paint-order"].startswith(("stroke", "markers stroke"))
        if is_stroked_first:
            self.stroke(segments, style, space, stroke, stated_length)
        self._fill(segments, style, space, fill)
        if not is_stroked_first:
            self.stroke(segments, style, space, stroke, stated_length)

    def find_paint(
        self,
        style: SvgStyle,
        name: str,
        find_bounding_box: Callable[[], Box | None],
        space: UserSpace,
    ) -> AnyPaint | None:
        """Return the paint of `fill` or `stroke`, None for none."""
        value = style[name]
        if value.lower() in _CONTEXT:
            return self._find_context_paint(_CONTEXT[value.lower()])
        reference = to_reference(value)
        if reference is None:
            return parse_color(value, style)
        element_id, fallback = reference
        element = self._conversion.elements_by_id.get(element_id)
        if element is None or element.tag not in TAGS | {"pattern"}:
            if not fallback:
                missing = f"the {name} #{element_id[:40]}, which is not in the file"
                self._conversion.omit(
                    missing if element_id else f"a {name} that is outside of the file"
                )
            return parse_color(fallback, style)
        if element.tag == "pattern":
            pattern = self._build_pattern(element, find_bounding_box(), space)
            return pattern or parse_color(fallback, style)
        return build_paint(
            element,
            box=find_bounding_box(),
            matrix=space.matrix,
            viewport=space.viewport_for(style),
            area=space.canvas.box,
            conversion=self._conversion,
            fallback=parse_color(fallback, style),
        )

    def _find_context_paint(self, name: str) -> AnyPaint | None:
        """Return the paint of the context element, at its own place; None without one."""
        conversion, context = self._conversion, self._conversion.context
        if context is None:
            return None
        conversion.context = context.outer
        paint = self.find_paint(context.style, name, context.find_bounding_box, context.space)
        conversion.context = context
        return paint

    def _fill(
        self, segments: Segments, style: SvgStyle, space: UserSpace, paint: AnyPaint | None
    ) -> None:
        operator = b"f*\n" if style["fill-rule"] == "evenodd" else b"f\n"

        def draw(canvas: Canvas) -> None:
            canvas.draw_path(segments, space.matrix, operator)

        apply_paint(space, paint, opacity(style, "fill-opacity"), draw, is_stroke=False)

    def stroke(
        self,
        segments: Segments,
        style: SvgStyle,
        space: UserSpace,
        paint: AnyPaint | None,
        stated_length: float = 0.0,
    ) -> None:
        """Stroke a shape."""
        if paint is None:
            return
        viewport = space.viewport_for(style)
        width = to_length(style["stroke-width"], viewport.diagonal, viewport.font_size)
        width = 1.0 if width is None else width
        if width <= 0:
            return
        scale = uniform_scale(space.matrix)
        if style["vector-effect"] == "non-scaling-stroke":
            scale = self._conversion.unit
        matrix, shear = space.matrix, None
        if scale is None:
            scale, matrix, shear = _split_scale(space.matrix)
        if not scale > 0:
            return
        is_measured = stated_length > 0 and style["stroke-dasharray"] != "none"
        dash_unit = scale * (find_length(segments) / stated_length if is_measured else 1.0)

        def draw(canvas: Canvas) -> None:
            if shear is not None:
                canvas.save()
                canvas.write(b"%b cm\n" % format_numbers(shear))
            set_stroke_state(canvas, style, space, width * scale, dash_unit)
            canvas.draw_path(segments, matrix, b"S\n")
            if shear is not None:
                canvas.restore()

        apply_paint(space, paint, opacity(style, "stroke-opacity"), draw, is_stroke=True)


def _is_flat(box: Box | None) -> bool:
    return box is not None and (box[0] == box[2] or box[1] == box[3])


def apply_paint(
    space: UserSpace,
    paint: AnyPaint | None,
    alpha: float,
    draw: Callable[[Canvas], None],
    *,
    is_stroke: bool,
) -> None:
    """Set a paint on the canvas and let `draw` write the marks."""
    canvas, alpha = space.canvas, alpha * space.alpha
    if paint is None or alpha <= 0:
        return
    pattern: Shading | FormXObject | None = None
    color, own, mask = (0.0, 0.0, 0.0), 1.0, None
    if isinstance(paint, FormXObject):
        pattern = paint
    elif isinstance(paint, GradientPaint):
        assert isinstance(paint.shading, Shading)
        pattern, own, mask = paint.shading, paint.opacity, paint.mask
    else:
        color, own = paint
    if own * alpha <= 0:
        return
    if isinstance(mask, Shading):
        canvas.save()
        canvas.set_mask(canvas.draw_group(lambda c: c.draw_shading(mask)), is_luminosity=True)
    if pattern is None:
        canvas.set_color(color, is_stroke=is_stroke)
    else:
        canvas.set_pattern(pattern, is_stroke=is_stroke)
    canvas.set_opacity(own * alpha)
    draw(canvas)
    if mask is not None:
        canvas.restore()


def set_stroke_state(
    canvas: Canvas, style: SvgStyle, space: UserSpace, width: float, dash_unit: float
) -> None:
    """Set line width, cap, join and dash."""
    canvas.set_parameter("width", b"%b w\n" % format_number(width))
    canvas.set_parameter("cap", b"%d J\n" % _CAPS.get(style["stroke-linecap"], 0))
    canvas.set_parameter("join", b"%d j\n" % _JOINS.get(style["stroke-linejoin"], 0))
    limit = max(1.0, to_number(style["stroke-miterlimit"], 4.0))
    canvas.set_parameter("limit", b"%b M\n" % format_number(limit))
    canvas.set_parameter("dash", _dash(style, space, dash_unit))


def _dash(style: SvgStyle, space: UserSpace, scale: float) -> bytes:
    size, basis = font_size(style), space.viewport.diagonal
    dashes = [length * scale for length in to_lengths(style["stroke-dasharray"], basis, size)]
    if not dashes or min(dashes) < 0 or len(dashes) > _MAX_DASHES or sum(dashes) < _MIN_DASH:
        return b"[] 0 d\n"
    start = (to_length(style["stroke-dashoffset"], basis, size) or 0.0) * scale
    period = sum(dashes) * (1 + len(dashes) % 2)
    return b"[%b] %b d\n" % (format_numbers(dashes), format_number(start % period))  # not negative


def _split_scale(matrix: Matrix) -> tuple[float, Matrix, Matrix | None]:
    """Return scale, path matrix and remaining matrix for a stroke under non-uniform scaling.

    The path is written in scaled user units, and the viewer applies the rest of the matrix.
    """
    a, b, c, d, e, f = matrix
    scale = abs(a * d - b * c) ** 0.5
    if not scale > 1e-9:
        return 0.0, matrix, None
    return scale, (scale, 0, 0, scale, 0, 0), (a / scale, b / scale, c / scale, d / scale, e, f)


DrawViewport = Callable[[SvgElement, SvgStyle, UserSpace, float, float], None]
_ZERO: Final[Point] = (0.0, 0.0)


def draw_markers(
    conversion: Conversion,
    segments: Segments,
    style: SvgStyle,
    space: UserSpace,
    draw_viewport: DrawViewport,
) -> None:
    """Draw the markers of a shape at its vertices; `marker-mid` at those between the first and the last."""
    found = {
        where: conversion.find_target(style[f"marker-{where}"], "marker")
        for where in ("start", "mid", "end")
    }
    if not any(found.values()):
        return
    outer = conversion.context
    conversion.context = PaintContext(style, cache(lambda: find_box(segments)), space, outer)
    vertices = _find_vertices(segments)
    width = to_length(style["stroke-width"], space.viewport.diagonal) or 0.0
    last = len(vertices) - 1
    for at, (point, angle) in enumerate(vertices):
        ends = [where for where, end in (("start", 0), ("end", last)) if at == end]
        for place in ends or ["mid"]:
            marker = found[place]
            if marker is None or marker in conversion.active_elements:
                continue
            turned = angle + 180 if place == "start" and _is_reversed(marker) else angle
            conversion.active_elements.add(marker)
            _draw(conversion, marker, (point, turned, width), space, draw_viewport)
            conversion.active_elements.discard(marker)
    conversion.context = outer


def _is_reversed(marker: SvgElement) -> bool:
    return marker.attributes.get("orient") == "auto-start-reverse"


def _draw(
    conversion: Conversion,
    marker: SvgElement,
    place: tuple[Point, float, float],
    space: UserSpace,
    draw_viewport: DrawViewport,
) -> None:
    """Draw a marker at a point, in a direction in degrees and for a width of line."""
    point, angle, width = place
    conversion.budget.count_element()
    attributes, style = marker.attributes, conversion.style_of(marker)
    orient = attributes.get("orient", "0")
    if not orient.startswith("auto"):
        angle = to_number(orient.removesuffix("deg"))
    scale = width if attributes.get("markerUnits", "strokeWidth") == "strokeWidth" else 1.0
    across, down = read_lengths(attributes, ("markerWidth", "markerHeight"), space.viewport, 3.0)
    transform = to_matrix(
        f"translate({point[0]:f},{point[1]:f}) rotate({angle:f}) scale({scale:f})"
    )
    if transform is None or across <= 0 or down <= 0 or scale <= 0:
        return
    fit, _ = fit_content(marker, across, down)
    x, y = transform_point(
        fit, to_number(attributes.get("refX")), to_number(attributes.get("refY"))
    )
    outer = space.nested().transformed(transform).transformed((1, 0, 0, 1, -x, -y))
    draw_viewport(marker, style, outer, across, down)


def _find_vertices(segments: Segments) -> list[tuple[Point, float]]:
    """Return the vertices of a path with its direction there, in degrees."""
    points: list[Point] = []
    arriving: list[Point] = []  # direction of the segment that ends at each point
    leaving: list[Point] = []  # and of the one that begins there
    start = here = _ZERO
    for segment in segments:
        match segment:
            case (_, x, y):
                end, outgoing = (x, y), (x - here[0], y - here[1])
                incoming = outgoing
            case (_, x1, y1, x2, y2, x, y):
                end = (x, y)
                outgoing = _first_nonzero(
                    (x1 - here[0], y1 - here[1]),
                    (x2 - here[0], y2 - here[1]),
                    (x - here[0], y - here[1]),
                )
                incoming = _first_nonzero(
                    (x - x2, y - y2), (x - x1, y - y1), (x - here[0], y - here[1])
                )
            case _:
                end = start
                outgoing = incoming = (start[0] - here[0], start[1] - here[1])
        if segment[0] == "M":
            start, outgoing, incoming = end, _ZERO, _ZERO
        elif points:
            leaving[-1] = outgoing
        points.append(end)
        arriving.append(incoming)
        leaving.append(_ZERO)
        here = end
    return [
        (point, _bisect(arrival, departure))
        for point, arrival, departure in zip(points, arriving, leaving, strict=True)
    ]


def _first_nonzero(*directions: Point) -> Point:
    return next((direction for direction in directions if hypot(*direction) > 1e-9), _ZERO)


def _bisect(arrival: Point, departure: Point) -> float:
    """Return the bisecting direction of two, in degrees."""
    directions = [
        (x / size, y / size) for x, y in (arrival, departure) if (size := hypot(x, y)) > 1e-9
    ]
    if not directions:
        return 0.0
    x, y = (sum(direction[axis] for direction in directions) for axis in (0, 1))
    if hypot(x, y) < 1e-9:
        x, y = -directions[0][1], directions[0][0]
    return degrees(atan2(y, x))
