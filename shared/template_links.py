"""The links of a template's text: the templates that it extends, or imports from."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser


def find_links(text: str) -> tuple[str, ...]:
    """Return the references that `extends` and `import` name, as written, each once.

    Only the engine reports what is wrong with them. A text that is not well-formed has those before its
    error.
    """
    if "extends" not in text and "<import" not in text:
        return ()
    reader = _LinkReader()
    parser: Any = DefusedXMLParser(encoding="utf-8", forbid_dtd=True)
    expat = parser.parser
    expat.StartElementHandler, expat.EndElementHandler = reader.enter, reader.leave
    expat.DefaultHandlerExpand = expat.CharacterDataHandler = None
    expat.CommentHandler = expat.ProcessingInstructionHandler = None
    with suppress(ExpatError, DefusedXmlException):
        # In one call: hazards.md on expat and tokens split across chunks.
        expat.Parse(text.encode("utf-8", "replace"), True)
    return tuple(dict.fromkeys(reader.links))


class _LinkReader:
    """Collects the links of the root and of its children."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self._depth = 0

    def enter(self, tag: str, attributes: Any) -> None:
        """Read the start of an element."""
        self._depth += 1
        if self._depth > 2:
            return
        # Attributes come as a list of names and values in turns, or as a mapping.
        pairs = (
            dict(attributes)
            if isinstance(attributes, dict)
            else dict(zip(attributes[::2], attributes[1::2], strict=True))
        )
        name = "extends" if self._depth == 1 else "template" if tag == "import" else ""
        if name in pairs:
            self.links.append(pairs[name].strip())

    def leave(self, _tag: str) -> None:
        """Read the end of an element."""
        self._depth -= 1
