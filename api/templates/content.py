"""Reading a template's text: any declared encoding in, well-formed text without declaration out."""

from __future__ import annotations

import codecs
import re
from typing import Any, Final
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser

from api.exchange import find_codec
from shared.errors import ServiceError

# Far above what the engine accepts, far below what would fill the memory of the front.
MAX_DEPTH: Final = 10_000

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED: Final = ((b"<\x00?\x00", "utf-16-le"), (b"\x00<\x00?", "utf-16-be"))
_DECLARED: Final = re.compile(
    rb"<\?xml[^>]{0,100}?\bencoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._-]{1,40})[\"']"
)
_DECLARATION: Final = re.compile(r"<\?xml\s[^>]{0,200}\?>\s*")


def read_content(data: bytes, *, charset: str | None) -> str:
    """Give a template's text as it is kept: without mark, XML declaration and what follows it.

    `charset` is the Content-Type's. No data at all is a template without content.

    Raises:
        ServiceError: 400, the text is not in its encoding, not well-formed, or declares a document
            type or entities; with the position.
    """
    text = _decode(data, charset=charset)
    if text:
        _check_well_formed(text)
    return _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text


def _decode(data: bytes, *, charset: str | None) -> str:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], codec)
    return _decode_as(data, charset or _find_declared(data))


def _find_declared(data: bytes) -> str:
    for start, codec in _UNMARKED:
        if data.startswith(start):
            return codec
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    known = find_codec(name)
    if known is None:
        raise ServiceError(
            400, f"The XML declaration names the encoding {name!r}, which is not known."
        )
    # A declaration that could be read as ASCII does not stand in a wider encoding.
    return "utf-8" if known.startswith(("utf-16", "utf-32")) else known


def _decode_as(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        raise ServiceError(
            400, f"The body is not {codec} text: byte {error.start + 1} cannot be read."
        ) from error


class _Depth:
    """Counts how deep the elements are nested; each open one costs the parser memory."""

    def __init__(self, expat: Any) -> None:
        self._expat = expat
        self._depth = 0

    def enter(self, _name: str, _attributes: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _malformed_here(f"elements are nested deeper than {MAX_DEPTH}", self._expat)

    def leave(self, _name: str) -> None:
        self._depth -= 1


def _check_well_formed(text: str) -> None:
    # The encoding is ours, whatever the declaration, which stays in place so that positions are
    # the author's. Nothing is built: of the library's handlers only its refusals stay.
    parser: Any = DefusedXMLParser(encoding="utf-8", forbid_dtd=True)
    expat = parser.parser
    depth = _Depth(expat)
    expat.StartElementHandler, expat.EndElementHandler = depth.enter, depth.leave
    expat.DefaultHandlerExpand = expat.CharacterDataHandler = None
    expat.CommentHandler = expat.ProcessingInstructionHandler = None
    try:
        # Once and whole: hazards.md on expat and tokens that come in pieces.
        expat.Parse(text.encode("utf-8"), True)
    except ExpatError as error:
        raise _malformed(ErrorString(error.code), error.lineno, error.offset + 1) from error
    except DTDForbidden as error:
        raise _malformed_here("a document type declaration is not accepted", expat) from error
    except UnicodeEncodeError as error:
        raise ServiceError(400, "The body has a character that stands in no XML.") from error


def _malformed_here(reason: str, expat: Any) -> ServiceError:
    return _malformed(reason, expat.CurrentLineNumber, expat.CurrentColumnNumber + 1)


def _malformed(reason: str, line: int, column: int) -> ServiceError:
    return ServiceError(
        400, f"The template is not well-formed XML: {reason}, at line {line}, column {column}."
    )
