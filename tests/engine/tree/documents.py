"""Builders of documents for the tests of the tree stage: text in, concrete nodes out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import localcontext
from typing import Any

from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import build_document, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.tree.document import Document
from workers.engine.tree.expressions.compiler import compile_value, explain_failure
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.grammar import parse_expression
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.nodes import Block, Container, Paragraph, Table, TextRun
from workers.engine.tree.page_values import PageValues

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, 23, 30, tzinfo=UTC))


def evaluate(text: str, scope: Mapping[str, Any] | None = None, *, lang: str = "en-GB") -> Any:
    """Return the value of an expression; a failure raises one of runtime.EVALUATION_ERRORS."""
    formats = get_formats(lang, "EUR", "UTC")
    with localcontext(ARITHMETIC):
        return compile_value(parse_expression(text))(Environment(dict(scope or {}), formats))


def why_not(text: str, scope: Mapping[str, Any] | None = None) -> str:
    """Return the reason why an expression fails, as authors read it; empty if it does not."""
    formats = get_formats("en-GB", "EUR", "UTC")
    with localcontext(ARITHMETIC):
        return (
            explain_failure(parse_expression(text), Environment(dict(scope or {}), formats)) or ""
        )


def build(
    flow: str, data: Mapping[str, Any] | None = None, *, head: str = "", **root: str
) -> Document:
    """Build a document from the inside of its flow; findings fail the test."""
    return build_source(document(flow, data, head=head, **root))


def build_source(source: str, options: RenderOptions = OPTIONS) -> Document:
    """Build a whole document text."""
    built, _ = build_document(
        None, Payload(PayloadKind.XML, source.encode()), options=options, findings=Findings()
    )
    return built


def problems(
    flow: str, data: Mapping[str, Any] | None = None, *, head: str = "", **root: str
) -> list[str]:
    """Return the messages of all findings of validation."""
    payload = Payload(PayloadKind.XML, document(flow, data, head=head, **root).encode())
    return [finding.text for finding in validate(None, payload, options=OPTIONS)]


def document(
    flow: str, data: Mapping[str, Any] | None = None, *, head: str = "", **root: str
) -> str:
    """Return a document with default data and a flow."""
    written = json.dumps(data or {}).replace("<", "\\u003c").replace("&", "\\u0026")
    attributes = "".join(f' {name}="{value}"' for name, value in root.items())
    return f"<document{attributes}><data><json>{written}</json></data>{head}<flow>{flow}</flow></document>"


def blocks(flow: str, data: Mapping[str, Any] | None = None, **options: str) -> tuple[Block, ...]:
    """Return the blocks of a flow."""
    return build(flow, data, **options).flows[0].blocks


def texts(flow: str, data: Mapping[str, Any] | None = None, **options: str) -> list[str]:
    """Return the text of each paragraph of a flow, boxes opened."""
    return [text for block in blocks(flow, data, **options) for text in _texts_of(block)]


def text_of(paragraph: Paragraph) -> str:
    """Return a paragraph's text, line breaks as line feeds."""
    return "".join(i.text if isinstance(i, TextRun) else "\n" for i in paragraph.inlines)


def table(flow: str, data: Mapping[str, Any] | None = None, **options: str) -> Table:
    """Return the only table of a flow."""
    (found,) = blocks(flow, data, **options)
    assert isinstance(found, Table)
    return found


def cells(found: Table) -> list[list[Any]]:
    """Return the body cells, rich ones as their blocks."""
    return [list(row.cells) for body in found.bodies for row in body.rows]


def page(number: int, count: int) -> PageValues:
    """Return the values of a page."""
    return PageValues(number, count, number, count, "default")


def refused(source: str) -> list[str]:
    """Return the messages of the errors a document is refused for."""
    try:
        build_source(source)
    except AuthoringError as error:
        return [diagnostic.text for diagnostic in error.diagnostics]
    return []


def _texts_of(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return [text_of(block)]
    if isinstance(block, Container):
        return [text for child in block.children for text in _texts_of(child)]
    return []
