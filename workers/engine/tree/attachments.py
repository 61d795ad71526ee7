"""Attachments: files that the document carries, made from its text and data."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final
from xml.sax.saxutils import escape

from workers.engine.diagnostics import Place
from workers.engine.ports import Attachment, Profile
from workers.engine.syntax.files import guess_media_type
from workers.engine.syntax.invoices import INVOICE_NAMES, NotWellFormedError, read_invoice_level
from workers.engine.syntax.nodes import Element, Text, VerbatimText
from workers.engine.tree.compiler import Attribute, Context
from workers.engine.tree.grammar import TextTemplate
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope, describe, show

MAX_ATTACHMENTS: Final = 100
MAX_BYTES: Final = 20 * 1024 * 1024  # of all files together

_NAMES: Final = ("name", "type", "relationship", "description", "modified")
_XML: Final = ("/xml", "+xml")
_PARTIAL_LEVELS: Final = ("MINIMUM", "BASIC WL")  # which hold no lines, so are no whole invoice
_OF_INVOICES: Final = (("alternative", "source", "data"), ("data",))  # Factur-X 1.0, 6.2.2
_DATA_ADDRESS: Final = re.compile(r"data:[^,;\s]{0,130}(?:;[^,;\s]{1,100})*;base64,")

# A CDATA section may begin on a line of its own: that line end is none of the file's.
_BEFORE_FIRST_LINE: Final = re.compile(r"\A[ \t]*+(?:\r\n?|\n)?")

BuildAttachment = Callable[[Scope], Attachment | None]
# Takes the media type; gives None where what is wrong is told already.
ReadContent = Callable[[Scope, str], bytes | None]


def compile_attachment(element: Element, context: Context) -> BuildAttachment:
    """Compile an attachment; it is evaluated to None where its `if` fails, or something is wrong."""
    name, media_type, relationship, description, modified = (
        context.attribute(element, attribute) for attribute in _NAMES
    )
    condition = (
        context.expression(element.attributes["if"], element.place)
        if "if" in element.attributes
        else None
    )
    read = _compile_content(element, context)
    place = element.place

    def build(scope: Scope) -> Attachment | None:
        if condition is not None and not condition.evaluate(scope):
            return None
        own_name = _read_name(name, scope)
        if own_name is None:
            return None
        own_type = media_type.read(scope) or guess_media_type(own_name)
        content = read(scope, own_type)
        if not content:
            if content is not None:
                _tell_empty(own_name, scope, place)
            return None
        attachment = Attachment(
            own_name,
            content,
            own_type,
            relationship.read(scope),
            " ".join((description.read(scope) or "").split()),
            modified.read(scope),
        )
        return _judge_xml(attachment, scope, place)

    return build


def build_attachments(
    compiled: Iterable[tuple[Place, BuildAttachment]], scope: Scope, profile: Profile | None
) -> tuple[Attachment, ...]:
    """Give the files of a document; two of one name, or more than fit, are findings."""
    findings = scope[RUN].findings
    attachments: dict[str, Attachment] = {}
    size = 0
    for place, build in compiled:
        attachment = build(scope)
        if attachment is None:
            continue
        if attachment.name in attachments:
            findings.error("duplicate-key", f'Two attachments are named "{attachment.name}"', place)
        size += len(attachment.content)
        if size > MAX_BYTES or len(attachments) >= MAX_ATTACHMENTS:
            findings.error(
                "attachments-too-large",
                f"The attachments up to this one are {len(attachments) + 1} files of {size:,} bytes, "
                f"accepted are {MAX_ATTACHMENTS} files of {MAX_BYTES:,} bytes in all",
                place,
            )
            break
        attachments[attachment.name] = attachment
        if attachment.invoice_level and profile is None:
            findings.warn(
                "invoice-profile",
                f'The attachment "{attachment.name}" is an electronic invoice, which Factur-X and '
                'ZUGFeRD ask to be in a PDF/A-3; give the document profile="pdf/a-3b"',
                place,
            )
    return tuple(attachments.values())


def _read_name(name: Attribute[str | None], scope: Scope) -> str | None:
    """Give the name of a file, None where what is wrong with it is told."""
    if name.is_static:
        return name.constant
    written = name.read_text(scope)
    if written.strip():
        return name.parse(written, scope)
    scope[RUN].findings.error("empty-attachment", "The attachment has no name", name.place)
    return None


def _tell_empty(name: str, scope: Scope, place: Place) -> None:
    scope[RUN].findings.error(
        "empty-attachment",
        f'The attachment "{name}" came out empty. Give it a value or text, or leave it out with if',
        place,
    )


# --- XML and electronic invoices ----------------------------------------------------------------------


def _judge_xml(attachment: Attachment, scope: Scope, place: Place) -> Attachment:
    """Tell broken XML, and give an electronic invoice with its level."""
    if not attachment.media_type.endswith(_XML):
        return attachment
    findings = scope[RUN].findings
    try:
        level = read_invoice_level(attachment.content)
    except NotWellFormedError as error:
        findings.error(
            "attachment-xml",
            f'The attachment "{attachment.name}" is not well-formed XML at {error}',
            place,
        )
        return attachment
    if attachment.name not in INVOICE_NAMES:
        return attachment
    if not level:
        findings.warn(
            "attachment-invoice",
            f'The attachment "{attachment.name}" states no guideline of Factur-X, ZUGFeRD or '
            "XRechnung that is known, so the file is not marked as an electronic invoice",
            place,
        )
    elif attachment.relationship not in _OF_INVOICES[level in _PARTIAL_LEVELS]:
        accepted = " or ".join(f'"{word}"' for word in _OF_INVOICES[level in _PARTIAL_LEVELS])
        findings.warn(
            "attachment-invoice",
            f'An invoice of level {level} is attached with relationship="{attachment.relationship}";'
            f" Factur-X asks for {accepted}",
            place,
        )
    return replace(attachment, invoice_level=level)


# --- content ----------------------------------------------------------------------------------------


def _compile_content(element: Element, context: Context) -> ReadContent:
    if "value" in element.attributes:
        return _compile_value(element, context)
    return _compile_written(element, context)


def _compile_value(element: Element, context: Context) -> ReadContent:
    value = context.expression(element.attributes["value"], element.place)
    place = element.place

    def read(scope: Scope, _: str) -> bytes | None:
        evaluated = value.evaluate(scope)
        if evaluated is None:
            return b""
        if isinstance(evaluated, dict | list):
            return _write_json(evaluated).encode()
        if not isinstance(evaluated, str):
            scope[RUN].findings.error(
                "expression",
                "The value of attachment must be text, a record or a list, not "
                f"{describe(evaluated)}",
                place,
            )
            return None
        return _decode_text(evaluated, scope, place)

    return read


def _decode_text(text: str, scope: Scope, place: Place) -> bytes | None:
    """Give the bytes of a value: those of a data address, or the text itself."""
    head = _DATA_ADDRESS.match(text)
    if head is None:
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode("".join(text[head.end() :].split()), validate=True)
    except (binascii.Error, ValueError):
        scope[RUN].findings.error(
            "attachment-data", "The data address of the attachment is not in base64", place
        )
        return None


def _compile_written(element: Element, context: Context) -> ReadContent:
    """Compile the text inside; what data bring cannot become markup of the file's own kind."""
    written = _read_written(element)
    template = context.template(written, element.place, is_literal=element.is_literal)
    parts = [
        part if isinstance(part, str) else context.text(TextTemplate((part,)), element.place)
        for part in template.parts
    ]

    def read(scope: Scope, media_type: str) -> bytes:
        quote = _quoting(media_type)
        texts = (
            part if isinstance(part, str) else quote(part.evaluate(scope) or "") for part in parts
        )
        text = "".join(texts)
        if media_type.endswith(_XML):
            text = text.strip()  # a declaration stands at the very beginning, or is an error
        return text.encode("utf-8", "replace")

    return read


def _read_written(element: Element) -> str:
    """Return the text inside, trimmed; CDATA keeps every line end but one right after `[`."""
    texts = [child for child in element.children if isinstance(child, Text)]
    while texts and not isinstance(texts[0], VerbatimText) and not texts[0].text.strip():
        texts.pop(0)
    while texts and not isinstance(texts[-1], VerbatimText) and not texts[-1].text.strip():
        texts.pop()
    written = "".join(text.text for text in texts)
    if not written.strip():
        return ""
    is_verbatim = isinstance(texts[0], VerbatimText), isinstance(texts[-1], VerbatimText)
    written = _BEFORE_FIRST_LINE.sub("", written, count=1) if is_verbatim[0] else written.lstrip()
    return written.rstrip(" \t") if is_verbatim[1] else written.rstrip()


def _quoting(media_type: str) -> Callable[[str], str]:
    if media_type.endswith(_XML):
        return _quote_xml
    if media_type.endswith(("/json", "+json")):
        return _quote_json
    return str


def _quote_xml(text: str) -> str:
    return escape(text, {'"': "&quot;", "'": "&apos;"})


def _quote_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _write_json(value: Any) -> str:
    """Write data as JSON; numbers are exact, dates are texts."""
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
            return json.dumps(show(value), ensure_ascii=False)
