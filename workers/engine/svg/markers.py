"""Markers: arrow heads and other symbols at the vertices of paths (SVG 2 §13.7)."""

from __future__ import annotations

from functools import cache
from math import atan2, degrees, hypot
from typing import Final

from workers.engine.svg.clips import DrawChildren
from workers.engine.svg.conversion import Conversion, PaintContext, UserSpace
from workers.engine.svg.paths import Segments, find_box, rectangle
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.sizes import fit_view_box, read_view_box
from workers.engine.svg.styles import SvgStyle
from workers.engine.svg.values import (
    Viewport,
    read_lengths,
    to_length,
    to_matrix,
    to_number,
    to_reference,
    transform_point,
)

Point = tuple[float, float]
_ZERO: Final[Point] = (0.0, 0.0)


def draw_markers(
    conversion: Conversion,
    segments: Segments,
    style: SvgStyle,
    space: UserSpace,
    draw_children: DrawChildren,
) -> None:
    """Draw the markers of a shape at its vertices; `marker-mid` at those between the first and the last."""
    found = {
        where: _find(conversion, style[f"marker-{where}"]) for where in ("start", "mid", "end")
    }
    if not any(found.values()):
        return
    outer = conversion.context
    conversion.context = PaintContext(style, cache(lambda: find_box(segments)), space, outer)
    vertices = _find_vertices(segments)
    width = to_length(style["stroke-width"], space.viewport.diagonal) or 0.0
    last = len(vertices) - 1
    for at, (point, angle) in enumerate(vertices):
        places = [
            where for where, is_there in (("start", at == 0), ("end", at == last)) if is_there
        ]
        places = places or ["mid"]
        for place in places:
            marker = found[place]
            if marker is not None and marker not in conversion.active_elements:
                conversion.active_elements.add(marker)
                is_start = place == "start"
                _draw(
                    conversion, marker, point, angle, width, space, draw_children, is_start=is_start
                )
                conversion.active_elements.discard(marker)
    conversion.context = outer


def _find(conversion: Conversion, value: str) -> SvgElement | None:
    reference = to_reference(value)
    element = conversion.elements_by_id.get(reference[0]) if reference else None
    return element if element is not None and element.tag == "marker" else None


def _draw(  # noqa: PLR0913 - a marker is its place, its direction and the width of its line
    conversion: Conversion,
    marker: SvgElement,
    point: Point,
    angle: float,
    width: float,
    space: UserSpace,
    draw_children: DrawChildren,
    *,
    is_start: bool,
) -> None:
    conversion.budget.count_element()
    attributes, style = marker.attributes, conversion.style_of(marker)
    orient = attributes.get("orient", "0")
    if orient == "auto-start-reverse" and is_start:
        angle += 180
    elif not orient.startswith("auto"):
        angle = to_number(orient.removesuffix("deg"))
    scale = width if attributes.get("markerUnits", "strokeWidth") == "strokeWidth" else 1.0
    across, down = read_lengths(attributes, ("markerWidth", "markerHeight"), space.viewport, 3.0)
    transform = to_matrix(
        f"translate({point[0]:f},{point[1]:f}) rotate({angle:f}) scale({scale:f})"
    )
    if transform is None or across <= 0 or down <= 0 or scale <= 0:
        return
    box = read_view_box(marker)
    fit = fit_view_box(box, attributes.get("preserveAspectRatio", ""), across, down)
    x, y = transform_point(
        fit, to_number(attributes.get("refX")), to_number(attributes.get("refY"))
    )
    outer = space.transformed(transform).transformed((1, 0, 0, 1, -x, -y))
    viewport = Viewport(box.width, box.height) if box else Viewport(across, down)
    canvas = space.canvas
    canvas.save()
    if style["overflow"] not in ("visible", "auto"):
        canvas.draw_path(rectangle(0, 0, across, down, 0, 0), outer.matrix, b"W n\n")
    inner = outer.transformed(fit)
    draw_children(marker, style, UserSpace(canvas, inner.matrix, viewport, space.depth + 1))
    canvas.restore()


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
    x, y = (
        sum(direction[0] for direction in directions),
        sum(direction[1] for direction in directions),
    )
    if hypot(x, y) < 1e-9:
        x, y = -directions[0][1], directions[0][0]
    return degrees(atan2(y, x))
