"""Reader of XML with limits, and writer with a canonical layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape

from workers.engine.xml_reader import UnreadableXmlError, parse_xml

MAX_BYTES: Final = 20 * 1024 * 1024
MAX_ELEMENTS: Final = 400_000  # about 8,000 lines of an invoice
MAX_DEPTH: Final = 50  # the deepest element of EN 16931 is the tenth

_QUOTED: Final = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_TEXT: Final = {"\r": "&#13;"}  # otherwise normalised to a line end (XML 1.0, 2.11)


@dataclass(slots=True)
class XmlElement:
    """An element: its tag as `{namespace}name`, attributes, children, and own text."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""


def read_xml(content: bytes) -> XmlElement:
    """Parse an XML text into elements; comments and processing instructions are skipped.

    Raises:
        UnreadableXmlError: the text is not well-formed, has a document type declaration, or exceeds
            a limit.
    """
    if len(content) > MAX_BYTES:
        raise UnreadableXmlError(f"it has {len(content):,} bytes, accepted are {MAX_BYTES:,}")
    reader = _XmlTreeBuilder()
    handlers = {
        "StartElementHandler": reader.start,
        "EndElementHandler": reader.end,
        "CharacterDataHandler": reader.add_text,
        "StartDoctypeDeclHandler": reader.refuse_declaration,
    }
    parse_xml(content, handlers, separator="}")
    assert reader.root is not None
    return reader.root


class _XmlTreeBuilder:
    """Builds the elements of one text from expat's events."""

    def __init__(self) -> None:
        self.root: XmlElement | None = None
        self._open: list[XmlElement] = []
        self._texts: list[list[str]] = []  # of the open elements; a text comes in many parts
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise UnreadableXmlError(f"it has more than {MAX_ELEMENTS:,} elements")
        if len(self._open) >= MAX_DEPTH:
            raise UnreadableXmlError(f"its elements are more than {MAX_DEPTH} deep")
        element = XmlElement("{" + tag if "}" in tag else tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def end(self, _: str) -> None:
        self._open.pop().text = "".join(self._texts.pop())

    def add_text(self, data: str) -> None:
        self._texts[-1].append(data)

    def refuse_declaration(self, *_: object) -> None:
        raise UnreadableXmlError("it has a document type declaration, which is not accepted")


def write_xml(root: XmlElement, prefixes: Mapping[str, str]) -> bytes:
    """Return elements with tags `prefix:name` as UTF-8, with the namespaces declared at the root."""
    declared = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in prefixes.items() if prefix)
    if "" in prefixes:
        declared = f' xmlns="{prefixes[""]}"{declared}'
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    _write(root, parts, "", declared)
    return "".join(parts).encode()


def _write(element: XmlElement, parts: list[str], indent: str, declared: str = "") -> None:
    attributes = "".join(
        f' {name}="{escape(value, _QUOTED)}"' for name, value in element.attributes.items()
    )
    parts.append(f"{indent}<{element.tag}{declared}{attributes}")
    if element.children:
        parts.append(">\n")
        for child in element.children:
            _write(child, parts, indent + "  ")
        parts.append(f"{indent}</{element.tag}>\n")
    elif element.text:
        parts.append(f">{escape(element.text, _TEXT)}</{element.tag}>\n")
    else:
        parts.append("/>\n")
