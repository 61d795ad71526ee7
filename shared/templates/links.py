"""The links of a template's text: the templates that it extends, or imports from."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DefusedXmlException, DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser

from shared.limits import MB

# Far above the engine's limit, far below what would exhaust the memory of a process.
MAX_DEPTH: Final = 10_000
# What a front may parse, in some 20 ms; it passes other texts to a worker.
_SMALL_CHARACTERS: Final = 1 * MB
_SMALL_TAGS: Final = 50_000


class NotWellFormedError(Exception):
    """The text is not well-formed, or declares a document type; the message has the position."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(
            f"The template is not well-formed XML: {reason}, at line {line}, column {column}."
        )


def is_quickly_parsed(text: str) -> bool:
    """Return whether a text is so small that its parsing delays no other request of a process."""
    return len(text) <= _SMALL_CHARACTERS and text.count("<") <= _SMALL_TAGS


def make_tag_parser(enter: Callable[[str, Any], None], leave: Callable[[str], None]) -> Any:
    """Return an expat parser that calls a function for each start and end tag, and builds no tree.

    Document types are forbidden.
    """
    parser: Any = DefusedXMLParser(encoding="utf-8", forbid_dtd=True)
    expat = parser.parser
    expat.StartElementHandler, expat.EndElementHandler = enter, leave
    expat.DefaultHandlerExpand = expat.CharacterDataHandler = None
    expat.CommentHandler = expat.ProcessingInstructionHandler = None
    return expat


def check_well_formed(text: bytes) -> None:
    """Check a text in UTF-8, whatever its XML declaration says; positions are those of the text as sent.

    Raises:
        NotWellFormedError: with the reason.
    """
    depth = 0

    def enter(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise refuse(f"elements are nested deeper than {MAX_DEPTH}")

    def leave(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(reason: str) -> NotWellFormedError:
        return NotWellFormedError(reason, expat.CurrentLineNumber, expat.CurrentColumnNumber + 1)

    expat = make_tag_parser(enter, leave)
    try:
        # In one call: expat 2.5 parses a token that is split across calls again with each of them.
        expat.Parse(text, True)
    except ExpatError as error:
        raise NotWellFormedError(ErrorString(error.code), error.lineno, error.offset + 1) from error
    except DTDForbidden as error:
        raise refuse("a document type declaration is not accepted") from error


# The engine refuses a document with more, whatever it links to.
_MAX_ELEMENTS: Final = 400_000
# A process of the front answers other requests after so many elements.
_ELEMENTS_AT_ONCE: Final = 2_000
_PAUSE_SECONDS: Final = 0.0001


def find_links(text: str) -> tuple[str, ...]:
    """Return the references that `extends` and `import` name, as written, each once.

    Only the engine reports what is wrong with them. A text that is not well-formed has those before its
    error.
    """
    if "extends" not in text and "<import" not in text:
        return ()
    reader = _LinkReader()
    expat = make_tag_parser(reader.enter, reader.leave)
    with suppress(ExpatError, DefusedXmlException, _TooManyElementsError):
        # In one call, see `check_well_formed`.
        expat.Parse(text.encode("utf-8", "replace"), True)
    return tuple(dict.fromkeys(reader.links))


class _TooManyElementsError(Exception):
    """The text has more elements than the engine accepts."""


class _LinkReader:
    """Collects the links of the root and of its children."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self._depth = self._elements = 0

    def enter(self, tag: str, attributes: Any) -> None:
        """Read the start of an element."""
        self._elements += 1
        if self._elements % _ELEMENTS_AT_ONCE == 0:
            if self._elements > _MAX_ELEMENTS:
                raise _TooManyElementsError
            time.sleep(_PAUSE_SECONDS)
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
