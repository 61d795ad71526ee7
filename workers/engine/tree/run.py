"""One build of one document: its findings, its bounds, and how values are evaluated within it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workers.engine.diagnostics import Findings, Place
from workers.engine.tree.expressions import explain
from workers.engine.tree.grammar import (
    Expression,
    TextTemplate,
)
from workers.engine.tree.nodes import LoopStep
from workers.engine.tree.runtime import FAILURES, Scope, Value, show

MAX_TURNS: Final = 100_000  # language.md 1.4: loop turns in one render; insertions count as turns
MAX_PARAGRAPHS: Final = 400_000  # of one document; 1.5 KB each while they are laid out
RUN: Final = "#run"  # these keys of a scope can be no names of an expression
LOOP: Final = "#loop"


class Run:
    """What one build gathers and is bounded by; every scope of the build leads to it."""

    __slots__ = (
        *("_paragraphs", "_told", "_turns", "findings", "ids", "is_page_time", "is_trial", "links"),
        "totals",
    )

    def __init__(self, findings: Findings, *, is_trial: bool = False) -> None:
        self.findings = findings
        self.is_trial = is_trial  # nothing will be laid out: page content is tried at once
        self.ids: dict[str, Place] = {}
        self.links: list[tuple[str, Place]] = []
        self.is_page_time = False
        self.totals: dict[str, Any] = {}  # of the tables finished so far, by name
        self._paragraphs = 0
        self._turns = 0
        self._told: set[tuple[int, Place]] = set()

    def count_turns(self, turns: int, place: Place) -> None:
        """Count loop turns.

        Raises:
            AuthoringError: the render has used up all of them.
        """
        self._turns += turns
        if self._turns > MAX_TURNS:
            self.findings.error(
                "too-many-turns",
                f"The loops and insertions of this document take more than {MAX_TURNS:,} turns. "
                "Shorten the list, or filter it with where or take",
                place,
            )
            self.findings.raise_errors()

    def count_paragraph(self, place: Place) -> None:
        """Count a paragraph.

        Raises:
            AuthoringError: the document has as many as it may have.
        """
        self._paragraphs += 1
        if self._paragraphs > MAX_PARAGRAPHS:
            self.findings.error(
                "too-many-paragraphs",
                f"The document has more than {MAX_PARAGRAPHS:,} paragraphs. Split its data into "
                "several documents, or set lists as rows of a table, which take less",
                place,
            )
            self.findings.raise_errors()

    def fail(self, expressions: tuple[Expression, ...], scope: Scope, place: Place) -> None:
        """Tell why the first failing of some expressions fails; of a loop's turns, the first only."""
        if not expressions or (id(expressions[0]), place) in self._told:
            return
        self._told.add((id(expressions[0]), place))
        for expression in expressions:
            if not expression.names <= scope.keys():  # told once, before anything was built
                continue
            reason = explain(expression, scope)
            if reason is not None:
                self.findings.error(
                    "expression",
                    f"{reason[:1].upper()}{reason[1:]}: {{{{ {_cut(expression.text)} }}}}"
                    f"{where_in_loops(scope.get(LOOP, ()))}",
                    place,
                )
                return

    def note_id(self, name: str, place: Place) -> None:
        """Note an element's id; page content stands on many pages and is not noted."""
        if self.is_page_time:
            return
        if name in self.ids:
            self.findings.error(
                "duplicate-id",
                f'The id "{name}" is given twice. In a loop, an id needs an expression',
                place,
            )
        self.ids[name] = place

    def check_links(self) -> None:
        """Tell links to ids that no element has."""
        for target, place in self.links:
            if target not in self.ids:
                self.findings.error(
                    "unknown-id",
                    f'The link leads to "#{target}", but no element has that id',
                    place,
                )
        self.links.clear()


class Evaluation:
    """A compiled expression or text at its place. A failure becomes a finding and `otherwise`."""

    __slots__ = ("expressions", "function", "otherwise", "place")

    def __init__(
        self,
        function: Callable[[Scope], Any],
        expressions: tuple[Expression, ...],
        place: Place,
        otherwise: Any,
    ) -> None:
        self.function = function
        self.expressions = expressions
        self.place = place
        self.otherwise = otherwise

    def evaluate(self, scope: Scope) -> Any:
        """Give the value over a scope."""
        try:
            return self.function(scope)
        except FAILURES:
            scope[RUN].fail(self.expressions, scope, self.place)
            return self.otherwise


def show_at(value: Value, template: TextTemplate, scope: Scope, place: Place) -> str:
    """Write an evaluated value as text; a failure becomes a finding."""
    try:
        return show(value)
    except FAILURES:
        scope[RUN].fail(template.expressions, scope, place)
        return ""


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def where_in_loops(loop: tuple[LoopStep, ...]) -> str:
    """Name the loop turns of a failure, as the end of a message; empty outside of loops."""
    return f" ({', '.join(f'{step.name} row {step.index}' for step in loop)})" if loop else ""
