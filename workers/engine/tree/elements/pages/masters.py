"""Page masters: families of pages, and the paper, margins and areas of their members.

A family is all `page` elements of one name. Its members inherit from the one for `all` pages: attributes, header and footer unless given; boxes, areas and watermarks are
replaced as soon as one of the kind is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue, Paper
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.styles import find_color
from workers.engine.tree.document import Area, PageMaster
from workers.engine.tree.elements.figures import read_image_source
from workers.engine.tree.elements.pages.running_content import (
    BuildBoxes,
    BuildRunning,
    compile_page_boxes,
    compile_running,
)
from workers.engine.tree.elements.pages.watermarks import compile_watermark
from workers.engine.tree.elements.positions import compile_columns, compile_position
from workers.engine.tree.nodes import Occurrence, Source
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import DEFAULT_PAGE_FAMILY, Overflow
from workers.engine.units import Length, Sides

_SIDES: Final = ("top", "right", "bottom", "left")

BuildPage = Callable[[Scope, ComputedStyle], PageMaster]
BuildPages = Callable[[Scope, ComputedStyle], tuple[PageMaster, ...]]
_BuildArea = Callable[[Scope, ComputedStyle], Area]


def compile_pages(elements: Iterable[Element], context: CompileContext) -> BuildPages:
    """Compile the page masters.

    Every family has one for all pages, and there is a default family.
    """
    families: dict[str, dict[Occurrence, Element]] = {DEFAULT_PAGE_FAMILY: {}}
    for element in elements:
        name, on = (
            context.read_constant(element, "name"),
            Occurrence(context.read_constant(element, "on")),
        )
        families.setdefault(name, {}).setdefault(on, element)
    shared = _SharedContent(context)
    builds: list[BuildPage] = []
    for name, members in families.items():
        base = members.pop(Occurrence.ALL, None)
        builds.append(_compile_master(name, Occurrence.ALL, (base,) if base else (), shared))
        for on, member in members.items():
            layers = (member, base) if base else (member,)
            builds.append(_compile_master(name, on, layers, shared))

    def build(scope: Scope, root: ComputedStyle) -> tuple[PageMaster, ...]:
        return tuple(make(scope, root) for make in builds)

    return build


class _SharedContent:
    """The headers, footers and boxes compiled so far, which members of a family share."""

    def __init__(self, context: CompileContext) -> None:
        self.context = context
        self._running: dict[Element, BuildRunning] = {}
        self._boxes: dict[Element, BuildBoxes] = {}

    def running(self, element: Element | None) -> BuildRunning | None:
        if element is None:
            return None
        if element not in self._running:
            self._running[element] = compile_running(element, self.context)
        return self._running[element]

    def boxes(self, elements: Sequence[Element]) -> BuildBoxes | None:
        if not elements:
            return None
        if elements[0] not in self._boxes:
            self._boxes[elements[0]] = compile_page_boxes(elements, self.context)
        return self._boxes[elements[0]]


def _compile_master(
    name: str, on: Occurrence, layers: Sequence[Element], shared: _SharedContent
) -> BuildPage:
    """Compile a member; its layers are the member itself, then the one it inherits from.

    Blank pages inherit the paper alone.
    """
    context, sheet = shared.context, shared.context.sheet
    size, background, bleed, marks = (
        _read_attribute(layers, attribute, context)
        for attribute in ("size", "background", "bleed", "marks")
    )
    margins = _compile_margins(layers, context)
    if on is Occurrence.BLANK:
        layers = layers[:1]
    image, image_page = (
        _read_attribute(layers, attribute, context)
        for attribute in ("background-image", "background-page")
    )
    header, footer = (shared.running(_find(layers, tag)) for tag in ("header", "footer"))
    boxes = shared.boxes(_children(layers, "box"))
    areas = [_compile_area(area, context) for area in _children(layers, "area")]
    watermarks = [compile_watermark(mark, context) for mark in _children(layers, "watermark")]
    source = Source(layers[0].location) if layers else None

    def build(scope: Scope, root: ComputedStyle) -> PageMaster:
        paper: Paper = size(scope)
        color = background(scope)
        made_marks = (make(scope, root) for make in watermarks)
        return PageMaster(
            source,
            name,
            on,
            paper.width,
            paper.height,
            margins(scope, root),
            find_color(sheet, color, scope, layers[0].location) if color is not None else None,
            read_image_source(image(scope), image_page(scope)),
            header(scope, root) if header else None,
            footer(scope, root) if footer else None,
            boxes(scope, root) if boxes else None,
            tuple(make(scope, root) for make in areas),
            tuple(mark for mark in made_marks if mark is not None),
            sheet.to_points(bleed(scope), root),
            marks(scope) == "crop",
            paper.is_open,
        )

    return build


def _find(layers: Sequence[Element], tag: str) -> Element | None:
    return next((found for layer in layers if (found := layer.find(tag)) is not None), None)


def _children(layers: Sequence[Element], tag: str) -> list[Element]:
    return next((found for layer in layers if (found := list(layer.elements(tag)))), [])


def _read_attribute(
    layers: Sequence[Element], name: str, context: CompileContext
) -> Callable[[Scope], Any]:
    """Compile an attribute of the first layer that has it, or its default."""
    stated = next((layer for layer in layers if name in layer.attributes), None)
    if stated is not None:
        return context.compile_attribute(stated, name).read
    spec = ELEMENTS["page"].attributes[name]
    default = None if spec.default is None else spec.value_type.parse(spec.default)
    return lambda _: default


def _compile_margins(
    layers: Sequence[Element], context: CompileContext
) -> Callable[[Scope, ComputedStyle], Sides[float]]:
    """Compile the margins; a layer's `margin` overrides the sides of the layers below it."""
    common = _read_attribute(layers, "margin", context)
    top = next((n for n, layer in enumerate(layers) if "margin" in layer.attributes), len(layers))
    sides = [_read_attribute(layers[: top + 1], f"margin-{side}", context) for side in _SIDES]
    sheet = context.sheet

    def read(scope: Scope, root: ComputedStyle) -> Sides[float]:
        shorthand: Sides[LengthValue] = common(scope)
        given: list[LengthValue | None] = [side(scope) for side in sides]
        chosen = (
            whole if own is None else own for whole, own in zip(shorthand, given, strict=True)
        )
        return Sides(*(sheet.to_points(value, root) for value in chosen))

    return read


def _compile_area(element: Element, context: CompileContext) -> _BuildArea:
    sheet = context.sheet
    position, columns = compile_position(element, context), compile_columns(element, context)
    width, height, overflow, padding = context.compile_attributes(
        element, "width", "height", "overflow", "padding"
    )
    flow = context.read_constant(element, "flow")
    source = Source(element.location)

    def length(
        attribute: CompiledAttribute[Any], scope: Scope, root: ComputedStyle
    ) -> Length | None:
        value = attribute.read(scope)
        return None if value is None else sheet.to_length(value, root)

    def build(scope: Scope, root: ComputedStyle) -> Area:
        word = overflow.read(scope)
        return Area(
            source,
            sheet.compute_anonymous(root).style,
            flow,
            columns(scope, root),
            None if word == "continue" else Overflow(word),
            position(scope, root),
            length(width, scope, root),
            length(height, scope, root),
            Sides(*(sheet.to_points(side, root) for side in padding.read(scope))),
        )

    return build
