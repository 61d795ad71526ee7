"""JSON batches: arrays, split into documents while they are received and stored as NDJSON, and NDJSON itself."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from shared.errors import ServiceError
from shared.limits import MB
from shared.settings import get_limits

READ_BYTES: Final = 64 * 1024  # a front splits their documents in 50 ms, between other requests
_BOM: Final = b"\xef\xbb\xbf"
_MAX_BOM: Final = 4  # bytes, of UTF-32
# A line that is not blank, from its first character on. Matching runs in C, so that a body of only line
# breaks takes no longer than text.
_LINE: Final = re.compile(rb"\S[^\n]*(\n)?")


class DocumentStream(io.RawIOBase):
    """A body that is read as documents below one another, with the byte offset of each in `starts`.

    `parts` are what can be read; a subclass notes the offsets while it yields them.
    """

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._ready = bytearray()
        self.starts = array("Q")
        self.size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        while size < 0 or len(self._ready) < size:
            if (part := next(self._parts, None)) is None:
                break
            self._ready += part
        piece = bytes(self._ready[:size] if size >= 0 else self._ready)
        del self._ready[: len(piece)]
        return piece


def read_beginning(source: Any) -> bytes:
    """Return the first piece of a body, with a whole byte order mark; the source may return less at once."""
    piece = b""
    while len(piece) < _MAX_BOM and (more := source.read(READ_BYTES)):
        piece += more
    return piece


class NdjsonBody(DocumentStream):
    """An NDJSON stream that records the byte offset of each document.

    Reading raises `ServiceError`: 400 if it is UTF-16 or UTF-32, 413 for too many documents or one that is too large.
    """

    def __init__(self, source: Any, *, most: int | None = None) -> None:
        super().__init__(self._read_pieces(source))
        self._most = most
        self._line_begun_at: int | None = None

    def _read_pieces(self, source: Any) -> Iterator[bytes]:
        piece = read_beginning(source)
        if b"\0" in piece[:4]:  # as RFC 4627, 3, tells encodings apart
            raise ServiceError(400, "Invalid NDJSON: it is not UTF-8.")
        position = len(_BOM) if piece.startswith(_BOM) else 0
        while piece:
            self._record_starts(piece, position)
            self.size += len(piece)
            most = get_limits().body_bytes
            if self._line_begun_at is not None and self.size - self._line_begun_at > most:
                raise document_too_large(len(self.starts), most=most)
            yield piece
            piece, position = source.read(READ_BYTES), 0

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
_SIGN: Final = re.compile(rb"[^ \t\r\n]")
# Matches up to the next bracket of a document, or to a string that continues in the next piece. Matching
# runs in C, so the time depends on the brackets and not on the bytes. On `|(?!)` see decision 0302.
_NEXT: Final = re.compile(
    rb'[^\[\]{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+|(?!))*+"[^\[\]{}"]*+|(?!))*+([\[\]{}"]|\Z)', re.DOTALL
)
# A comma and an object without others or escapes: of such rows a body has a million.
_FLAT: Final = re.compile(
    rb'[ \t\r\n]*+,[ \t\r\n]*+(\{[^\[\]{}"]*+(?:"[^"\\]*+"[^\[\]{}"]*+|(?!))*+\})'
)
# Documents that are no objects or arrays, if they end in the piece.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+|(?!))*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^,\] \t\r\n]*+(?!\Z)")
# Outside of strings a line feed is white space like any other; inside, JSON forbids it (RFC 8259, 7).
_WITHOUT_LINE_FEEDS: Final = bytes.maketrans(b"\n", b"\r")


class JsonArrayBody(DocumentStream):
    """A JSON array as an NDJSON stream that records the byte offset of each document.

    Each byte is scanned once, and only one piece of the body is in memory. Documents are not parsed: a
    malformed one fails by itself when it is rendered, as a line of NDJSON does.

    Reading raises `ServiceError`: 400 if the body is not an array, 413 for too many documents or one that
    is too large.
    """

    def __init__(self, source: Any, *, most: int | None = None) -> None:
        super().__init__(self._read_array())
        self._source = source
        self._most = most
        self._piece = b""
        self._at = 0  # the offset of the piece in the source
        self._position = 0  # in the piece, up to which it is scanned
        self._depth = 0  # open brackets of the current document
        self._brackets = 0  # opened in total

    def _read_array(self) -> Iterator[bytes]:
        """Yield the documents as lines, in parts."""
        self._piece = read_beginning(self._source)
        if self._piece.startswith(_BOM):
            self._position = len(_BOM)
        if not self._find_sign():
            return  # the body is empty; the caller reports that
        if not self._pass(b"["):
            raise ServiceError(
                400,
                "A batch of application/json must be an array of documents, [{…}, {…}]; send one JSON "
                "object per line as application/x-ndjson.",
            )
        expected = "a document or ]"
        is_closed = self._pass(b"]")
        while not is_closed:
            yield from self._read_document(expected)
            while flat := _FLAT.match(self._piece, self._position):
                self._position = flat.end()
                self._start_document()
                yield self._write(flat[1], end=b"\n")
            is_closed = self._pass(b"]")
            if not is_closed and not self._pass(b","):
                raise self._unexpected(", or ]")
            expected = "a document"
        if self._find_sign():
            raise self._unexpected("the end of the body")

    def _read_piece(self, kept: bytes = b"") -> bool:
        """Go on to the next piece, before which `kept` stays; return whether there was one."""
        more = self._source.read(READ_BYTES)
        self._at += len(self._piece) - len(kept)
        self._piece = kept + more
        self._position = 0
        return bool(more)

    def _find_sign(self) -> bytes:
        """Pass white space and return the character behind it, an empty one at the end of the body."""
        while (found := _SIGN.search(self._piece, self._position)) is None:
            if not self._read_piece():
                return b""
        self._position = found.start()
        return found[0]

    def _pass(self, sign: bytes) -> bool:
        """Pass a character if it is the next one, and return whether it was."""
        is_next = self._find_sign() == sign
        self._position += is_next
        return is_next

    def _read_document(self, expected: str) -> Iterator[bytes]:
        """Yield the next document as a line, in parts."""
        sign = self._find_sign()
        if sign in b",]}:":
            raise self._unexpected(expected)
        self._start_document()
        self._depth = 0
        begun = self._position
        while not self._scan_document(sign):
            # A string that continues is put off as one that begins in the next piece, with a backslash
            # whose escaped character is there.
            end = len(self._piece)
            kept = self._piece[self._position : self._position + 1]
            if kept and (end - len(self._piece.rstrip(b"\\"))) % 2:
                kept += b"\\"
                end -= 1
            yield self._write(self._piece[begun:end])
            begun = len(kept[:1])
            if not self._read_piece(kept):
                raise self._not_closed()
        yield self._write(self._piece[begun : self._position], end=b"\n")

    def _start_document(self) -> None:
        check_document_count(len(self.starts), most=self._most)
        self.starts.append(self.size)

    def _write(self, part: bytes, *, end: bytes = b"") -> bytes:
        """Return a part of a document as it is stored, with what ends its line after the last."""
        self.size += len(part)
        if self.size - self.starts[-1] > (most := get_limits().body_bytes):
            raise document_too_large(len(self.starts), most=most)
        self.size += len(end)
        return part.translate(_WITHOUT_LINE_FEEDS) + end

    def _scan_document(self, sign: bytes) -> bool:
        """Scan a document that begins with `sign`; return whether its end is in the piece.

        If not, what is left of the piece is a string that continues, or nothing.
        """
        if sign in b"[{":
            return self._scan_brackets()
        found = (_STRING if sign == b'"' else _SCALAR).match(self._piece, self._position)
        if found is not None:
            self._position = found.end()
        elif sign != b'"':
            self._position = len(self._piece)
        return found is not None

    def _scan_brackets(self) -> bool:
        depth, brackets, position = self._depth, self._brackets, self._position
        for found in _NEXT.finditer(self._piece, position):
            position = found.start(1)
            match found[1]:
                case b"[" | b"{":
                    depth += 1
                    brackets += 1
                case b"]" | b"}":
                    depth -= 1
                case _:
                    break
            if depth == 0:
                break
        is_closed = depth == 0
        self._depth, self._brackets, self._position = depth, brackets, position + is_closed
        if brackets > _MAX_BRACKETS:
            raise ServiceError(
                413,
                f"The JSON array has more than {_MAX_BRACKETS:,} objects and arrays in its documents; "
                "send more than one batch.",
            )
        return is_closed

    def _unexpected(self, expected: str) -> ServiceError:
        sign = self._find_sign()
        if not sign:
            return self._not_closed()
        shown = sign.decode("ascii", "backslashreplace")
        return ServiceError(
            400,
            f"The JSON array is malformed at byte {self._at + self._position + 1:,}, after document "
            f"{len(self.starts):,}: found {shown!r}, expected {expected}.",
        )

    def _not_closed(self) -> ServiceError:
        return ServiceError(
            400,
            f"The JSON array is not closed: the body ends after {len(self.starts):,} documents "
            "without its ].",
        )
