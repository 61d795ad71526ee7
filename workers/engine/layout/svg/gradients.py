"""Gradients: linear and radial ones as shadings, with what they take over from others they refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor, hypot
from typing import Final, NamedTuple

from workers.engine.layout.images.prepared import Matrix
from workers.engine.layout.svg.drawing import Gradient
from workers.engine.layout.svg.paths import Box
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.spot import Job
from workers.engine.layout.svg.styles import Look, find_color, opacity
from workers.engine.layout.svg.values import (
    IDENTITY,
    RGB,
    Viewport,
    apply,
    invert,
    multiply,
    to_length,
    to_matrix,
    to_number,
)

TAGS: Final = frozenset({"linearGradient", "radialGradient"})
_MAX_CHAIN: Final = 16  # gradients that refer to gradients
_MAX_STOPS: Final = 256
_MAX_REPEATS: Final = 64
_LINEAR, _RADIAL = 2, 3  # types of shadings


class Stop(NamedTuple):
    """A colour on the way."""

    offset: float
    color: RGB
    opacity: float


class Paint(NamedTuple):
    """What a gradient paints with: a shading, with another for its opacity where that changes."""

    gradient: Gradient
    opacity: float  # of all stops, where it is the same
    mask: Gradient | None


def build_paint(
    node: Node,
    *,
    box: Box | None,
    matrix: Matrix,
    viewport: Viewport,
    area: Box,
    job: Job,
    otherwise: tuple[RGB, float] | None,
) -> Paint | tuple[RGB, float] | None:
    """Build the paint of a gradient for a shape; one colour where it is none, None for no paint.

    `box` is the shape's, `matrix` leads from its units to those of the form, whose extent is `area`.
    `otherwise` is the paint of what has no extent to fit it to, or is pressed flat by it.
    """
    chain = _follow(node, job.identities)
    stops = _read_stops(chain, job.look_of)
    job.work.draw_segments(len(stops))
    if not stops:
        return None
    last = stops[-1]
    given = _merged(chain)
    is_relative = given.get("gradientUnits", "objectBoundingBox") != "userSpaceOnUse"
    own = to_matrix(given.get("gradientTransform"))
    if own is None:
        job.leave_out("a gradientTransform that is wrong")
        own = IDENTITY
    if own != IDENTITY and "transform-origin" in given:
        job.leave_out("the transform-origin of a gradient")
    if invert(own) is None:
        return otherwise
    if len(stops) == 1:
        return last.color, last.opacity
    if is_relative:
        if box is None or box[2] <= box[0] or box[3] <= box[1]:
            return otherwise
        matrix = multiply(matrix, (box[2] - box[0], 0, 0, box[3] - box[1], box[0], box[1]))
        viewport = Viewport(1.0, 1.0, viewport.font_size)
    matrix = multiply(matrix, own)
    back = invert(matrix)
    ends = (_linear if node.tag == "linearGradient" else _radial)(given, viewport)
    if ends is None or back is None:
        return last.color, last.opacity
    spread = given.get("spreadMethod", "pad")
    if spread in ("repeat", "reflect"):
        ends, stops = _repeat(
            ends, stops, _reach(ends, back, area), is_mirrored=spread == "reflect"
        )
    job.work.draw_segments(len(stops))
    return _to_paint(ends, stops, matrix)


def _follow(node: Node, identities: Mapping[str, Node]) -> list[Node]:
    """Give the gradient and those it refers to, each once."""
    chain = [node]
    while len(chain) < _MAX_CHAIN:
        target = identities.get(chain[-1].href.removeprefix("#"))
        if target is None or target.tag not in TAGS or target in chain:
            break
        chain.append(target)
    return chain


def _merged(chain: list[Node]) -> dict[str, str]:
    """Give the attributes; geometry is taken over only from a gradient of the same kind."""
    merged: dict[str, str] = {}
    for node in reversed(chain):
        merged |= {
            name: value
            for name, value in node.attributes.items()
            if node.tag == chain[0].tag or name in _COMMON
        }
    return merged


_COMMON: Final = frozenset(
    {"gradientUnits", "gradientTransform", "spreadMethod", "transform-origin"}
)


def _read_stops(chain: list[Node], look_of: Callable[[Node], Look]) -> list[Stop]:
    owner = next((n for n in chain if any(child.tag == "stop" for child in n.elements())), None)
    if owner is None:
        return []
    stops: list[Stop] = []
    for child in owner.elements():
        if child.tag != "stop" or len(stops) >= _MAX_STOPS:
            continue
        offset = max(0.0, min(1.0, to_number(child.attributes.get("offset"))))
        look = look_of(child)
        color, alpha = find_color(look, "stop-color") or ((0.0, 0.0, 0.0), 1.0)
        offset = max(offset, stops[-1].offset if stops else 0.0)
        stops.append(Stop(offset, color, alpha * opacity(look, "stop-opacity")))
    return stops


Ends = tuple[tuple[float, float, float], tuple[float, float, float]]  # centre and radius of both


def _linear(given: Mapping[str, str], viewport: Viewport) -> Ends | None:
    x1, x2 = (
        _along(given, name, default, viewport.width)
        for name, default in (("x1", "0%"), ("x2", "100%"))
    )
    y1, y2 = (_along(given, name, "0%", viewport.height) for name in ("y1", "y2"))
    return None if (x1, y1) == (x2, y2) else ((x1, y1, 0.0), (x2, y2, 0.0))


def _radial(given: Mapping[str, str], viewport: Viewport) -> Ends | None:
    cx, cy = _along(given, "cx", "50%", viewport.width), _along(given, "cy", "50%", viewport.height)
    radius = _along(given, "r", "50%", viewport.diagonal)
    fx = _along(given, "fx", "", viewport.width, cx)
    fy = _along(given, "fy", "", viewport.height, cy)
    inner = max(0.0, _along(given, "fr", "0%", viewport.diagonal))
    if radius <= 0:
        return None
    away = hypot(fx - cx, fy - cy)
    if away + inner > radius * 0.999:  # a focus outside is moved onto the edge
        factor = max(0.0, radius * 0.999 - inner) / away if away else 1.0
        fx, fy = cx + (fx - cx) * factor, cy + (fy - cy) * factor
        inner = min(inner, radius * 0.999)
    return (fx, fy, inner), (cx, cy, radius)


def _along(
    given: Mapping[str, str], name: str, default: str, whole: float, otherwise: float = 0.0
) -> float:
    found = to_length(given.get(name, default), whole)
    return otherwise if found is None else found


def _reach(ends: Ends, back: Matrix, area: Box) -> tuple[int, int]:
    """Give from which to which repeat a gradient must go to cover the area."""
    (x1, y1, r1), (x2, y2, r2) = ends
    left, top, right, bottom = area
    corners = [apply(back, x, y) for x in (left, right) for y in (top, bottom)]
    if r2 > 0:
        farthest = max(hypot(x - x2, y - y2) for x, y in corners)
        grown = max(r2 - r1 - hypot(x2 - x1, y2 - y1), r2 * 0.001)
        return 0, min(_MAX_REPEATS, max(1, ceil(farthest / grown) + 1))
    dx, dy = x2 - x1, y2 - y1
    places = [((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy) for x, y in corners]
    low, high = floor(max(-1e6, min(places))), ceil(min(1e6, max(places)))
    middle = (low + high) // 2
    return max(low, middle - _MAX_REPEATS // 2), min(high, middle + _MAX_REPEATS // 2)


def _repeat(
    ends: Ends, stops: list[Stop], reach: tuple[int, int], *, is_mirrored: bool
) -> tuple[Ends, list[Stop]]:
    """Give one long gradient for all repeats."""
    first, last = reach
    count = max(1, last - first)

    def place(at: int) -> tuple[float, float, float]:
        start, end = ends
        x, y, r = (a + at * (b - a) for a, b in zip(start, end, strict=True))
        return x, y, r

    found: list[Stop] = []
    for number in range(count):
        is_turned = is_mirrored and (first + number) % 2 == 1
        turn = [stop._replace(offset=1 - stop.offset) for stop in reversed(stops)]
        found += [
            stop._replace(offset=(number + stop.offset) / count)
            for stop in (turn if is_turned else stops)
        ]
    return (place(first), place(first + count)), found


def _to_paint(ends: Ends, stops: list[Stop], matrix: Matrix) -> Paint:
    (x1, y1, r1), (x2, y2, r2) = ends
    is_radial = r2 > 0
    coordinates = (x1, y1, r1, x2, y2, r2) if is_radial else (x1, y1, x2, y2)
    places = _spread([stop.offset for stop in stops])
    gradient = Gradient(
        _RADIAL if is_radial else _LINEAR,
        coordinates,
        tuple(zip(places, (stop.color for stop in stops), strict=True)),
        matrix,
    )
    opacities = [stop.opacity for stop in stops]
    if len(set(opacities)) == 1:
        return Paint(gradient, opacities[0], None)
    shown = tuple(zip(places, ((value,) for value in opacities), strict=True))
    return Paint(gradient, 1.0, replace(gradient, stops=shown))


def _spread(offsets: list[float]) -> list[float]:
    """Part offsets that are the same: the bounds of a stitching function ascend (PDF 1.7, 7.10.4)."""
    places = offsets[:]
    step = min(1e-5, 0.5 / len(places))
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + step)
    if places[-1] > 1.0:  # pushed over the end: the last ones move back
        places[-1] = 1.0
        for at in range(len(places) - 2, -1, -1):
            places[at] = min(places[at], places[at + 1] - step)
    assert all(a < b for a, b in pairwise(places))
    return places
