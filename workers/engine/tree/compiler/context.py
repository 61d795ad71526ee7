"""The compile context: names in scope, the style sheet, and the state collected while compiling.

A template is compiled once to `NodeBuilder`s, which run once for each document. A builder takes a
scope (data, loop variables, build state) and the style of its parent, and appends nodes to a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.merge.declarations import DeclaredShape
from workers.engine.syntax.nodes import Element, MarkdownElement, PartExpansion, Text
from workers.engine.syntax.values import PDF_PAGE
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES, AttributeSpec
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.attributes import (
    CompiledAttribute,
    ElementStyle,
    StyleLayers,
    StyleResolver,
    default_attribute,
)
from workers.engine.tree.compiler.builders import NodeBuilder
from workers.engine.tree.expressions.compiler import compile_text, compile_value
from workers.engine.tree.expressions.environment import (
    DOCUMENT_NAMES,
    PAGE_NAMES,
    RUNNING,
    SHEET,
    TOTALS,
)
from workers.engine.tree.expressions.grammar import (
    Expression,
    ExpressionSyntaxError,
    TextTemplate,
    parse_expression,
    parse_text,
)
from workers.engine.tree.expressions.members import (
    MAX_MEMBER_USES,
    KnownNames,
    MemberUse,
    find_member_uses,
)
from workers.engine.tree.expressions.messages import MessageCatalog
from workers.engine.tree.expressions.runtime import suggest_identifier
from workers.engine.tree.page_values import RUNNING_MEMBERS
from workers.engine.tree.references.resolver import NO_REFERENCES, ReferenceFeatures
from workers.engine.tree.styles.cascade import NO_PROPERTIES, Properties, StyleSheet

_MAX_SHARED: Final = 4096  # styles of a template that elements written alike share

FIGURE_CAPTION: Final = "figure-caption"  # the style of captions in figures
_AFTER_TABLE: Final = frozenset({"all"})  # of a total
_BESIDE_PROPERTIES: Final = frozenset({"class", "lang"})  # further attributes that affect styles
# Signs of other languages of templates, which are text here.
_FOREIGN: Final = re.compile(r"\{%.{1,40}?%\}|<%.{1,40}?%>|\$\{[\w.]{1,40}\}")

# A flow's name, the names known where it is inserted, and whether that is at page time, in a note,
# or in the head of a table that takes notes.
InsertKey = tuple[str, frozenset[tuple[str, DeclaredShape | None]], bool, bool, bool]


class UnresolvedName(NamedTuple):
    """A name that neither the data section nor a loop declares: the payload may provide it."""

    name: str
    expression: str
    location: SourceLocation


@dataclass(frozen=True)
class CompileContext:
    """The place of an element in the template: the names it knows, and what surrounds it."""

    sheet: StyleSheet
    findings: Findings
    flows: Mapping[str, Element]
    names: KnownNames
    # `elements.blocks.compile_blocks`, which imports the elements that hold blocks.
    block_compiler: Callable[..., NodeBuilder]
    is_page_time: bool = False
    knows_running_values: bool = False  # in headers, footers and boxes of pages
    is_in_list: bool = False  # inside an item, where lists have no outer margins
    is_in_note: bool = False
    is_in_figure: bool = False
    takes_notes: bool = False  # at page time too: in heads of tables that are built once
    used: set[str] = field(default_factory=set)
    unresolved: list[UnresolvedName] = field(default_factory=list)
    member_uses: dict[MemberUse, None] = field(default_factory=dict)  # of undeclared members
    compiled_flows: dict[InsertKey, tuple[NodeBuilder, frozenset[str]]] = field(
        default_factory=dict
    )
    insertion_path: tuple[str, ...] = ()
    totals: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of the tables around
    finished_totals: set[str] = field(default_factory=set)  # totals of the tables before
    features: ReferenceFeatures = NO_REFERENCES
    messages: MessageCatalog = field(default_factory=MessageCatalog)
    # The styles of elements that are written alike, by tag and attributes as written.
    styles: dict[tuple[object, ...], StyleResolver] = field(default_factory=dict)
    expansion: PartExpansion | None = None  # around the element that is compiled
    caller: CompileContext | None = None  # where that part is used

    def with_names(self, names: KnownNames) -> CompileContext:
        """Return the context of a place where further names are known."""
        return replace(self, names={**self.names, **names})

    def compile_blocks(self, children: Sequence[Element | Text], *, owner: Element) -> NodeBuilder:
        """Compile children where blocks are allowed; `owner` is the element around them."""
        return self.block_compiler(children, self, owner=owner)

    # --- expressions ---------------------------------------------------------------------------

    def compile_expression(self, text: str, location: SourceLocation) -> Evaluation:
        """Compile an expression written without braces; an error is reported and yields None."""
        try:
            parsed = parse_expression(text)
        except ExpressionSyntaxError as error:
            self._report_syntax(text, error, location)
            return Evaluation(_evaluate_nothing, (), location, None)
        self.check_expression(parsed, location)
        return Evaluation(compile_value(parsed), (parsed,), location, None)

    def compile_condition(self, element: Element) -> Evaluation:
        """Compile the `if` of an element, which holds if it has none."""
        if "if" in element.attributes:
            return self.compile_expression(element.attributes["if"], element.location)
        return Evaluation(lambda _: True, (), element.location, True)

    def compile_expression_text(self, text: str, location: SourceLocation) -> Evaluation:
        """Compile an expression written without braces whose value becomes text."""
        try:
            template = TextTemplate((parse_expression(text),))
        except ExpressionSyntaxError as error:
            self._report_syntax(text, error, location)
            return Evaluation(_evaluate_nothing, (), location, "")
        for parsed in template.expressions:
            self.check_expression(parsed, location)
        return self.compile_text(template, location)

    def parse_template(
        self, text: str, location: SourceLocation, *, is_literal: bool = False
    ) -> TextTemplate:
        """Parse a text with expressions; an error is reported and yields an empty text."""
        if not is_literal and (foreign := _FOREIGN.search(text)):
            self.findings.warn(
                "expression-syntax",
                f'"{foreign[0]}" is printed as it is written; values stand in two braces, and if and for are '
                "attributes of elements",
                location,
            )
        if is_literal or "{{" not in text:
            return TextTemplate((text,))
        try:
            template = parse_text(text)
        except ExpressionSyntaxError as error:
            self._report_syntax(text, error, location)
            return TextTemplate(("",))
        for parsed in template.expressions:
            self.check_expression(parsed, location)
        return template

    def compile_text(
        self, template: TextTemplate, location: SourceLocation, *, isolates: bool = False
    ) -> Evaluation:
        """Compile a parsed text; with `isolates` its values are set apart from the text around them."""
        written = compile_text(template, isolates=isolates)
        return Evaluation(written, template.expressions, location, "")

    def check_expression(self, parsed: Expression, location: SourceLocation) -> None:
        """Check the names of an expression, and record them as used."""
        self.used.update(parsed.all_names)
        for use in parsed.messages:
            self.messages.add_use(use, parsed.text, location, self.findings)
        for hint in parsed.hints:
            self.findings.warn("filter-precedence", f"In {{{{ {parsed.text} }}}} {hint}", location)
        unknown = {name for name in parsed.all_names if name not in self.names}
        if PAGE_NAMES & unknown and not self.is_page_time:
            message = "Page values are known only in headers, footers, and heads and feet of tables"
            self._report("page-value-outside-page-time", message, parsed.text, location)
        if TOTALS in unknown:
            self._check_totals(parsed, location)
        given = self.features.given_names & unknown
        if RUNNING in given:
            self._check_running_values(parsed, location)
        if SHEET in given and not self.knows_running_values:
            message = "The sheet is known only in headers, footers and boxes of pages"
            self._report("page-value-outside-page-time", message, parsed.text, location)
        for name in (parsed.names & unknown) - PAGE_NAMES - given - {TOTALS}:
            if self.expansion is None:
                self.unresolved.append(UnresolvedName(name, parsed.text, location))
            else:
                self._report_in_part(name, parsed, self.expansion, location)
        if "." in parsed.text and len(self.member_uses) < MAX_MEMBER_USES:
            uses = find_member_uses(parsed, self.names, location)
            self.member_uses.update(dict.fromkeys(uses))

    def _report(
        self, code: str, message: str, text: str, location: SourceLocation, near: str = ""
    ) -> None:
        """Report an expression, with a suggestion after it."""
        self.findings.error(code, f"{message}: {{{{ {text} }}}}{near}", location)

    def _report_in_part(
        self, name: str, parsed: Expression, part: PartExpansion, location: SourceLocation
    ) -> None:
        """Report a name that a part does not know: data cannot provide it."""
        taken = ", ".join(parameter.name for parameter in part.parameters) or "no arguments"
        message = f'The name "{name}" is not known in the part "{part.name}", which takes {taken}'
        near = suggest_identifier(name, self.names.keys() | DOCUMENT_NAMES)
        self._report("unknown-name", message, parsed.text[:80], location, near)

    def _check_totals(self, parsed: Expression, location: SourceLocation) -> None:
        """Report totals that no table declares, and members of totals that are not known here."""
        for name, figure in parsed.members_of(TOTALS):
            known = self.totals.get(name, _AFTER_TABLE if name in self.finished_totals else None)
            if known is None:
                near = suggest_identifier(name, {*self.totals, *self.finished_totals})
                message = f'No table here or before declares the total "{name}"{near}'
                self._report("unknown-total", message, parsed.text, location)
            elif figure not in known:
                message = (
                    f'"{figure}" of the total "{name}" is not known here; in body rows there is '
                    "running, in heads and feet before, here, after and all, after the table all"
                )
                self._report("total-not-known-here", message, parsed.text, location)

    def _check_running_values(self, parsed: Expression, location: SourceLocation) -> None:
        """Report running values outside of running content, and those that no element sets."""
        if not self.knows_running_values:
            message = "Running values are known only in headers, footers and boxes of pages"
            self._report("page-value-outside-page-time", message, parsed.text, location)
        for name, member in parsed.members_of(RUNNING):
            if name not in self.features.running:
                near = suggest_identifier(name, self.features.running)
                message = f'No `running` element sets "{name}"{near}'
            elif member not in RUNNING_MEMBERS:
                members = ", ".join(RUNNING_MEMBERS)
                message = f'A running value has no "{member}", it has {members}'
            else:
                continue
            self._report("unknown-running-value", message, parsed.text, location)

    def _report_syntax(
        self, text: str, error: ExpressionSyntaxError, location: SourceLocation
    ) -> None:
        shown = text.strip() if len(text.strip()) <= 80 else text.strip()[:79] + "…"
        self.findings.error("expression-syntax", f'In "{shown}": {error}', location)

    # --- attributes ----------------------------------------------------------------------------

    def compile_attribute(self, element: Element, name: str) -> CompiledAttribute[Any]:
        """Compile an attribute by its value type; its default if it is not given."""
        spec = ELEMENTS[element.tag].attributes[name]
        default_value = default_attribute(element.tag, spec.name)
        written = element.attributes.get(spec.name)
        if written is None:
            return default_value
        is_literal = element.is_literal or spec.is_fixed
        template = self.parse_template(written, element.location, is_literal=is_literal)
        if template.literal is None:
            return CompiledAttribute(spec, element.location, default_value.constant, template)
        return CompiledAttribute(spec, element.location, spec.read(template.literal), None)

    def compile_attributes(self, element: Element, *names: str) -> list[CompiledAttribute[Any]]:
        """Compile several attributes, in the order of their names."""
        return [self.compile_attribute(element, name) for name in names]

    # --- styles ---------------------------------------------------------------------------------

    def compile_style(
        self, element: Element, *, defaults: Properties = NO_PROPERTIES, is_inline: bool = False
    ) -> ElementStyle:
        """Compile the styles of an element; `defaults` are below its classes and own attributes."""
        spec = ELEMENTS[element.tag]
        # Attributes that an element does not accept are reported by the checks, and ignored here.
        given = {
            name: text
            for name, text in element.attributes.items()
            if name in spec.attributes and _has_style(name, spec.attributes[name])
        }
        if defaults is not NO_PROPERTIES or any("{{" in text for text in given.values()):
            layers = self._compile_layers(element, given, defaults)
            return ElementStyle(StyleResolver(self.sheet, layers, element.tag, is_inline), element)
        markdown = element.styles if isinstance(element, MarkdownElement) else None
        places = (self.is_in_list, self.is_in_note, self.is_in_figure, markdown)
        key = (element.tag, *places, is_inline, *given.items())
        shared: StyleResolver | None = self.styles.get(key)
        if shared is None:
            layers = self._compile_layers(element, given, defaults)
            shared = StyleResolver(self.sheet, layers, element.tag, is_inline)
            if len(self.styles) < _MAX_SHARED:
                self.styles[key] = shared
        return ElementStyle(shared, element)

    def _compile_layers(
        self, element: Element, given: Mapping[str, str], defaults: Properties
    ) -> StyleLayers:
        own: dict[str, object] = {}
        dynamic: list[CompiledAttribute[object]] = []
        for name in given:
            if name not in PROPERTIES:
                continue
            attribute = self.compile_attribute(element, name)
            if attribute.is_static:
                own[name] = attribute.constant
            else:
                dynamic.append(attribute)
        if element.tag == "caption" and self.is_in_figure:
            below = self.sheet.entry_properties(FIGURE_CAPTION)
        else:
            below = self.sheet.element_properties(
                element.tag,
                is_in_list=self.is_in_list,
                is_markdown=isinstance(element, MarkdownElement),
                is_in_note=self.is_in_note,
            )
        if isinstance(element, MarkdownElement):
            for name in element.styles:
                below = {**below, **self.sheet.entry_properties(name)}
        return StyleLayers(
            below={**below, **defaults} if defaults else below,
            classes=self.compile_attribute(element, "class") if "class" in given else None,
            own=own,
            dynamic=tuple(dynamic),
            lang=self.compile_attribute(element, "lang") if "lang" in given else None,
        )


def _has_style(name: str, attribute: AttributeSpec) -> bool:
    """Return whether an attribute of an element affects its style.

    The `page` of an image is that of a PDF, and no property.
    """
    if name not in PROPERTIES:
        return name in _BESIDE_PROPERTIES
    return attribute.value_type is not PDF_PAGE


def report_unknown_names(
    unresolved: Iterable[UnresolvedName],
    names: Collection[str],
    lets: Collection[str],
    findings: Findings,
) -> None:
    """Report names that neither the data nor other lets provide."""
    for name, expression, location in unresolved:
        if name not in names:
            near = suggest_identifier(name, [*names, *lets])
            if name in lets:
                near = "; a `let` cannot use its own value, not even through others"
            if name == RUNNING:
                near = "; no `running` element sets a value"
            message = f'The name "{name}" is not known in {{{{ {expression[:80]} }}}}{near}'
            findings.error("unknown-name", message, location)


def _evaluate_nothing(_: Scope) -> None:
    return None
