"""Attachments: files embedded in the document, made of its text and data."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Final
from xml.sax.saxutils import escape

from workers.engine.diagnostics import SourceLocation
from workers.engine.einvoices import INVOICE_NAMES, read_invoice
from workers.engine.ports import (
    UNDATED,
    AccessibilityProfile,
    ArchiveProfile,
    Attachment,
    ConformanceProfiles,
)
from workers.engine.syntax.names import guess_media_type
from workers.engine.syntax.nodes import CDataText, Element, Text
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.einvoices import StatedInvoice, report_findings
from workers.engine.tree.expressions.grammar import TextTemplate
from workers.engine.tree.expressions.runtime import describe_type, to_text
from workers.engine.xml_reader import UnreadableXmlError, check_well_formed

MAX_ATTACHMENTS: Final = 100
MAX_BYTES: Final = 20 * 1024 * 1024  # of all files together

_JSON: Final = ("/json", "+json")
_XML: Final = ("/xml", "+xml")
_OF_INVOICES: Final = (("alternative", "source", "data"), ("data",))  # Factur-X 1.0, 6.2.2
_DATA_ADDRESS: Final = re.compile(r"data:[^,;\s]{0,130}(?:;[^,;\s]{1,100})*;base64,", re.IGNORECASE)

# A line end right after `<![CDATA[` is not part of the file.
_BEFORE_FIRST_LINE: Final = re.compile(r"\A[ \t]*+(?:\r\n?|\n)?")

BuildAttachment = Callable[[Scope], Attachment | None]
# Takes the media type; returns None if an error is reported.
ReadContent = Callable[[Scope, str], bytes | None]


def compile_attachment(element: Element, context: CompileContext) -> BuildAttachment:
    """Compile an attachment; it builds None if its `if` fails, or if an error is reported."""
    name, media_type, relationship, description, modified = context.compile_attributes(
        element, "name", "type", "relationship", "description", "modified"
    )
    condition = context.compile_condition(element)
    compile_content = _compile_value if "value" in element.attributes else _compile_written
    read = compile_content(element, context)
    location = element.location

    def build(scope: Scope) -> Attachment | None:
        if not condition.evaluate(scope):
            return None
        own_name = _read_name(name, scope)
        if own_name is None:
            return None
        own_type = media_type.read(scope) or guess_media_type(own_name)
        content = read(scope, own_type)
        if content == b"":
            advice = "Give it a value or text, or leave it out with if"
            message = f'The attachment "{own_name}" is empty. {advice}'
            scope.state.findings.error("empty-attachment", message, location)
        if not content:
            return None
        attachment = Attachment(
            own_name,
            content,
            own_type,
            modified.read(scope) or UNDATED,
            relationship.read(scope),
            " ".join((description.read(scope) or "").split()),
        )
        return _check_content(attachment, scope, location)

    return build


def build_attachments(
    compiled: Iterable[tuple[SourceLocation, BuildAttachment]],
    scope: Scope,
    profiles: ConformanceProfiles,
    stated: StatedInvoice | None = None,
) -> tuple[Attachment, ...]:
    """Return the files of a document; duplicate names and exceeded limits are reported."""
    findings = scope.state.findings
    attachments: dict[str, Attachment] = {}
    size = 0
    if stated is not None:
        embedded = stated.make_attachment()
        attachments[embedded.name] = embedded
        size = len(embedded.content)
    for location, build in compiled:
        attachment = build(scope)
        if attachment is None:
            continue
        if attachment.name in attachments:
            findings.error(
                "duplicate-key", f'Two attachments are named "{attachment.name}"', location
            )
        size += len(attachment.content)
        if size > MAX_BYTES or len(attachments) >= MAX_ATTACHMENTS:
            findings.error(
                "attachments-too-large",
                f"The attachments up to this one are {len(attachments) + 1} files of {size:,} bytes, "
                f"accepted are {MAX_ATTACHMENTS} files of {MAX_BYTES:,} bytes in all",
                location,
            )
            break
        if profiles.accessibility is AccessibilityProfile.PDF_UA_2:  # ISO 14289-2, 8.14.1
            described = attachment.description or attachment.name
            attachment = replace(attachment, description=described)
        attachments[attachment.name] = attachment
        if attachment.invoice_level and not (profiles.archive and profiles.archive.part == 3):
            findings.warn(
                "invoice-profile",
                f'The attachment "{attachment.name}" is an electronic invoice, which Factur-X and '
                'ZUGFeRD ask to be in a PDF/A-3; give the document profile="pdf/a-3b"',
                location,
            )
    if profiles.archive is ArchiveProfile.PDF_A_4F and not attachments:
        message = (
            'profile="pdf/a-4f" is for a file with attachments; add one, or use profile="pdf/a-4"'
        )
        findings.error("profile-attachment", message)
    return tuple(attachments.values())


def _read_name(name: CompiledAttribute[str | None], scope: Scope) -> str | None:
    """Return the name of a file, None if an error is reported."""
    if name.is_static:
        return name.constant
    written = name.read_text(scope)
    if written.strip():
        return name.parse(written, scope)
    scope.state.findings.error("empty-attachment", "The attachment has no name", name.location)
    return None


# --- XML and electronic invoices ----------------------------------------------------------------------


def _check_content(attachment: Attachment, scope: Scope, location: SourceLocation) -> Attachment:
    """Report malformed JSON and XML; return an electronic invoice checked, with its level."""
    if attachment.media_type.endswith(_JSON):
        try:
            json.loads(attachment.content)
        except (ValueError, RecursionError):
            message = f'The attachment "{attachment.name}" is not JSON; texts in it stand in quotes'
            scope.state.findings.error("attachment-data", message, location)
    if not attachment.media_type.endswith(_XML):
        return attachment
    try:
        if attachment.name in INVOICE_NAMES:
            return _check_invoice(attachment, scope, location)
        check_well_formed(attachment.content)
    except UnreadableXmlError as error:
        message = f'The attachment "{attachment.name}" is not well-formed XML at {error}'
        scope.state.findings.error("attachment-xml", message, location)
    return attachment


def _check_invoice(attachment: Attachment, scope: Scope, location: SourceLocation) -> Attachment:
    state = scope.state
    invoice = read_invoice(attachment.content)
    if invoice is None or invoice.profile is None:
        state.findings.warn(
            "attachment-invoice",
            f'The attachment "{attachment.name}" states no guideline of Factur-X, ZUGFeRD, '
            "XRechnung or Peppol that is known, so the file is not marked as an electronic invoice",
            location,
        )
        return attachment
    # Factur-X marks files in CII only.
    level = invoice.profile.conformance if invoice.syntax.name == "cii" else ""
    is_partial = invoice.profile.is_partial
    if attachment.relationship not in _OF_INVOICES[is_partial]:
        accepted = " or ".join(f'"{word}"' for word in _OF_INVOICES[is_partial])
        state.findings.warn(
            "attachment-invoice",
            f'An invoice of profile {invoice.profile.name} is attached with relationship="{attachment.relationship}";'
            f" Factur-X asks for {accepted}",
            location,
        )
    report_findings(invoice.check(scope.state.judge).findings, state, location)
    state.rendered_terms.compare(invoice.record)
    return replace(attachment, invoice_level=level)


# --- content ----------------------------------------------------------------------------------------


def _compile_value(element: Element, context: CompileContext) -> ReadContent:
    value = context.compile_expression(element.attributes["value"], element.location)
    location = element.location

    def read(scope: Scope, _: str) -> bytes | None:
        evaluated = value.evaluate(scope)
        if evaluated is None:
            return b""
        if isinstance(evaluated, dict | list):
            return _write_json(evaluated).encode()
        if not isinstance(evaluated, str):
            message = f"The value of attachment must be text, a record or a list, not {describe_type(evaluated)}"
            scope.state.findings.error("expression", message, location)
            return None
        return _decode_text(evaluated, scope, location)

    return read


def _decode_text(text: str, scope: Scope, location: SourceLocation) -> bytes | None:
    """Return the bytes of a value: those of a data URL, or the text in UTF-8."""
    head = _DATA_ADDRESS.match(text)
    if head is None:
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode("".join(text[head.end() :].split()), validate=True)
    except (binascii.Error, ValueError):
        scope.state.findings.error(
            "attachment-data", "The data URL of the attachment is not in base64", location
        )
        return None


def _compile_written(element: Element, context: CompileContext) -> ReadContent:
    """Compile the text inside; values in it are escaped for the file's media type."""
    written = _read_written(element)
    template = context.parse_template(written, element.location, is_literal=element.is_literal)
    parts = [
        part
        if isinstance(part, str)
        else context.compile_text(TextTemplate((part,)), element.location)
        for part in template.parts
    ]

    def read(scope: Scope, media_type: str) -> bytes:
        escape_value = _choose_escape(media_type)
        texts = (
            part if isinstance(part, str) else escape_value(part.evaluate(scope) or "")
            for part in parts
        )
        text = "".join(texts)
        if media_type.endswith(_XML):
            text = text.strip()  # an XML declaration must be the very beginning
        return text.encode("utf-8", "replace")

    return read


def _read_written(element: Element) -> str:
    """Return the text inside, trimmed; CDATA keeps every line end but one right after `[`."""
    texts = [child for child in element.children if isinstance(child, Text)]
    while texts and not isinstance(texts[0], CDataText) and not texts[0].text.strip():
        texts.pop(0)
    while texts and not isinstance(texts[-1], CDataText) and not texts[-1].text.strip():
        texts.pop()
    written = "".join(text.text for text in texts)
    if not written.strip():
        return ""
    is_verbatim = isinstance(texts[0], CDataText), isinstance(texts[-1], CDataText)
    written = _BEFORE_FIRST_LINE.sub("", written, count=1) if is_verbatim[0] else written.lstrip()
    return written.rstrip(" \t") if is_verbatim[1] else written.rstrip()


def _choose_escape(media_type: str) -> Callable[[str], str]:
    if media_type.endswith(_XML):
        return lambda text: escape(text, {'"': "&quot;", "'": "&apos;"})
    if media_type.endswith(_JSON):
        return lambda text: json.dumps(text, ensure_ascii=False)[1:-1]
    return str


def _write_json(value: object) -> str:
    """Return data as JSON; numbers are exact, dates are texts."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(_write_json, value))}]"
        case dict():
            members = (f"{_write_json(str(key))}: {_write_json(v)}" for key, v in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return json.dumps(to_text(value), ensure_ascii=False)
