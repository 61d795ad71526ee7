"""The common parts of blocks: source, style, id and attributes, counters, positions and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.syntax.values import ColorValue, LengthValue
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute, ElementStyle, find_color
from workers.engine.tree.compiler.builders import EMPTY, NodeBuilder, collect
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
from workers.engine.tree.styles.cascade import ComputedStyle, Properties
from workers.engine.tree.styles.computed import Overflow, Style
from workers.engine.units import NO_BORDER, Border, BorderStyle, Color, Length

# Makes a block or list item, None if it is left out.
MakeBlock = Callable[["Frame"], Any]


def read_id(attribute: CompiledAttribute[str | None], scope: Scope) -> str | None:
    """Return an element's id, registered in the build."""
    name = attribute.read(scope)
    if name is not None:
        scope.state.register_id(name, attribute.location)
    return name


class Frame:
    """A block as it is built: what its element states, in a scope and a style."""

    __slots__ = ("_block", "computed", "properties", "scope")

    def __init__(
        self, block: BlockBuilder, scope: Scope, computed: ComputedStyle, properties: Properties
    ) -> None:
        self._block = block
        self.scope = scope
        self.computed = computed
        self.properties = properties  # specified for the element

    @property
    def state(self) -> BuildState:
        """The state of the build."""
        return self.scope.state

    @property
    def style(self) -> Style:
        """The style of the block."""
        return self.computed.style

    @property
    def location(self) -> SourceLocation:
        """The location of the element."""
        return self._block.plain.location

    @property
    def source(self) -> Source:
        """The source of the node: one object outside of loops."""
        loop = self.scope.loop
        return Source(self.location, loop) if loop else self._block.plain

    def read(self) -> list[Any]:
        """Return the values of the attributes, in the order of their names."""
        return [each.read(self.scope) for each in self._block.attributes]

    def read_id(self) -> str | None:
        """Return the element's id, registered in the build."""
        block = self._block
        if block.slug:
            return self.state.register_fragment(block.slug, self.scope, self.location)
        if block.identity.is_static and block.identity.constant is None:
            return None
        return read_id(block.identity, self.scope)

    def enter(self) -> Scope:
        """Return the scope inside the block, in its language."""
        return self._block.element_style.enter(self.scope)

    def inside(self, **changes: object) -> tuple[Any, ...]:
        """Return what is inside the block, in its scope with some changes."""
        scope = self.enter()
        inner = scope.enter(**changes) if changes else scope
        return collect(self._block.inner, inner, self.computed)

    def box(
        self, blocks: tuple[Block, ...], name: str | None, computed: ComputedStyle | None = None
    ) -> Container:
        """Return a plain box with an id, in the style of the block or another."""
        style = (computed or self.computed).style
        return Container(self.source, Role.DIV, style, blocks, None, name)

    def find_color(self, value: ColorValue | None) -> Color | None:
        """Return the colour of an attribute, None for none; an unknown name is reported."""
        return find_color(self._block.sheet, value, self.scope, self.location)

    def anonymous(self, *entries: str) -> ComputedStyle:
        """Return the style of a box in the block that no element makes, with the properties of some entries."""
        return self._block.sheet.compute_anonymous(self.computed, *entries)

    def to_points(self, value: LengthValue) -> float:
        """Return a length in points; em are of the block's font size."""
        return self._block.sheet.to_points(value, self.computed)

    def to_length(self, value: LengthValue) -> Length:
        """Return a length with font units resolved."""
        return self._block.sheet.to_length(value, self.computed)


class BlockBuilder:
    """Builds the block of an element: its style, counters and id here, the rest by `make`.

    `make` may read the attributes `names`, and build what is inside by `inner`.
    """

    __slots__ = (
        *("attributes", "counts", "element_style", "identity", "inner", "make", "plain", "sheet"),
        "slug",
    )

    def __init__(
        self,
        element: Element,
        context: CompileContext,
        *names: str,
        make: MakeBlock | None = None,
        inner: NodeBuilder = EMPTY,
    ) -> None:
        if make is not None:  # else it is a method
            self.make = make
        self.inner = inner
        self.sheet = context.sheet
        self.element_style: ElementStyle = context.compile_style(element)
        # What shows no number may set counters.
        self.counts = self.element_style.may_count and not context.is_page_time
        self.identity: CompiledAttribute[str | None] = context.compile_attribute(element, "id")
        self.attributes = tuple(context.compile_attributes(element, *names))
        self.plain = Source(element.location)
        self.slug = element.slug if isinstance(element, MarkdownElement) else ""

    def __call__(self, scope: Scope, parent: ComputedStyle, out: Any) -> None:
        """Append the block, if it is not left out."""
        made = self.make(self.open(scope, parent))
        if made is not None:
            if made.id is not None and not scope.state.is_page_time:
                scope.state.references.add_blocks(made.id, (made,))
            out.append(made)

    def open(self, scope: Scope, parent: ComputedStyle) -> Frame:
        """Return the block in its style, whose errors are reported; it sets the counters that it states."""
        computed, properties = self.element_style.resolve(scope, parent)
        style = computed.style
        if style.box.overflow is Overflow.SHRINK:
            scope.state.count_shrinking(self.plain.location)
        if self.counts and style.numbering is not None:
            scope.state.count_element(style.numbering, self.plain.location, is_shown=False)
        return Frame(self, scope, computed, properties)


def block(
    *names: str, holds_blocks: bool = False
) -> Callable[[MakeBlock], Callable[[Element, CompileContext], NodeBuilder]]:
    """Turn a function that makes a block of its frame into one that compiles its element."""

    def decorate(make: MakeBlock) -> Callable[[Element, CompileContext], NodeBuilder]:
        def compile_block(element: Element, context: CompileContext) -> NodeBuilder:
            children = element.children if holds_blocks else []
            inner = context.compile_blocks(children, owner=element)
            return BlockBuilder(element, context, *names, make=make, inner=inner)

        return compile_block

    return decorate


def make_box(frame: Frame) -> Container:
    """Return the box of a block that is nothing but the blocks in it."""
    blocks = frame.inside()
    return frame.box(blocks, frame.read_id())


_SIDES: Final = ("top", "right", "bottom", "left")

ReadPosition = Callable[[Scope, ComputedStyle], Position]
ReadFloating = Callable[[Scope], Floating | None]
ReadColumns = Callable[[Scope, ComputedStyle], ColumnLayout]


def compile_position(element: Element, context: CompileContext) -> ReadPosition:
    """Compile the offsets of an element, and its layer if it has one."""
    sheet = context.sheet
    offsets = context.compile_attributes(element, *_SIDES)
    layer = (
        context.compile_attribute(element, "layer")
        if "layer" in ELEMENTS[element.tag].attributes
        else None
    )

    def read(scope: Scope, computed: ComputedStyle) -> Position:
        top, right, bottom, left = (
            sheet.to_optional_length(each.read(scope), computed) for each in offsets
        )
        is_over = layer is not None and layer.read(scope) == "over"
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
