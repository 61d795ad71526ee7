"""The state of one build: findings, limits, ids, form fields and references, and the values it evaluates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.einvoices import InvoiceJudge
from workers.engine.syntax.suggestions import suggest_if_listed
from workers.engine.tree.expressions.compiler import explain_failure
from workers.engine.tree.expressions.environment import Environment, EvaluationState
from workers.engine.tree.expressions.grammar import Expression
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS
from workers.engine.tree.node_values import FieldKind
from workers.engine.tree.nodes import Barcode, FormField, LoopStep, describe_loops
from workers.engine.tree.references.counters import Counters, FootnoteCollector
from workers.engine.tree.references.resolver import (
    NO_REFERENCES,
    ReferenceCollector,
    ReferenceFeatures,
)
from workers.engine.tree.rendered_terms import RenderedTerms
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import Numbering


class Limit(NamedTuple):
    """The most of something in one document, and how to have fewer."""

    most: int
    what: str
    advice: str = "it into several"


# By the codes of their findings.
LIMITS: Final = {
    "too-many-paragraphs": Limit(
        400_000,  # 1.5 KB each while they are laid out
        "paragraphs",
        "its data into several documents, or set lists as rows of a table, which take less",
    ),
    "too-many-counters": Limit(200, "counters"),  # each number restarts those below its own
    "too-many-references": Limit(100_000, "references"),
    "too-many-notes": Limit(50_000, "notes"),
    "too-many-fields": Limit(10_000, "form fields"),  # each takes some 600 bytes of the file
    "too-many-marks": Limit(100_000, "marks of its index"),
    "too-many-running-values": Limit(100_000, "running values"),
}


@dataclass(slots=True)
class _NamedFields:
    """The fields of one name: the first, and the values of all, of which one may be checked."""

    first: FormField
    values: set[str]
    has_checked: bool


@dataclass(slots=True)
class FormFieldRegistry:
    """Names in use. Boxes for filling by hand have no name in the file, but are checked alike."""

    has_interactive: bool = False
    signatures: list[str] = field(default_factory=list)  # the names of fields that can be signed
    _names: dict[str, _NamedFields] = field(default_factory=dict)

    def add(self, node: FormField, findings: Findings) -> None:
        """Register a field; one whose name is taken is reported."""
        self.has_interactive = self.has_interactive or node.is_interactive
        if node.kind is FieldKind.SIGNATURE and node.is_interactive:
            self.signatures.append(node.name)
        known = self._names.get(node.name)
        if known is None:
            self._names[node.name] = _NamedFields(node, {node.value}, node.is_checked)
            return
        if message := _find_conflict(node, known):
            source = node.source
            message = f"{message}{describe_loops(source.loop)}"
            findings.error("duplicate-field", message, source.location)
        known.values.add(node.value)
        known.has_checked = known.has_checked or node.is_checked


def _find_conflict(node: FormField, known: _NamedFields) -> str:
    """Return why a field cannot have a name that others have, empty for a radio button beside others."""
    if node.kind is not FieldKind.RADIO:
        return (
            f'The field name "{node.name}" is given twice. In a loop, a name needs an expression, '
            'such as name="amount-{{ loop.index }}"'
        )
    if known.first.kind is not FieldKind.RADIO:
        return f'The field name "{node.name}" belongs to a field that is not a radio button'
    if node.is_interactive is not known.first.is_interactive:
        return f'The radio buttons "{node.name}" are interactive only in part; give all of them the same `interactive`'
    if node.value in known.values:
        return f'The group "{node.name}" has two radio buttons of the value "{node.value}"'
    if node.is_checked and known.has_checked:
        return f'The group "{node.name}" has two radio buttons that are checked; accepted is one'
    return ""


# Bar codes take some 3 µs a character to encode and draw. A row of data that becomes one has at
# least a twentieth of its characters.
_FREE_ENCODED: Final = 300_000
_ENCODED_PER_CHARACTER: Final = 20
# Of a bar code, in characters of a QR code that take as long.
_LEAST_COST: Final = 20
_PAYMENT_COST: Final = 150
_FIXED_COSTS: Final = {"maxicode": 600}
_SHRINKING_COST: Final = 200  # of a block with overflow="shrink", set some six times
MAX_ITERATIONS: Final = 100_000  # loop iterations and insertions of one render


class Link(NamedTuple):
    """A link to an id of the document."""

    target: str
    location: SourceLocation
    is_markdown: bool = False
    is_reference: bool = False


# Checks a bar code of a document that is validated and not laid out: returns the code and message of
# why it cannot be drawn, None if it can.
CheckBarcode = Callable[[Barcode], tuple[str, str] | None]


class BuildState(EvaluationState):
    """The findings, counters, ids and limits of one build; every scope of the build leads to it."""

    def __init__(
        self,
        findings: Findings,
        validator: CheckBarcode | None = None,
        features: ReferenceFeatures = NO_REFERENCES,
    ) -> None:
        super().__init__(findings)
        # Set if nothing will be laid out: page content is evaluated at once.
        self.validator = validator
        self.ids: dict[str, SourceLocation] = {}
        self.links: list[Link] = []
        # Ids of headings in Markdown, which other elements may take.
        self.fragments: set[str] = set()
        self.counters = Counters(features.counters)
        self.references = ReferenceCollector(features)
        self.footnotes = FootnoteCollector()
        self.form_fields = FormFieldRegistry()
        self._reserved: dict[str, int] = {}
        self.is_page_time = False
        self.totals: dict[str, object] = {}  # of the tables finished so far, by name
        self.rendered_terms = RenderedTerms(findings)
        self.judge: InvoiceJudge | None = None
        self._counted: Counter[str] = Counter()
        self._iterations = self._encoded = self._shrinking = 0
        self._encodable: int | None = None  # of all bar codes; None until it is needed
        self._barcodes: set[object] = set()  # elements with one, and drawn texts, so far
        self._shrunk: set[SourceLocation] = set()  # blocks that shrink so far
        self.data: Mapping[str, object] = {}
        self._reported: set[tuple[str, SourceLocation]] = set()

    def count_iterations(self, iterations: int, location: SourceLocation) -> None:
        """Count loop iterations and insertions.

        Raises:
            AuthoringError: the document exceeds `MAX_ITERATIONS`.
        """
        self._iterations += iterations
        if self._iterations > MAX_ITERATIONS:
            self.findings.error(
                "too-many-turns",
                f"The loops and insertions of this document take more than {MAX_ITERATIONS:,} iterations. "
                "Shorten the list, or filter it with where or take",
                location,
            )
            self.findings.raise_errors()

    def count_barcode(self, barcode: Barcode) -> None:
        """Count the characters of a bar code: not the first of an element, nor those drawn already.

        Raises:
            AuthoringError: the bar codes exceed what data of this size are expected to need.
        """
        location, value = barcode.source.location, barcode.value
        is_text = isinstance(value, str)
        is_drawn = is_text and (barcode.symbology, value) in self._barcodes
        is_first = location not in self._barcodes
        self._barcodes |= {location, (barcode.symbology, value)} if is_text else {location}
        if is_first or is_drawn:
            return
        fixed = _FIXED_COSTS.get(barcode.symbology, _LEAST_COST)
        self._encoded += fixed + (len(value) if is_text else _PAYMENT_COST)
        what = "characters in repeated bar codes"
        self._limit_by_data(self._encoded, 1, what, "too-many-barcodes", location)

    def count_shrinking(self, location: SourceLocation) -> None:
        """Count a block whose text is set in several sizes until it fits, not the first of an element.

        Raises:
            AuthoringError: the blocks exceed what data of this size are expected to need.
        """
        self._shrinking += location in self._shrunk
        self._shrunk.add(location)
        what = 'repeated blocks with overflow="shrink"'
        self._limit_by_data(self._shrinking, _SHRINKING_COST, what, "too-many-shrinking", location)

    def _limit_by_data(
        self, count: int, cost: int, what: str, code: str, location: SourceLocation
    ) -> None:
        if count * cost <= _FREE_ENCODED:
            return
        if self._encodable is None:
            self._encodable = _FREE_ENCODED + _ENCODED_PER_CHARACTER * _count_characters(self.data)
        most = self._encodable // cost
        self._limit(code, count, Limit(most, f"{what}, the most for its data"), location)

    def count_toward(self, code: str, location: SourceLocation) -> None:
        """Count one more of what a limit bounds, by the code of its finding.

        Raises:
            AuthoringError: the document exceeds the limit.
        """
        self._counted[code] += 1
        self._limit(code, self._counted[code], LIMITS[code], location)

    def count_element(
        self, numbering: Numbering, location: SourceLocation, *, is_shown: bool = True
    ) -> str | None:
        """Advance the counters of an element; return its number, None if it shows none.

        Content that pages repeat is not counted.

        Raises:
            AuthoringError: the document has too many counters.
        """
        if self.is_page_time:
            return None
        number = self.counters.count(numbering, is_shown=is_shown)
        code = "too-many-counters"
        self._limit(code, self.counters.size, LIMITS[code], location)
        return number

    def _limit(self, code: str, count: int, limit: Limit, location: SourceLocation) -> None:
        if count > limit.most:
            message = (
                f"The document has more than {limit.most:,} {limit.what}. Split {limit.advice}"
            )
            self.findings.error(code, message, location)
            self.findings.raise_errors()

    def report_failure(
        self, expressions: tuple[Expression, ...], scope: Scope, location: SourceLocation
    ) -> None:
        """Report why the first failing expression fails, once for all iterations of a loop."""
        if not expressions or (expressions[0].text, location) in self._reported:
            return
        self._reported.add((expressions[0].text, location))
        for expression in expressions:
            if not expression.names <= scope.names.keys():
                continue  # reported once, before anything is built
            reason = explain_failure(expression, scope)
            if reason is not None:
                self.findings.error(
                    "expression",
                    f"{reason[:1].upper()}{reason[1:]}: {{{{ {_shorten(expression.text)} }}}}"
                    f"{describe_loops(scope.loop)}",
                    location,
                )
                return

    def register_id(self, name: str, location: SourceLocation) -> None:
        """Register the id of an element; ids in content that pages repeat are not registered."""
        if self.is_page_time:
            return
        if name in self.ids and name not in self.fragments:
            message = f'The id "{name}" is given twice. In a loop, an id needs an expression'
            self.findings.error("duplicate-id", message, location)
        self.ids[name] = location

    def reserve_fragments(self, slugs: Iterable[str]) -> dict[str, str]:
        """Return a unique id for each heading of a Markdown text."""
        return {slug: self._reserve(slug) for slug in slugs} if not self.is_page_time else {}

    def register_fragment(self, slug: str, scope: Scope, location: SourceLocation) -> str | None:
        """Register a heading of a Markdown text; return its id, None if the id is taken."""
        name = scope.fragments.get(slug, slug)
        if self.is_page_time or name in self.ids:
            return None
        self.ids[name] = location
        self.fragments.add(name)
        return name

    def check_links(self) -> None:
        """Report links to unknown ids; an unknown link in Markdown is a warning."""
        for link in self.links:
            if link.target in self.ids:
                continue
            if link.is_markdown:
                self.findings.warn(
                    "markdown-link",
                    f'The link to "#{link.target[:40]}" in the Markdown is left out, accepted is the '
                    "id of a heading in it or of an element",
                    link.location,
                )
                continue
            what = f'reference leads to "{link.target[:40]}"'
            if not link.is_reference:
                what = f'link leads to "#{link.target}"'
            near = suggest_if_listed(self.findings, link.target, self.ids)
            message = f"The {what}, but no element has that id{near}"
            self.findings.error("unknown-id", message, link.location)
        self.links.clear()

    def _reserve(self, slug: str) -> str:
        name = slug
        while name in self._reserved or name in self.ids:
            self._reserved[slug] = self._reserved.get(slug, 0) + 1
            name = f"{slug}-{self._reserved[slug]}"
        self._reserved.setdefault(name, 0)
        return name


class Scope(Environment):
    """The environment of elements: the loops around, the state of the build, and what is being built.

    A scope is copied where something in it changes for the content of an element alone.
    """

    state: BuildState
    loop: tuple[LoopStep, ...] = ()  # the loop iterations around, outermost first
    caller: Scope | None = None  # in a part with slot content: the scope of its use
    note_parent: ComputedStyle | None = None  # the style of the flow, from which notes inherit
    figure_id: str | None = None
    # Ids of headings of a Markdown text, by slug.
    fragments: Mapping[str, str] = MappingProxyType({})
    markers: tuple[str, Iterator[int]]  # of the list around: their style and the next numbers
    items: Sequence[object] = ()  # the records of the chart around
    # Of the table around: its columns, totals and row.
    columns: Any
    running_totals: Any
    row: Any

    def enter(self, **changes: object) -> Self:
        """Return a copy with other attributes; the names are the same."""
        inner = object.__new__(type(self))
        vars(inner).update(vars(self), **changes)
        return inner

    def fork(self) -> Self:
        """Return a copy whose names may change."""
        return self.enter(names=dict(self.names))


@dataclass(slots=True, eq=False)
class Evaluation:
    """A compiled expression or text with its location.

    A failure is reported and yields `fallback`.
    """

    function: Callable[[Scope], object]
    expressions: tuple[Expression, ...]
    location: SourceLocation
    fallback: object

    def evaluate(self, scope: Scope) -> Any:
        """Return the value in a scope."""
        try:
            return self.function(scope)
        except EVALUATION_ERRORS:
            scope.state.report_failure(self.expressions, scope, self.location)
            return self.fallback

    def try_evaluate(self, scope: Scope) -> tuple[object, bool]:
        """Return the value in a scope, and whether it is no failure."""
        findings = scope.state.findings
        errors_before = findings.error_count
        value = self.evaluate(scope)
        return value, findings.error_count == errors_before


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _count_characters(data: Mapping[str, object]) -> int:
    """Return the characters of all names and values in data."""
    characters, rest = 0, [data]
    while rest:
        value: object = rest.pop()
        if isinstance(value, Mapping):
            rest += value.keys()
            rest += value.values()
        elif isinstance(value, list):
            rest += value
        else:
            characters += len(str(value))
    return characters
