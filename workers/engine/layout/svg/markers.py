"""Markers: arrow heads and dots at the corners of paths (SVG 2, 13.7)."""

from __future__ import annotations

from functools import cache
from math import atan2, degrees, hypot
from typing import Final

from workers.engine.layout.svg.clips import DrawChildren
from workers.engine.layout.svg.paths import Segments, find_box, rectangle
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import read_side
from workers.engine.layout.svg.sizes import fit_box, read_view_box
from workers.engine.layout.svg.spot import Job, PaintContext, Spot
from workers.engine.layout.svg.styles import Look
from workers.engine.layout.svg.values import (
    Viewport,
    apply,
    to_length,
    to_matrix,
    to_number,
    to_reference,
)

Point = tuple[float, float]
_NOWHERE: Final[Point] = (0.0, 0.0)


def draw_markers(
    job: Job, segments: Segments, look: Look, spot: Spot, draw_children: DrawChildren
) -> None:
    """Draw the markers of a shape at its corners, those in the middle between the first and last."""
    found = {where: _find(job, look[f"marker-{where}"]) for where in ("start", "mid", "end")}
    if not any(found.values()):
        return
    outer = job.context
    job.context = PaintContext(look, cache(lambda: find_box(segments)), spot, outer)
    corners = _corners(segments)
    width = to_length(look["stroke-width"], spot.viewport.diagonal) or 0.0
    last = len(corners) - 1
    for at, (point, angle) in enumerate(corners):
        places = [
            where for where, is_there in (("start", at == 0), ("end", at == last)) if is_there
        ]
        places = places or ["mid"]
        for place in places:
            marker = found[place]
            if marker is not None and marker not in job.entered:
                job.entered.add(marker)
                is_turned = place == "start"
                _draw(job, marker, point, angle, width, spot, draw_children, is_turned=is_turned)
                job.entered.discard(marker)
    job.context = outer


def _find(job: Job, value: str) -> Node | None:
    reference = to_reference(value)
    node = job.identities.get(reference[0]) if reference else None
    return node if node is not None and node.tag == "marker" else None


def _draw(  # noqa: PLR0913 - a marker is its place, its direction and the width of its line
    job: Job,
    marker: Node,
    point: Point,
    angle: float,
    width: float,
    spot: Spot,
    draw_children: DrawChildren,
    *,
    is_turned: bool,
) -> None:
    job.work.draw_element()
    given, look = marker.attributes, job.look_of(marker)
    orient = given.get("orient", "0")
    if orient == "auto-start-reverse" and is_turned:
        angle += 180
    elif not orient.startswith("auto"):
        angle = to_number(orient.removesuffix("deg"))
    scale = width if given.get("markerUnits", "strokeWidth") == "strokeWidth" else 1.0
    across = read_side(marker, "markerWidth", spot.viewport.width, spot.viewport, 3.0)
    down = read_side(marker, "markerHeight", spot.viewport.height, spot.viewport, 3.0)
    turn = to_matrix(f"translate({point[0]:f},{point[1]:f}) rotate({angle:f}) scale({scale:f})")
    if turn is None or across <= 0 or down <= 0 or scale <= 0:
        return
    box = read_view_box(marker)
    fit = fit_box(box, given.get("preserveAspectRatio", ""), across, down)
    x, y = apply(fit, to_number(given.get("refX")), to_number(given.get("refY")))
    outer = spot.moved(turn).moved((1, 0, 0, 1, -x, -y))
    viewport = Viewport(box.width, box.height) if box else Viewport(across, down)
    canvas = spot.canvas
    canvas.save()
    if look["overflow"] not in ("visible", "auto"):
        canvas.draw_path(rectangle(0, 0, across, down, 0, 0), outer.matrix, b"W n\n")
    inner = outer.moved(fit)
    draw_children(marker, look, Spot(canvas, inner.matrix, viewport, spot.depth + 1))
    canvas.restore()


def _corners(segments: Segments) -> list[tuple[Point, float]]:
    """Give the points of a path with the direction of it there, in degrees."""
    points: list[Point] = []
    arriving: list[Point] = []  # direction of the segment that ends at each point
    leaving: list[Point] = []  # and of the one that begins there
    start = here = _NOWHERE
    for segment in segments:
        match segment:
            case (_, x, y):
                end, out = (x, y), (x - here[0], y - here[1])
                into = out
            case (_, x1, y1, x2, y2, x, y):
                end = (x, y)
                out = _first(
                    (x1 - here[0], y1 - here[1]),
                    (x2 - here[0], y2 - here[1]),
                    (x - here[0], y - here[1]),
                )
                into = _first((x - x2, y - y2), (x - x1, y - y1), (x - here[0], y - here[1]))
            case _:
                end = start
                out = into = (start[0] - here[0], start[1] - here[1])
        if segment[0] == "M":
            start, out, into = end, _NOWHERE, _NOWHERE
        elif points:
            leaving[-1] = out
        points.append(end)
        arriving.append(into)
        leaving.append(_NOWHERE)
        here = end
    return [
        (point, _between(before, after))
        for point, before, after in zip(points, arriving, leaving, strict=True)
    ]


def _first(*directions: Point) -> Point:
    return next((way for way in directions if hypot(*way) > 1e-9), _NOWHERE)


def _between(before: Point, after: Point) -> float:
    """Give the direction halfway between two, in degrees."""
    ways = [(x / size, y / size) for x, y in (before, after) if (size := hypot(x, y)) > 1e-9]
    if not ways:
        return 0.0
    x, y = sum(way[0] for way in ways), sum(way[1] for way in ways)
    if hypot(x, y) < 1e-9:
        x, y = -ways[0][1], ways[0][0]
    return degrees(atan2(y, x))
