"""JSON batches: arrays, split into documents while they are received and stored as NDJSON, and NDJSON itself."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, BinaryIO, Final

from shared.errors import ServiceError
from shared.limits import MB
from shared.settings import get_limits

READ_BYTES: Final = 64 * 1024  # a front splits their documents in 50 ms, between other requests
_BOM: Final = b"\xef\xbb\xbf"
# A line that is not blank, from its first character on. Matching runs in C, so that a body of only line
# breaks takes no longer than text.
_LINE: Final = re.compile(rb"\S[^\n]*(\n)?")


class DocumentStream(io.RawIOBase):
    """A body that is read as documents below one another, with the byte offset of each in `starts`.

    A subclass appends to `_ready` what can be read.
    """

    def __init__(self) -> None:
        self._ready = bytearray()
        self.starts = array("Q")
        self.size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        while (size < 0 or len(self._ready) < size) and self._advance():
            pass
        piece = bytes(self._ready[:size] if size >= 0 else self._ready)
        del self._ready[: len(piece)]
        return piece

    def _advance(self) -> bool:
        """Read on in the source; return whether there was more."""
        raise NotImplementedError


class NdjsonBody(DocumentStream):
    """An NDJSON stream that records the byte offset of each document.

    Reading raises `ServiceError`: 400 if it is UTF-16 or UTF-32, 413 for too many documents or one that is too large.
    """

    def __init__(self, source: Any, *, most: int | None = None) -> None:
        super().__init__()
        self._source = source
        self._most = most
        self._line_begun_at: int | None = None

    def _advance(self) -> bool:
        piece: bytes = self._source.read(READ_BYTES)
        if self.size == 0:
            piece = self._complete_bom(piece)
            if b"\0" in piece[:4]:  # as RFC 4627, 3, tells encodings apart
                raise ServiceError(400, "Invalid NDJSON: it is not UTF-8.")
            self._record_starts(piece, len(_BOM) if piece.startswith(_BOM) else 0)
        else:
            self._record_starts(piece, 0)
        self.size += len(piece)
        most = get_limits().body_bytes
        if self._line_begun_at is not None and self.size - self._line_begun_at > most:
            raise document_too_large(len(self.starts), most=most)
        self._ready += piece
        return bool(piece)

    def _complete_bom(self, piece: bytes) -> bytes:
        while 0 < len(piece) < len(_BOM) and (more := self._source.read(len(_BOM) - len(piece))):
            piece += more
        return piece

    def _record_starts(self, piece: bytes, position: int) -> None:
        if self._line_begun_at is not None:
            end = piece.find(b"\n", position)
            if end < 0:
                return
            self._line_begun_at = None
            position = end + 1
        for line in _LINE.finditer(piece, position):
            check_document_count(len(self.starts), most=self._most)
            self.starts.append(self.size + line.start())
            if line[1] is None:
                self._line_begun_at = self.size + line.start()


def read_documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a range that begins and ends between lines: the number of bytes up to the end
    of the document, and the document.
    """
    end = 0
    for line in io.BufferedReader(stream, READ_BYTES):  # type: ignore[type-var] # it is raw
        end += len(line)
        if not line.isspace():
            yield end, line.strip()


def check_document_count(documents: int, *, most: int | None = None) -> None:
    """Check that another document may follow `documents` others, or a row `most` rows that are grouped.

    Raises:
        ServiceError: 413, the limit is reached.
    """
    accepted = get_limits().batch_documents if most is None else most
    if documents >= accepted:
        what = "documents" if most is None else "rows"
        raise ServiceError(
            413, f"A batch has {accepted:,} {what} at most; send more than one batch."
        )


def document_too_large(number: int, *, most: int) -> ServiceError:
    """Return the error of a batch whose document `number`, counted from 1, exceeds `most` bytes."""
    return ServiceError(
        413, f"Document {number:,} of the batch is larger than {most // MB} MB, the limit."
    )


# Each bracket takes a step of the interpreter: at this limit some 10 s of the front.
_MAX_BRACKETS: Final = 30_000_000
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
# Matches up to the next bracket of a document, or to a string that continues in the next piece. Matching
# runs in C, so the time depends on the brackets and not on the bytes. On `|(?!)` see decision 0302.
_NEXT: Final = re.compile(
    rb'[^\[\]{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+|(?!))*+"[^\[\]{}"]*+|(?!))*+([\[\]{}"]|\Z)', re.DOTALL
)
# A comma and an object without others or escapes: of such rows a body has a million.
_FLAT: Final = re.compile(
    rb'[ \t\r\n]*+,[ \t\r\n]*+(\{[^\[\]{}"]*+(?:"[^"\\]*+"[^\[\]{}"]*+|(?!))*+\})'
)
_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+|(?!))*+', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^,\] \t\r\n]*")
# Outside of strings a line feed is white space like any other; inside, JSON forbids it (RFC 8259, 7).
_WITHOUT_LINE_FEEDS: Final = bytes.maketrans(b"\n", b"\r")


class _Expects(Enum):
    ARRAY = auto()
    FIRST = auto()  # a document or the closing bracket
    DOCUMENT = auto()
    SEPARATOR = auto()  # a comma or the closing bracket
    NOTHING = auto()


class JsonArrayBody(DocumentStream):
    """A JSON array as an NDJSON stream that records the byte offset of each document.

    Each byte is scanned once, and only one piece of the body is in memory. Documents are not parsed: a
    malformed one fails by itself when it is rendered, as a line of NDJSON does.

    Reading raises `ServiceError`: 400 if the body is not an array, 413 for too many documents or one that
    is too large.
    """

    def __init__(self, source: Any, *, most: int | None = None) -> None:
        super().__init__()
        self._source = source
        self._most = most
        self._expects = _Expects.ARRAY
        self._depth = 0  # open brackets of the current document
        self._brackets = 0  # opened in total
        self._is_in_scalar = self._is_in_string = self._is_escaped = False
        self._at = 0  # the offset of the current piece in the source

    def _advance(self) -> bool:
        if piece := self._source.read(READ_BYTES):
            self._scan(self._strip_bom(piece) if self._at == 0 else piece)
        elif not self._ready and self._expects is not _Expects.NOTHING:
            self._check_end()
        return bool(piece)

    def _strip_bom(self, piece: bytes) -> bytes:
        while len(piece) < len(_BOM) and (more := self._source.read(READ_BYTES)):
            piece += more
        if piece.startswith(_BOM):
            self._at = len(_BOM)
            return piece[len(_BOM) :]
        return piece

    def _scan(self, piece: bytes) -> None:
        position = 0
        while position < len(piece):
            if self._is_between():
                end = self._scan_between(piece, position)
            else:
                end = self._scan_document(piece, position)
                self._emit(piece[position:end])
            position = end
        self._at += len(piece)

    def _scan_between(self, piece: bytes, position: int) -> int:
        """Scan the tokens between documents; return the position of the next document or of the end."""
        while self._expects is _Expects.SEPARATOR and (flat := _FLAT.match(piece, position)):
            self._start_document()
            self._is_in_scalar = False
            self._emit(flat[1])
            position = flat.end()
        found = _BLANKS.match(piece, position)
        assert found is not None, "it matches anything"
        position = found.end()
        if position == len(piece):
            return position
        sign = piece[position : position + 1]
        match self._expects, sign:
            case _Expects.ARRAY, b"[":
                self._expects = _Expects.FIRST
            case ((_Expects.FIRST | _Expects.SEPARATOR), b"]"):
                self._expects = _Expects.NOTHING
            case _Expects.SEPARATOR, b",":
                self._expects = _Expects.DOCUMENT
            case ((_Expects.FIRST | _Expects.DOCUMENT), _) if sign not in b",]}:":
                self._start_document()
                return position
            case _:
                raise self._unexpected(sign, self._at + position)
        return position + 1

    def _is_between(self) -> bool:
        """Return whether the scanner is between documents."""
        return not (self._depth or self._is_in_string or self._is_in_scalar)

    def _start_document(self) -> None:
        check_document_count(len(self.starts), most=self._most)
        self.starts.append(self.size)
        self._is_in_scalar = True  # until a bracket or a quote is seen
        self._expects = _Expects.SEPARATOR

    def _scan_document(self, piece: bytes, position: int) -> int:
        """Return the position where the current document or the piece ends."""
        while position < len(piece):
            if self._is_in_string:
                position = self._scan_string(piece, position)
                if self._is_between():
                    return position
                continue
            sign = piece[position : position + 1]
            if self._depth == 0 and sign not in b'"[{':
                found = _SCALAR.match(piece, position)
                assert found is not None, "it matches anything"
                self._is_in_scalar = found.end() == len(piece)
                return found.end()
            self._is_in_scalar = False
            if self._depth == 0 and sign == b'"':
                self._is_in_string = True
                position += 1
                continue
            position = self._scan_brackets(piece, position)
            if self._is_between():
                return position
        return position

    def _scan_brackets(self, piece: bytes, position: int) -> int:
        """Return the position where the current document ends, or where a string continues past the piece."""
        depth, brackets = self._depth, self._brackets
        for found in _NEXT.finditer(piece, position):
            position = found.end()
            match found[1]:
                case b"[" | b"{":
                    depth += 1
                    brackets += 1
                case b"]" | b"}":
                    depth -= 1
                case b'"':
                    self._is_in_string = True
                case _:
                    break
            if depth == 0 or self._is_in_string:
                break
        self._depth, self._brackets = depth, brackets
        if brackets > _MAX_BRACKETS:
            raise ServiceError(
                413,
                f"The JSON array has more than {_MAX_BRACKETS:,} objects and arrays in its documents; "
                "send more than one batch.",
            )
        return position

    def _scan_string(self, piece: bytes, position: int) -> int:
        if self._is_escaped:
            self._is_escaped = False
            return position + 1
        found = _STRING.match(piece, position)
        assert found is not None, "it matches anything"
        position = found.end()
        if position == len(piece):
            return position
        # The piece may end between a backslash and the escaped character.
        self._is_escaped = piece[position : position + 1] == b"\\"
        self._is_in_string = self._is_escaped
        return position + 1

    def _emit(self, part: bytes) -> None:
        """Append a part of a document to the output, and a line feed after its last part."""
        self._ready += part.translate(_WITHOUT_LINE_FEEDS)
        self.size += len(part)
        if self.size - self.starts[-1] > (most := get_limits().body_bytes):
            raise document_too_large(len(self.starts), most=most)
        if self._is_between():
            self._ready += b"\n"
            self.size += 1

    def _unexpected(self, sign: bytes, position: int) -> ServiceError:
        if self._expects is _Expects.ARRAY:
            return ServiceError(
                400,
                "A batch of application/json must be an array of documents, [{…}, {…}]; send one JSON "
                "object per line as application/x-ndjson.",
            )
        wanted = {
            _Expects.FIRST: "a document or ]",
            _Expects.DOCUMENT: "a document",
            _Expects.SEPARATOR: ", or ]",
            _Expects.NOTHING: "the end of the body",
        }[self._expects]
        shown = sign.decode("ascii", "backslashreplace")
        return ServiceError(
            400,
            f"The JSON array is malformed at byte {position + 1:,}, after document "
            f"{len(self.starts):,}: found {shown!r}, expected {wanted}.",
        )

    def _check_end(self) -> None:
        if self._expects is _Expects.ARRAY:
            return  # the body is empty; the caller reports that
        raise ServiceError(
            400,
            f"The JSON array is not closed: the body ends after {len(self.starts):,} documents "
            "without its ].",
        )
