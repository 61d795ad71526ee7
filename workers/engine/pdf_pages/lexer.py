"""Reader of the objects of a PDF (ISO 32000-1, 7.2 and 7.3)."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.pdf_pages.objects import IndirectReference, Name, PdfObject, damaged

MAX_NESTING: Final = 100  # arrays and dictionaries in each other
_SKIPPED: Final = re.compile(rb"(?:[\0\t\n\f\r ]++|%[^\r\n]*+|(?!))*+")
_REFERENCE: Final = re.compile(
    rb"([0-9]{1,10})[\0\t\n\f\r ]++([0-9]{1,5})[\0\t\n\f\r ]++R(?![!-~])"
)
_REFERENCE_BEFORE_DELIMITER: Final = re.compile(
    rb"([0-9]{1,10})[\0\t\n\f\r ]++([0-9]{1,5})[\0\t\n\f\r ]++R(?=[/<>\[\]()%])"
)
_NUMBER: Final = re.compile(rb"[+-]*+(?:[0-9]++\.?[0-9]*+|\.[0-9]++)")
_NAME: Final = re.compile(rb"/([^\0\t\n\f\r ()<>\[\]{}/%]*+)")
_NAME_ESCAPE: Final = re.compile(rb"#([0-9A-Fa-f]{2})")
_KEYWORD: Final = re.compile(rb"[A-Za-z][A-Za-z0-9]*+")
_HEX: Final = re.compile(rb"<([^>]*+)>")
_NOT_HEX: Final = re.compile(rb"[^0-9A-Fa-f]++")
_PARENTHESIS: Final = re.compile(rb"[()\\]")
_STRING_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{1,3})|(\r\n|[\s\S]))|\r\n?")
_ESCAPED: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_CONSTANTS: Final = {b"true": True, b"false": False, b"null": None}


class Lexer:
    """Reads objects of `data` from `position`, which moves behind what was read."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def skip(self) -> int:
        """Skip white space and comments and return the position."""
        found = _SKIPPED.match(self.data, self.position)
        assert found is not None
        self.position = found.end()
        return self.position

    def accept(self, keyword: bytes) -> bool:
        """Skip a keyword that comes next and return whether there was one."""
        if not self.data.startswith(keyword, self.skip()):
            return False
        self.position += len(keyword)
        return True

    def read_object(self, depth: int = 0) -> PdfObject:
        """Return the object that comes next.

        Raises:
            UnusablePdfError: there is none, or it is nested too deeply.
        """
        if depth > MAX_NESTING:
            raise damaged(f"objects are nested more than {MAX_NESTING} deep")
        data, start = self.data, self.skip()
        first = data[start : start + 1]
        if first == b"/":
            return self.read_name()
        if data.startswith(b"<<", start):
            self.position += 2
            return self._read_dictionary(depth)
        if first == b"[":
            self.position += 1
            return self._read_array(depth)
        if first == b"(":
            return self._read_literal()
        if first == b"<":
            return self._read_hexadecimal()
        return self._read_number_or_keyword()

    def read_name(self) -> Name:
        """Return the name that comes next.

        Raises:
            UnusablePdfError: there is none.
        """
        found = _NAME.match(self.data, self.skip())
        if found is None:
            raise damaged("a name is missing")
        self.position = found.end()
        written = _NAME_ESCAPE.sub(lambda code: bytes((int(code[1], 16),)), found[1])
        return Name(written.decode("latin-1"))

    def _read_dictionary(self, depth: int) -> dict[str, PdfObject]:
        entries: dict[str, PdfObject] = {}
        while not self.accept(b">>"):
            name = self.read_name()
            if self.data.startswith(b">>", self.skip()):  # a name without a value
                continue
            entries[str(name)] = self.read_object(depth + 1)
        return entries

    def _read_array(self, depth: int) -> list[PdfObject]:
        items: list[PdfObject] = []
        while not self.accept(b"]"):
            items.append(self.read_object(depth + 1))
        return items

    def _read_literal(self) -> bytes:
        start = self.position + 1
        self.position = end_string(self.data, start)
        return _STRING_ESCAPE.sub(_unescape, self.data[start : self.position - 1])

    def _read_hexadecimal(self) -> bytes:
        found = _HEX.match(self.data, self.position)
        if found is None:
            raise damaged("a string does not end")
        self.position = found.end()
        digits = _NOT_HEX.sub(b"", found[1])
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))

    def _read_number_or_keyword(self) -> PdfObject:
        data, start = self.data, self.position
        found = _REFERENCE.match(data, start) or _REFERENCE_BEFORE_DELIMITER.match(data, start)
        if found is not None:
            self.position = found.end()
            return IndirectReference(int(found[1]), int(found[2]))
        found = _NUMBER.match(data, start)
        if found is not None:
            self.position = found.end()
            return read_number(found[0])
        found = _KEYWORD.match(data, start)
        if found is None or found[0] not in _CONSTANTS:
            raise damaged("an object cannot be read")
        self.position = found.end()
        return _CONSTANTS[found[0]]


def end_string(data: bytes, position: int) -> int:
    """Return the position behind a literal string, from the one behind its first parenthesis.

    Raises:
        UnusablePdfError: it does not end.
    """
    depth = 1
    while depth:
        found = _PARENTHESIS.search(data, position)
        if found is None:
            raise damaged("a string does not end")
        position = found.end()
        if found[0] == b"\\":
            position += 1
        else:
            depth += 1 if found[0] == b"(" else -1
    return position


def read_number(written: bytes) -> int | float:
    """Return a number; of several signs the first counts, and numbers too large for a PDF are 0."""
    digits = written.lstrip(b"+-")
    sign = -1 if written.startswith(b"-") else 1
    value = float(digits) if b"." in digits or len(digits) > 18 else int(digits)
    return sign * value if value < 1e18 else 0


def _unescape(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return bytes((int(found[1], 8) & 255,))
    if found[2] is None:
        return b"\n"
    if found[2] in (b"\r\n", b"\r", b"\n"):
        return b""
    return _ESCAPED.get(found[2], found[2])
