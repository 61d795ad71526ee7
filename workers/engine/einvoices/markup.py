"""Reader of XML with limits."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder

from workers.engine.xml_reader import UnreadableXmlError, parse_xml

MAX_BYTES: Final = 20 * 1024 * 1024
MAX_ELEMENTS: Final = 400_000  # about 8,000 lines of an invoice
MAX_DEPTH: Final = 50  # the deepest element of EN 16931 is the tenth


def read_xml(content: bytes) -> Element:
    """Parse an XML text into elements; comments and processing instructions are skipped.

    Raises:
        UnreadableXmlError: the text is not well-formed, has a document type declaration, or exceeds
            a limit.
    """
    if len(content) > MAX_BYTES:
        raise UnreadableXmlError(f"it has {len(content):,} bytes, accepted are {MAX_BYTES:,}")
    builder = TreeBuilder()
    count = depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count, depth = count + 1, depth + 1
        if count > MAX_ELEMENTS:
            raise UnreadableXmlError(f"it has more than {MAX_ELEMENTS:,} elements")
        if depth > MAX_DEPTH:
            raise UnreadableXmlError(f"its elements are more than {MAX_DEPTH} deep")
        builder.start("{" + tag if "}" in tag else tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end("{" + tag if "}" in tag else tag)

    def refuse_declaration(*_: object) -> None:
        raise UnreadableXmlError("it has a document type declaration, which is not accepted")

    handlers = {
        "StartElementHandler": start,
        "EndElementHandler": end,
        "CharacterDataHandler": builder.data,
        "StartDoctypeDeclHandler": refuse_declaration,
    }
    parse_xml(content, handlers, separator="}")
    return builder.close()
