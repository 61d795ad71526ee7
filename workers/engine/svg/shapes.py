"""Basic shapes and paths as segments (SVG 2 §9 and §10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.svg.paths import Segments, ellipse, parse_path, polygon, rectangle
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.values import Viewport, to_length, to_numbers


def find_segments(element: SvgElement, viewport: Viewport) -> Segments:
    """Return the segments of a shape, empty without extent; percentages refer to `viewport`."""
    return SHAPES[element.tag](element, viewport)


def read_side(
    element: SvgElement, name: str, basis: float, viewport: Viewport, default: float = 0.0
) -> float:
    """Return a length attribute in user units."""
    found = to_length(element.attributes.get(name), basis, viewport.font_size)
    return default if found is None else found


def _rectangle(element: SvgElement, viewport: Viewport) -> Segments:
    x, width = (read_side(element, name, viewport.width, viewport) for name in ("x", "width"))
    y, height = (read_side(element, name, viewport.height, viewport) for name in ("y", "height"))
    if width <= 0 or height <= 0:
        return []
    rx = read_side(element, "rx", viewport.width, viewport, -1.0)
    ry = read_side(element, "ry", viewport.height, viewport, -1.0)
    rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
    return rectangle(x, y, width, height, rx, ry)


def _circle(element: SvgElement, viewport: Viewport) -> Segments:
    radius = read_side(element, "r", viewport.diagonal, viewport)
    return _round(element, viewport, radius, radius)


def _ellipse(element: SvgElement, viewport: Viewport) -> Segments:
    rx = read_side(element, "rx", viewport.width, viewport, -1.0)
    ry = read_side(element, "ry", viewport.height, viewport, -1.0)
    return _round(element, viewport, ry if rx < 0 else rx, rx if ry < 0 else ry)


def _round(element: SvgElement, viewport: Viewport, rx: float, ry: float) -> Segments:
    if rx <= 0 or ry <= 0:
        return []
    cx = read_side(element, "cx", viewport.width, viewport)
    cy = read_side(element, "cy", viewport.height, viewport)
    return ellipse(cx, cy, rx, ry)


def _line(element: SvgElement, viewport: Viewport) -> Segments:
    x1, x2 = (read_side(element, name, viewport.width, viewport) for name in ("x1", "x2"))
    y1, y2 = (read_side(element, name, viewport.height, viewport) for name in ("y1", "y2"))
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
