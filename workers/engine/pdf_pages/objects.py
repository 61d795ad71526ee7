"""Objects of a PDF file (ISO 32000-1, 7.2 and 7.3) as Python values, their reader, and the error.

Entries of dictionaries that drawing needs are listed by kind of object; all others stay behind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

import pikepdf

from workers.engine import pdf_writer
from workers.engine.data_tables import read_table
from workers.engine.pdf_writer import PreparedObject, compress

# null is None, a string is `bytes`; numbers, booleans, lists and dictionaries with `str` keys are Python's.
PdfObject = Any

SAVE_AGAIN: Final = "Export it again from its source, or print it to a new PDF."
SIMPLIFY: Final = "Simplify the page, or store it as a picture."


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
    """Return a name with its slash, in which no byte is 0."""
    return pdf_writer.write_name(name.encode("latin-1", "replace").replace(b"\0", b"?"))


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


# The body of an object: bytes, and the objects to which it refers.
Parts = list[bytes | PreparedObject]

MAX_OBJECTS: Final = 20_000
MAX_BYTES: Final = 50 * 1024 * 1024


class ObjectBuilder:
    """Makes the objects of a page, and counts them."""

    def __init__(self) -> None:
        self.size = self._count = 0

    def make(self, parts: Parts) -> PreparedObject:
        """Return an object; adjacent bytes are joined.

        Raises:
            UnusablePdfError: there are too many, or all together are too large.
        """
        self._count += 1
        if self._count > MAX_OBJECTS:
            raise UnusablePdfError(
                f"The page of the PDF has more than {MAX_OBJECTS:,} objects", advice=SIMPLIFY
            )
        self.size += sum(len(part) if isinstance(part, bytes) else 8 for part in parts)
        if self.size > MAX_BYTES:
            raise UnusablePdfError(
                f"The page of the PDF is larger than {MAX_BYTES // (1024 * 1024)} MB",
                advice=SIMPLIFY,
            )
        joined: list[object] = []
        run: list[bytes] = []
        for part in parts:
            if isinstance(part, bytes):
                run.append(part)
            else:
                joined += [b"".join(run), part]
                run.clear()
        return PreparedObject((*joined, b"".join(run)))


def write_deflated(entries: Parts, data: bytes) -> Parts:
    """Return a stream with data compressed."""
    return write_stream([*entries, b" /Filter /FlateDecode"], compress(data))


def write_stream(entries: Parts, data: bytes) -> Parts:
    """Return a stream."""
    return [*(b"<< ", *entries), *(b" /Length %d >>\nstream\n" % len(data), data, b"\nendstream")]


MAX_NESTING: Final = 100  # arrays and dictionaries in each other
_MAX_NUMBER: Final = 1e18  # larger ones are too large for a PDF
_NAME_ESCAPE: Final = re.compile(rb"#([0-9A-Fa-f]{2})")


def read_object(found: Any, depth: int = 0) -> PdfObject:
    """Return an object of pikepdf as Python values, with references to other indirect objects.

    Raises:
        UnusablePdfError: it is nested too deeply.
    """
    if depth > MAX_NESTING:
        raise damaged(f"objects are nested more than {MAX_NESTING} deep")
    if not isinstance(found, pikepdf.Object):
        # pikepdf has values of Python for null, booleans and numbers.
        value = float(found) if isinstance(found, Decimal) else found
        return 0 if type(value) in (int, float) and abs(value) >= _MAX_NUMBER else value
    if depth and found.is_indirect:
        return IndirectReference(*found.objgen)
    if isinstance(found, pikepdf.Stream):
        return Stream(read_object(found.stream_dict), found.read_raw_bytes())
    if isinstance(found, pikepdf.Dictionary):
        return {_read_key(key): read_object(value, depth + 1) for key, value in found.items()}
    if isinstance(found, pikepdf.Array):
        return [read_object(item, depth + 1) for item in found]
    return bytes(found) if isinstance(found, pikepdf.String) else read_name(found.unparse())


def read_name(written: bytes) -> Name:
    """Return a name as written in a file: pikepdf raises for one that is not UTF-8."""
    decoded = _NAME_ESCAPE.sub(lambda code: bytes((int(code[1], 16),)), written[1:])
    return Name(decoded.decode("latin-1"))


def _read_key(key: str) -> str:
    """Return a name of a dictionary: pikepdf escapes its bytes that are not UTF-8."""
    return key[1:].encode("utf-8", "surrogateescape").decode("latin-1")


# The entries that drawing needs, by kind of object.
ENTRIES: Final = {
    name: tuple(names.split()) for name, names in read_table(__package__, "entries.txt").items()
}
FONT_FILES: Final = ENTRIES["font-files"]
