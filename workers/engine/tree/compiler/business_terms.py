"""Elements with `term`: their text is compared with the electronic invoice of the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workers.engine.syntax.nodes import Element, Text
from workers.engine.tree.build_state import Scope
from workers.engine.tree.expressions.grammar import Expression, TextTemplate
from workers.engine.tree.rendered_terms import RenderedTerm
from workers.engine.tree.styles.cascade import ComputedStyle

if TYPE_CHECKING:
    from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
    from workers.engine.tree.compiler.context import CompileContext

_TEXT_ELEMENTS: Final = frozenset({"span", "b", "i", "u", "s", "code", "a", "br"})
_CONTROLS: Final = frozenset({"for", "if", "lang"})


def compile_business_term(
    compile_inner: Callable[[Element, CompileContext], NodeBuilder],
    element: Element,
    context: CompileContext,
) -> NodeBuilder:
    """Compile an element with `term`, so that its text is stored each time it is built."""
    builder = compile_inner(element, context)
    location = context.read_constant(element, "term")
    if location is None:  # reported by the checks
        return builder
    parts: list[str | Expression] = []
    _collect_text(element, context, parts)
    text = context.compile_text(TextTemplate(tuple(parts) or ("",)), element.location)
    element_style = context.compile_style(element, is_inline=True)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        builder.build(scope, parent, out)
        state = scope.state
        if state.rendered_terms.is_paused:
            return
        inner = element_style.enter(scope)
        rendered = RenderedTerm(
            location,
            text.evaluate(inner),
            inner.formats,
            element.location,
            is_repeated=state.is_page_time,
        )
        state.rendered_terms.add(rendered, state.findings)

    return builder._replace(build=build, is_static=False)


def _collect_text(element: Element, context: CompileContext, parts: list[str | Expression]) -> None:
    """Append the text of an element with `term`; elements that data may leave out are reported."""
    for child in element.children:
        if isinstance(child, Text):
            written = context.parse_template(
                child.text, element.location, is_literal=child.is_literal
            )
            parts += written.parts
        elif child.tag == "br":
            parts.append(" ")
        elif child.tag in _TEXT_ELEMENTS and not _CONTROLS & child.attributes.keys():
            _collect_text(child, context, parts)
        else:
            context.findings.error(
                "term-content",
                f"An element with `term` holds text, and {', '.join(sorted(_TEXT_ELEMENTS))} without "
                f"`for`, `if` and `lang`; set `{child.tag}` outside of it",
                child.location,
            )
