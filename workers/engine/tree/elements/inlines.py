"""Inline content: text, formatting, links, breaks, references and figures in lines.

Titles of alerts and the word before the number of a figure are those of the document's language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import ALERTS, Element, MarkdownElement, Text
from workers.engine.tree.build_state import Link, Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute, ElementStyle
from workers.engine.tree.compiler.builders import (
    BuildNodes,
    NodeBuilder,
    Nodes,
    sequence,
    source_maker,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.elements import charts, figures
from workers.engine.tree.elements.block_builder import read_id, report_page_time
from workers.engine.tree.elements.figures import FORM_FIELDS, compile_field
from workers.engine.tree.elements.footnotes import compile_footnote
from workers.engine.tree.expressions.running_text import (
    BY_FIRST_STRONG,
    END_ISOLATE,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    apply_text_transform,
    check_length,
    collapse_and_trim,
)
from workers.engine.tree.inline_collector import InlineCollector
from workers.engine.tree.nodes import Inline, InlineAnchor, NoteCall, Reference, TextRun
from workers.engine.tree.references.resolver import ReferenceCollector
from workers.engine.tree.styles.cascade import DEFAULT_FIGURE_NUMBER, ComputedStyle
from workers.engine.tree.styles.computed import Numbering

_TITLES: Final = read_table(__package__, "alert_titles.txt")
_FIGURES: Final = {"en": "Figure", **read_table(__package__, "figure_words.txt")}


def translate_alert(kind: str, lang: str) -> str:
    """Return the title of a kind of alert in a language, in English where there is none."""
    return _find(_TITLES, lang).split(" ")[ALERTS.index(kind)]


def translate_figure_number(number: str, numbering: Numbering, lang: str) -> str:
    """Return the number of a figure in a language, unless an author has chosen its format."""
    shape = numbering.format
    if shape is None or shape.text != DEFAULT_FIGURE_NUMBER:
        return number
    return _find(_FIGURES, lang) + number.removeprefix(_FIGURES["en"])


def _find(words: Mapping[str, str], lang: str) -> str:
    return words.get(lang.partition("-")[0].lower(), words["en"])


_MAX_SPAN: Final = 1000  # characters of a mark that references show
FORMATTING: Final = frozenset({"span", "b", "i", "u", "s", "sub", "sup", "code", "bdi"})


def compile_inlines(
    children: Iterable[Element | Text], context: CompileContext, *, owner: Element
) -> NodeBuilder:
    """Compile the inline children of a paragraph, which add to its collector."""
    return sequence(_compile_child(child, context, owner) for child in children)


def collect_inlines(
    build: BuildNodes,
    scope: Scope,
    computed: ComputedStyle,
    names: list[str],
    location: SourceLocation,
) -> tuple[Inline, ...]:
    """Return the inline content of a paragraph; ids in it are appended to `names`.

    Raises:
        AuthoringError: the document has too many paragraphs.
    """
    scope.state.count_paragraph(location)
    collector = InlineCollector()
    build(scope.enter(collector=collector, link=None), computed, names)
    inlines = collector.finish()
    if collector.spans and scope.state.references.features.has_references:
        _add_span_targets(collector, inlines, computed, scope.state.references)
    return inlines


def _add_span_targets(
    collector: InlineCollector,
    inlines: tuple[Inline, ...],
    computed: ComputedStyle,
    references: ReferenceCollector,
) -> None:
    """Store the texts of inline elements with an id, for references to them."""
    text = "".join(_plain_text(inline) for inline in inlines)
    for name, start, end in collector.spans:
        inner = text[start:end][:_MAX_SPAN]
        references.add_target(
            name, "", (TextRun(inner, computed.style.text),) if inner.strip() else ()
        )


def _plain_text(inline: Inline) -> str:
    match inline:
        case NoteCall() | Reference() | InlineAnchor():
            return ""
        case TextRun():
            return inline.text
        case _:
            return " "


def _compile_child(child: Element | Text, context: CompileContext, owner: Element) -> NodeBuilder:
    if isinstance(child, Text):
        return _compile_text(child, context, owner)
    return compile_controlled(child, context, _compile_element)


def _compile_text(child: Text, context: CompileContext, owner: Element) -> NodeBuilder:
    check_length(child.text, owner.location, context.findings)
    template = context.parse_template(child.text, owner.location, is_literal=child.is_literal)
    literal = template.literal
    if literal is not None:
        return NodeBuilder(_Literal(literal), is_static=True)
    evaluation = context.compile_text(template, owner.location, isolates=True)

    def build_text(scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
        _add_text(scope, parent, evaluation.evaluate(scope))

    return NodeBuilder(build_text, is_static=False)


class _Literal:
    """Builds a text without expressions."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
        _add_text(scope, parent, self.text)


def _add_text(scope: Scope, computed: ComputedStyle, text: str) -> None:
    style = computed.style
    if computed.transform != "none":
        text = apply_text_transform(text, computed.transform)
    scope.collector.add_text(text, style.text, style.paragraph.white_space, scope.link)


def _compile_element(element: Element, context: CompileContext) -> NodeBuilder:
    if isinstance(element, MarkdownElement) and element.alert:
        return _compile_alert_title(element.alert)
    match element.tag:
        case "br":
            return NodeBuilder(_build_break, is_static=True)
        case "group" if not {"class", "lang", "id"} & element.attributes.keys():
            return compile_inlines(element.children, context, owner=element)
        case "group":
            return _compile_formatting(element, context)
        case "img" | "barcode" | "chart" | "input" | "textarea" | "select" | "signature":
            return _compile_figure(element, context)
        case tag if tag in _COMPILERS:
            return _COMPILERS[tag](element, context)
        case tag if tag in FORMATTING:
            return _compile_formatting(element, context)
        case _:  # reported by the checks
            return compile_inlines(element.children, context, owner=element)


def _compile_alert_title(kind: str) -> NodeBuilder:
    def build_title(scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
        _add_text(scope, parent, translate_alert(kind, parent.style.text.lang))

    return NodeBuilder(build_title, is_static=True)


def _build_break(scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
    scope.collector.add_break(parent.style.text)


def _compile_formatting(element: Element, context: CompileContext) -> NodeBuilder:
    made = _FormattingBuilder(element, context)
    inner = compile_inlines(element.children, context, owner=element)
    made.inner = inner.build
    is_static = made.element_style.is_static and inner.is_static and "id" not in element.attributes
    return NodeBuilder(made, is_static)


class _FormattingBuilder:
    """Builds the content of a formatting element."""

    __slots__ = ("element_style", "identity", "inner", "is_isolated")
    inner: BuildNodes

    def __init__(self, element: Element, context: CompileContext) -> None:
        self.is_isolated = element.tag == "bdi"
        self.element_style = context.compile_style(element, is_inline=True)
        self.identity = context.compile_attribute(element, "id")

    def __call__(self, scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        element_style = self.element_style
        name = _register_id(self.identity, scope, out)
        start = scope.collector.position
        _build_inner(
            self.inner,
            element_style.enter(scope),
            parent,
            element_style.compute(scope, parent),
            out,
            is_isolated=self.is_isolated,
        )
        if name is not None:
            scope.collector.spans.append((name, start, scope.collector.position))


def _compile_reference(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `ref`."""
    if context.is_page_time:
        return report_page_time(element, context)
    element_style = context.compile_style(element, is_inline=True)
    identity, target, show = context.compile_attributes(element, "id", "to", "show")
    source = source_maker(element.location)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        _register_id(identity, scope, out)
        name = target.read(scope)
        if name is None:
            message = "The reference has no target: `to` is empty"
            scope.state.findings.error("wrong-value", message, element.location)
            return
        own = element_style.compute(scope, parent)
        reference = Reference(name, show.read(scope), own.style.text, source(scope), own.transform)
        scope.state.add_reference(reference)
        scope.collector.add_reference(reference)

    return NodeBuilder(build, is_static=False)


def _compile_index_mark(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an index mark: an anchor, and the text in it."""
    if context.is_page_time:
        return report_page_time(element, context)
    mark = _FormattingBuilder(element, context)
    mark.inner = compile_inlines(element.children, context, owner=element).build
    note = compile_index_anchor(element, context)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        name = note(scope)
        if name is not None:
            scope.collector.add_anchor(InlineAnchor(name))
        mark(scope, parent, out)

    return NodeBuilder(build, is_static=False)


def compile_index_anchor(
    element: Element, context: CompileContext
) -> Callable[[Scope], str | None]:
    """Compile the term of an index mark; the function returns the name of its anchor."""
    term = context.compile_attribute(element, "term")

    def note(scope: Scope) -> str | None:
        value = term.read(scope)
        if value is None:
            message = "The mark has no term: `term` is empty"
            scope.state.findings.error("wrong-value", message, element.location)
            return None
        name: str = scope.state.add_index_mark(value, element.location)
        return name

    return note


def _compile_running_value(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a running value in a line: an anchor."""
    if context.is_page_time:
        return report_page_time(element, context)
    note = compile_running_anchor(element, context)

    def build(scope: Scope, _parent: ComputedStyle, _out: Nodes) -> None:
        scope.collector.add_anchor(InlineAnchor(note(scope)))

    return NodeBuilder(build, is_static=False)


def compile_running_anchor(element: Element, context: CompileContext) -> Callable[[Scope], str]:
    """Compile a running value; the function stores it and returns the name of its anchor."""
    name = element.attributes.get("name", "")
    value = context.compile_expression_text(element.attributes.get("value", "''"), element.location)

    def note(scope: Scope) -> str:
        text = collapse_and_trim(value.evaluate(scope) or "")
        anchor: str = scope.state.add_running_value(name, text, element.location)
        return anchor

    return note


def _compile_link(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element, is_inline=True)
    identity = context.compile_attribute(element, "id")
    if isinstance(element, MarkdownElement) and element.fragment:
        return _compile_fragment_link(element, element_style, context)
    href = context.compile_attribute(element, "href")
    inner = compile_inlines(element.children, context, owner=element)
    location = element.location

    def build_link(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        name = _register_id(identity, scope, out)
        start = scope.collector.position
        target = href.read(scope)
        if target and target.startswith("#"):
            scope.state.links.append(Link(target[1:], location))
        entered = element_style.enter(scope).enter(link=target)
        _build_inner(inner.build, entered, parent, element_style.compute(scope, parent), out)
        if name is not None:
            scope.collector.spans.append((name, start, scope.collector.position))

    leads_inside = href.constant is None or href.constant.startswith("#")
    is_static = href.is_static and not leads_inside and element_style.is_static and inner.is_static
    return NodeBuilder(build_link, is_static and "id" not in element.attributes)


def _compile_fragment_link(
    element: MarkdownElement, element_style: ElementStyle, context: CompileContext
) -> NodeBuilder:
    """Compile a link of Markdown to a heading of the same text, or to an id of the document."""
    fragment, location = element.fragment, element.location
    inner = compile_inlines(element.children, context, owner=element)

    def build_link(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        target = scope.fragments.get(fragment, fragment)
        scope.state.links.append(Link(target, location, is_markdown=True))
        entered = element_style.enter(scope).enter(link=f"#{target}")
        _build_inner(inner.build, entered, parent, element_style.compute(scope, parent), out)

    return NodeBuilder(build_link, is_static=False)


def _build_inner(
    inner: BuildNodes,
    scope: Scope,
    parent: ComputedStyle,
    own: ComputedStyle,
    out: Nodes,
    *,
    is_isolated: bool = False,
) -> None:
    """Build inline content, isolated if its direction is not its parent's (UAX #9, 2.4.2)."""
    initiator = _find_initiator(own)
    if initiator == _find_initiator(parent) and not is_isolated:
        inner(scope, own, out)
        return
    _add_text(scope, own, initiator)
    inner(scope, own, out)
    _add_text(scope, own, END_ISOLATE)


def _find_initiator(computed: ComputedStyle) -> str:
    """Return the control that sets content of a direction apart, as HTML's `dir` does."""
    own = computed.inherited
    if own.is_auto:
        return BY_FIRST_STRONG
    return RIGHT_TO_LEFT if own.is_rtl else LEFT_TO_RIGHT


def _register_id(identity: CompiledAttribute[str | None], scope: Scope, out: Nodes) -> str | None:
    """Register an inline element's id; `out` are the ids of the paragraph in this context."""
    name = read_id(identity, scope)
    if name is not None:
        out.append(name)
    return name


def _compile_figure(element: Element, context: CompileContext) -> NodeBuilder:
    builder = _compile_replaced(element, context)

    def build_figure(scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
        made: Nodes = []
        builder.build(scope, parent, made)
        for block in made:
            scope.collector.add_block(block, scope.link)

    return NodeBuilder(build_figure, builder.is_static)


def _compile_replaced(element: Element, context: CompileContext) -> NodeBuilder:
    if element.tag == "chart":
        return charts.compile_chart(element, context)
    if element.tag in FORM_FIELDS:
        return compile_field(element, context)
    return figures.compile_figure(element, context)


_COMPILERS: Final[dict[str, Callable[[Element, CompileContext], NodeBuilder]]] = {
    "a": _compile_link,
    "ref": _compile_reference,
    "mark": _compile_index_mark,
    "running": _compile_running_value,
    "footnote": compile_footnote,
}
