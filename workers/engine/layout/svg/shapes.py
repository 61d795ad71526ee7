"""The basic shapes and paths of SVG as segments (SVG 2, 9 and 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.layout.svg.paths import Segments, ellipse, parse_path, polygon, rectangle
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.values import Viewport, to_length, to_numbers


def find_segments(node: Node, viewport: Viewport) -> Segments:
    """Give the segments of a shape, none for one without extent; `viewport` is what per cent is of."""
    return SHAPES[node.tag](node, viewport)


def read_side(
    node: Node, name: str, whole: float, viewport: Viewport, default: float = 0.0
) -> float:
    """Read a length of an element."""
    found = to_length(node.attributes.get(name), whole, viewport.font_size)
    return default if found is None else found


def _rectangle(node: Node, viewport: Viewport) -> Segments:
    x, width = (read_side(node, name, viewport.width, viewport) for name in ("x", "width"))
    y, height = (read_side(node, name, viewport.height, viewport) for name in ("y", "height"))
    if width <= 0 or height <= 0:
        return []
    rx = read_side(node, "rx", viewport.width, viewport, -1.0)
    ry = read_side(node, "ry", viewport.height, viewport, -1.0)
    rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
    return rectangle(x, y, width, height, rx, ry)


def _circle(node: Node, viewport: Viewport) -> Segments:
    radius = read_side(node, "r", viewport.diagonal, viewport)
    return _round(node, viewport, radius, radius)


def _ellipse(node: Node, viewport: Viewport) -> Segments:
    rx = read_side(node, "rx", viewport.width, viewport, -1.0)
    ry = read_side(node, "ry", viewport.height, viewport, -1.0)
    return _round(node, viewport, ry if rx < 0 else rx, rx if ry < 0 else ry)


def _round(node: Node, viewport: Viewport, rx: float, ry: float) -> Segments:
    if rx <= 0 or ry <= 0:
        return []
    cx = read_side(node, "cx", viewport.width, viewport)
    cy = read_side(node, "cy", viewport.height, viewport)
    return ellipse(cx, cy, rx, ry)


def _line(node: Node, viewport: Viewport) -> Segments:
    x1, x2 = (read_side(node, name, viewport.width, viewport) for name in ("x1", "x2"))
    y1, y2 = (read_side(node, name, viewport.height, viewport) for name in ("y1", "y2"))
    return [("M", x1, y1), ("L", x2, y2)]


def _polyline(node: Node, _: Viewport) -> Segments:
    return polygon(to_numbers(node.attributes.get("points", "")), is_closed=False)


def _polygon(node: Node, _: Viewport) -> Segments:
    return polygon(to_numbers(node.attributes.get("points", "")), is_closed=True)


def _path(node: Node, _: Viewport) -> Segments:
    return parse_path(node.attributes.get("d", ""))


SHAPES: Final[dict[str, Callable[[Node, Viewport], Segments]]] = {
    "rect": _rectangle,
    "circle": _circle,
    "ellipse": _ellipse,
    "line": _line,
    "polyline": _polyline,
    "polygon": _polygon,
    "path": _path,
}
