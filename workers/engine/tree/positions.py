"""Where boxes and areas stand: their offsets from the edges of what they stand in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Attribute, Context, find_color
from workers.engine.tree.nodes import Columns, Position
from workers.engine.tree.runtime import Scope
from workers.engine.units import NO_BORDER, Border, BorderStyle, Length, Sides

_SIDES: Final = ("top", "right", "bottom", "left")
_ATTRIBUTES: Final = frozenset(
    (*_SIDES, "layer", "columns", "column-gap", "column-fill", "column-rule")
)

ReadPosition = Callable[[Scope, Look], Position]
ReadColumns = Callable[[Scope, Look], Columns]


def is_positioned(element: Element) -> bool:
    """Tell whether an element states an offset or a layer, so that it stands out of the flow."""
    # On other elements they are told by the checks of the text.
    return element.tag == "box" and not element.attributes.keys().isdisjoint((*_SIDES, "layer"))


def is_placed_alike(element: Element) -> bool:
    """Tell whether an element's position and columns are the same for all data."""
    return not any("{{" in element.attributes.get(name, "") for name in _ATTRIBUTES)


def compile_position(element: Element, context: Context) -> ReadPosition:
    """Compile the offsets of an element, and the layer where it has one."""
    sheet = context.sheet
    offsets = Sides(*(context.attribute(element, side) for side in _SIDES))
    layer = (
        context.attribute(element, "layer") if "layer" in ELEMENTS[element.tag].attributes else None
    )

    def read(scope: Scope, look: Look) -> Position:
        def offset(side: Attribute[Length | None]) -> Length | None:
            value = side.read(scope)
            return None if value is None else sheet.to_length(value, look)

        is_over = layer is not None and layer.read(scope) == "over"
        top, right, bottom, left = (offset(side) for side in offsets)
        return Position(top, right, bottom, left, is_over)

    return read


def compile_columns(element: Element, context: Context) -> ReadColumns:
    """Compile `columns` and `column-gap`, and of `column-fill` and `column-rule` what there is."""
    count, gap = (context.attribute(element, name) for name in ("columns", "column-gap"))
    declared = ELEMENTS[element.tag].attributes
    fill, rule = (
        context.attribute(element, name) if name in declared else None
        for name in ("column-fill", "column-rule")
    )

    def read(scope: Scope, look: Look) -> Columns:
        return Columns(
            count.read(scope),
            context.sheet.to_points(gap.read(scope), look),
            fill is not None and fill.read(scope) == "balance",
            NO_BORDER if rule is None else _read_rule(rule, context, scope, look),
            look.style.paragraph.is_rtl,
        )

    return read


def _read_rule(rule: Attribute[Any], context: Context, scope: Scope, look: Look) -> Border:
    value = rule.read(scope)
    if value is None or value.style is BorderStyle.NONE:
        return NO_BORDER
    color = find_color(context.sheet, value.color, scope, rule.place)
    width = context.sheet.to_points(value.width, look)
    return Border(width, value.style, color) if color is not None and width else NO_BORDER
