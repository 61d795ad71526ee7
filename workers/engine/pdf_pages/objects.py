"""Objects of a PDF file (ISO 32000-1, 7.2 and 7.3) as Python values, their reader, and the error.

Entries of dictionaries that drawing needs are listed by kind of object; all others stay behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from workers.engine.data_tables import read_table
from workers.engine.pdf_writer import compress

# null is None, a string is `bytes`; numbers, booleans, lists and dictionaries with `str` keys are Python's.
PdfObject = Any

SAVE_AGAIN: Final = "Export it again from its source, or print it to a new PDF."
SIMPLIFY: Final = "Simplify the page, or store it as a picture."

_NOT_REGULAR: Final = re.compile(rb"[^!-~]|[#%()/<>\[\]{}]")


class UnusablePdfError(Exception):
    """The PDF cannot be drawn; the message is the reason, `advice` the remedy."""

    def __init__(self, text: str, *, advice: str = SAVE_AGAIN) -> None:
        super().__init__(text)
        self.advice = advice


class Name(str):
    """A name without its slash; each character is one byte."""

    __slots__ = ()


class IndirectReference(NamedTuple):
    """A reference to an indirect object."""

    number: int
    generation: int


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A stream: its dictionary, and its data as stored in the file."""

    entries: dict[str, PdfObject]
    data: bytes


def damaged(what: str) -> UnusablePdfError:
    """Return the error for a file that breaks the rules of its format."""
    return UnusablePdfError(f"The PDF is damaged: {what}")


def write_name(name: str) -> bytes:
    """Return a name with its slash, other than regular characters escaped (7.3.5)."""
    written = name.encode("latin-1", "replace").replace(b"\0", b"?")
    return b"/" + _NOT_REGULAR.sub(lambda found: b"#%02x" % found[0][0], written)


def write_atom(value: PdfObject) -> bytes:
    """Return a name, number, string, boolean or null.

    Strings are hexadecimal: no byte of theirs is taken for an operator or an entry.
    """
    if value is None:
        return b"null"
    if isinstance(value, Name):
        return write_name(value)
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, float):
        return (b"%.10f" % value).rstrip(b"0").rstrip(b".")
    return b"<" + bytes(value).hex().encode("ascii") + b">"


# The body of an object: bytes, and the indexes of the objects to which it refers.
Parts = list[bytes | int]

MAX_OBJECTS: Final = 20_000
MAX_BYTES: Final = 50 * 1024 * 1024


class ObjectBuilder:
    """Collects objects; an index is reserved before its object is defined."""

    def __init__(self) -> None:
        self._objects: list[Parts] = []
        self.size = 0

    def reserve(self) -> int:
        """Return the index of a new object.

        Raises:
            UnusablePdfError: there are too many.
        """
        if len(self._objects) >= MAX_OBJECTS:
            raise UnusablePdfError(
                f"The page of the PDF has more than {MAX_OBJECTS:,} objects", advice=SIMPLIFY
            )
        self._objects.append([b"null"])
        return len(self._objects) - 1

    def define(self, index: int, parts: Parts) -> None:
        """Set the body of an object.

        Raises:
            UnusablePdfError: all bodies together are too large.
        """
        self._objects[index] = parts
        self.size += sum(len(part) if isinstance(part, bytes) else 8 for part in parts)
        if self.size > MAX_BYTES:
            raise UnusablePdfError(
                f"The page of the PDF is larger than {MAX_BYTES // (1024 * 1024)} MB",
                advice=SIMPLIFY,
            )

    def finish(self) -> tuple[tuple[bytes | int, ...], ...]:
        """Return the bodies in the order of their indexes, adjacent bytes joined."""
        return tuple(_join(parts) for parts in self._objects)


def write_deflated(entries: Parts, data: bytes) -> Parts:
    """Return a stream with data compressed."""
    compressed = compress(data)
    return [
        *(b"<< ", *entries, b" /Filter /FlateDecode"),
        *(b" /Length %d >>\nstream\n" % len(compressed), compressed, b"\nendstream"),
    ]


def _join(parts: Iterable[bytes | int]) -> tuple[bytes | int, ...]:
    joined: list[bytes | int] = []
    run: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            run.append(part)
            continue
        joined += [b"".join(run), part]
        run.clear()
    return (*joined, b"".join(run))


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


# The entries that drawing needs, by kind of object.
ENTRIES: Final = {
    name: tuple(names.split()) for name, names in read_table(__package__, "entries.txt").items()
}
FONT_FILES: Final = ENTRIES["font-files"]
