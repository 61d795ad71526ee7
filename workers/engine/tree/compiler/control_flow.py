"""Control flow of every element: its loop, its condition, the parts and slots of `use`, and `let`.

A part knows its arguments alone; the content of a slot knows the names where the part is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeVar

from workers.engine.diagnostics import SourceLocation
from workers.engine.merge.declarations import DeclaredShape
from workers.engine.merge.payload import SETTINGS
from workers.engine.syntax.names import BUSINESS_TERM
from workers.engine.syntax.nodes import (
    Element,
    ElseExpansion,
    Expansion,
    PartExpansion,
    SlotExpansion,
    Text,
)
from workers.engine.syntax.values import LoopClause
from workers.engine.syntax.vocabulary import ELEMENTS, read_attribute
from workers.engine.syntax.vocabulary.specs import FIELDS
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.builders import EMPTY, NodeBuilder, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.expressions.environment import DOCUMENT_NAMES, OF_A_PAGE
from workers.engine.tree.expressions.grammar import Expression, TextTemplate
from workers.engine.tree.expressions.members import KnownNames, find_shape
from workers.engine.tree.expressions.runtime import describe_type
from workers.engine.tree.nodes import LoopStep
from workers.engine.tree.rendered_terms import RenderedTerm
from workers.engine.tree.styles.cascade import ComputedStyle

_PART_NAMES: Final = DOCUMENT_NAMES | {SETTINGS} | OF_A_PAGE

Child = TypeVar("Child")
CompileInner = Callable[[Element, CompileContext], NodeBuilder]


@dataclass(frozen=True, slots=True)
class PartStep(LoopStep):
    """A use of a part: its name, and the line of the `use`."""

    def __str__(self) -> str:
        return f'part "{self.name}" used in line {self.index}'


def compile_expansion(
    element: Expansion, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    """Compile the expansion of an `else`, `use` or `slot`."""
    match element:
        case ElseExpansion():
            return _compile_otherwise(element, context, compile_inner)
        case PartExpansion():
            return _compile_part(element, context, compile_inner)
        case SlotExpansion() if context.caller is not None:
            return _compile_slot(element, context, context.caller, compile_inner)
        case _:
            return compile_inner(element, context)


def _compile_otherwise(
    element: ElseExpansion, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    condition = context.compile_expression(
        element.condition, element.condition_location or element.location
    )
    condition.fallback = True  # one that fails chooses neither
    build_inner = compile_inner(element, context)

    def build(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        if not condition.evaluate(scope):
            build_inner(scope, parent, out)

    return build


# --- parts ----------------------------------------------------------------------------------------------


def _compile_part(
    element: PartExpansion, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    """Compile a part where it is used: its arguments there, its content with their names."""
    location, name = element.source_location, element.name
    known = dict.fromkeys(DOCUMENT_NAMES | ({SETTINGS} & context.names.keys()))
    inside = replace(context, names=known, used=set(), expansion=element, caller=context)
    arguments, taken = _compile_arguments(element, context, inside)
    build_inner = compile_inner(element, inside.with_names(taken))
    context.used.update(inside.used - taken.keys())
    fills_slot = element.fills_slot

    def build(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        scope.state.count_iterations(1, location)
        inner = _enter_part(scope, name, location)
        if fills_slot:
            # A copy: a loop around changes its variables, and heads of tables are built later.
            inner.caller = scope.fork()
        inner.names |= {key: value.evaluate(scope) for key, value in arguments}
        with _attributing_findings(scope, (location, str(inner.loop[-1]))):
            build_inner(inner, parent, out)

    return build


def _compile_arguments(
    element: PartExpansion, context: CompileContext, defaults: CompileContext
) -> tuple[list[tuple[str, Evaluation]], KnownNames]:
    """Compile the arguments of a use, and return their names; those not given have their default."""
    arguments: list[tuple[str, Evaluation]] = []
    names: dict[str, DeclaredShape | None] = {}
    for parameter in element.parameters:
        given, name = element.arguments.get(parameter.name), parameter.name
        names[name] = None
        if given is None:
            value = defaults.compile_expression(parameter.default or "none", element.location)
        else:
            value, names[name] = _compile_argument(given, element.source_location, context)
        arguments.append((name, value))
    return arguments, names


def _compile_argument(
    text: str, location: SourceLocation, context: CompileContext
) -> tuple[Evaluation, DeclaredShape | None]:
    """Compile the value of an argument, which keeps its type if it is exactly one expression."""
    template = context.parse_template(text, location)
    sole = template.sole
    if sole is None:
        return context.compile_text(template, location), None
    value = Evaluation(compile_value(sole), (sole,), location, None)
    return value, find_shape(sole, context.names)


def _enter_part(scope: Scope, name: str, location: SourceLocation) -> Scope:
    """Return the scope inside a part that is used at a location, without its arguments."""
    return scope.enter(
        names={name: value for name, value in scope.names.items() if name in _PART_NAMES},
        loop=(*scope.loop, PartStep(name, location.span.line_start)),
    )


# --- slots ----------------------------------------------------------------------------------------------


def _compile_slot(
    element: SlotExpansion,
    context: CompileContext,
    caller: CompileContext,
    compile_inner: CompileInner,
) -> NodeBuilder:
    """Compile the content of a slot, with the names that are known where the part is used."""
    used: set[str] = set()
    outside = replace(
        caller,
        used=used,
        is_page_time=context.is_page_time,
        is_in_list=context.is_in_list,
        totals=context.totals,
    )
    build_inner = compile_inner(element, outside)
    caller.used.update(used)
    context.used.update(used & OF_A_PAGE)
    # Page values that are names of another kind there.
    hidden = OF_A_PAGE & caller.names.keys()

    def build(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        with _attributing_findings(scope, None):
            build_inner(_leave_part(scope, hidden), parent, out)

    return build


def _leave_part(scope: Scope, hidden: frozenset[str]) -> Scope:
    """Return the scope of slot content: the names of the use, and the state of the build."""
    caller = scope.caller
    assert caller is not None, "a part with slot content has the scope of its use"
    shown = (OF_A_PAGE - hidden) & scope.names.keys()
    names = caller.names | {name: scope.names[name] for name in shown}
    return scope.enter(names=names, loop=caller.loop, caller=caller.caller)


@contextmanager
def _attributing_findings(scope: Scope, use: tuple[SourceLocation, str] | None) -> Iterator[None]:
    """Attribute findings to the use of a part while it is built, to none outside of the part."""
    findings = scope.state.findings
    before = findings.part_context
    findings.part_context = use
    try:
        yield
    finally:
        findings.part_context = before


# Of which a document has one at each place, with an anchor or a name of its own.
_NOT_REPEATED: Final = frozenset({"toc", "index", "ref", "mark", "running", *FIELDS})


def compile_controlled(
    element: Element, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    """Compile an element with its `for` and `if`; the condition is evaluated in each iteration."""
    if isinstance(element, Expansion):
        return compile_expansion(element, context, compile_inner)
    if context.is_page_time and element.tag in _NOT_REPEATED:
        message = (
            f"`{element.tag}` is not allowed in content that pages repeat: headers, footers, boxes of pages, "
            "and heads and feet of tables"
        )
        context.findings.error("misplaced-element", message, element.location)
        return EMPTY
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
    condition = inner.compile_condition(element)
    build = compile_inner(element, inner)
    if "if" in attributes:
        build = _conditional(condition, build)
    return build if loop is None else loop.build_each(build)


def controlled(compile_inner: CompileInner) -> CompileInner:
    """Return a function that compiles an element with its `for` and `if`."""
    return partial(compile_controlled, compile_inner=compile_inner)


def compile_in_groups(
    parent: Element, context: CompileContext, compile_child: CompileInner, *tags: str
) -> NodeBuilder:
    """Compile the children of some tags in order, those in groups too.

    A group without elements is compiled for the errors of its `for` and `if` alone.
    """

    def compile_group(group: Element, inner: CompileContext) -> NodeBuilder:
        return compile_in_groups(group, inner, compile_child, *tags)

    return sequence(
        compile_controlled(child, context, compile_group)
        if child.tag == "group"
        else compile_child(child, context)
        for child in parent.elements()
        if child.tag in tags or holds(child, *tags) or is_empty_group(child)
    )


def is_empty_group(element: Element) -> bool:
    """Return whether an element is a group that holds no others."""
    return element.tag == "group" and not any(element.elements())


def holds(group: Element, *tags: str) -> bool:
    """Return whether a group holds elements of some tags, directly or in nested groups."""
    return group.tag == "group" and any(
        child.tag in tags or holds(child, *tags) for child in group.elements()
    )


def _conditional(condition: Evaluation, build: NodeBuilder) -> NodeBuilder:
    def build_if(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        if condition.evaluate(scope):
            build(scope, parent, out)

    return build_if


@dataclass(frozen=True, slots=True, eq=False)
class CompiledLoop:
    """A compiled `for`: runs a builder once for each item, with the loop variables set."""

    location: SourceLocation
    clause: LoopClause
    items: Evaluation
    context: CompileContext
    used_outside: set[str]
    names: KnownNames
    attribute: str = "for"

    def propagate_names(self) -> None:
        """Record the names used inside in the context outside."""
        self.used_outside.update(self.context.used - {"loop"})

    def evaluate_items(self, scope: Scope) -> list[object]:
        """Return the items, and count them as iterations; a record has pairs of key and value."""
        state = scope.state
        items = self.items.evaluate(scope)
        if items is None:
            return []
        if isinstance(items, dict) and self.clause.key:
            items = list(items.items())
        elif not isinstance(items, list) or self.clause.key:
            wanted = "a record" if self.clause.key else "a list"
            state.findings.error(
                "loop-needs-list",
                f'{self.attribute}="{self.clause.name} in {self.clause.expression[:80]}" needs {wanted}, '
                f"not {describe_type(items)}",
                self.location,
            )
            return []
        state.count_iterations(len(items), self.location)
        return items

    def build_each(self, build: NodeBuilder) -> NodeBuilder:
        """Return a function that runs another once for each item."""
        self.propagate_names()

        def build_iterations(scope: Scope, parent: ComputedStyle, out: Any) -> None:
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


def _loop_record(index: int, length: int) -> dict[str, object]:
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
    # One that is not accepted is reported by the checks.
    clause: LoopClause = spec.read(element.attributes[attribute]) or LoopClause(None, "#", "[]")
    items = context.compile_expression(clause.expression, element.location)
    names = _loop_names(clause, items, context)
    inner = replace(context.with_names(names), used=set())
    return CompiledLoop(element.location, clause, items, inner, context.used, names, attribute)


def _loop_names(clause: LoopClause, items: Evaluation, context: CompileContext) -> KnownNames:
    """Return the names that a loop sets, its variable with what is declared of the records."""
    if clause.key is not None:
        return dict.fromkeys((clause.key, clause.name, "loop"))
    found = (find_shape(expression, context.names) for expression in items.expressions)
    records = next((shape.records for shape in found if shape is not None), None)
    return {clause.name: records, "loop": None}


_TEXT_ELEMENTS: Final = frozenset({"span", "b", "i", "u", "s", "code", "a", "br"})
_CONTROLS: Final = frozenset({"for", "if", "lang"})


def compile_business_term(
    compile_inner: Callable[[Element, CompileContext], NodeBuilder],
    element: Element,
    context: CompileContext,
) -> NodeBuilder:
    """Compile an element with `term`, so that its text is stored each time it is built."""
    builder = compile_inner(element, context)
    location = read_attribute(element, "term")
    if location is None:  # reported by the checks
        return builder
    parts: list[str | Expression] = []
    _collect_text(element, context, parts)
    text = context.compile_text(TextTemplate(tuple(parts) or ("",)), element.location)
    element_style = context.compile_style(element, is_inline=True)

    def build(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        builder(scope, parent, out)
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
        state.rendered_terms.add(rendered)

    return build


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

    def build(scope: Scope, _parent: ComputedStyle, _out: Any) -> None:
        scope.names[name] = value.evaluate(scope)

    return build


def join_loose(children: Iterable[Child], is_loose: Callable[[Child], bool]) -> list[object]:
    """Return children in order, runs of loose ones as lists."""
    parts: list[object] = []
    for has_loose, run in groupby(children, is_loose):
        part = [*run]
        parts += [part] if has_loose else part
    return parts


def compile_with_lets(
    parts: Iterable[object],
    context: CompileContext,
    compile_part: Callable[[Any, CompileContext], NodeBuilder],
) -> NodeBuilder:
    """Compile children, or runs of loose ones, each with the names that the `let`s before it set.

    With `let`s they are built in a scope of their own: these affect siblings alone.
    """
    builders: list[NodeBuilder] = []
    has_names = False
    for part in parts:
        if isinstance(part, Element) and part.tag == "let":
            has_names = True
            builders.append(compile_let(part, context))
            context = context.with_names({part.attributes.get("name", ""): None})
        else:
            builders.append(compile_part(part, context))
    builder = sequence(builders)

    def build(scope: Scope, parent: ComputedStyle, out: Any) -> None:
        builder(scope.fork(), parent, out)

    return build if has_names else builder
