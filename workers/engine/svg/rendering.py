"""Rendering of the elements of an SVG: groups, `use`, nested drawings, shapes, text and images."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import cos, floor, log10, radians, sin
from typing import Final

from workers.engine.prepared_images import (
    DECODER_ERRORS,
    MAX_DECODED_PIXELS,
    Matrix,
    PreparedImage,
    UndrawableError,
)
from workers.engine.svg.canvas import (
    Canvas,
    DrawnText,
    FormXObject,
    MeasuringCanvas,
    VectorImage,
    format_number,
    format_numbers,
)
from workers.engine.svg.clips import Clipper, find_transform
from workers.engine.svg.conversion import (
    Conversion,
    PaintContext,
    UserSpace,
    meets_conditions,
    report_other_languages,
)
from workers.engine.svg.painting import Painter, apply_paint, draw_markers
from workers.engine.svg.paths import SHAPES, find_box, read_rectangle, rectangle
from workers.engine.svg.reader import (
    MAX_DAMAGED,
    MAX_DEPTH,
    MAX_IMAGES,
    SIMPLER,
    DrawingBudget,
    SvgElement,
    ViewBox,
    find_size,
    fit_content,
    fit_view_box,
    make_limit_error,
    read_svg,
    read_view_box,
)
from workers.engine.svg.styles import RuleIndex, SvgStyle, font_size, opacity
from workers.engine.svg.text import TextLayout, TextSpan, outline_text, space_clusters
from workers.engine.svg.values import (
    IDENTITY,
    LENGTHS,
    Box,
    Viewport,
    enclose,
    invert,
    is_computed,
    multiply_matrices,
    read_length,
    read_lengths,
    to_number,
)

_TILE_UNITS: Final = 100.0  # units on the longer side of a tile
_MIN_TILE_FRACTION: Final = 400  # a tile is at least 1/400 of the drawing in each direction


# Drawn only where they are referred to, or never, without a loss.
_NOT_RENDERED: Final = frozenset(
    {"defs", "symbol", "linearGradient", "radialGradient", "stop", "pattern", "clipPath", "mask"}
    | {"marker", "filter", "style", "title", "desc", "metadata", "view", "cursor"}
)
_ROTATION_COST: Final = 20  # segments: the cost of a rotated character
_WITH_MARKERS: Final = frozenset({"path", "line", "polyline", "polygon"})


class ElementRenderer:
    """Draws the elements of one SVG."""

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion
        self._painter = Painter(conversion, self._build_pattern)
        self._clipper = Clipper(conversion, self.draw_children)
        self._conversion.find_bounding_box = self._find_bounding_box
        self._images: dict[str, PreparedImage | None] = {}
        self._pixels = self._damaged = 0
        self._handlers: dict[str, Callable[[SvgElement, SvgStyle, UserSpace], None]] = {
            "svg": self._draw_nested,
            "g": self.draw_children,
            "a": self.draw_children,
            "switch": self._draw_switch,
            "use": self._draw_use,
            "image": self._draw_image,
            "text": self._draw_text,
            **dict.fromkeys(SHAPES, self._draw_shape),
        }

    def draw_root(self, root: SvgElement, space: UserSpace) -> None:
        """Draw the root element, already fitted into its size."""
        style = self._conversion.style_of(root)
        matrix = find_transform(root, style, space.viewport, self._conversion)
        if style["display"] != "none" and matrix is not None:
            space = space.transformed(matrix)
            self._draw_with_effects(
                root, style, space, lambda at: self.draw_children(root, style, at)
            )

    def draw(self, element: SvgElement, parent: SvgStyle, space: UserSpace) -> None:
        """Draw an element inside a parent style."""
        conversion = self._conversion
        conversion.budget.count_element(element.attribute_length)
        if element.tag in _NOT_RENDERED:
            return
        draw = self._handlers.get(element.tag)
        if draw is None:
            conversion.omit(f"the element `{element.tag[:40]}`")
            return
        if space.depth > MAX_DEPTH:
            raise UndrawableError(
                f"The SVG nests rendered elements deeper than {MAX_DEPTH}", advice=SIMPLER
            )
        style = conversion.style_within(element, parent)
        if style["display"] == "none" or not meets_conditions(element, conversion):
            return
        matrix = find_transform(element, style, space.viewport, conversion)
        if matrix is None:
            return
        self._draw_with_effects(
            element, style, space.transformed(matrix), lambda at: draw(element, style, at)
        )

    def draw_children(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        """Draw the children of an element."""
        inner = space.nested()
        for child in element.child_elements():
            self.draw(child, style, inner)

    def _find_bounding_box(self, element: SvgElement, viewport: Viewport) -> Box | None:
        conversion = self._conversion
        conversion.budget.count_element(element.attribute_length)
        canvas, style = MeasuringCanvas(conversion.budget), conversion.style_of(element)
        # The root is fitted into its size already.
        draw = self.draw_children if element.parent is None else self._handlers.get(element.tag)
        active, conversion.active_elements = conversion.active_elements, set()
        if draw is not None:
            draw(element, style, UserSpace(canvas, IDENTITY, viewport))
        conversion.active_elements = active
        return enclose(canvas.boxes)

    def _draw_with_effects(
        self,
        element: SvgElement,
        style: SvgStyle,
        space: UserSpace,
        draw: Callable[[UserSpace], None],
    ) -> None:
        """Draw through the clipping path, mask and opacity of an element."""
        conversion, canvas, alpha = self._conversion, space.canvas, opacity(style)
        if isinstance(canvas, MeasuringCanvas):
            draw(space)
            return
        if style["filter"] != "none":
            conversion.omit("filters")
        if style["mix-blend-mode"] != "normal":
            conversion.omit("blend modes")
        if alpha <= 0:
            return
        is_clipped = style["clip-path"] != "none" or style["mask"] != "none"
        if not is_clipped and alpha == 1:
            draw(space)
            return
        canvas.save()
        if not is_clipped or self._clipper.clip(element, style, space):
            # Under a mask some viewers draw patterns only inside a group.
            is_single = not canvas.is_masked and (alpha == 1 or _is_single_mark(element, style))
            if is_single:
                draw(UserSpace(canvas, space.matrix, space.viewport, space.depth, alpha))
            else:
                group = canvas.draw_group(lambda inner: draw(space.on_canvas(inner)))
                canvas.set_opacity(alpha)
                canvas.draw_xobject(group)
        canvas.restore()

    # --- structure

    def _draw_switch(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        """Draw the first child whose conditions are met (SVG 2 §5.7)."""
        report_other_languages(element, self._conversion)
        for child in element.child_elements():
            if child.tag in self._handlers and meets_conditions(child, self._conversion):
                self.draw(child, style, space.nested())
                return

    def _draw_nested(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        viewport = space.viewport_for(style)
        x, y = read_lengths(element.attributes, "xy", viewport)
        width = read_length(element.attributes, "width", viewport, viewport.width)
        height = read_length(element.attributes, "height", viewport, viewport.height)
        self._draw_viewport(element, style, space.transformed((1, 0, 0, 1, x, y)), width, height)

    def _draw_viewport(
        self, element: SvgElement, style: SvgStyle, space: UserSpace, width: float, height: float
    ) -> None:
        """Draw a nested drawing or a symbol, fitted into a rectangle and clipped to it."""
        if width <= 0 or height <= 0:
            return
        matrix, viewport = fit_content(element, width, height)
        canvas, inner = space.canvas, space.transformed(matrix)
        canvas.save()
        if style["overflow"] not in ("visible", "auto"):
            canvas.draw_path(rectangle(0, 0, width, height, 0, 0), space.matrix, b"W n\n")
        self.draw_children(element, style, UserSpace(canvas, inner.matrix, viewport, space.depth))
        canvas.restore()

    def _draw_use(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        conversion, href = self._conversion, element.href
        target = conversion.elements_by_id.get(href[1:]) if href.startswith("#") else None
        if target is None:
            reason = "is not in the file" if href.startswith("#") else "is outside of the file"
            conversion.omit(f"the target of a `use`, which {reason}")
            return
        if target in conversion.active_elements:
            conversion.omit("a `use` that refers to itself")
            return
        viewport = space.viewport_for(style)
        outer = conversion.context
        bounding_box = cache(lambda: conversion.find_bounding_box(element, viewport))
        conversion.context = PaintContext(style, bounding_box, space, outer)
        x, y = read_lengths(element.attributes, "xy", viewport)
        space = space.transformed((1, 0, 0, 1, x, y)).nested()
        conversion.active_elements.add(target)
        if target.tag in ("symbol", "svg"):
            self._draw_symbol(target, element, style, space)
        else:
            self.draw(target, style, space)
        conversion.active_elements.discard(target)
        conversion.context = outer

    def _draw_symbol(
        self, target: SvgElement, use: SvgElement, parent: SvgStyle, space: UserSpace
    ) -> None:
        conversion, viewport = self._conversion, space.viewport
        conversion.budget.count_element()
        style = conversion.style_within(target, parent)
        if style["display"] == "none":
            return
        sides = []
        for name, basis in (("width", viewport.width), ("height", viewport.height)):
            own = read_length(target.attributes, name, viewport, basis)
            sides.append(read_length(use.attributes, name, viewport, own))
        self._draw_with_effects(
            target,
            style,
            space,
            lambda at: self._draw_viewport(target, style, at, sides[0], sides[1]),
        )

    # --- patterns

    def _build_pattern(
        self, element: SvgElement, box: Box | None, space: UserSpace
    ) -> FormXObject | None:
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
        self.draw_children(owner, conversion.style_of(owner), inner)
        conversion.active_elements.discard(owner)
        matrix = multiply_matrices(matrix, (1 / scale, 0, 0, 1 / scale, 0, 0))
        return tile.finish_tile(width * scale, height * scale, matrix)

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

    # --- shapes, images and text

    def _draw_shape(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        segments = self._conversion.segments_of(element, space.viewport_for(style))
        if isinstance(space.canvas, MeasuringCanvas):
            self._conversion.budget.count_segments(len(segments))
            space.canvas.measure(find_box(segments), space.matrix)
            return
        stated_length = to_number(element.attributes.get("pathLength", ""), 0.0)
        self._painter.paint(segments, style, space, stated_length)
        if element.tag in _WITH_MARKERS and segments and style["visibility"] == "visible":
            draw_markers(self._conversion, segments, style, space, self._draw_viewport)

    def _draw_image(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        image = self._find_image(element.href)
        if image is None:
            return
        viewport, canvas = space.viewport_for(style), space.canvas
        x, y = read_lengths(element.attributes, "xy", viewport)
        width, height = read_lengths(element.attributes, ("width", "height"), viewport, -1.0)
        if width < 0 or height < 0:
            width, height = _complete_size(image, width, height)
        if width <= 0 or height <= 0:
            return
        if isinstance(canvas, MeasuringCanvas):
            canvas.measure((x, y, x + width, y + height), space.matrix)
            return
        if style["visibility"] != "visible":
            return
        box = ViewBox(0, 0, image.width, image.height)
        matrix = fit_view_box(box, element.attributes.get("preserveAspectRatio", ""), width, height)
        place = multiply_matrices(space.transformed((1, 0, 0, 1, x, y)).matrix, matrix)
        # The unit square of an image has its origin at the bottom left.
        place = multiply_matrices(place, (image.width, 0, 0, -image.height, 0, image.height))
        canvas.save()
        canvas.draw_path(rectangle(x, y, width, height, 0, 0), space.matrix, b"W n\n")
        canvas.set_opacity(space.alpha)
        canvas.draw_xobject(image, multiply_matrices(place, image.matrix))
        self._conversion.images[image.key] = image
        canvas.restore()

    def _find_image(self, address: str) -> PreparedImage | None:
        if address[:5].lower() != "data:":
            self._conversion.omit("images outside of the file")
            return None
        if address not in self._images:
            self._images[address] = self._decode_image(address)
        return self._images[address]

    def _decode_image(self, address: str) -> PreparedImage | None:
        head, _, body = address.partition(",")
        if len(self._images) >= MAX_IMAGES:
            raise make_limit_error("images in it", MAX_IMAGES)
        if self._damaged >= MAX_DAMAGED:
            return None
        try:
            if not head.lower().endswith(";base64"):
                raise ValueError(head)
            image = self._conversion.prepare(base64.b64decode("".join(body.split())))
        except (UndrawableError, binascii.Error, *DECODER_ERRORS):
            self._damaged += 1
            self._conversion.omit("an embedded image that is damaged or of an unknown format")
            return None
        self._pixels += image.pixels.width * image.pixels.height
        if self._pixels > MAX_DECODED_PIXELS:
            raise make_limit_error("pixels in its images", MAX_DECODED_PIXELS)
        return image

    def _draw_text(self, element: SvgElement, style: SvgStyle, space: UserSpace) -> None:
        conversion, viewport = self._conversion, space.viewport
        conversion.budget.count_segments(len(element.children))
        # The opacity of the element itself is applied outside.
        text_layout = TextLayout(
            element,
            style | {"opacity": "1"},
            self._resolve_span_style,
            (viewport.width, viewport.height),
        )
        for reason in text_layout.omitted:
            conversion.omit(reason)
        conversion.missing.update(dict.fromkeys(text_layout.missing))
        placed = text_layout.place()
        conversion.budget.count_segments(
            max(text_layout.length // 20, sum(len(span.text) for span in placed))
        )
        conversion.budget.count_segments(
            _ROTATION_COST * sum(1 for span in placed if span.rotations)
        )
        bounding_box = _estimate_bounds(placed)
        if isinstance(space.canvas, MeasuringCanvas):
            space.canvas.measure(bounding_box, space.matrix)
            return
        for span in placed:
            if span.style["visibility"] == "visible":
                self._draw_span(span, bounding_box, space)

    def _resolve_span_style(self, element: SvgElement, parent: SvgStyle) -> SvgStyle | None:
        """Return the style of a part of a text, None for one that is not drawn."""
        self._conversion.budget.count_element(element.attribute_length)
        self._conversion.budget.count_segments(len(element.children))
        style = self._conversion.style_within(element, parent)
        is_drawn = style["display"] != "none" and meets_conditions(element, self._conversion)
        return style if is_drawn else None

    def _draw_span(self, span: TextSpan, bounding_box: Box | None, space: UserSpace) -> None:
        style = span.style
        assert span.x is not None
        assert span.y is not None
        space = replace(space, alpha=space.alpha * opacity(style))
        fill = self._painter.find_paint(style, "fill", lambda: bounding_box, space)
        stroke = self._painter.find_paint(style, "stroke", lambda: bounding_box, space)
        if span.rotation:  # the paint is not rotated
            rotation = _rotate_about(span.rotation, span.x, span.y)
            space = space.transformed(rotation)
        apply_paint(
            space,
            fill,
            opacity(style, "fill-opacity"),
            lambda canvas: _write_text(span, space, canvas),
            is_stroke=False,
        )
        if stroke is not None:
            outline = outline_text(span.runs, span.x, span.y, font_size(style), span.spacing)
            self._painter.stroke(outline, style, space, stroke)


def _rotate_about(degrees: float, x: float, y: float) -> Matrix:
    cosine, sine = cos(radians(degrees)), sin(radians(degrees))
    return (*(cosine, sine, -sine, cosine), *(x - cosine * x + sine * y, y - sine * x - cosine * y))


def _write_text(span: TextSpan, space: UserSpace, canvas: Canvas) -> None:
    """Write text as text, so that it can be searched and copied."""
    assert span.x is not None
    assert span.y is not None
    size = font_size(span.style)
    a, b, c, d, e, f = multiply_matrices(space.matrix, (1, 0, 0, -1, span.x, span.y))
    is_singular = not size or not abs(a * d - b * c) > 1e-9
    if is_singular or not max(map(abs, (a, b, c, d, e, f))) < 1e9:
        return
    canvas.write(b"BT\n")
    x = 0.0
    for run in span.runs:
        place = (a, b, c, d, e + a * x, f + b * x)
        spacing = span.spacing if run.clusters is None else 0.0  # which clusters have themselves
        canvas.write(b"%b Tc %b Tm " % (format_number(spacing), format_numbers(place)))
        clusters = space_clusters(run, span.spacing / size)
        canvas.show_text(DrawnText(run.face, size, run.text, clusters))
        x += run.width * size + span.spacing * len(run.text)
    canvas.write(b"0 Tc ET\n")


def _is_single_mark(element: SvgElement, style: SvgStyle) -> bool:
    """Return whether an element paints a single mark, which can have the opacity itself."""
    if element.tag == "image":
        return True
    return (
        element.tag in SHAPES
        and "none" in (style["fill"], style["stroke"])
        and not _has_markers(style)
    )


def _has_markers(style: SvgStyle) -> bool:
    return any(style[f"marker-{where}"] != "none" for where in ("start", "mid", "end"))


def _complete_size(image: PreparedImage, width: float, height: float) -> tuple[float, float]:
    """Return the size of an image, its missing sides by its aspect ratio."""
    if width < 0 and height < 0:
        return image.width, image.height
    if width < 0:
        return height * image.width / image.height, height
    return width, width * image.height / image.width


def _estimate_bounds(placed: list[TextSpan]) -> Box | None:
    """Return the approximate box of placed text, for gradients relative to it."""
    if not placed:
        return None
    lefts = [span.x or 0.0 for span in placed]
    rights = [(span.x or 0.0) + span.width for span in placed]
    tops = [(span.y or 0.0) - font_size(span.style) for span in placed]
    bottoms = [(span.y or 0.0) + font_size(span.style) * 0.3 for span in placed]
    return min(lefts), min(tops), max(rights), max(bottoms)


_MAX_OMITTED = 20


def convert_svg(data: bytes, key: str, prepare: Callable[[bytes], PreparedImage]) -> VectorImage:
    """Convert a file; `prepare` prepares embedded raster images.

    Nothing outside the file is read. Features that cannot be drawn are omitted and reported.

    Raises:
        UndrawableError: Not well-formed, without a size, with entities, or over a limit.
    """
    root = read_svg(data)
    width, height = find_size(root)
    budget, omitted = DrawingBudget(len(data)), dict[str, None]()
    elements_by_id: dict[str, SvgElement] = {}
    for element in root.walk():
        element_id = element.attributes.get("id")
        if element_id:
            elements_by_id.setdefault(element_id, element)
        for name, value in element.attributes.items():
            if name in LENGTHS and element is not root and is_computed(value):
                omitted[f'the {name} "{value[:40]}"'] = None
    sheets = [element.text for element in root.walk() if _is_style_sheet(element)]
    unit = 10.0 ** (2 - floor(log10(max(width, height))))  # the longer side has 100 to 1000 units
    conversion = Conversion(
        elements_by_id, RuleIndex(sheets, budget, omitted), budget, prepare, omitted, unit=unit
    )
    form = _draw(root, conversion, width, height)
    names = tuple(omitted)
    if len(names) > _MAX_OMITTED:
        names = (*names[:_MAX_OMITTED], f"{len(names) - _MAX_OMITTED} more things")
    memory_bytes, has_cmyk = budget.memory_bytes, False
    for image in conversion.images.values():
        memory_bytes += len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)
        has_cmyk = has_cmyk or image.pixels.color_space == "DeviceCMYK"
    return VectorImage(
        key, width, height, form, memory_bytes, names, "".join(conversion.missing), has_cmyk
    )


def _is_style_sheet(element: SvgElement) -> bool:
    """Return whether an element is a style sheet in CSS for paper, a screen or anything."""
    if element.tag != "style":
        return False
    kind = element.attributes.get("type", "").partition(";")[0].strip().lower()
    media = element.attributes.get("media", "").strip().lower() or "all"
    return kind in ("", "text/css") and any(each in media for each in ("all", "print", "screen"))


def _draw(root: SvgElement, conversion: Conversion, width: float, height: float) -> FormXObject:
    """Draw the root element; its `x` and `y` have no meaning here (SVG 2 §5.1.4)."""
    unit = conversion.unit
    fit, viewport = fit_content(root, width, height)
    base = multiply_matrices((unit, 0, 0, -unit, 0, height * unit), fit)
    canvas = Canvas((0.0, 0.0, width * unit, height * unit), conversion.budget)
    try:
        ElementRenderer(conversion).draw_root(root, UserSpace(canvas, base, viewport))
    except RecursionError:
        raise UndrawableError(
            "The SVG nests rendered elements too deeply", advice=SIMPLER
        ) from None
    return canvas.finish(matrix=(1 / canvas.box[2], 0, 0, 1 / canvas.box[3], 0, 0))
