"""Positions and columns of boxes and areas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.styles import find_color
from workers.engine.tree.nodes import ColumnLayout, Floating, FloatTo, Position
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.units import NO_BORDER, Border, BorderStyle, Length, Sides

_SIDES: Final = ("top", "right", "bottom", "left")
_ATTRIBUTES: Final = frozenset(
    (
        *_SIDES,
        *("layer", "columns", "column-gap", "column-fill", "column-rule"),
        *("float", "span", "float-within"),
    )
)

ReadPosition = Callable[[Scope, ComputedStyle], Position]
ReadFloating = Callable[[Scope], Floating | None]
ReadColumns = Callable[[Scope, ComputedStyle], ColumnLayout]


def is_positioned(element: Element) -> bool:
    """Return whether an element is out of the flow: it states an offset or a layer."""
    # On other elements the checks of the text report them.
    return element.tag == "box" and not element.attributes.keys().isdisjoint((*_SIDES, "layer"))


def is_placed_alike(element: Element) -> bool:
    """Return whether an element's position and columns do not depend on data."""
    return not any("{{" in element.attributes.get(name, "") for name in _ATTRIBUTES)


def compile_position(element: Element, context: CompileContext) -> ReadPosition:
    """Compile the offsets of an element, and its layer if it has one."""
    sheet = context.sheet
    offsets = Sides(*(context.compile_attribute(element, side) for side in _SIDES))
    layer = (
        context.compile_attribute(element, "layer")
        if "layer" in ELEMENTS[element.tag].attributes
        else None
    )

    def read(scope: Scope, computed: ComputedStyle) -> Position:
        def offset(side: CompiledAttribute[Length | None]) -> Length | None:
            value = side.read(scope)
            return None if value is None else sheet.to_length(value, computed)

        is_over = layer is not None and layer.read(scope) == "over"
        top, right, bottom, left = (offset(side) for side in offsets)
        return Position(top, right, bottom, left, is_over)

    return read


def compile_floating(element: Element, context: CompileContext) -> ReadFloating | None:
    """Compile the float of a figure, None if the figure states none."""
    if "float" not in element.attributes:
        return None
    to, span, within = context.compile_attributes(element, "float", "span", "float-within")

    def read(scope: Scope) -> Floating | None:
        edge = to.read(scope)
        if edge == "here":
            return None
        return Floating(
            FloatTo(edge), span.read(scope) == "columns", within.read(scope) == "section"
        )

    return read


def compile_columns(element: Element, context: CompileContext) -> ReadColumns:
    """Compile `columns` and `column-gap`, and `column-fill` and `column-rule` if the element has them."""
    count, gap = context.compile_attributes(element, "columns", "column-gap")
    declared = ELEMENTS[element.tag].attributes
    fill, rule = (
        context.compile_attribute(element, name) if name in declared else None
        for name in ("column-fill", "column-rule")
    )

    def read(scope: Scope, computed: ComputedStyle) -> ColumnLayout:
        return ColumnLayout(
            count.read(scope),
            context.sheet.to_points(gap.read(scope), computed),
            fill is not None and fill.read(scope) == "balance",
            NO_BORDER if rule is None else _read_rule(rule, context, scope, computed),
            computed.style.paragraph.is_rtl,
        )

    return read


def _read_rule(
    rule: CompiledAttribute[Any], context: CompileContext, scope: Scope, computed: ComputedStyle
) -> Border:
    value = rule.read(scope)
    if value is None or value.style is BorderStyle.NONE:
        return NO_BORDER
    color = find_color(context.sheet, value.color, scope, rule.location)
    width = context.sheet.to_points(value.width, computed)
    return Border(width, value.style, color) if color is not None and width else NO_BORDER
