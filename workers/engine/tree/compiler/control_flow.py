"""Control flow of every element: its loop, its condition, and the parts and slots of `use`."""

from __future__ import annotations

from functools import partial

from workers.engine.syntax.names import BUSINESS_TERM
from workers.engine.syntax.nodes import Element, Expansion
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.builders import BuildNodes, NodeBuilder, Nodes
from workers.engine.tree.compiler.business_terms import compile_business_term
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.loops import compile_loop
from workers.engine.tree.compiler.parts import CompileInner, compile_expansion
from workers.engine.tree.styles.cascade import (
    ComputedStyle,
)


def _conditional(condition: Evaluation, build: BuildNodes) -> BuildNodes:
    def build_if(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        if condition.evaluate(scope):
            build(scope, parent, out)

    return build_if


def compile_controlled(
    element: Element, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    """Compile an element with its `for` and `if`; the condition is evaluated in each iteration."""
    if isinstance(element, Expansion):
        return compile_expansion(element, context, compile_inner)
    attributes = element.attributes
    spec = ELEMENTS.get(element.tag)
    if spec is None or "for" not in spec.attributes:  # reported by the checks, if it is given
        return compile_inner(element, context)
    term = spec.attributes.get("term") if "term" in attributes else None
    if term is not None and term.value_type is BUSINESS_TERM:
        compile_inner = partial(compile_business_term, compile_inner)
    if "for" not in attributes and "if" not in attributes:
        return compile_inner(element, context)
    loop = compile_loop(element, context) if "for" in attributes else None
    inner = context if loop is None else loop.context
    condition = (
        inner.compile_expression(attributes["if"], element.location) if "if" in attributes else None
    )
    builder = compile_inner(element, inner)
    build = builder.build if condition is None else _conditional(condition, builder.build)
    return NodeBuilder(build if loop is None else loop.build_each(build), is_static=False)
