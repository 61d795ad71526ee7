"""The common parts of blocks: source, style, id and attributes, counters, positions and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute, ElementStyle, find_color
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.nodes import (
    Block,
    ColumnLayout,
    Container,
    Floating,
    FloatTo,
    Position,
    Role,
    Source,
)
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import Overflow
from workers.engine.units import NO_BORDER, Border, BorderStyle, Length, Sides

_COUNTER_ATTRIBUTE: Final = "counter-set"  # of every element that may count


def read_id(attribute: CompiledAttribute[str | None], scope: Scope) -> str | None:
    """Return an element's id, registered in the build."""
    name = attribute.read(scope)
    if name is not None:
        scope.state.register_id(name, attribute.location)
    return name


def with_counters(element: Element, context: CompileContext, builder: NodeBuilder) -> NodeBuilder:
    """Make an element that shows no number set the counters that it states."""
    if _COUNTER_ATTRIBUTE not in ELEMENTS[element.tag].attributes or context.is_page_time:
        return builder
    element_style = context.compile_style(element)
    if not element_style.may_count:
        return builder

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        numbering = element_style.compute(scope, parent).style.numbering
        if numbering is not None:
            scope.state.count_element(numbering, element.location, is_shown=False)
        builder(scope, parent, out)

    return build


class BlockBuilder:
    """The source, style, id and attributes of a block."""

    __slots__ = ("attributes", "element_style", "identity", "plain", "sheet", "slug")

    def __init__(self, element: Element, context: CompileContext, *names: str) -> None:
        self.sheet = context.sheet
        self.element_style: ElementStyle = context.compile_style(element)
        self.identity: CompiledAttribute[str | None] = context.compile_attribute(element, "id")
        self.attributes = tuple(context.compile_attributes(element, *names))
        self.plain = Source(element.location)
        self.slug = element.slug if isinstance(element, MarkdownElement) else ""

    def compute(self, scope: Scope, parent: ComputedStyle) -> ComputedStyle:
        """Return the style under a parent's; errors are reported."""
        computed = self.element_style.compute(scope, parent)
        if computed.style.box.overflow is Overflow.SHRINK:
            scope.state.count_shrinking(self.plain.location)
        return computed

    def source(self, scope: Scope) -> Source:
        """Return the source of a node: one object outside of loops."""
        return Source(self.plain.location, scope.loop) if scope.loop else self.plain

    def read(self, scope: Scope) -> list[Any]:
        """Return the values of the attributes, in the order of their names."""
        return [each.read(scope) for each in self.attributes]

    def read_id(self, scope: Scope) -> str | None:
        """Return the element's id, registered in the build."""
        if self.slug:
            return scope.state.register_fragment(self.slug, scope, self.plain.location)
        if self.identity.is_static and self.identity.constant is None:
            return None
        return read_id(self.identity, scope)

    def build_inside(
        self, inner: NodeBuilder, scope: Scope, computed: ComputedStyle
    ) -> tuple[Any, ...]:
        """Return the content of the block, in its language."""
        made: Nodes = []
        inner(self.element_style.enter(scope), computed, made)
        return tuple(made)

    def box(
        self, scope: Scope, computed: ComputedStyle, blocks: tuple[Block, ...], name: str | None
    ) -> Container:
        """Return a plain box with the style and an id of the block."""
        return Container(self.source(scope), Role.DIV, computed.style, blocks, None, name)


_SIDES: Final = ("top", "right", "bottom", "left")

ReadPosition = Callable[[Scope, ComputedStyle], Position]
ReadFloating = Callable[[Scope], Floating | None]
ReadColumns = Callable[[Scope, ComputedStyle], ColumnLayout]


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
