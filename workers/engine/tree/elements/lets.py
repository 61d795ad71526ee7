"""`let`: names for the siblings after it, among blocks and among rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.styles.cascade import ComputedStyle


def compile_let(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `let`, which sets a name for the siblings after it."""
    name = element.attributes.get("name", "")
    value = context.compile_expression(element.attributes.get("value", "none"), element.location)

    def build(scope: Scope, _parent: ComputedStyle, _out: Nodes) -> None:
        scope.names[name] = value.evaluate(scope)

    return NodeBuilder(build, is_static=False)


def compile_with_lets(
    children: Iterable[Element],
    context: CompileContext,
    compile_child: Callable[[Element, CompileContext], NodeBuilder],
) -> NodeBuilder:
    """Compile children in order, each with the names that the `let`s before it set."""
    builders: list[NodeBuilder] = []
    has_names = False
    for child in children:
        if child.tag == "let":
            has_names = True
            builders.append(compile_let(child, context))
            context = context.with_names(child.attributes.get("name", ""))
        else:
            builders.append(compile_child(child, context))
    builder = sequence(builders)
    return keep_names(builder) if has_names else builder


def keep_names(builder: NodeBuilder) -> NodeBuilder:
    """Return a builder that runs in a scope of its own, so that `let` affects siblings alone."""

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        builder.build(scope.fork(), parent, out)

    return NodeBuilder(build, builder.is_static)
