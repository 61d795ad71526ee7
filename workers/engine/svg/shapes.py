"""Basic shapes and paths as segments (SVG 2 §9 and §10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from workers.engine.svg.paths import Segments, ellipse, parse_path, polygon, rectangle
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.values import Box, Viewport, read_length, read_lengths, to_numbers

RECTANGLE: Final = ("x", "y", "width", "height")


def find_segments(element: SvgElement, viewport: Viewport) -> Segments:
    """Return the segments of a shape, empty without extent; percentages refer to `viewport`."""
    return SHAPES[element.tag](element, viewport)


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
