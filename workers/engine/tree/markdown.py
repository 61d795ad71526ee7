"""The markdown element: Markdown written in the document, or a value that holds some.

Expressions in written Markdown are set aside before it is read and put back after, so that no value
ever becomes a mark. A value is read as Markdown as a whole, and `{{ }}` in it is text.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from textwrap import dedent
from typing import Any, Final

from workers.engine.diagnostics import Findings, Place, Span
from workers.engine.merge.markdown_flow import (
    MarkdownError,
    MarkdownLines,
    read_markdown,
    span_of,
)
from workers.engine.syntax.nodes import Element, MarkdownElement, Text
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, source_at
from workers.engine.tree.figures import read_id
from workers.engine.tree.nodes import Container, Role
from workers.engine.tree.rows import CompileBlocks
from workers.engine.tree.run import FRAGMENTS, RUN, Run
from workers.engine.tree.runtime import Scope, describe

MAX_KEPT: Final = 64  # values read and compiled, for each markdown element
_EXPRESSION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def compile_markdown(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    """Compile a markdown element."""
    look = context.look(element)
    source, identity = source_at(element.place), context.attribute(element, "id")
    inner = (
        _compile_value(element, context, compile_blocks)
        if "value" in element.attributes
        else _compile_written(element, context, compile_blocks)
    )

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
        blocks: list[Any] = []
        inner.build(look.enter(scope), own, blocks)
        name = read_id(identity, scope)
        out.append(Container(source(scope), Role.DIV, own.style, tuple(blocks), None, name))

    return Part(build, look.is_static and inner.is_static and identity.constant is None)


def _compile_written(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    text, aside = dedent(element.text.lstrip("\n")), _SetAside()
    source = text
    if not element.is_literal:
        text = aside.take_from(text)
    found = Findings()
    lines = _written_lines(element, source, is_literal=element.is_literal)
    nodes = [aside.put_back(node) for node in _read(text, element.place, found, lines)]
    context.findings.extend(found, lambda d: replace(d, message=aside.restore(d.message)))
    return _compile_nodes(nodes, element, context, compile_blocks)


def _compile_nodes(
    nodes: list[Element | Text], element: Element, context: Context, compile_blocks: CompileBlocks
) -> Part:
    """Compile the blocks of one text, whose headings have ids of their own in each document."""
    inner = compile_blocks(nodes, context, owner=element)
    slugs = [
        heading.slug
        for node in nodes
        if isinstance(node, Element)
        for heading in node.walk()
        if isinstance(heading, MarkdownElement) and heading.slug
    ]
    if not slugs:
        return inner

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        run: Run = scope[RUN]
        inner.build({**scope, FRAGMENTS: run.claim_fragments(slugs)}, parent, out)

    return Part(build, is_static=False)


def _written_lines(element: Element, text: str, *, is_literal: bool) -> MarkdownLines:
    """Return where the lines of a text stand in the document, expressions in it set aside."""
    spans = _spans_of(element)
    spans = spans[element.text.count("\n") - text.count("\n") :]
    if not is_literal:
        spans = [spans[number] for number in _kept_lines(text) if number < len(spans)]
    return MarkdownLines(spans, element.place.origin)


def _spans_of(element: Element) -> list[Span]:
    """Return the extent of each line of an element's text."""
    lines: list[tuple[str, int, int]] = []
    for child in element.children:
        if not isinstance(child, Text):
            continue
        for number, part in enumerate(child.text.split("\n")):
            if number or not lines:
                lines.append((part, child.line + number, 1 if number else child.column))
            else:
                before, line, column = lines[-1]
                lines[-1] = (before + part, line, column)
    return [span_of(*line) for line in lines]


def _kept_lines(text: str) -> list[int]:
    """Return which lines of a text begin outside of expressions."""
    kept, line, position = [0], 0, 0
    for match in _EXPRESSION.finditer(text):
        between = text.count("\n", position, match.start())
        kept += range(line + 1, line + between + 1)
        line += between + match[0].count("\n")
        position = match.end()
    return kept + list(range(line + 1, line + text.count("\n", position) + 1))


class _SetAside:
    """The expressions of a text, each replaced by a word while Markdown is read."""

    def __init__(self) -> None:
        self._expressions: list[str] = []
        self._word = "expression"

    def take_from(self, text: str) -> str:
        """Give the text with a word for each expression."""
        while self._word in text:
            self._word += "n"

        def take(match: re.Match[str]) -> str:
            self._expressions.append(match[0])
            return f"{self._word}{len(self._expressions) - 1}x"

        return _EXPRESSION.sub(take, text)

    def restore(self, text: str) -> str:
        """Give a text with the expressions in place of their words."""
        if not self._expressions:
            return text
        words = re.compile(f"{self._word}(\\d+)x")
        return words.sub(lambda match: self._expressions[int(match[1])], text)

    def put_back(self, node: Element | Text) -> Element | Text:
        """Give a node with its expressions where they were written."""
        if isinstance(node, Text):
            text = self.restore(node.text)
            return replace(node, text=text, is_literal=text == node.text)
        attributes = {name: self.restore(text) for name, text in node.attributes.items()}
        restored = replace(
            node,
            attributes=attributes,
            children=[self.put_back(child) for child in node.children],
            is_literal=attributes == node.attributes,
        )
        if isinstance(restored, MarkdownElement):
            self._restore_names(restored)
        return restored

    def _restore_names(self, element: MarkdownElement) -> None:
        """Leave out the slug of a heading with expressions; make a link with some an ordinary one."""
        if self.restore(element.slug) != element.slug:
            element.slug = ""
        fragment = self.restore(element.fragment)
        if fragment != element.fragment:
            element.fragment, element.is_literal = "", False
            element.attributes["href"] = f"#{fragment}"


def _compile_value(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    value = context.expression(element.attributes["value"], element.place)
    kept: OrderedDict[str, Part] = OrderedDict()

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        text = value.evaluate(scope)
        findings: Findings = scope[RUN].findings
        if text is None:
            return
        if not isinstance(text, str):
            told = f"The value of markdown must be text, not {describe(text)}"
            findings.error("expression", told, element.place)
            return
        part = kept.get(text)
        if part is None:
            fresh = Findings()
            own = replace(context, findings=fresh, unresolved=[], used=set())
            nodes = _read(text, element.place, fresh)
            part = _compile_nodes(nodes, element, own, compile_blocks)
            findings.extend(fresh)
            if not any(fresh):  # what is wrong is told by each document
                kept[text] = part
            if len(kept) > MAX_KEPT:
                kept.popitem(last=False)
        part.build(scope, parent, out)

    return Part(build, is_static=False)


def _read(
    text: str, place: Place, findings: Findings, lines: MarkdownLines | None = None
) -> list[Element | Text]:
    try:
        return read_markdown(text, place, findings, lines)
    except MarkdownError as error:
        findings.error("markdown", f"The Markdown cannot be read: {error}", place)
        return []
