"""The reader of XML that others wrote: expat within one call, and what it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.parsers import expat

_NO_MEMORY: Final = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]


class UnreadableXmlError(Exception):
    """An XML text is rejected; the message has the reason and position."""


class UnknownEncodingError(UnreadableXmlError):
    """An XML text is in an encoding that Python does not know."""


class _DeclarationFound(Exception):
    """Stops parsing at a document type declaration."""


def parse_xml(
    content: bytes, handlers: Mapping[str, object], *, separator: str | None = None
) -> None:
    """Parse an XML text by handlers, named as expat names them; these count, and raise at limits.

    `separator` stands between namespaces and names. Nothing external is read. The text is parsed in
    one call: in pieces, a long token is parsed again with each (CVE-2023-52425).

    Raises:
        UnreadableXmlError: the text is not well-formed.
    """
    parser = expat.ParserCreate(namespace_separator=separator)
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    for name, handler in handlers.items():
        setattr(parser, name, handler)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        check_memory(error)
        reason = expat.ErrorString(error.code)
        raise UnreadableXmlError(
            f"line {error.lineno}, column {error.offset + 1}: {reason}"
        ) from None
    except (ValueError, LookupError):  # raised for an encoding unknown to Python
        raise UnknownEncodingError("line 1: its encoding is not known; save it as UTF-8") from None


def check_well_formed(content: bytes) -> None:
    """Parse an XML text; one with a document type declaration is checked up to the declaration.

    Raises:
        UnreadableXmlError: the text is not well-formed.
    """

    def stop(*_: object) -> None:
        raise _DeclarationFound

    try:
        parse_xml(content, {"StartDoctypeDeclHandler": stop})
    except _DeclarationFound:
        return


def check_memory(error: expat.ExpatError) -> None:
    """Raise MemoryError if expat ran out of memory, which it reports like a syntax error."""
    if error.code == _NO_MEMORY:
        raise MemoryError from error
