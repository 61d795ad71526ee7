"""The box around an element, and its transform, whose origin may be measured by that box."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.images.prepared import Matrix
from workers.engine.layout.svg.conditions import meets_conditions
from workers.engine.layout.svg.paths import Box, find_box
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import SHAPES, read_side
from workers.engine.layout.svg.spot import Job
from workers.engine.layout.svg.styles import Look, font_size
from workers.engine.layout.svg.values import (
    IDENTITY,
    Viewport,
    apply,
    multiply,
    to_length,
    to_matrix,
)

_CONTAINERS: Final = frozenset({"g", "a", "svg", "switch"})
_ACROSS: Final = {"left": "0%", "center": "50%", "right": "100%"}
_DOWN: Final = {"top": "0%", "center": "50%", "bottom": "100%"}
_OF_THE_ELEMENT: Final = frozenset({"fill-box", "content-box", "stroke-box", "border-box"})


def find_extent(node: Node, viewport: Viewport, job: Job) -> Box | None:
    """Give the box of an element in its own units, without lines and text; None for nothing."""
    boxes: list[Box] = []
    _gather(node, IDENTITY, viewport, job, boxes)
    if not boxes:
        return None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _gather(
    node: Node, matrix: Matrix, viewport: Viewport, job: Job, boxes: list[Box], depth: int = 0
) -> None:
    """Add the boxes of an element and what is in it, its own transform left aside."""
    if depth > 50:
        return
    job.work.draw_element(node.weight)
    if node.tag in SHAPES:
        segments = job.segments_of(node, viewport)
        job.work.draw_segments(len(segments))
        _add(find_box(segments), matrix, boxes)
    elif node.tag == "image":
        x = read_side(node, "x", viewport.width, viewport)
        y = read_side(node, "y", viewport.height, viewport)
        width = read_side(node, "width", viewport.width, viewport)
        height = read_side(node, "height", viewport.height, viewport)
        _add((x, y, x + width, y + height), matrix, boxes)
    elif node.tag in _CONTAINERS:
        for child in node.elements():
            _gather_moved(child, matrix, viewport, job, boxes, depth)
    elif node.tag == "use":
        target = job.identities.get(node.href.removeprefix("#"))
        if target is not None:
            x = read_side(node, "x", viewport.width, viewport)
            y = read_side(node, "y", viewport.height, viewport)
            _gather_moved(target, multiply(matrix, (1, 0, 0, 1, x, y)), viewport, job, boxes, depth)


def _gather_moved(
    node: Node, matrix: Matrix, viewport: Viewport, job: Job, boxes: list[Box], depth: int
) -> None:
    own = find_transform(node, job.look_of(node), viewport, job)
    if own is not None and meets_conditions(node, job):
        _gather(node, multiply(matrix, own), viewport, job, boxes, depth + 1)


def _add(box: Box | None, matrix: Matrix, boxes: list[Box]) -> None:
    if box is not None:
        left, top, right, bottom = box
        corners = [apply(matrix, x, y) for x in (left, right) for y in (top, bottom)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        boxes.append((min(xs), min(ys), max(xs), max(ys)))


# --- transforms (CSS Transforms 1, 4 to 6)


def find_transform(node: Node, look: Look, viewport: Viewport, job: Job) -> Matrix | None:
    """Give the matrix of an element; None for a wrong one, whose element is not drawn."""
    matrix = to_matrix(look["transform"] or node.attributes.get("transform"))
    if matrix is None:
        job.leave_out("what has a transform that is wrong")
        return None
    word = look["transform-box"]
    if matrix == IDENTITY or not (look["transform-origin"] or word in _OF_THE_ELEMENT):
        return matrix
    box: Box | None = (0.0, 0.0, viewport.width, viewport.height)
    if word in _OF_THE_ELEMENT:
        if word in ("stroke-box", "border-box"):
            job.leave_out(f"the lines in the transform-box {word}")
        box = find_extent(node, viewport, job)
    if box is None:
        return matrix
    place = _read_origin(look["transform-origin"] or "0 0", box, font_size(look))
    if place is None:
        job.leave_out(f'the transform-origin "{look["transform-origin"][:40]}"')
        return matrix
    x, y = place
    return multiply(multiply((1, 0, 0, 1, x, y), matrix), (1, 0, 0, 1, -x, -y))


def _read_origin(text: str, box: Box, size: float) -> tuple[float, float] | None:
    """Read one or two places, and a depth that means nothing here; None for what is wrong."""
    words = text[:200].lower().split()
    if not 1 <= len(words) <= 3:
        return None
    across, down = words[0], words[1] if len(words) > 1 else "center"
    if across in ("top", "bottom") or down in ("left", "right"):
        across, down = down, across
    x = to_length(_ACROSS.get(across, across), box[2] - box[0], size)
    y = to_length(_DOWN.get(down, down), box[3] - box[1], size)
    return None if x is None or y is None else (box[0] + x, box[1] + y)
