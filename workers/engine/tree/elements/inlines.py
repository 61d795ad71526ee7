"""Inline content: text, formatting, links, breaks, references and figures in lines.

Titles of alerts and the word before the number of a figure are those of the document's language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import ALERTS, Element, MarkdownElement, Text
from workers.engine.tree.build_state import Link, Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.builders import NodeBuilder, collect, sequence, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.elements.block_builder import read_id
from workers.engine.tree.elements.charts import FIGURES
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
from workers.engine.tree.nodes import Inline, Reference
from workers.engine.tree.styles.cascade import DEFAULT_FIGURE_NUMBER, ComputedStyle
from workers.engine.tree.styles.computed import Numbering

_TITLES: Final = read_table(__package__, "alert_titles.txt")
_FIGURE_WORDS: Final = {"en": "Figure", **read_table(__package__, "figure_words.txt")}


def translate_alert(kind: str, lang: str) -> str:
    """Return the title of a kind of alert in a language, in English where there is none."""
    return _find(_TITLES, lang).split(" ")[ALERTS.index(kind)]


def translate_figure_number(number: str, numbering: Numbering, lang: str) -> str:
    """Return the number of a figure in a language, unless an author has chosen its format."""
    shape = numbering.format
    if shape is None or shape.text != DEFAULT_FIGURE_NUMBER:
        return number
    return _find(_FIGURE_WORDS, lang) + number.removeprefix(_FIGURE_WORDS["en"])


def _find(words: Mapping[str, str], lang: str) -> str:
    return words.get(lang.partition("-")[0].lower(), words["en"])


FORMATTING: Final = frozenset({"span", "b", "i", "u", "s", "sub", "sup", "code", "bdi"})


def compile_inlines(
    children: Iterable[Element | Text], context: CompileContext, *, owner: Element
) -> NodeBuilder:
    """Compile the inline children of a paragraph, which add to its collector."""
    return sequence(_compile_child(child, context, owner) for child in children)


def collect_inlines(
    build: NodeBuilder, scope: Scope, computed: ComputedStyle, location: SourceLocation
) -> tuple[Inline, ...]:
    """Return the inline content of a paragraph.

    Raises:
        AuthoringError: the document has too many paragraphs.
    """
    scope.state.count_toward("too-many-paragraphs", location)
    collector = InlineCollector()
    build(scope, computed, collector)
    return collector.finish()


def _compile_child(child: Element | Text, context: CompileContext, owner: Element) -> NodeBuilder:
    if isinstance(child, Text):
        return _compile_text(child, context, owner)
    return compile_controlled(child, context, _compile_element)


def _compile_text(child: Text, context: CompileContext, owner: Element) -> NodeBuilder:
    check_length(child.text, owner.location, context.findings)
    template = context.parse_template(child.text, owner.location, is_literal=child.is_literal)
    literal = template.literal
    if literal is not None:
        return partial(_add_text, literal)
    evaluation = context.compile_text(template, owner.location, isolates=True)

    def build_text(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        _add_text(evaluation.evaluate(scope), scope, parent, out)

    return build_text


def _add_text(text: str, _scope: Scope, computed: ComputedStyle, out: InlineCollector) -> None:
    style = computed.style
    if computed.transform != "none":
        text = apply_text_transform(text, computed.transform)
    out.add_text(text, style.text, style.paragraph.white_space)


def _compile_element(element: Element, context: CompileContext) -> NodeBuilder:
    if isinstance(element, MarkdownElement) and element.alert:
        return _compile_alert_title(element.alert)
    if element.tag == "br":
        return _build_break
    if element.tag == "group" and not {"class", "lang", "id"} & element.attributes.keys():
        return compile_inlines(element.children, context, owner=element)
    if compile_tag := _COMPILERS.get(element.tag):
        return compile_tag(element, context)
    if compile_block := FIGURES.get(element.tag):
        return _compile_figure(compile_block(element, context))
    return compile_inlines(element.children, context, owner=element)  # reported by the checks


def _compile_alert_title(kind: str) -> NodeBuilder:
    def build_title(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        _add_text(translate_alert(kind, parent.style.text.lang), scope, parent, out)

    return build_title


def _build_break(_scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
    out.add_break(parent.style.text)


class _FormattingBuilder:
    """Builds the content of a formatting element or of a link."""

    __slots__ = ("element_style", "identity", "inner", "is_isolated", "read_link")

    def __init__(
        self,
        element: Element,
        context: CompileContext,
        read_link: Callable[[Scope], str | None] | None = None,
    ) -> None:
        self.is_isolated = element.tag == "bdi"
        self.element_style = context.compile_style(element, is_inline=True)
        self.identity = context.compile_attribute(element, "id")
        self.read_link = read_link
        self.inner = compile_inlines(element.children, context, owner=element)

    def __call__(self, scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        name = _add_id(self.identity, scope, out)
        start, link = len(out.inlines), out.link
        inner = self.element_style.enter(scope)
        if self.read_link is not None:
            out.link = self.read_link(scope)
        own = self.element_style.compute(scope, parent)
        initiator = _find_initiator(own)
        # Content is isolated if its direction is not its parent's (UAX #9, 2.4.2).
        is_isolated = self.is_isolated or initiator != _find_initiator(parent)
        if is_isolated:
            _add_text(initiator, scope, own, out)
        self.inner(inner, own, out)
        if is_isolated:
            _add_text(END_ISOLATE, scope, own, out)
        out.link = link
        if name is not None:
            scope.state.references.add_target(name, "", out.content_since(start))


def _compile_reference(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `ref`."""
    element_style = context.compile_style(element, is_inline=True)
    identity, target, show = context.compile_attributes(element, "id", "to", "show")
    source = source_maker(element.location)

    def build(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        _add_id(identity, scope, out)
        name = target.read(scope)
        if name is None:
            message = "The reference has no target: `to` is empty"
            scope.state.findings.error("wrong-value", message, element.location)
            return
        own = element_style.compute(scope, parent)
        reference = Reference(name, show.read(scope), own.style.text, source(scope), own.transform)
        state = scope.state
        state.references.references.append(reference)
        state.links.append(Link(name, element.location, is_reference=True))
        state.count_toward("too-many-references", element.location)
        out.add(reference)

    return build


def _compile_index_mark(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an index mark: an anchor, and the text in it."""
    mark = _FormattingBuilder(element, context)
    term = context.compile_attribute(element, "term")

    def build(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        state, value = scope.state, term.read(scope)
        if value is None:
            message = "The mark has no term: `term` is empty"
            state.findings.error("wrong-value", message, element.location)
        else:
            state.count_toward("too-many-marks", element.location)
            out.add_anchor(state.references.add_index_mark(value))
        mark(scope, parent, out)

    return build


def _compile_running_value(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a running value: an anchor."""
    name = element.attributes.get("name", "")
    value = context.compile_expression_text(element.attributes.get("value", "''"), element.location)

    def build(scope: Scope, _parent: ComputedStyle, out: InlineCollector) -> None:
        text = collapse_and_trim(value.evaluate(scope) or "")
        scope.state.count_toward("too-many-running-values", element.location)
        out.add_anchor(scope.state.references.add_running_value(name, text))

    return build


def _compile_link(element: Element, context: CompileContext) -> NodeBuilder:
    location = element.location
    href = context.compile_attribute(element, "href")
    fragment = element.fragment if isinstance(element, MarkdownElement) else ""

    def read_link(scope: Scope) -> str | None:
        if fragment:  # of Markdown: a heading of the same text, or an id of the document
            target = scope.fragments.get(fragment, fragment)
            scope.state.links.append(Link(target, location, is_markdown=True))
            return f"#{target}"
        link: str | None = href.read(scope)
        if link and link.startswith("#"):
            scope.state.links.append(Link(link[1:], location))
        return link

    return _FormattingBuilder(element, context, read_link)


def _find_initiator(computed: ComputedStyle) -> str:
    """Return the control that sets content of a direction apart, as HTML's `dir` does."""
    if computed.inherited.is_auto:
        return BY_FIRST_STRONG
    return RIGHT_TO_LEFT if computed.style.paragraph.is_rtl else LEFT_TO_RIGHT


def _add_id(
    identity: CompiledAttribute[str | None], scope: Scope, out: InlineCollector
) -> str | None:
    """Register the id of an element in a line, which links lead to; return it."""
    name = read_id(identity, scope)
    if name is not None:
        out.add_anchor(name)
    return name


def _compile_figure(builder: NodeBuilder) -> NodeBuilder:
    def build_figure(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        for block in collect(builder, scope, parent):
            out.add_block(block)

    return build_figure


_COMPILERS: Final[dict[str, Callable[[Element, CompileContext], NodeBuilder]]] = {
    "a": _compile_link,
    "ref": _compile_reference,
    "mark": _compile_index_mark,
    "running": _compile_running_value,
    "footnote": compile_footnote,
    **dict.fromkeys(("group", *FORMATTING), _FormattingBuilder),
}
