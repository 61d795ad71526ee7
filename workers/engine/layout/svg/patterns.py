"""Patterns: a tile that repeats over what it fills (SVG 2, 14.3)."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.svg.canvas import Canvas
from workers.engine.layout.svg.clips import DrawChildren
from workers.engine.layout.svg.drawing import Tile
from workers.engine.layout.svg.paths import Box
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.sizes import fit_box, read_view_box
from workers.engine.layout.svg.spot import Job, Spot
from workers.engine.layout.svg.values import (
    IDENTITY,
    Viewport,
    invert,
    multiply,
    to_length,
    to_matrix,
)

_MAX_CHAIN: Final = 16  # patterns that refer to patterns
_FINE: Final = 100.0  # units of a tile in its longer side
_LEAST_SHARE: Final = 400  # a tile is at least this part of the drawing in each direction


class TileMaker:
    """Makes the tiles of one drawing."""

    def __init__(self, job: Job, draw_children: DrawChildren) -> None:
        self._job = job
        self._draw_children = draw_children

    def build(self, node: Node, box: Box | None, spot: Spot) -> Tile | None:
        """Build the tile of a pattern for a shape of a box; None when it shows nothing."""
        job = self._job
        chain = self._follow(node)
        owner = next((link for link in chain if any(link.elements())), None)
        if owner is None or owner in job.entered:
            return None
        given: dict[str, str] = {}
        for link in reversed(chain):
            given |= link.attributes
        matrix = to_matrix(given.get("patternTransform"))
        if matrix is None:
            self._job.leave_out("a patternTransform that is wrong")
            matrix = IDENTITY
        if matrix != IDENTITY and "transform-origin" in given:
            self._job.leave_out("the transform-origin of a pattern")
        if invert(matrix) is None:
            return None
        is_relative = given.get("patternUnits", "objectBoundingBox") == "objectBoundingBox"
        if is_relative and (box is None or box[2] <= box[0] or box[3] <= box[1]):
            return None
        x, y, width, height = _rectangle(given, box if is_relative else None, spot.viewport)
        matrix = multiply(spot.matrix, multiply(matrix, (1, 0, 0, 1, x, y)))
        if width <= 0 or height <= 0 or self._is_too_fine(matrix, width, height, spot):
            return None
        job.entered.add(owner)
        fine = _FINE / max(width, height)
        tile = Canvas((0.0, 0.0, width * fine, height * fine), job.work)
        inner = Spot(tile, (fine, 0, 0, fine, 0, 0), spot.viewport, spot.depth + 1)
        view_box = read_view_box(owner if "viewBox" in owner.attributes else node)
        if view_box is not None:
            aspect = given.get("preserveAspectRatio", "")
            inner = inner.moved(fit_box(view_box, aspect, width, height))
        elif given.get("patternContentUnits") == "objectBoundingBox" and box is not None:
            inner = inner.moved((box[2] - box[0], 0, 0, box[3] - box[1], 0, 0))
            inner = Spot(tile, inner.matrix, Viewport(1.0, 1.0), inner.depth)
        self._draw_children(owner, job.look_of(owner), inner)
        job.entered.discard(owner)
        form = tile.finish(is_group=False)
        return Tile(
            form, width * fine, height * fine, multiply(matrix, (1 / fine, 0, 0, 1 / fine, 0, 0))
        )

    def _follow(self, node: Node) -> list[Node]:
        chain = [node]
        while len(chain) < _MAX_CHAIN:
            target = self._job.identities.get(chain[-1].href.removeprefix("#"))
            if target is None or target.tag != "pattern" or target in chain:
                break
            chain.append(target)
        return chain

    def _is_too_fine(
        self, matrix: tuple[float, ...], width: float, height: float, spot: Spot
    ) -> bool:
        """Tell whether a viewer would draw the tile so often that nobody sees it, for minutes."""
        a, b, c, d, *_ = matrix
        across, down = (a * a + b * b) ** 0.5 * width, (c * c + d * d) ** 0.5 * height
        whole = max(spot.canvas.box[2], spot.canvas.box[3])
        if min(across, down) * _LEAST_SHARE >= whole:
            return False
        self._job.leave_out("a pattern too fine to be seen")
        return True


def _rectangle(
    given: dict[str, str], box: Box | None, viewport: Viewport
) -> tuple[float, float, float, float]:
    """Give the first tile: x, y, width and height in user units."""
    if box is None:
        sides = (viewport.width, viewport.height)
        x, y, width, height = (
            to_length(given.get(name, "0"), sides[at % 2]) or 0.0
            for at, name in enumerate(("x", "y", "width", "height"))
        )
        return x, y, width, height
    sides = (box[2] - box[0], box[3] - box[1])
    x, y, width, height = (
        (to_length(given.get(name, "0"), 1.0) or 0.0) * sides[at % 2]
        for at, name in enumerate(("x", "y", "width", "height"))
    )
    return box[0] + x, box[1] + y, width, height
