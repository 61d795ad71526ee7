"""One build of one document: its findings, its bounds, and how values are evaluated within it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, Protocol

from workers.engine.diagnostics import Findings, Place
from workers.engine.syntax.suggestions import nearest
from workers.engine.tree.counters import MAX_COUNTERS, Counters
from workers.engine.tree.expressions import explain
from workers.engine.tree.gathered import (
    MAX_REFERENCES,
    MAX_SPOTS,
    NO_USES,
    Gathered,
    Uses,
)
from workers.engine.tree.grammar import (
    Expression,
    TextTemplate,
)
from workers.engine.tree.nodes import Barcode, Reference, where_in_loops
from workers.engine.tree.runtime import FAILURES, Scope, Value, show
from workers.engine.tree.styles import Numbering

MAX_TURNS: Final = 100_000  # language.md 1.4: loop turns in one render; insertions count as turns
MAX_PARAGRAPHS: Final = 400_000  # of one document; 1.5 KB each while they are laid out
RUN: Final = "#run"  # these keys of a scope can be no names of an expression
LOOP: Final = "#loop"
FRAGMENTS: Final = "#fragments"  # in a Markdown text: the ids of its headings in this document


class Link(NamedTuple):
    """A link to an id of the document."""

    target: str
    place: Place
    is_markdown: bool = False
    is_reference: bool = False


class Trial(Protocol):
    """Checks what a document is built of where it will not be laid out."""

    def check_barcode(self, barcode: Barcode) -> Problem | None:
        """Return why a bar code cannot be drawn, None where it can."""


class Problem(Protocol):
    """Why a thing cannot be drawn."""

    @property
    def code(self) -> str:
        """The stable name of the finding."""

    @property
    def text(self) -> str:
        """The message of the finding."""


class Run:
    """What one build gathers and is bounded by; every scope of the build leads to it."""

    __slots__ = (
        *("_claims", "_paragraphs", "_told", "_turns", "findings", "fragments", "ids"),
        *("counters", "gathered", "is_page_time", "links", "totals", "trial"),
    )

    def __init__(
        self, findings: Findings, trial: Trial | None = None, uses: Uses = NO_USES
    ) -> None:
        self.findings = findings
        self.trial = trial  # with one nothing will be laid out: page content is tried at once
        self.ids: dict[str, Place] = {}
        self.links: list[Link] = []
        self.fragments: set[str] = set()  # ids of headings in Markdown, which give way to others
        self.counters = Counters(uses.counters)
        self.gathered = Gathered(uses)
        self._claims: dict[str, int] = {}
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

    def count_number(
        self, numbering: Numbering, place: Place, *, is_shown: bool = True
    ) -> str | None:
        """Count an element; return its number, None where it has none. Pages repeat theirs.

        Raises:
            AuthoringError: the document has more counters than it may have.
        """
        if self.is_page_time:
            return None
        number = self.counters.count(numbering, is_shown=is_shown)
        if self.counters.is_full:
            self._refuse("too-many-counters", f"{MAX_COUNTERS} counters", place)
        return number

    def note_reference(self, reference: Reference) -> None:
        """Note a reference, whose target must have an id.

        Raises:
            AuthoringError: the document has as many as it may have.
        """
        self.gathered.references.append(reference)
        self.links.append(Link(reference.target, reference.source.place, is_reference=True))
        if len(self.gathered.references) > MAX_REFERENCES:
            self._refuse(
                "too-many-references", f"{MAX_REFERENCES:,} references", reference.source.place
            )

    def note_mark(self, term: tuple[str, ...], place: Place) -> str:
        """Note a mark of the index; return the name of its place.

        Raises:
            AuthoringError: the document has as many as it may have.
        """
        name = self.gathered.note_mark(term)
        if self.gathered.spots > MAX_SPOTS:
            self._refuse("too-many-marks", f"{MAX_SPOTS:,} marks of its index", place)
        return name

    def _refuse(self, code: str, what: str, place: Place) -> None:
        self.findings.error(
            code, f"The document has more than {what}. Split it into several", place
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
        if name in self.ids and name not in self.fragments:
            self.findings.error(
                "duplicate-id",
                f'The id "{name}" is given twice. In a loop, an id needs an expression',
                place,
            )
        self.ids[name] = place

    def claim_fragments(self, slugs: Iterable[str]) -> dict[str, str]:
        """Return an id for each heading of a Markdown text, other than those of earlier texts."""
        return {slug: self._claim(slug) for slug in slugs} if not self.is_page_time else {}

    def note_fragment(self, slug: str, scope: Scope, place: Place) -> str | None:
        """Note the heading of a Markdown text; return its id, None where that is taken."""
        name: str = scope.get(FRAGMENTS, {}).get(slug, slug)
        if self.is_page_time or name in self.ids:
            return None
        self.ids[name] = place
        self.fragments.add(name)
        return name

    def check_links(self) -> None:
        """Report links to ids that no element has; one in Markdown is text then."""
        for link in self.links:
            if link.target in self.ids:
                continue
            if link.is_markdown:
                self.findings.warn(
                    "markdown-link",
                    f'The link to "#{link.target[:40]}" in the Markdown is left out, accepted is the '
                    "id of a heading in it or of an element",
                    link.place,
                )
            elif link.is_reference:
                self.findings.error(
                    "unknown-id",
                    f'The reference leads to "{link.target[:40]}", but no element has that id'
                    f"{self._nearest_id(link.target)}",
                    link.place,
                )
            else:
                self.findings.error(
                    "unknown-id",
                    f'The link leads to "#{link.target}", but no element has that id'
                    f"{self._nearest_id(link.target)}",
                    link.place,
                )
        self.links.clear()

    def _nearest_id(self, name: str) -> str:
        """Suggest the id nearest to a wrong one, unless the error will only be counted."""
        return nearest(name, self.ids) if self.findings.lists_errors else ""

    def _claim(self, slug: str) -> str:
        name = slug
        while name in self._claims or name in self.ids:
            self._claims[slug] = self._claims.get(slug, 0) + 1
            name = f"{slug}-{self._claims[slug]}"
        self._claims.setdefault(name, 0)
        return name


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
