"""Tiling patterns (SVG 2 §14.3)."""

from __future__ import annotations

from typing import Final

from workers.engine.svg.canvas import Canvas
from workers.engine.svg.clips import DrawChildren
from workers.engine.svg.conversion import Conversion, UserSpace
from workers.engine.svg.drawing import TilingPattern
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.shapes import read_rectangle
from workers.engine.svg.sizes import fit_view_box, read_view_box
from workers.engine.svg.values import (
    Box,
    Viewport,
    invert,
    multiply_matrices,
)

_TILE_UNITS: Final = 100.0  # units on the longer side of a tile
_MIN_TILE_FRACTION: Final = 400  # a tile is at least 1/400 of the drawing in each direction


class TilingPatternBuilder:
    """Builds the tiling patterns of one drawing."""

    def __init__(self, conversion: Conversion, draw_children: DrawChildren) -> None:
        self._conversion = conversion
        self._draw_children = draw_children

    def build(self, element: SvgElement, box: Box | None, space: UserSpace) -> TilingPattern | None:
        """Return the pattern for a shape with a bounding box, None when it is empty."""
        conversion = self._conversion
        chain = conversion.follow_references(element, ("pattern",))
        owner = next((link for link in chain if any(link.child_elements())), None)
        if owner is None or owner in conversion.active_elements:
            return None
        attributes: dict[str, str] = {}
        for link in reversed(chain):
            attributes |= link.attributes
        matrix = conversion.read_transform(attributes, "pattern")
        if invert(matrix) is None:
            return None
        is_relative = attributes.get("patternUnits", "objectBoundingBox") == "objectBoundingBox"
        if is_relative and (box is None or box[2] <= box[0] or box[3] <= box[1]):
            return None
        unit = box if is_relative else None
        x, y, width, height = read_rectangle(attributes, space.viewport, unit)
        matrix = multiply_matrices(space.matrix, multiply_matrices(matrix, (1, 0, 0, 1, x, y)))
        if width <= 0 or height <= 0 or self._is_too_fine(matrix, width, height, space):
            return None
        conversion.active_elements.add(owner)
        scale = _TILE_UNITS / max(width, height)
        tile = Canvas((0.0, 0.0, width * scale, height * scale), conversion.budget)
        inner = UserSpace(tile, (scale, 0, 0, scale, 0, 0), space.viewport, space.depth + 1)
        view_box = read_view_box(owner if "viewBox" in owner.attributes else element)
        if view_box is not None:
            aspect = attributes.get("preserveAspectRatio", "")
            inner = inner.transformed(fit_view_box(view_box, aspect, width, height))
        elif attributes.get("patternContentUnits") == "objectBoundingBox" and box is not None:
            inner = inner.transformed((box[2] - box[0], 0, 0, box[3] - box[1], 0, 0))
            inner = UserSpace(tile, inner.matrix, Viewport(1.0, 1.0), inner.depth)
        self._draw_children(owner, conversion.style_of(owner), inner)
        conversion.active_elements.discard(owner)
        form = tile.finish(is_group=False)
        return TilingPattern(
            form,
            width * scale,
            height * scale,
            multiply_matrices(matrix, (1 / scale, 0, 0, 1 / scale, 0, 0)),
        )

    def _is_too_fine(
        self, matrix: tuple[float, ...], width: float, height: float, space: UserSpace
    ) -> bool:
        """Return whether the tile is invisibly small, which would take viewers minutes to draw."""
        a, b, c, d, *_ = matrix
        across, down = (a * a + b * b) ** 0.5 * width, (c * c + d * d) ** 0.5 * height
        extent = max(space.canvas.box[2], space.canvas.box[3])
        if min(across, down) * _MIN_TILE_FRACTION >= extent:
            return False
        self._conversion.omit("a pattern too fine to be seen")
        return True
