"""The text of uploaded templates: decoding, well-formedness, removal of the XML declaration."""

from __future__ import annotations

import re
from typing import Any, Final
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser

from shared.encodings import UnacceptedEncodingError, detect_xml_codec
from shared.errors import ServiceError

# Far above the engine's limit, far below what would exhaust the front's memory.
MAX_DEPTH: Final = 10_000

_DECLARATION: Final = re.compile(r"<\?xml\s[^>]{0,200}\?>\s*")


def read_content(data: bytes, *, charset: str | None) -> str:
    """Return a template's text as it is stored: without BOM, XML declaration and the space after it.

    `charset` is that of the Content-Type. Empty data is a template without content.

    Raises:
        ServiceError: 400 with the position, the text is not in its encoding, not well-formed, or
            declares a document type.
    """
    text = _decode(data, charset=charset)
    if text:
        _check_well_formed(text)
    return _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text


def _decode(data: bytes, *, charset: str | None) -> str:
    try:
        codec = detect_xml_codec(data, charset)
    except UnacceptedEncodingError as error:
        raise ServiceError(400, f"{error}.") from error
    try:
        return data.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ServiceError(
            400, f"The body is not {codec} text: byte {error.start + 1} cannot be read."
        ) from error


class _DepthCounter:
    """Limits the nesting depth of elements; each open element costs the parser memory."""

    def __init__(self, expat: Any) -> None:
        self._expat = expat
        self._depth = 0

    def enter(self, _name: str, _attributes: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _malformed_at_parser(f"elements are nested deeper than {MAX_DEPTH}", self._expat)

    def leave(self, _name: str) -> None:
        self._depth -= 1


def _check_well_formed(text: str) -> None:
    # The text is re-encoded as UTF-8, whatever the declaration says; the declaration stays, so that
    # positions are the author's. No tree is built: only the library's checks of DTDs remain.
    parser: Any = DefusedXMLParser(encoding="utf-8", forbid_dtd=True)
    expat = parser.parser
    depth = _DepthCounter(expat)
    expat.StartElementHandler, expat.EndElementHandler = depth.enter, depth.leave
    expat.DefaultHandlerExpand = expat.CharacterDataHandler = None
    expat.CommentHandler = expat.ProcessingInstructionHandler = None
    try:
        # In one call: hazards.md on expat and tokens split across chunks.
        expat.Parse(text.encode("utf-8"), True)
    except ExpatError as error:
        raise _malformed(ErrorString(error.code), error.lineno, error.offset + 1) from error
    except DTDForbidden as error:
        raise _malformed_at_parser("a document type declaration is not accepted", expat) from error
    except UnicodeEncodeError as error:
        raise ServiceError(
            400, "The body has a character that XML does not allow: an unpaired surrogate."
        ) from error


def _malformed_at_parser(reason: str, expat: Any) -> ServiceError:
    return _malformed(reason, expat.CurrentLineNumber, expat.CurrentColumnNumber + 1)


def _malformed(reason: str, line: int, column: int) -> ServiceError:
    return ServiceError(
        400, f"The template is not well-formed XML: {reason}, at line {line}, column {column}."
    )
