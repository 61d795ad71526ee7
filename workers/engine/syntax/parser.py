"""Parser of documents: builds elements with exact source locations; never raises, whatever the input."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Final
from xml.parsers import expat

from workers.engine.characters import NOT_XML
from workers.engine.diagnostics import Findings, Linkage, Origin, SourceLocation, SourceSpan
from workers.engine.syntax.encodings import (
    FORBIDDEN_CODE,
    MAX_REPORTED,
    EncodingError,
    decode_text,
    describe_forbidden,
    drop_forbidden,
    position_after,
)
from workers.engine.syntax.nodes import JSON_TAGS, CDataText, Element, SyntaxTree, Text
from workers.engine.xml_reader import check_memory

MAX_DEPTH: Final = 200
MAX_ELEMENTS: Final = 400_000  # a paragraph takes 1.5 KB, a worker process has 1 GB
MAX_ATTRIBUTES: Final = 200

# Shared by all elements without attributes; never modified.
_NO_ATTRIBUTES: Final[dict[str, str]] = {}

# White space, comments and processing instructions before the root. Possessive, to run in linear
# time; decision 0302 explains `|(?!)`.
_PROLOG: Final = re.compile(rb"(?:\s++|<\?(?>.*?\?>)|<!--(?>.*?-->)|(?!))*+", re.DOTALL)
_REFERENCE: Final = re.compile(
    r"<!\[CDATA\[(?>.*?(?:\]\]>|\Z))|<!--(?>.*?(?:-->|\Z))"
    r"|&#(?:x0*(?P<hex>[0-9A-Fa-f]{1,6})|0*(?P<decimal>[0-9]{1,7}));",
    re.DOTALL,
)
_START_TAG: Final = re.compile(rb"<[^\"'>]*+(?:\"[^\"]*+\"[^\"'>]*+|'[^']*+'[^\"'>]*+|(?!))*+>")


def parse_document(
    source: bytes,
    *,
    origin: Origin | None,
    linkage: Linkage | None = None,
    charset: str | None = None,
) -> SyntaxTree:
    """Parse a document. If it is not well-formed, the tree has no root and one finding.

    Document type and entity declarations, more than 200 levels and more than 400,000 elements are
    rejected. Characters that XML forbids, and references to them, are left out with a warning. Every
    location carries `origin` and `linkage`; lines and columns are those of the text as sent.
    """
    reader = _TreeBuilder(origin, linkage)
    findings = Findings()

    def warn(message: str, position: tuple[int, int]) -> None:
        location = reader.locate(*position)
        findings.warn(FORBIDDEN_CODE, message[:1].upper() + message[1:], location)

    try:
        reader.read(_drop_references(drop_forbidden(_decode(source, charset), warn), warn).encode())
    except _RefusedError as refusal:
        location = reader.locate(refusal.line, refusal.column)
        findings.error(refusal.code, str(refusal), location)
        return SyntaxTree(None, findings)
    return SyntaxTree(reader.root, findings)


class _RefusedError(Exception):
    """The text is rejected; `line` and `column` count from 1."""

    def __init__(self, code: str, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.line = line
        self.column = column


# --- bytes ----------------------------------------------------------------------------------------------


def _decode(source: bytes, charset: str | None) -> str:
    """Return the text without a byte order mark."""
    try:
        return decode_text(source, charset, is_xml=True)
    except EncodingError as error:
        raise _RefusedError("encoding", str(error), line=error.line, column=error.column) from None


def _drop_references(text: str, warn: Callable[[str, tuple[int, int]], object]) -> str:
    """Return a text without the references to characters that XML forbids."""
    if "&#" not in text:
        return text
    count = 0

    def drop(match: re.Match[str]) -> str:
        nonlocal count
        digits = match["hex"] or match["decimal"]
        if digits is None:  # a CDATA section or a comment
            return match[0]
        code = int(digits, 16 if match["hex"] else 10)
        if code > sys.maxunicode or NOT_XML.match(chr(code)) is None:
            return match[0]
        count += 1
        if count <= MAX_REPORTED:
            line, column = position = position_after(text[: match.start()])
            warn(f"line {line}, column {column} contains {describe_forbidden(chr(code))}", position)
        return ""

    return _REFERENCE.sub(drop, text)


# --- the reader -----------------------------------------------------------------------------------------


class _TreeBuilder:
    """Builds the tree of one text from expat's events.

    The text is passed to expat in one piece: in pieces, expat 2.5 parses a long token again with
    each of them (CVE-2023-52425).

    """

    def __init__(self, origin: Origin | None, linkage: Linkage | None) -> None:
        self.root: Element | None = None
        self._origin = origin
        self._linkage = linkage
        self._open: list[Element] = []
        self._tag_starts: list[int] = []  # byte offsets of the open elements' start tags
        self._parts: list[str] = []  # of the text being read
        self._text_start = (1, 1)
        self._text_end = (0, 0)  # tracked inside `json` only
        self._elements = 0
        self._cdata_start = -1  # byte offset of the open CDATA section of an attachment
        self._source = b""
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartCdataSectionHandler = self._start_cdata
        self._parser.EndCdataSectionHandler = self._end_cdata
        self._parser.StartDoctypeDeclHandler = self._refuse_declaration
        self._parser.EntityDeclHandler = self._refuse_declaration

    def read(self, source: bytes) -> None:
        """Build the tree of a UTF-8 text."""
        prolog = _PROLOG.match(source)
        if prolog and source[prolog.end() : prolog.end() + 9].upper() == b"<!DOCTYPE":
            line, column = position_after(source[: prolog.end()].decode())
            raise _declaration_refusal(line, column)
        self._source = source
        try:
            self._parser.Parse(source, True)
        except expat.ExpatError as error:
            check_memory(error)
            raise self._explain(error) from None
        finally:
            # Breaks the reference cycle through the handlers, which would keep the text in memory.
            del self._parser, self._source

    def locate(self, line: int, column: int) -> SourceLocation:
        """Return the location of a character in the innermost open element."""
        tag = self._open[-1].tag if self._open else "document"
        span = SourceSpan(line, column, line, column + 1)
        return SourceLocation(tag, span, self._origin, self._linkage)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise self._refusal(
                "too-large",
                f"The document has more than {MAX_ELEMENTS:,} elements. Split it into several",
            )
        if len(self._open) >= MAX_DEPTH:
            raise self._refusal("too-deep", f"Elements are nested deeper than {MAX_DEPTH}")
        if len(attributes) > MAX_ATTRIBUTES:
            raise self._refusal(
                "too-large",
                f"`{tag}` has {len(attributes)} attributes, accepted are at most {MAX_ATTRIBUTES}",
            )
        line, column = self._current_position()
        location = SourceLocation(
            tag, SourceSpan(line, column, line, column), self._origin, self._linkage
        )
        element = Element(tag, attributes or _NO_ATTRIBUTES, location)
        if self._open:
            self._close_text()
            self._open[-1].children.append(element)
        else:
            element.attributes = attributes
            attributes.pop("xmlns", None)  # accepted so that editors can bind a schema
            self.root = element
        self._open.append(element)
        self._tag_starts.append(self._parser.CurrentByteIndex)

    def _end(self, _tag: str) -> None:
        self._close_text()
        element = self._open.pop()
        tag_start = self._tag_starts.pop()
        start = element.location.span
        line, column = self._current_position()
        if element.children or not self._is_empty_tag(tag_start):
            line, column = self._find_end_of_tag(line, column)
        span = SourceSpan(start.line_start, start.column_start, line, column)
        element.location = SourceLocation(element.tag, span, self._origin, self._linkage)

    def _current_position(self) -> tuple[int, int]:
        """Return the line and column, from 1, at which the current event begins."""
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _is_empty_tag(self, start: int) -> bool:
        tag = _START_TAG.match(self._source, start)
        return tag is not None and self._source[tag.end() - 2] == ord("/")

    def _find_end_of_tag(self, line: int, column: int) -> tuple[int, int]:
        """Return the position after the `>` of the end tag that begins at `line` and `column`."""
        start = self._parser.CurrentByteIndex
        tag = self._source[start : self._source.index(b">", start) + 1].decode()
        if "\n" in tag or "\r" in tag:
            lines, column = position_after(tag)
            return line + lines - 1, column
        return line, column + len(tag)

    def _characters(self, data: str) -> None:
        if self._open[-1].tag in JSON_TAGS:
            self._track_position(data)
        elif not self._parts:
            self._text_start = self._current_position()
        self._parts.append(data)

    def _track_position(self, data: str) -> None:
        """Start a new text node after a reference or the boundary of a CDATA section.

        Each text node is then contiguous in the source, so that JSON errors have exact positions.
        """
        line, column = self._current_position()
        if (line, column) != self._text_end:
            self._close_text()
            self._text_start = line, column
        self._text_end = (line + 1, 1) if data == "\n" else (line, column + len(data))

    def _start_cdata(self) -> None:
        """Start a text node of its own for a CDATA section of an attachment."""
        if self._open[-1].tag == "attachment":
            self._close_text()
            self._cdata_start = self._parser.CurrentByteIndex + len(b"<![CDATA[")

    def _end_cdata(self) -> None:
        """Store the section as in the source: XML parsers replace its line ends (XML 1.0, 2.11)."""
        if self._cdata_start < 0:
            return
        written = self._source[self._cdata_start : self._parser.CurrentByteIndex].decode()
        self._cdata_start = -1
        if written:
            self._open[-1].children.append(CDataText(written, *self._text_start))
        self._parts.clear()

    def _close_text(self) -> None:
        if self._parts:
            text = Text("".join(self._parts), *self._text_start)
            self._open[-1].children.append(text)
            self._parts.clear()
        self._text_end = (0, 0)

    def _refuse_declaration(self, *_: object) -> None:
        raise _declaration_refusal(*self._current_position())

    def _refusal(self, code: str, message: str) -> _RefusedError:
        line, column = self._current_position()
        return _RefusedError(code, message, line=line, column=column)

    def _explain(self, error: expat.ExpatError) -> _RefusedError:
        reason = _REASONS.get(error.code) or expat.ErrorString(error.code)
        message = f"The text is not well-formed: {reason}"
        if self._open and error.code in (_MISMATCH, _UNCLOSED, _NO_ELEMENT):
            innermost = self._open[-1]
            message += (
                f"; `{innermost.tag}` of line {innermost.location.span.line_start} is still open"
            )
        return _RefusedError("not-well-formed", message, line=error.lineno, column=error.offset + 1)


def _declaration_refusal(line: int, column: int) -> _RefusedError:
    return _RefusedError(
        "declaration",
        "Document type and entity declarations are not accepted; remove the <!DOCTYPE …>."
        " The five XML entities and numeric references such as &#160; need none",
        line=line,
        column=column,
    )


_CODES: Final = expat.errors.codes
_MISMATCH: Final = _CODES[expat.errors.XML_ERROR_TAG_MISMATCH]
_UNCLOSED: Final = _CODES[expat.errors.XML_ERROR_UNCLOSED_TOKEN]
_NO_ELEMENT: Final = _CODES[expat.errors.XML_ERROR_NO_ELEMENTS]
_REASONS: Final = {
    _MISMATCH: "this end tag does not match the start tag",
    _UNCLOSED: "a tag or a quoted value is not closed",
    _NO_ELEMENT: "the text ends before its elements do",
    _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]: "this character is not allowed here; write < as &lt; and & as &amp;",
    _CODES[expat.errors.XML_ERROR_UNDEFINED_ENTITY]: "this entity is unknown; write the character itself, or a numeric reference such as &#160;",
    _CODES[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]: "this tag has the same attribute twice",
    _CODES[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]: "only one root element is accepted, and nothing after it",
}  # fmt: skip
