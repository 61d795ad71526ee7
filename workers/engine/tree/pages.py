"""Page masters: families of pages, what their members take over, paper, margins and areas.

A family is all `page` elements of one name. Its members start from the one that is for `all` pages
(language.md 1.7): attributes, header and footer are taken over unless given; boxes, areas and
watermarks are replaced as soon as one of the kind is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue, Paper
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Attribute, Context, find_color
from workers.engine.tree.figures import read_picture
from workers.engine.tree.nodes import Area, On, PageMaster, Source
from workers.engine.tree.positions import compile_columns, compile_position
from workers.engine.tree.running import (
    BuildBoxes,
    BuildRunning,
    compile_page_boxes,
    compile_running,
)
from workers.engine.tree.runtime import Scope
from workers.engine.tree.styles import Overflow
from workers.engine.tree.watermarks import compile_watermark
from workers.engine.units import Length, Sides

DEFAULT_FAMILY: Final = "default"
_SIDES: Final = ("top", "right", "bottom", "left")

BuildPage = Callable[[Scope, Look], PageMaster]
BuildPages = Callable[[Scope, Look], tuple[PageMaster, ...]]
_BuildArea = Callable[[Scope, Look], Area]


def compile_pages(elements: Iterable[Element], context: Context) -> BuildPages:
    """Compile the pages of a document; every family has a member for all pages, at least the default."""
    families: dict[str, dict[On, Element]] = {DEFAULT_FAMILY: {}}
    for element in elements:
        name, on = context.value(element, "name"), On(context.value(element, "on"))
        families.setdefault(name, {}).setdefault(on, element)
    pieces = _Pieces(context)
    builds: list[BuildPage] = []
    for name, members in families.items():
        base = members.pop(On.ALL, None)
        builds.append(_compile_master(name, On.ALL, (base,) if base else (), pieces))
        for on, member in members.items():
            layers = (member, base) if base else (member,)
            builds.append(_compile_master(name, on, layers, pieces))

    def build(scope: Scope, root: Look) -> tuple[PageMaster, ...]:
        return tuple(make(scope, root) for make in builds)

    return build


class _Pieces:
    """The headers, footers and boxes compiled so far: members share what they take over."""

    def __init__(self, context: Context) -> None:
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


def _compile_master(name: str, on: On, layers: Sequence[Element], pieces: _Pieces) -> BuildPage:
    """Compile a member; of its layers the member itself comes first, then what it starts from."""
    context, sheet = pieces.context, pieces.context.sheet
    size, background, image, bleed, marks = (
        _read_attribute(layers, attribute, context)
        for attribute in ("size", "background", "background-image", "bleed", "marks")
    )
    margins = _compile_margins(layers, context)
    header, footer = (pieces.running(_find(layers, tag)) for tag in ("header", "footer"))
    boxes = pieces.boxes(_children(layers, "box"))
    areas = [_compile_area(area, context) for area in _children(layers, "area")]
    watermarks = [compile_watermark(mark, context) for mark in _children(layers, "watermark")]
    source = Source(layers[0].place) if layers else None

    def build(scope: Scope, root: Look) -> PageMaster:
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
            find_color(sheet, color, scope, layers[0].place) if color is not None else None,
            read_picture(image(scope)),
            header(scope, root) if header else None,
            footer(scope, root) if footer else None,
            boxes(scope, root) if boxes else None,
            tuple(make(scope, root) for make in areas),
            tuple(mark for mark in made_marks if mark is not None),
            sheet.to_points(bleed(scope), root),
            marks(scope) == "crop",
        )

    return build


def _find(layers: Sequence[Element], tag: str) -> Element | None:
    return next((found for layer in layers if (found := layer.find(tag)) is not None), None)


def _children(layers: Sequence[Element], tag: str) -> list[Element]:
    return next((found for layer in layers if (found := list(layer.elements(tag)))), [])


def _read_attribute(
    layers: Sequence[Element], name: str, context: Context
) -> Callable[[Scope], Any]:
    """Compile an attribute of the first layer that gives it; its default where none does."""
    giver = next((layer for layer in layers if name in layer.attributes), None)
    if giver is not None:
        return context.attribute(giver, name).read
    spec = ELEMENTS["page"].attributes[name]
    default = None if spec.default is None else spec.kind.parse(spec.default)
    return lambda _: default


def _compile_margins(
    layers: Sequence[Element], context: Context
) -> Callable[[Scope, Look], Sides[float]]:
    """Compile the margins; a layer's `margin` stands before the sides of the layers below it."""
    common = _read_attribute(layers, "margin", context)
    top = next((n for n, layer in enumerate(layers) if "margin" in layer.attributes), len(layers))
    sides = [_read_attribute(layers[: top + 1], f"margin-{side}", context) for side in _SIDES]
    sheet = context.sheet

    def read(scope: Scope, root: Look) -> Sides[float]:
        shorthand: Sides[LengthValue] = common(scope)
        given: list[LengthValue | None] = [side(scope) for side in sides]
        chosen = (
            whole if own is None else own for whole, own in zip(shorthand, given, strict=True)
        )
        return Sides(*(sheet.to_points(value, root) for value in chosen))

    return read


def _compile_area(element: Element, context: Context) -> _BuildArea:
    sheet = context.sheet
    position, columns = compile_position(element, context), compile_columns(element, context)
    width, height, overflow, padding = (
        context.attribute(element, name) for name in ("width", "height", "overflow", "padding")
    )
    flow = context.value(element, "flow")
    source = Source(element.place)

    def length(attribute: Attribute[Any], scope: Scope, root: Look) -> Length | None:
        value = attribute.read(scope)
        return None if value is None else sheet.to_length(value, root)

    def build(scope: Scope, root: Look) -> Area:
        word = overflow.read(scope)
        return Area(
            source,
            sheet.anonymous(root).style,
            flow,
            columns(scope, root),
            None if word == "continue" else Overflow(word),
            position(scope, root),
            length(width, scope, root),
            length(height, scope, root),
            Sides(*(sheet.to_points(side, root) for side in padding.read(scope))),
        )

    return build
