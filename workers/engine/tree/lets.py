"""Names that a `let` sets for the siblings after it, among blocks and among rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, in_order
from workers.engine.tree.runtime import Scope


def compile_let(element: Element, context: Context) -> Part:
    """Compile a `let` among blocks: it sets a name for the siblings after it."""
    name = element.attributes.get("name", "")
    value = context.expression(element.attributes.get("value", "none"), element.place)

    def build(scope: Scope, _parent: Look, _out: list[Any]) -> None:
        scope[name] = value.evaluate(scope)

    return Part(build, is_static=False)


def compile_with_lets(
    children: Iterable[Element],
    context: Context,
    compile_child: Callable[[Element, Context], Part],
) -> Part:
    """Compile children in order, each with the names that the `let`s before it set."""
    parts: list[Part] = []
    has_names = False
    for child in children:
        if child.tag == "let":
            has_names = True
            parts.append(compile_let(child, context))
            context = context.knowing(child.attributes.get("name", ""))
        else:
            parts.append(compile_child(child, context))
    part = in_order(parts)
    return keep_names(part) if has_names else part


def keep_names(part: Part) -> Part:
    """Keep what `let` sets among its siblings."""

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        part.build(dict(scope), parent, out)

    return Part(build, part.is_static)
