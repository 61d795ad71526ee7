"""Documents of one JSON array: taken apart as it comes, each given on as a line of NDJSON."""

from __future__ import annotations

import io
import re
from array import array
from enum import Enum, auto
from typing import Any, Final

from shared.batches.ndjson import check_number, too_long
from shared.errors import ServiceError
from shared.limits import MAX_BODY_BYTES

_BOM: Final = b"\xef\xbb\xbf"
_PIECE: Final = 256 * 1024
# Each costs a step of the interpreter: all of them some 10 s of the front.
_MOST_BRACKETS: Final = 30_000_000
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
# Of a document: up to its next bracket, or to a string that does not end in this piece. Found in C,
# so that a document costs by its brackets and not by its bytes. On `|(?!)` see decisions/0173.
_NEXT: Final = re.compile(
    rb'[^\[\]{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+|(?!))*+"[^\[\]{}"]*+|(?!))*+([\[\]{}"]|\Z)', re.DOTALL
)
_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+|(?!))*+', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^,\] \t\r\n]*")
# A line feed outside of strings may be any blank, and inside of one no control character may stand.
_ON_ONE_LINE: Final = bytes.maketrans(b"\n", b"\r")


class _Expects(Enum):
    ARRAY = auto()
    FIRST = auto()  # a document or the end
    DOCUMENT = auto()
    SEPARATOR = auto()  # or the end
    NOTHING = auto()


class JsonArrayBody(io.RawIOBase):
    """A JSON array, given on as NDJSON; it notes where its documents begin.

    Each byte is looked at once, and no more than a piece of the body is held. What a document holds is
    not judged: one that is no JSON fails by itself, as a line of NDJSON does.

    Raises `ServiceError` while reading: 400 for what is no array, 413 for too many documents, or one
    too long.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._ready = bytearray()
        self._expects = _Expects.ARRAY
        self._depth = 0  # of brackets open in the document at hand
        self._brackets = 0  # opened so far
        self._is_in_scalar = self._is_in_string = self._is_escaped = False
        self._at = 0  # of the source, where the piece at hand begins
        self.starts = array("Q")
        self.size = 0

    def readable(self) -> bool:
        """Tell that it is for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, as NDJSON."""
        while (size < 0 or len(self._ready) < size) and (piece := self._source.read(_PIECE)):
            self._take(self._without_mark(piece) if self._at == 0 else piece)
        if not self._ready and self._expects is not _Expects.NOTHING:
            self._refuse_end()
        given = bytes(self._ready[:size] if size >= 0 else self._ready)
        del self._ready[: len(given)]
        return given

    def _without_mark(self, piece: bytes) -> bytes:
        while len(piece) < len(_BOM) and (more := self._source.read(_PIECE)):
            piece += more
        if piece.startswith(_BOM):
            self._at = len(_BOM)
            return piece[len(_BOM) :]
        return piece

    def _take(self, piece: bytes) -> None:
        position = 0
        while position < len(piece):
            if self._is_between():
                end = self._go_on(piece, position)
            else:
                end = self._find_end(piece, position)
                self._give(piece[position:end])
            position = end
        self._at += len(piece)

    def _go_on(self, piece: bytes, position: int) -> int:
        """Take what stands between documents, up to the beginning of one; return where that is."""
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
                self._begin()
                return position
            case _:
                raise self._unexpected(sign, self._at + position)
        return position + 1

    def _is_between(self) -> bool:
        """Tell whether no document is at hand."""
        return not (self._depth or self._is_in_string or self._is_in_scalar)

    def _begin(self) -> None:
        check_number(len(self.starts))
        self.starts.append(self.size)
        self._is_in_scalar = True  # until a bracket or a quote is seen
        self._expects = _Expects.SEPARATOR

    def _find_end(self, piece: bytes, position: int) -> int:
        """Return where the document at hand ends, or the piece does."""
        while position < len(piece):
            if self._is_in_string:
                position = self._leave_string(piece, position)
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
            position = self._leave_brackets(piece, position)
            if self._is_between():
                return position
        return position

    def _leave_brackets(self, piece: bytes, position: int) -> int:
        """Return where the document at hand ends, or a string in it that does not end in the piece."""
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
        if brackets > _MOST_BRACKETS:
            raise ServiceError(
                413,
                f"The JSON array has more than {_MOST_BRACKETS:,} objects and arrays in its documents; "
                "send more than one batch.",
            )
        return position

    def _leave_string(self, piece: bytes, position: int) -> int:
        if self._is_escaped:
            self._is_escaped = False
            return position + 1
        found = _STRING.match(piece, position)
        assert found is not None, "it matches anything"
        position = found.end()
        if position == len(piece):
            return position
        # A backslash that its sign does not follow is the last byte of the piece.
        self._is_escaped = piece[position : position + 1] == b"\\"
        self._is_in_string = self._is_escaped
        return position + 1

    def _give(self, part: bytes) -> None:
        """Give a part of a document on; after its last one the line ends."""
        self._ready += part.translate(_ON_ONE_LINE)
        self.size += len(part)
        if self.size - self.starts[-1] > MAX_BODY_BYTES:
            raise too_long(len(self.starts), most=MAX_BODY_BYTES)
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
            f"{len(self.starts):,}: {shown!r} stands where {wanted} must follow.",
        )

    def _refuse_end(self) -> None:
        if self._expects is _Expects.ARRAY:
            return  # there is nothing in it, which is told elsewhere
        raise ServiceError(
            400,
            f"The JSON array is not closed: the body ends after {len(self.starts):,} documents "
            "without its ].",
        )
