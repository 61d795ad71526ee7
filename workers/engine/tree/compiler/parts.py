"""Expansions of `else`, `use` and `slot`: content with other names in scope.

A part knows its arguments alone; the content of a slot knows the names where the part is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from workers.engine.diagnostics import SourceLocation
from workers.engine.merge.payload import SETTINGS
from workers.engine.syntax.nodes import (
    Element,
    ElseExpansion,
    Expansion,
    PartExpansion,
    SlotExpansion,
)
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.expressions.environment import DOCUMENT_NAMES, PAGE_NAMES, RUNNING, TOTALS
from workers.engine.tree.nodes import LoopStep
from workers.engine.tree.styles.cascade import ComputedStyle

if TYPE_CHECKING:
    from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
    from workers.engine.tree.compiler.context import CompileContext

_PAGE_VALUE_NAMES: Final = PAGE_NAMES | {TOTALS, RUNNING}
_PART_NAMES: Final = DOCUMENT_NAMES | {SETTINGS} | _PAGE_VALUE_NAMES

CompileInner = Callable[[Element, "CompileContext"], "NodeBuilder"]


@dataclass(frozen=True, slots=True)
class PartStep(LoopStep):
    """A use of a part: its name, the line of the `use`, and whether a loop repeats it."""

    is_repeated: bool

    def __str__(self) -> str:
        return f'part "{self.name}" used in line {self.index}'

    @property
    def is_iteration(self) -> bool:
        """Whether a loop repeats the use."""
        return self.is_repeated


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
    builder = compile_inner(element, context)
    build_inner = builder.build

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        if not condition.evaluate(scope):
            build_inner(scope, parent, out)

    return builder._replace(build=build, is_static=False)


# --- parts ----------------------------------------------------------------------------------------------


def _compile_part(
    element: PartExpansion, context: CompileContext, compile_inner: CompileInner
) -> NodeBuilder:
    """Compile a part where it is used: its arguments there, its content with their names."""
    location, name = element.source_location, element.name
    taken = frozenset(parameter.name for parameter in element.parameters)
    known = DOCUMENT_NAMES | (context.names & {SETTINGS})
    inside = replace(context, names=known | taken, used=set(), expansion=element, caller=context)
    arguments = _compile_arguments(element, context, replace(inside, names=known))
    builder = compile_inner(element, inside)
    context.used.update(inside.used - taken)
    build_inner, fills_slot = builder.build, element.fills_slot

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        scope.state.count_iterations(1, location)
        inner = _enter_part(scope, name, location)
        if fills_slot:
            # A copy: a loop around changes its variables, and heads of tables are built later.
            inner.caller = scope.fork()
        inner.names |= {key: value.evaluate(scope) for key, value in arguments}
        with _attributing_findings(scope, (location, str(inner.loop[-1]))):
            build_inner(inner, parent, out)

    is_alike = not fills_slot and not any(value.expressions for _, value in arguments)
    return builder._replace(build=build, is_static=builder.is_static and is_alike)


def _compile_arguments(
    element: PartExpansion, context: CompileContext, defaults: CompileContext
) -> list[tuple[str, Evaluation]]:
    """Compile the arguments of a use; those not given have the value of their default."""
    arguments: list[tuple[str, Evaluation]] = []
    for parameter in element.parameters:
        given = element.arguments.get(parameter.name)
        if given is None:
            value = defaults.compile_expression(parameter.default or "none", element.location)
        else:
            value = _compile_argument(given, element.source_location, context)
        arguments.append((parameter.name, value))
    return arguments


def _compile_argument(text: str, location: SourceLocation, context: CompileContext) -> Evaluation:
    """Compile the value of an argument, which keeps its type if it is exactly one expression."""
    template = context.parse_template(text, location)
    sole = template.sole
    if sole is None:
        return context.compile_text(template, location)
    return Evaluation(compile_value(sole), (sole,), location, None)


def _enter_part(scope: Scope, name: str, location: SourceLocation) -> Scope:
    """Return the scope inside a part that is used at a location, without its arguments."""
    steps = scope.loop
    is_repeated = bool(steps) and steps[-1].is_iteration
    return scope.enter(
        names={name: value for name, value in scope.names.items() if name in _PART_NAMES},
        loop=(*steps, PartStep(name, location.span.line_start, is_repeated)),
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
    builder = compile_inner(element, outside)
    caller.used.update(used)
    context.used.update(used & _PAGE_VALUE_NAMES)
    hidden = _PAGE_VALUE_NAMES & caller.names  # page values that are names of another kind there
    build_inner = builder.build

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        with _attributing_findings(scope, None):
            build_inner(_leave_part(scope, hidden), parent, out)

    return builder._replace(build=build, is_static=False)


def _leave_part(scope: Scope, hidden: frozenset[str]) -> Scope:
    """Return the scope of slot content: the names of the use, and the state of the build."""
    caller = scope.caller
    assert caller is not None, "a part with slot content has the scope of its use"
    shown = (_PAGE_VALUE_NAMES - hidden) & scope.names.keys()
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
