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

from workers.engine.diagnostics import Findings, Place
from workers.engine.merge.markdown_flow import MarkdownError, read_markdown
from workers.engine.syntax.nodes import Element, Text
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, source_at
from workers.engine.tree.figures import read_id
from workers.engine.tree.nodes import Container, Role
from workers.engine.tree.rows import CompileBlocks
from workers.engine.tree.run import RUN
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
    if not element.is_literal:
        text = aside.take_from(text)
    found = Findings()
    nodes = [aside.put_back(node) for node in _read(text, element.place, found)]
    context.findings.extend(found, lambda d: replace(d, message=aside.restore(d.message)))
    return compile_blocks(nodes, context, owner=element)


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
        return replace(
            node,
            attributes=attributes,
            children=[self.put_back(child) for child in node.children],
            is_literal=attributes == node.attributes,
        )


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
            part = compile_blocks(_read(text, element.place, fresh), own, owner=element)
            findings.extend(fresh)
            if not any(fresh):  # what is wrong is told by each document
                kept[text] = part
            if len(kept) > MAX_KEPT:
                kept.popitem(last=False)
        part.build(scope, parent, out)

    return Part(build, is_static=False)


def _read(text: str, place: Place, findings: Findings) -> list[Element | Text]:
    try:
        return read_markdown(text, place, findings)
    except MarkdownError as error:
        findings.error("markdown", f"The Markdown cannot be read: {error}", place)
        return []
