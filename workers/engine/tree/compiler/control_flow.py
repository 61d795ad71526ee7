"""Control flow of every element: its loop, its condition, the parts and slots of `use`, and `let`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.names import BUSINESS_TERM
from workers.engine.syntax.nodes import Element, Expansion, Text
from workers.engine.syntax.values import LoopClause
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.builders import BuildNodes, NodeBuilder, Nodes, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.parts import CompileInner, compile_expansion
from workers.engine.tree.expressions.grammar import Expression, TextTemplate
from workers.engine.tree.expressions.runtime import describe_type
from workers.engine.tree.nodes import LoopStep
from workers.engine.tree.rendered_terms import RenderedTerm
from workers.engine.tree.styles.cascade import ComputedStyle


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


def _conditional(condition: Evaluation, build: BuildNodes) -> BuildNodes:
    def build_if(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        if condition.evaluate(scope):
            build(scope, parent, out)

    return build_if


class CompiledLoop:
    """A compiled `for`: runs a builder once for each item, with the loop variables set."""

    def __init__(
        self,
        location: SourceLocation,
        clause: LoopClause,
        items: Evaluation,
        context: CompileContext,
        used_outside: set[str],
        attribute: str = "for",
    ) -> None:
        self.location = location
        self.clause = clause
        self.context = context
        self._items = items
        self._attribute_name = attribute
        self._used_outside = used_outside

    def propagate_names(self) -> None:
        """Record the names used inside in the context outside."""
        self._used_outside |= self.context.used - {"loop"}

    def evaluate_items(self, scope: Scope) -> list[Any]:
        """Return the items, and count them as iterations; a record has pairs of key and value."""
        state = scope.state
        items = self._items.evaluate(scope)
        if items is None:
            return []
        if isinstance(items, dict) and self.clause.key:
            items = list(items.items())
        elif not isinstance(items, list) or self.clause.key:
            wanted = "a record" if self.clause.key else "a list"
            state.findings.error(
                "loop-needs-list",
                f'{self._attribute_name}="{self.clause.name} in {self.clause.expression[:80]}" needs {wanted}, '
                f"not {describe_type(items)}",
                self.location,
            )
            return []
        state.count_iterations(len(items), self.location)
        return items

    def build_each(self, build: BuildNodes) -> BuildNodes:
        """Return a function that runs another once for each item."""
        self.propagate_names()

        def build_iterations(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
            for inner in self.iterate(scope, self.evaluate_items(scope)):
                build(inner, parent, out)

        return build_iterations

    def iterate(self, scope: Scope, items: Sequence[Any]) -> Iterator[Scope]:
        """Yield the scope of each iteration: one object, whose names change."""
        key, name, list_name = self.clause.key, self.clause.name, self.clause.expression.strip()
        uses_loop, steps = "loop" in self.context.used, scope.loop
        inner = scope.fork()
        names = inner.names
        for index, item in enumerate(items, 1):
            if key is None:
                names[name] = item
            else:
                names[key], names[name] = item
            inner.loop = (*steps, LoopStep(list_name, index))
            if uses_loop:
                names["loop"] = _loop_record(index, len(items))
            yield inner


def _loop_record(index: int, length: int) -> dict[str, Any]:
    """Return the record that `loop` reads in an iteration, counted from 1."""
    return {
        "index": Decimal(index),
        "first": index == 1,
        "last": index == length,
        "length": Decimal(length),
    }


def compile_loop(element: Element, context: CompileContext, attribute: str = "for") -> CompiledLoop:
    """Compile a `for`, or an attribute like it, with the context of the content it repeats."""
    spec = ELEMENTS[element.tag].attributes[attribute]
    try:
        clause: LoopClause = spec.value_type.parse(element.attributes[attribute])
    except ValueError:  # reported by the checks
        clause = LoopClause(None, "#", "[]")
    items = context.compile_expression(clause.expression, element.location)
    known = [name for name in (clause.key, clause.name, "loop") if name]
    used: set[str] = set()
    inner = replace(context, names=context.names | set(known), used=used)
    return CompiledLoop(element.location, clause, items, inner, context.used, attribute)


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
