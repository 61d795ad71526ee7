"""Clips and masks: what of an element is seen (CSS Masking 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.layout.svg.canvas import Canvas
from workers.engine.layout.svg.conditions import meets_conditions
from workers.engine.layout.svg.extents import find_extent, find_transform
from workers.engine.layout.svg.paths import Box, rectangle
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import SHAPES
from workers.engine.layout.svg.spot import Job, Spot
from workers.engine.layout.svg.styles import Look
from workers.engine.layout.svg.values import Viewport, to_length, to_reference

DrawChildren = Callable[[Node, Look, Spot], None]

_CLIPPING: Final = frozenset(SHAPES) | {"use", "text"}


class Clipper:
    """Sets the clips and masks of elements."""

    def __init__(self, job: Job, draw_children: DrawChildren) -> None:
        self._job = job
        self._draw_children = draw_children

    def clip(self, node: Node, look: Look, spot: Spot) -> bool:
        """Set the clip and the mask of an element; False when nothing of it is seen."""
        clip = self._find(look, "clip-path", "clipPath")
        mask = self._find(look, "mask", "mask")
        if clip is not None and not self._guarded(clip, lambda: self._cut(clip, node, spot)):
            return False
        return mask is None or self._guarded(mask, lambda: self._mask(mask, node, spot))

    def _find(self, look: Look, name: str, tag: str) -> Node | None:
        """Give what a property refers to; something else is as if it were not there."""
        value = look[name]
        if value == "none":
            return None
        reference = to_reference(value)
        node = self._job.identities.get(reference[0]) if reference else None
        if node is None or node.tag != tag:
            self._job.leave_out(f"the {name} {value[:40]}")
            return None
        return node

    def _guarded(self, target: Node, draw: Callable[[], bool]) -> bool:
        """Draw what something refers to, unless it is being drawn already."""
        job = self._job
        if target in job.entered:
            job.leave_out(f"a `{target.tag}` that refers to itself")
            return True
        job.entered.add(target)
        seen = draw()
        job.entered.discard(target)
        return seen

    # --- clips

    def _cut(self, clip: Node, node: Node, spot: Spot) -> bool:
        job = self._job
        look = job.look_of(clip)
        inner = _placed(clip, "clipPathUnits", "userSpaceOnUse", node, spot, job)
        if inner is None:
            return False
        own = find_transform(clip, look, inner.viewport, job)
        if own is None:
            return False
        inner = inner.moved(own)
        if look["clip-path"] != "none" and not self.clip(clip, look | {"mask": "none"}, inner):
            return False
        children = list(clip.elements())
        if len(children) == 1 and self._cut_simply(children[0], look, inner):
            return True

        def draw(canvas: Canvas) -> None:
            holder = Node("g", {})
            holder.children.extend(child for child in children if child.tag in _CLIPPING)
            was_clipping, job.is_clipping = job.is_clipping, True
            self._draw_children(holder, look | {"clip-path": "none"}, inner.on(canvas))
            job.is_clipping = was_clipping

        form = spot.canvas.draw_group(draw)
        if not form.content:
            return False
        spot.canvas.set_mask(form, is_luminosity=True)
        return True

    def _cut_simply(self, child: Node, parent: Look, spot: Spot) -> bool:
        """Set one shape as the clipping path; False when it is not as simple."""
        look = self._job.look_in(child, parent)
        if child.tag not in SHAPES or look["clip-path"] != "none":
            return False
        if look["display"] == "none" or look["visibility"] != "visible":
            return False
        matrix = find_transform(child, look, spot.viewport, self._job)
        if matrix is None or not meets_conditions(child, self._job):
            return False
        segments = self._job.segments_of(child, spot.sized(look))
        operator = b"W* n\n" if look["clip-rule"] == "evenodd" else b"W n\n"
        self._job.work.draw_element(child.weight)
        return spot.canvas.draw_path(segments, spot.moved(matrix).matrix, operator)

    # --- masks

    def _mask(self, mask: Node, node: Node, spot: Spot) -> bool:
        job = self._job
        look = job.look_of(mask)
        inner = _placed(mask, "maskContentUnits", "userSpaceOnUse", node, spot, job)
        if inner is None:
            return False
        region = _region(mask, node, spot, job)

        def draw(canvas: Canvas) -> None:
            if region is not None:
                left, top, right, bottom = region
                shape = rectangle(left, top, right - left, bottom - top, 0, 0)
                canvas.draw_path(shape, spot.matrix, b"W n\n")
            was_clipping, job.is_clipping = job.is_clipping, False
            self._draw_children(mask, look, inner.on(canvas))
            job.is_clipping = was_clipping

        form = spot.canvas.draw_group(draw)
        is_alpha = mask.attributes.get("mask-type") == "alpha"
        spot.canvas.set_mask(form, is_luminosity=not is_alpha)
        return True


def _placed(
    target: Node, attribute: str, default: str, node: Node, spot: Spot, job: Job
) -> Spot | None:
    """Give the place in whose units a clip or mask is drawn; None when the element has no extent."""
    if target.attributes.get(attribute, default) != "objectBoundingBox":
        return spot.on(spot.canvas)
    box = find_extent(node, spot.viewport, job)
    if box is None or box[2] <= box[0] or box[3] <= box[1]:
        return None
    moved = spot.moved((box[2] - box[0], 0, 0, box[3] - box[1], box[0], box[1]))
    return Spot(moved.canvas, moved.matrix, Viewport(1.0, 1.0), moved.depth)


def _region(mask: Node, node: Node, spot: Spot, job: Job) -> Box | None:
    """Give the rectangle outside of which a mask shows nothing; None where it is not known."""
    given, viewport = mask.attributes, spot.viewport
    if given.get("maskUnits", "objectBoundingBox") == "objectBoundingBox":
        box = find_extent(node, viewport, job)
        if box is None:
            return None
        left, top = box[0], box[1]
        viewport = Viewport(box[2] - box[0], box[3] - box[1])
        factor_x, factor_y = viewport.width, viewport.height
    else:
        left = top = 0.0
        factor_x = factor_y = 1.0

    def read(name: str, default: str, whole: float, factor: float) -> float:
        text = given.get(name, default)
        if text.strip().endswith("%"):
            factor = 1.0
        return (to_length(text, whole) or 0.0) * factor

    x = left + read("x", "-10%", viewport.width, factor_x)
    y = top + read("y", "-10%", viewport.height, factor_y)
    width = read("width", "120%", viewport.width, factor_x)
    height = read("height", "120%", viewport.height, factor_y)
    return x, y, x + width, y + height
