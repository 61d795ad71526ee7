"""The `markdown` element: Markdown in the document, or in a value.

Expressions in the document's Markdown are replaced by placeholders while it is parsed, so that no
value becomes markup. A value is parsed as a whole, and `{{ }}` in it is text.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from textwrap import dedent
from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation, SourceSpan
from workers.engine.merge.markdown_reader import (
    MarkdownError,
    MarkdownLines,
    line_span,
    read_markdown,
)
from workers.engine.syntax.nodes import Element, MarkdownElement, Text
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, make_box
from workers.engine.tree.expressions.runtime import describe_type
from workers.engine.tree.styles.cascade import ComputedStyle

MAX_CACHED_TEXTS: Final = 64  # values read and compiled, for each markdown element
# One that is not closed reaches to the end, and is reported when it is compiled; without `\Z` many
# take quadratic time.
_EXPRESSION: Final = re.compile(r"\{\{.*?(?:\}\}|\Z)", re.DOTALL)


def compile_markdown(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `markdown` element."""
    compile_inner = _compile_value if "value" in element.attributes else _compile_written
    return BlockBuilder(element, context, make=make_box, inner=compile_inner(element, context))


def _compile_written(element: Element, context: CompileContext) -> NodeBuilder:
    text, placeholders = dedent(element.text.lstrip("\n")), _Placeholders()
    source = text
    if not element.is_literal:
        text = placeholders.insert(text)
    found = Findings()
    read = _read(
        text,
        element.location,
        found,
        lambda: _written_lines(element, source, is_literal=element.is_literal),
    )
    nodes = [placeholders.restore_node(node) for node in read]
    context.findings.extend(found, lambda d: replace(d, message=placeholders.restore(d.message)))
    straight = _compile_nodes(nodes, element, context)
    if not _is_typographic(element):
        return straight

    @lru_cache(maxsize=MAX_CACHED_TEXTS)
    def compile_in(lang: str) -> NodeBuilder:
        own = replace(context, findings=Findings(), unresolved=[], used=set())  # reported above
        read = _read(text, element.location, Findings(), _find_no_lines, lang)
        return _compile_nodes([placeholders.restore_node(node) for node in read], element, own)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        compile_in(parent.style.text.lang)(scope, parent, out)

    return build


def _is_typographic(element: Element) -> bool:
    return element.attributes.get("quotes") == "typographic"


def _find_no_lines() -> MarkdownLines:
    return MarkdownLines((), None)


def _compile_nodes(
    nodes: list[Element | Text], element: Element, context: CompileContext
) -> NodeBuilder:
    """Compile the blocks of one text, whose headings have ids of their own in each document."""
    inner = context.compile_blocks(nodes, owner=element)
    slugs = [
        heading.slug
        for node in nodes
        if isinstance(node, Element)
        for heading in node.walk()
        if isinstance(heading, MarkdownElement) and heading.slug
    ]
    if not slugs:
        return inner

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        inner(scope.enter(fragments=scope.state.reserve_fragments(slugs)), parent, out)

    return build


def _written_lines(element: Element, text: str, *, is_literal: bool) -> MarkdownLines:
    """Return the source locations of the lines of a text without its expressions."""
    spans = _spans_of(element)
    spans = spans[element.text.count("\n") - text.count("\n") :]
    if not is_literal:
        spans = [spans[number] for number in _outside_lines(text) if number < len(spans)]
    return MarkdownLines(spans, element.location.origin)


def _spans_of(element: Element) -> list[SourceSpan]:
    """Return the source span of each line of an element's text."""
    lines: list[tuple[str, int, int]] = []
    for child in element.children:
        if not isinstance(child, Text):
            continue
        for number, builder in enumerate(child.text.split("\n")):
            if number or not lines:
                lines.append((builder, child.line + number, 1 if number else child.column))
            else:
                before, line, column = lines[-1]
                lines[-1] = (before + builder, line, column)
    return [line_span(*line) for line in lines]


def _outside_lines(text: str) -> list[int]:
    """Return which lines of a text begin outside of expressions."""
    cached, line, position = [0], 0, 0
    for match in _EXPRESSION.finditer(text):
        between = text.count("\n", position, match.start())
        cached += range(line + 1, line + between + 1)
        line += between + match[0].count("\n")
        position = match.end()
    return cached + list(range(line + 1, line + text.count("\n", position) + 1))


class _Placeholders:
    """The expressions of a text, each replaced by a placeholder while Markdown is parsed."""

    def __init__(self) -> None:
        self._expressions: list[str] = []
        self._word = "expression"

    def insert(self, text: str) -> str:
        """Return the text with placeholders for its expressions."""
        while self._word in text:
            self._word += "n"

        def take(match: re.Match[str]) -> str:
            self._expressions.append(match[0])
            return f"{self._word}{len(self._expressions) - 1}x"

        return _EXPRESSION.sub(take, text)

    def restore(self, text: str) -> str:
        """Return a text with the expressions in place of their placeholders."""
        if not self._expressions:
            return text
        words = re.compile(f"{self._word}(\\d+)x")
        return words.sub(lambda match: self._expressions[int(match[1])], text)

    def restore_node(self, node: Element | Text) -> Element | Text:
        """Return a node with its expressions restored."""
        if isinstance(node, Text):
            text = self.restore(node.text)
            return replace(node, text=text, is_literal=text == node.text)
        attributes = {name: self.restore(text) for name, text in node.attributes.items()}
        restored = replace(
            node,
            attributes=attributes,
            children=[self.restore_node(child) for child in node.children],
            is_literal=attributes == node.attributes,
        )
        if isinstance(restored, MarkdownElement):
            self._restore_names(restored)
        return restored

    def _restore_names(self, element: MarkdownElement) -> None:
        """Remove the slug of a heading with expressions.

        Make a link with expressions an ordinary one.
        """
        if self.restore(element.slug) != element.slug:
            element.slug = ""
        fragment = self.restore(element.fragment)
        if fragment != element.fragment:
            element.fragment, element.is_literal = "", False
            element.attributes["href"] = f"#{fragment}"


def _compile_value(element: Element, context: CompileContext) -> NodeBuilder:
    value = context.compile_expression(element.attributes["value"], element.location)
    cached: OrderedDict[tuple[str, str], NodeBuilder] = OrderedDict()

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        text = value.evaluate(scope)
        findings = scope.state.findings
        if text is None:
            return
        if not isinstance(text, str):
            message = f"The value of markdown must be text, not {describe_type(text)}"
            findings.error("expression", message, element.location)
            return
        lang = parent.style.text.lang if _is_typographic(element) else ""
        builder = cached.get((text, lang))
        if builder is None:
            fresh = Findings()
            own = replace(context, findings=fresh, unresolved=[], used=set())
            nodes = _read(text, element.location, fresh, _find_no_lines, lang)
            builder = _compile_nodes(nodes, element, own)
            findings.extend(fresh)
            if not any(fresh):  # else each document reports the findings
                cached[text, lang] = builder
            if len(cached) > MAX_CACHED_TEXTS:
                cached.popitem(last=False)
        builder(scope, parent, out)

    return build


def _read(
    text: str,
    location: SourceLocation,
    findings: Findings,
    find_lines: Callable[[], MarkdownLines],
    quotes: str = "",
) -> list[Element | Text]:
    try:
        return read_markdown(text, location, findings, find_lines, quotes=quotes)
    except MarkdownError as error:
        findings.error("markdown", f"The Markdown cannot be read: {error}", location)
        return []
