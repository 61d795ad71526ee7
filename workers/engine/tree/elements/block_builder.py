"""The common part of every block: its source, style and id, and the counters it sets."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.builders import (
    NodeBuilder,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.styles import ElementStyle
from workers.engine.tree.elements.figures import read_id
from workers.engine.tree.nodes import (
    Source,
)
from workers.engine.tree.styles.cascade import ComputedStyle

_COUNTER_ATTRIBUTE: Final = "counter-set"  # of every element that may count


def with_counters(element: Element, context: CompileContext, builder: NodeBuilder) -> NodeBuilder:
    """Make an element that shows no number set the counters that it states."""
    if _COUNTER_ATTRIBUTE not in ELEMENTS[element.tag].attributes or context.is_page_time:
        return builder
    element_style = context.compile_style(element)
    if not element_style.may_count:
        return builder

    def build(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        numbering = element_style.compute(scope, parent).style.numbering
        if numbering is not None:
            scope.state.count_element(numbering, element.location, is_shown=False)
        builder.build(scope, parent, out)

    return NodeBuilder(build, is_static=False)


class BlockBuilder:
    """The source, style and id of a block, and whether they depend on data."""

    __slots__ = ("element_style", "identity", "plain", "slug")

    def __init__(self, element: Element, context: CompileContext) -> None:
        self.element_style: ElementStyle = context.compile_style(element)
        self.identity: CompiledAttribute[str | None] = context.compile_attribute(element, "id")
        self.plain = Source(element.location)
        self.slug = element.slug if isinstance(element, MarkdownElement) else ""

    @property
    def is_static(self) -> bool:
        """Whether source, style and id do not depend on data."""
        is_named = bool(self.slug) or self.identity.constant is not None
        return self.element_style.is_static and self.identity.is_static and not is_named

    def source(self, scope: Scope) -> Source:
        """Return the source of a node: one object outside of loops."""
        loop = scope.loop
        return Source(self.plain.location, loop) if loop else self.plain

    def read_id(self, scope: Scope) -> str | None:
        """Return the element's id, registered in the build."""
        if self.slug:
            state: BuildState = scope.state
            return state.register_fragment(self.slug, scope, self.plain.location)
        if self.identity.is_static and self.identity.constant is None:
            return None
        return read_id(self.identity, scope)
