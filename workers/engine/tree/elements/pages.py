"""Page masters: families of pages, and the paper, margins and areas of their members.

A family is all `page` elements of one name. Its members inherit from the one for `all` pages:
attributes, header and footer unless given; boxes, areas and watermarks are replaced as soon as one of
the kind is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue, Paper, RelativeLength
from workers.engine.syntax.vocabulary import ELEMENTS, read_attribute
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import find_color
from workers.engine.tree.compiler.builders import (
    VALIDATION_PAGE,
    NodeBuilder,
    Nodes,
    collect,
    keep_used,
    page_names,
    repeat,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.document import (
    Area,
    PageContent,
    PageMaster,
    RunningBox,
    SheetMarks,
    Watermark,
)
from workers.engine.tree.elements.block_builder import compile_columns, compile_position
from workers.engine.tree.expressions.environment import OF_A_PAGE
from workers.engine.tree.nodes import Container, Occurrence, Position, Role, Source
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import DEFAULT_PAGE_FAMILY, Overflow
from workers.engine.units import BLACK, Length, Sides

BuildRunning = Callable[[Scope, ComputedStyle], RunningBox]
BuildBoxes = Callable[[Scope, ComputedStyle], PageContent]


def compile_running(element: Element, context: CompileContext) -> BuildRunning:
    """Compile a header or footer: a box for each page, none where its `if` fails."""
    at_page = replace(context, is_page_time=True, knows_running_values=True, used=set())
    element_style = at_page.compile_style(element)
    most = at_page.compile_attribute(element, "max-height")
    builder = compile_controlled(element, at_page, _compile_as_box)
    is_static = not at_page.used & OF_A_PAGE
    source, sheet = Source(element.location), context.sheet

    def build(scope: Scope, root: ComputedStyle) -> RunningBox:
        content = _make_content(builder, keep_used(scope, at_page.used), root, is_static=is_static)
        own = element_style.compute(scope, root) if element_style.is_static else root
        return RunningBox(source, content, sheet.to_length(most.read(scope), own))

    return build


def compile_page_boxes(elements: Sequence[Element], context: CompileContext) -> BuildBoxes:
    """Compile the boxes of a page; one without offsets is placed at the paper's corner."""
    at_page = replace(context, is_page_time=True, knows_running_values=True, used=set())
    builder = partial(_place_on_paper, at_page.compile_blocks(elements, owner=elements[0]))
    is_static = not at_page.used & OF_A_PAGE

    def build(scope: Scope, root: ComputedStyle) -> PageContent:
        return _make_content(builder, keep_used(scope, at_page.used), root, is_static=is_static)

    return build


def _make_content(
    builder: NodeBuilder, scope: Scope, computed: ComputedStyle, *, is_static: bool
) -> PageContent:
    name_values = partial(page_names, features=scope.state.references.features)
    content = repeat(builder, scope, computed, name_values, is_static=is_static)
    if scope.state.validator is not None:
        content.evaluate(VALIDATION_PAGE)
    return content


def _place_on_paper(builder: NodeBuilder, scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
    boxes = collect(builder, scope, parent)
    out += [box if box.position else replace(box, position=Position()) for box in boxes]


def _compile_as_box(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element)
    inner = context.compile_blocks(element.children, owner=element)
    source = Source(element.location)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = element_style.compute(scope, parent)
        blocks = collect(inner, element_style.enter(scope), own)
        out.append(Container(source, Role.ARTIFACT, own.style, blocks, None, None))

    return build


_NAMES: Final = ("text", "src", "layer", "opacity", "rotate", "font-size", "color", "on")

BuildWatermark = Callable[[Scope, ComputedStyle], Watermark | None]


def compile_watermark(element: Element, context: CompileContext) -> BuildWatermark:
    """Compile a watermark, built once for all its pages; None if its `if` fails."""
    read = {name: context.compile_attribute(element, name) for name in _NAMES}
    condition = context.compile_condition(element)
    sheet, location = context.sheet, element.location

    def build(scope: Scope, root: ComputedStyle) -> Watermark | None:
        if not condition.evaluate(scope):
            return None
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        size = values["font-size"]
        return Watermark(
            " ".join((values["text"] or "").split()),
            values["layer"] == "over",
            values["opacity"],
            values["rotate"],
            None if size is None else sheet.to_points(size, root),
            find_color(sheet, values["color"], scope, location) or BLACK,
            Source(location),
            values["src"],
            Occurrence(values["on"]),
        )

    return build


# In the order of the fields of `SheetMarks`.
_MARKS: Final = (
    *("type", "left", "top", "format", "job", "set", "sequence", "inserts"),
    *("width", "height", "pitch", "clear"),
)


def compile_marks(
    element: Element, context: CompileContext
) -> Callable[[Scope, ComputedStyle], SheetMarks | None]:
    """Compile marks of sheets; None if their `if` fails."""
    attributes = context.compile_attributes(element, *_MARKS)
    condition = context.compile_condition(element)
    sheet, source = context.sheet, Source(element.location)

    def build(scope: Scope, root: ComputedStyle) -> SheetMarks | None:
        if not condition.evaluate(scope):
            return None
        values = (attribute.read(scope) for attribute in attributes)
        return make_marks(values, lambda length: sheet.to_points(length, root), source)

    return build


def make_marks(
    values: Iterable[object],
    to_points: Callable[[LengthValue], float],
    source: Source | None = None,
) -> SheetMarks:
    """Return marks of the parsed values of `marks`, in the order of `_MARKS`."""
    own: list[Any] = [
        to_points(one) if isinstance(one, Length | RelativeLength) else one for one in values
    ]
    return replace(SheetMarks(*own), source=source)


def read_marks(plan: Mapping[str, str]) -> SheetMarks:
    """Return the marks of an output plan, whose members are the attributes of `marks`.

    Raises:
        ValueError: a member is not known, missing or not accepted; the message says which, and what is.
    """
    specs = ELEMENTS["marks"].attributes
    for name in plan:
        if name not in _MARKS:
            raise ValueError(f'"{name}" is not a member of marks; they are {", ".join(_MARKS)}')
    values = []
    for name in _MARKS:
        text = plan.get(name, specs[name].default)
        if text is None:
            raise ValueError(f'marks need "{name}": {specs[name].value_type.accepts}')
        try:
            values.append(specs[name].value_type.parse(str(text)))
        except ValueError as accepted:
            raise ValueError(
                f'"{name}" of marks is "{str(text)[:40]}"; accepted is {accepted}'
            ) from None
        if isinstance(values[-1], RelativeLength):
            raise ValueError(f'"{name}" of marks is "{text}"; use mm, cm, in or pt')
    return make_marks(values, lambda length: length.value)


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
        name, on = (read_attribute(element, of) for of in ("name", "on"))
        families.setdefault(name, {}).setdefault(Occurrence(on), element)
    # Members of a family share headers, footers and boxes.
    running = cache(partial(compile_running, context=context))
    boxes = cache(partial(compile_page_boxes, context=context))
    builds: list[BuildPage] = []
    for name, members in families.items():
        base = members.pop(Occurrence.ALL, None)
        for on, member in ((Occurrence.ALL, None), *members.items()):
            layers = tuple(layer for layer in (member, base) if layer is not None)
            builds.append(_compile_master(name, on, layers, context, running, boxes))

    def build(scope: Scope, root: ComputedStyle) -> tuple[PageMaster, ...]:
        return tuple(make(scope, root) for make in builds)

    return build


def _compile_master(
    name: str,
    on: Occurrence,
    layers: Sequence[Element],
    context: CompileContext,
    compile_part: Callable[[Element], BuildRunning],
    compile_boxes: Callable[[tuple[Element, ...]], BuildBoxes],
) -> BuildPage:
    """Compile a member; its layers are the member itself, then the one it inherits from.

    Blank pages inherit the paper alone.
    """
    sheet = context.sheet
    size, background, bleed, marks, media = (
        _read_attribute(layers, attribute, context)
        for attribute in ("size", "background", "bleed", "marks", "media")
    )
    margins, all_layers = _compile_margins(layers, context), layers
    if on is Occurrence.BLANK:
        layers = layers[:1]
    image, image_page = (
        _read_attribute(layers, attribute, context)
        for attribute in ("background-image", "background-page")
    )
    header, footer = (
        compile_part(found[0]) if (found := _children(layers, tag)) else None
        for tag in ("header", "footer")
    )
    inside = _children(layers, "box")
    boxes = compile_boxes(tuple(inside)) if inside else None
    areas = [_compile_area(area, context) for area in _children(layers, "area")]
    watermarks = [compile_watermark(mark, context) for mark in _children(layers, "watermark")]
    machine_marks = [compile_marks(one, context) for one in _children(all_layers, "marks")]
    source = Source(layers[0].location) if layers else None

    def build(scope: Scope, root: ComputedStyle) -> PageMaster:
        paper: Paper = size(scope)
        color, picture = background(scope), image(scope)
        made_marks = (make(scope, root) for make in watermarks)
        return PageMaster(
            source,
            name,
            on,
            paper.width,
            paper.height,
            margins(scope, root),
            find_color(sheet, color, scope, layers[0].location) if color is not None else None,
            None if picture is None else picture._replace(page=image_page(scope)),
            header(scope, root) if header else None,
            footer(scope, root) if footer else None,
            boxes(scope, root) if boxes else None,
            tuple(make(scope, root) for make in areas),
            tuple(mark for mark in made_marks if mark is not None),
            sheet.to_points(bleed(scope), root),
            marks(scope) == "crop",
            paper.is_open,
            media(scope),
            tuple(mark for make in machine_marks if (mark := make(scope, root)) is not None),
        )

    return build


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
    default = spec.read(None)
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
    flow = read_attribute(element, "flow")
    source = Source(element.location)

    def build(scope: Scope, root: ComputedStyle) -> Area:
        word = overflow.read(scope)
        return Area(
            source,
            sheet.compute_anonymous(root).style,
            flow,
            columns(scope, root),
            None if word == "continue" else Overflow(word),
            position(scope, root),
            sheet.to_optional_length(width.read(scope), root),
            sheet.to_optional_length(height.read(scope), root),
            Sides(*(sheet.to_points(side, root) for side in padding.read(scope))),
        )

    return build
