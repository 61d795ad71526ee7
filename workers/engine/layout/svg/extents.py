"""The box around an element, for what is measured by it."""

from __future__ import annotations

from workers.engine.layout.images.prepared import Matrix
from workers.engine.layout.svg.paths import Box, find_box
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import SHAPES, read_side
from workers.engine.layout.svg.spot import Job
from workers.engine.layout.svg.values import IDENTITY, Viewport, apply, multiply, to_matrix

_CONTAINERS = frozenset({"g", "a", "svg", "switch"})


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
    own = to_matrix(node.attributes.get("transform"))
    if own is not None:
        _gather(node, multiply(matrix, own), viewport, job, boxes, depth + 1)


def _add(box: Box | None, matrix: Matrix, boxes: list[Box]) -> None:
    if box is not None:
        left, top, right, bottom = box
        corners = [apply(matrix, x, y) for x in (left, right) for y in (top, bottom)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
