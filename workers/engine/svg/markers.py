"""Markers: arrow heads and other symbols at the vertices of paths (SVG 2 §13.7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import atan2, degrees, hypot
from typing import Final

from workers.engine.svg.conversion import Conversion, PaintContext, UserSpace
from workers.engine.svg.paths import Point, Segments, find_box
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.sizes import fit_content
from workers.engine.svg.styles import SvgStyle
from workers.engine.svg.values import (
    read_lengths,
    to_length,
    to_matrix,
    to_number,
    transform_point,
)

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
    x, y = (
        sum(direction[0] for direction in directions),
        sum(direction[1] for direction in directions),
    )
    if hypot(x, y) < 1e-9:
        x, y = -directions[0][1], directions[0][0]
    return degrees(atan2(y, x))
