"""Clipping paths and masks (CSS Masking 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.svg.bounding_boxes import find_bounding_box, find_transform
from workers.engine.svg.canvas import Canvas
from workers.engine.svg.conversion import Conversion, UserSpace, meets_conditions
from workers.engine.svg.paths import rectangle
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.shapes import SHAPES, read_rectangle
from workers.engine.svg.styles import SvgStyle
from workers.engine.svg.values import Viewport

DrawChildren = Callable[[SvgElement, SvgStyle, UserSpace], None]

_CLIPPING: Final = frozenset(SHAPES) | {"use", "text"}


class Clipper:
    """Applies the clipping paths and masks of elements."""

    def __init__(self, conversion: Conversion, draw_children: DrawChildren) -> None:
        self._conversion = conversion
        self._draw_children = draw_children

    def clip(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> bool:
        """Apply the clipping path and the mask of an element; return False when nothing of it is visible."""
        clip = self._find(style, "clip-path", "clipPath")
        mask = self._find(style, "mask", "mask")
        if clip is not None and not self._without_recursion(
            clip, lambda: self._apply_clip_path(clip, element, space)
        ):
            return False
        return mask is None or self._without_recursion(
            mask, lambda: self._apply_mask(mask, element, space)
        )

    def _find(self, style: SvgStyle, name: str, tag: str) -> SvgElement | None:
        """Return the element that a property refers to; an invalid reference is ignored."""
        value = style[name]
        if value == "none":
            return None
        element = self._conversion.find_target(value, tag)
        if element is None:
            self._conversion.omit(f"the {name} {value[:40]}")
            return None
        return element

    def _without_recursion(self, target: SvgElement, draw: Callable[[], bool]) -> bool:
        """Draw a referenced element, unless it is being drawn already."""
        conversion = self._conversion
        if target in conversion.active_elements:
            conversion.omit(f"a `{target.tag}` that refers to itself")
            return True
        conversion.active_elements.add(target)
        is_visible = draw()
        conversion.active_elements.discard(target)
        return is_visible

    # --- clips

    def _apply_clip_path(self, clip: SvgElement, element: SvgElement, space: UserSpace) -> bool:
        conversion = self._conversion
        style = conversion.style_of(clip)
        inner = _find_content_space(
            clip, "clipPathUnits", "userSpaceOnUse", element, space, conversion
        )
        if inner is None:
            return False
        own = find_transform(clip, style, inner.viewport, conversion)
        if own is None:
            return False
        inner = inner.transformed(own)
        if style["clip-path"] != "none" and not self.clip(clip, style | {"mask": "none"}, inner):
            return False
        children = list(clip.child_elements())
        if len(children) == 1 and self._apply_simple_clip(children[0], style, inner):
            return True

        def draw(canvas: Canvas) -> None:
            holder = SvgElement("g", {})
            holder.children.extend(child for child in children if child.tag in _CLIPPING)
            was_clipping, conversion.is_clipping = conversion.is_clipping, True
            self._draw_children(holder, style | {"clip-path": "none"}, inner.on_canvas(canvas))
            conversion.is_clipping = was_clipping

        form = space.canvas.draw_group(draw)
        if not form.content:
            return False
        space.canvas.set_mask(form, is_luminosity=True)
        return True

    def _apply_simple_clip(self, child: SvgElement, parent: SvgStyle, space: UserSpace) -> bool:
        """Set a single shape as the clipping path; return False where that is not possible."""
        style = self._conversion.style_within(child, parent)
        if child.tag not in SHAPES or style["clip-path"] != "none":
            return False
        if style["display"] == "none" or style["visibility"] != "visible":
            return False
        matrix = find_transform(child, style, space.viewport, self._conversion)
        if matrix is None or not meets_conditions(child, self._conversion):
            return False
        segments = self._conversion.segments_of(child, space.viewport_for(style))
        operator = b"W* n\n" if style["clip-rule"] == "evenodd" else b"W n\n"
        self._conversion.budget.count_element(child.attribute_length)
        return space.canvas.draw_path(segments, space.transformed(matrix).matrix, operator)

    # --- masks

    def _apply_mask(self, mask: SvgElement, element: SvgElement, space: UserSpace) -> bool:
        conversion = self._conversion
        style = conversion.style_of(mask)
        inner = _find_content_space(
            mask, "maskContentUnits", "userSpaceOnUse", element, space, conversion
        )
        if inner is None:
            return False
        region = _region(mask, element, space, conversion)

        def draw(canvas: Canvas) -> None:
            if region is not None:
                canvas.draw_path(rectangle(*region, 0, 0), space.matrix, b"W n\n")
            was_clipping, conversion.is_clipping = conversion.is_clipping, False
            self._draw_children(mask, style, inner.on_canvas(canvas))
            conversion.is_clipping = was_clipping

        form = space.canvas.draw_group(draw)
        is_alpha = mask.attributes.get("mask-type") == "alpha"
        space.canvas.set_mask(form, is_luminosity=not is_alpha)
        return True


def _find_content_space(
    target: SvgElement,
    attribute: str,
    default: str,
    element: SvgElement,
    space: UserSpace,
    conversion: Conversion,
) -> UserSpace | None:
    """Return the user space of a clip's or mask's content; None when the element has no extent."""
    if target.attributes.get(attribute, default) != "objectBoundingBox":
        return space.on_canvas(space.canvas)
    box = find_bounding_box(element, space.viewport, conversion)
    if box is None or box[2] <= box[0] or box[3] <= box[1]:
        return None
    transformed = space.transformed((box[2] - box[0], 0, 0, box[3] - box[1], box[0], box[1]))
    return UserSpace(transformed.canvas, transformed.matrix, Viewport(1.0, 1.0), transformed.depth)


def _region(
    mask: SvgElement, element: SvgElement, space: UserSpace, conversion: Conversion
) -> tuple[float, float, float, float] | None:
    """Return the rectangle (x, y, width and height) outside which a mask is empty, None where it is unknown."""
    box = None
    if mask.attributes.get("maskUnits", "objectBoundingBox") == "objectBoundingBox":
        box = find_bounding_box(element, space.viewport, conversion)
        if box is None:
            return None
    return read_rectangle(mask.attributes, space.viewport, box, (-0.1, 1.2))
