"""Gradients (SVG 2 §14.2): linear and radial ones as shadings, with attributes inherited by `href`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import hypot
from typing import Final, NamedTuple

from workers.engine.prepared_images import Matrix
from workers.engine.svg.conversion import Conversion
from workers.engine.svg.drawing import Shading
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.shadings import make_shading
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

TAGS: Final = frozenset({"linearGradient", "radialGradient"})
_MAX_STOPS: Final = 256


class GradientStop(NamedTuple):
    """A gradient stop."""

    offset: float
    color: RGB
    opacity: float


class GradientPaint(NamedTuple):
    """A paint with a shading, and a second one for its opacity where that varies."""

    gradient: Shading
    opacity: float  # of all stops, where it is constant
    mask: Shading | None


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
    make = partial(
        make_shading,
        "linear" if is_linear else "radial",
        coordinates,
        extend=spread if spread in ("repeat", "reflect") else "pad",
        area=transform_box(inverse, area),
        matrix=matrix,
    )
    gradient = make((stop.offset, stop.color) for stop in stops)
    if not isinstance(gradient, Shading):
        return last.color, last.opacity
    conversion.budget.count_segments(len(gradient.stops))
    if len({stop.opacity for stop in stops}) == 1:
        return GradientPaint(gradient, last.opacity, None)
    mask = make((stop.offset, (stop.opacity,)) for stop in stops)
    assert isinstance(mask, Shading)
    return GradientPaint(gradient, 1.0, mask)


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
