"""Bounding boxes of elements (SVG 2 §8.10), and transforms, whose origin may depend on them."""

from __future__ import annotations

from typing import Final

from workers.engine.prepared_images import Matrix
from workers.engine.svg.conversion import Conversion, meets_conditions
from workers.engine.svg.paths import find_box
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.shapes import RECTANGLE, SHAPES
from workers.engine.svg.styles import SvgStyle, font_size
from workers.engine.svg.values import (
    IDENTITY,
    Box,
    Viewport,
    multiply_matrices,
    read_lengths,
    to_length,
    to_matrix,
    transform_box,
)

_CONTAINERS: Final = frozenset({"g", "a", "svg", "switch"})
_ACROSS: Final = {"left": "0%", "center": "50%", "right": "100%"}
_DOWN: Final = {"top": "0%", "center": "50%", "bottom": "100%"}
_ELEMENT_BOXES: Final = frozenset({"fill-box", "content-box", "stroke-box", "border-box"})


def find_bounding_box(
    element: SvgElement, viewport: Viewport, conversion: Conversion
) -> Box | None:
    """Return the box of an element in its user space, without stroke and text; None for an empty one."""
    boxes: list[Box] = []
    _collect_boxes(element, IDENTITY, viewport, conversion, boxes)
    if not boxes:
        return None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _collect_boxes(
    element: SvgElement,
    matrix: Matrix,
    viewport: Viewport,
    conversion: Conversion,
    boxes: list[Box],
    depth: int = 0,
) -> None:
    """Add the boxes of an element and its descendants, without its own transform."""
    if depth > 50:
        return
    conversion.budget.count_element(element.attribute_length)
    if element.tag in SHAPES:
        segments = conversion.segments_of(element, viewport)
        conversion.budget.count_segments(len(segments))
        _add_box(find_box(segments), matrix, boxes)
    elif element.tag == "image":
        x, y, width, height = read_lengths(element.attributes, RECTANGLE, viewport)
        _add_box((x, y, x + width, y + height), matrix, boxes)
    elif element.tag in _CONTAINERS:
        for child in element.child_elements():
            _collect_transformed(child, matrix, viewport, conversion, boxes, depth)
    elif element.tag == "use":
        target = conversion.elements_by_id.get(element.href.removeprefix("#"))
        if target is not None:
            x, y = read_lengths(element.attributes, "xy", viewport)
            matrix = multiply_matrices(matrix, (1, 0, 0, 1, x, y))
            _collect_transformed(target, matrix, viewport, conversion, boxes, depth)


def _collect_transformed(
    element: SvgElement,
    matrix: Matrix,
    viewport: Viewport,
    conversion: Conversion,
    boxes: list[Box],
    depth: int,
) -> None:
    own = find_transform(element, conversion.style_of(element), viewport, conversion)
    if own is not None and meets_conditions(element, conversion):
        _collect_boxes(
            element, multiply_matrices(matrix, own), viewport, conversion, boxes, depth + 1
        )


def _add_box(box: Box | None, matrix: Matrix, boxes: list[Box]) -> None:
    if box is not None:
        boxes.append(transform_box(matrix, box))


# --- transforms (CSS Transforms 1, 4 to 6)


def find_transform(
    element: SvgElement, style: SvgStyle, viewport: Viewport, conversion: Conversion
) -> Matrix | None:
    """Return the transform of an element, None for an invalid one: such an element is not drawn."""
    matrix = to_matrix(style["transform"] or element.attributes.get("transform"))
    if matrix is None:
        conversion.omit("an element with an invalid transform")
        return None
    keyword = style["transform-box"]
    if matrix == IDENTITY or not (style["transform-origin"] or keyword in _ELEMENT_BOXES):
        return matrix
    box: Box | None = (0.0, 0.0, viewport.width, viewport.height)
    if keyword in _ELEMENT_BOXES:
        if keyword in ("stroke-box", "border-box"):
            conversion.omit(f"the stroke in the transform-box {keyword}")
        box = find_bounding_box(element, viewport, conversion)
    if box is None:
        return matrix
    origin = _read_origin(style["transform-origin"] or "0 0", box, font_size(style))
    if origin is None:
        conversion.omit(f'the transform-origin "{style["transform-origin"][:40]}"')
        return matrix
    x, y = origin
    return multiply_matrices(multiply_matrices((1, 0, 0, 1, x, y), matrix), (1, 0, 0, 1, -x, -y))


def _read_origin(text: str, box: Box, size: float) -> tuple[float, float] | None:
    """Return the transform origin from one to three values, the depth ignored; None if invalid."""
    keywords = text[:200].lower().split()
    if not 1 <= len(keywords) <= 3:
        return None
    across, down = keywords[0], keywords[1] if len(keywords) > 1 else "center"
    if across in ("top", "bottom") or down in ("left", "right"):
        across, down = down, across
    x = to_length(_ACROSS.get(across, across), box[2] - box[0], size)
    y = to_length(_DOWN.get(down, down), box[3] - box[1], size)
    return None if x is None or y is None else (box[0] + x, box[1] + y)
