"""The common part of every block: its source, style, id and attributes, and the counters it sets."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.styles import ElementStyle
from workers.engine.tree.nodes import Block, Container, Role, Source
from workers.engine.tree.styles.cascade import ComputedStyle

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
        builder.build(scope, parent, out)

    return NodeBuilder(build, is_static=False)


def report_page_time(element: Element, context: CompileContext) -> NodeBuilder:
    """Report an element that content repeated by pages may not contain; it builds nothing."""
    context.findings.error(
        "misplaced-element",
        f"`{element.tag}` is not allowed in content that pages repeat: headers, footers, boxes of pages, "
        "and heads and feet of tables",
        element.location,
    )
    return sequence(())


class BlockBuilder:
    """The source, style, id and attributes of a block, and whether they depend on data."""

    __slots__ = ("attributes", "element_style", "identity", "plain", "sheet", "slug")

    def __init__(self, element: Element, context: CompileContext, *names: str) -> None:
        self.sheet = context.sheet
        self.element_style: ElementStyle = context.compile_style(element)
        self.identity: CompiledAttribute[str | None] = context.compile_attribute(element, "id")
        self.attributes = tuple(context.compile_attributes(element, *names))
        self.plain = Source(element.location)
        self.slug = element.slug if isinstance(element, MarkdownElement) else ""

    @property
    def is_static(self) -> bool:
        """Whether source, style, id and attributes do not depend on data."""
        is_named = bool(self.slug) or self.identity.constant is not None
        return (
            self.element_style.is_static
            and not is_named
            and all(each.is_static for each in (self.identity, *self.attributes))
        )

    def compute(self, scope: Scope, parent: ComputedStyle) -> ComputedStyle:
        """Return the style under a parent's; errors are reported."""
        return self.element_style.compute(scope, parent)

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
        inner.build(self.element_style.enter(scope), computed, made)
        return tuple(made)

    def box(
        self, scope: Scope, computed: ComputedStyle, blocks: tuple[Block, ...], name: str | None
    ) -> Container:
        """Return a plain box with the style and an id of the block."""
        return Container(self.source(scope), Role.DIV, computed.style, blocks, None, name)
