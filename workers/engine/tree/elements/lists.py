"""Lists: bulleted, numbered, and with check boxes."""

from __future__ import annotations

from dataclasses import replace

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import (
    NodeBuilder,
    Nodes,
    sequence,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.elements.block_builder import BlockBuilder, with_counters
from workers.engine.tree.nodes import (
    ListBlock,
    ListItem,
)
from workers.engine.tree.references.counter_styles import CHECK_BOXES, format_marker
from workers.engine.tree.styles.cascade import ComputedStyle


def compile_list(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `ul` or `ol`."""
    common = BlockBuilder(element, context)
    kind = context.compile_attribute(element, "list-style-type")
    start = context.compile_attribute(element, "start") if element.tag == "ol" else None
    items = _compile_items(element, context)
    is_given = "list-style-type" in element.attributes

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        computed, properties = common.element_style.resolve(scope, parent)
        own = kind.read(scope)
        style = own if is_given else properties.get("list-style-type", own)
        first = 1 if start is None else start.read(scope)
        made: Nodes = []
        items.build(common.element_style.enter(scope).enter(markers=(style, first)), computed, made)
        out.append(
            ListBlock(common.source(scope), computed.style, tuple(made), common.read_id(scope))
        )

    is_static = common.is_static and items.is_static and kind.is_static
    return NodeBuilder(build, is_static and (start is None or start.is_static))


def _compile_items(parent: Element, context: CompileContext) -> NodeBuilder:
    return sequence(
        compile_controlled(child, context, _compile_item)
        for child in parent.elements()
        if child.tag in ("li", "group")
    )


def _compile_item(element: Element, context: CompileContext) -> NodeBuilder:
    if element.tag == "group":
        return _compile_items(element, context)
    made = _ItemBuilder(element, context, "checked")
    inner = replace(context, is_in_list=True).compile_blocks(element.children, owner=element)
    made.inner = inner
    builder = NodeBuilder(made, made.is_static and inner.is_static)
    return with_counters(element, context, builder) if context.features.counters else builder


class _ItemBuilder(BlockBuilder):
    """Builds an item of a list."""

    __slots__ = ("inner",)
    inner: NodeBuilder

    def __call__(self, scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        computed = self.element_style.compute(scope, parent)
        kind, first = scope.markers
        blocks = self.build_inside(self.inner, scope, computed)
        own_id = self.read_id(scope)
        (checked,) = self.read(scope)
        marker = CHECK_BOXES.get(checked) or format_marker(kind, first + len(out))
        out.append(ListItem(self.source(scope), computed.style, marker, blocks, own_id))
