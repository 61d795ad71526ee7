"""Flows: named content, which fills pages or is put in place by `insert`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import BLOCKS, INLINE
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import (
    NodeBuilder,
    Nodes,
    sequence,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder
from workers.engine.tree.styles.cascade import ComputedStyle

MAX_INSERT_DEPTH: Final = 32


def compile_insert(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `insert` of a flow."""
    name = element.attributes.get("flow", "")
    if "{{" in name:
        context.findings.error(
            "wrong-value", "The flow of insert is a name, not an expression", element.location
        )
        return sequence(())
    if name in context.insertion_path:
        path = " → ".join((*context.insertion_path, name))
        context.findings.error(
            "flow-cycle", f"The flows insert each other: {path}", element.location
        )
        return sequence(())
    if name not in context.flows:  # reported by the checks
        return sequence(())
    common = BlockBuilder(element, context)
    needs_box = not element.attributes.keys() <= {"flow", "for", "if", "lang"}
    has_lang = "lang" in element.attributes
    compiled = compile_flow(name, context)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        scope.state.count_iterations(1, element.location)
        computed = common.compute(scope, parent)
        if not needs_box:
            entered = common.element_style.enter(scope)
            compiled.build(entered, computed if has_lang else parent, out)
            return
        blocks = common.build_inside(compiled, scope, computed)
        out.append(common.box(scope, computed, blocks, common.read_id(scope)))

    return NodeBuilder(build, is_static=False)


def compile_flow(name: str, context: CompileContext) -> NodeBuilder:
    """Compile a flow's content, which may use the names where it is inserted."""
    element = context.flows[name]
    inner_context = replace(
        context, insertion_path=(*context.insertion_path, name), is_in_list=False
    )
    if len(inner_context.insertion_path) > MAX_INSERT_DEPTH:
        context.findings.error(
            "flow-cycle", "Flows are inserted more than 32 deep", element.location
        )
        return sequence(())
    element_style = context.compile_style(element)
    inner = _compile_flow_once(element, inner_context)
    is_poured = context.features.has_notes and not context.insertion_path

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = element_style.compute(scope, parent)
        inner.build(scope.enter(note_parent=own) if is_poured else scope, own, out)

    return NodeBuilder(build, inner.is_static and element_style.is_static)


def compile_unused(builder: Element, context: CompileContext) -> None:
    """Compile a part that nothing uses, for the errors in it, unless it is of a table or list."""
    if all(
        child.tag in BLOCKS | INLINE for used in builder.elements() for child in used.elements()
    ):
        context.compile_blocks(builder.children, owner=builder)


def _compile_flow_once(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a flow's blocks once for all places that know the same names."""
    name = element.attributes.get("name", "body")
    key = (name, context.names, context.is_page_time, context.is_in_note, context.takes_notes)
    found = context.compiled_flows.get(key)
    if found is None:
        own = replace(context, used=set())
        builder = own.compile_blocks(element.children, owner=element)
        found = context.compiled_flows[key] = (builder, frozenset(own.used))
    builder, used = found
    context.used.update(used)
    return builder
