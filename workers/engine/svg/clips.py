"""Clipping paths and masks (CSS Masking 1), and transforms about an origin (CSS Transforms 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from workers.engine.prepared_images import Matrix
from workers.engine.svg.canvas import Canvas
from workers.engine.svg.conversion import Conversion, UserSpace, meets_conditions
from workers.engine.svg.paths import SHAPES, read_rectangle, rectangle
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.styles import SvgStyle, font_size
from workers.engine.svg.values import (
    IDENTITY,
    Box,
    Viewport,
    multiply_matrices,
    to_length,
    to_matrix,
)

_ACROSS: Final = {"left": "0%", "center": "50%", "right": "100%"}
_DOWN: Final = {"top": "0%", "center": "50%", "bottom": "100%"}
_ELEMENT_BOXES: Final = frozenset({"fill-box", "content-box", "stroke-box", "border-box"})


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
        box = conversion.find_bounding_box(element, viewport)
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


DrawChildren = Callable[[SvgElement, SvgStyle, UserSpace], None]

_CLIPPING: Final = frozenset(SHAPES) | {"use", "text"}


@dataclass(frozen=True, slots=True)
class Clipper:
    """Applies the clipping paths and masks of elements."""

    _conversion: Conversion
    _draw_children: DrawChildren

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
        inner = _find_content_space(clip, "clipPathUnits", element, space, conversion)
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
        inner = _find_content_space(mask, "maskContentUnits", element, space, conversion)
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
    element: SvgElement,
    space: UserSpace,
    conversion: Conversion,
) -> UserSpace | None:
    """Return the user space of a clip's or mask's content; None when the element has no extent."""
    if target.attributes.get(attribute) != "objectBoundingBox":
        return space.on_canvas(space.canvas)
    box = conversion.find_bounding_box(element, space.viewport)
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
        box = conversion.find_bounding_box(element, space.viewport)
        if box is None:
            return None
    return read_rectangle(mask.attributes, space.viewport, box, (-0.1, 1.2))
