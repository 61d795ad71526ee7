"""A PDF file: its cross-reference (ISO 32000-1, 7.5), its objects and its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from workers.engine.pdf_pages.filters import DecodedBudget, Decoded, FilterStep, decode, long_name
from workers.engine.pdf_pages.lexer import Lexer
from workers.engine.pdf_pages.objects import (
    Name,
    PdfObject,
    Reference,
    Stream,
    UnusablePdfError,
    damaged,
)

MAX_OBJECTS: Final = 500_000
MAX_SECTIONS: Final = 1_000  # of the cross-reference: one for each time that the file was changed
MAX_PAGES: Final = 10_000
MAX_TREE_DEPTH: Final = 50
_MAX_LINKS: Final = 20  # references to references
_HEADER_WITHIN: Final = 1024
_FREE: Final = -1  # the place of an object that does not exist

_OBJECT: Final = re.compile(rb"[\0\t\n\f\r ]*+([0-9]{1,10})[\0\t\n\f\r ]++([0-9]{1,5})[\0\t\n\f\r ]++obj")
_ANY_OBJECT: Final = re.compile(rb"(?<![0-9])([0-9]{1,10})[\0\t\n\f\r ]++[0-9]{1,5}[\0\t\n\f\r ]++obj")
_START: Final = re.compile(rb"startxref[\0\t\n\f\r ]++([0-9]{1,12})")
_ENTRY: Final = re.compile(rb"[\0\t\n\f\r ]*+([0-9]{1,10})[\0\t\n\f\r ]++([0-9]{1,5})[\0\t\n\f\r ]++([nf])")
_STREAM: Final = re.compile(rb"[\0\t\n\f\r ]*+stream(?:\r\n|\n|\r)")
_END: Final = re.compile(rb"[\0\t\n\f\r ]*+endstream")


def is_pdf(data: bytes) -> bool:
    """Return whether a file has the signature of a PDF near its start, as viewers accept it."""
    return b"%PDF-" in data[:_HEADER_WITHIN]


class _InStream(NamedTuple):
    """The place of an object in an object stream (7.5.7)."""

    stream: int
    index: int


class PdfFile:
    """The objects of a PDF. A damaged cross-reference is replaced by a search for objects.

    Raises:
        UnusablePdfError: the file is not a PDF, is encrypted, or cannot be read.
    """

    def __init__(self, data: bytes, budget: DecodedBudget) -> None:
        self._data = data
        self._budget = budget
        self._base = max(data[:_HEADER_WITHIN].find(b"%PDF-"), 0)
        self._places: dict[int, int | _InStream] = {}
        self._objects: dict[int, PdfObject] = {}
        self._loading: set[int] = set()
        self._object_streams: dict[int, tuple[bytes, list[int]]] = {}
        self._is_searched = False
        self.trailer: dict[str, PdfObject] = {}
        try:
            self._read_cross_reference()
        except UnusablePdfError:
            self._search()
        if "Encrypt" in self.trailer:
            raise UnusablePdfError(
                "The PDF is encrypted", advice="Save it without a password and without restrictions."
            )
        self.catalog = self._find_catalog()

    def resolve(self, value: PdfObject) -> PdfObject:
        """Return the object that a reference stands for, any other value itself; null if it is missing."""
        for _ in range(_MAX_LINKS):
            if not isinstance(value, Reference):
                return value
            value = self._load(value.number)
        raise damaged("references lead to each other")

    def resolve_dictionary(self, value: PdfObject) -> dict[str, PdfObject]:
        """Return a dictionary, that of a stream too, and an empty one for anything else."""
        value = self.resolve(value)
        if isinstance(value, Stream):
            return value.entries
        return value if isinstance(value, dict) else {}

    def resolve_list(self, value: PdfObject) -> list[PdfObject]:
        """Return an array, and an empty one for anything else."""
        value = self.resolve(value)
        return value if isinstance(value, list) else []

    def decode(self, stream: Stream) -> Decoded:
        """Decode a stream within the budget, up to a filter for pictures."""
        return decode(stream.data, self.read_filters(stream), self._budget)

    def read_filters(self, stream: Stream) -> list[FilterStep]:
        """Return the filters of a stream in the order in which they are decoded."""
        if "F" in stream.entries:
            raise UnusablePdfError("The PDF refers to data in another file")
        names = self._as_list(stream.entries.get("Filter"))
        parameters = self._as_list(stream.entries.get("DecodeParms"))
        parameters += [None] * (len(names) - len(parameters))
        return [
            FilterStep(
                long_name(str(self.resolve(name))),
                {key: self.resolve(each) for key, each in self.resolve_dictionary(given).items()},
            )
            for name, given in zip(names, parameters, strict=False)
        ]

    def _as_list(self, value: PdfObject) -> list[PdfObject]:
        value = self.resolve(value)
        if value is None:
            return []
        return list(value) if isinstance(value, list) else [value]

    # --- pages (7.7.3)

    def find_page(self, number: int) -> tuple[dict[str, PdfObject] | None, int]:
        """Return a page by its number from 1 with the attributes it inherits, and the number of pages."""
        found: dict[str, PdfObject] | None = None
        count = 0
        for page in self._walk_pages(self.catalog.get("Pages"), {}, set(), 0):
            count += 1
            if count == number:
                found = page
            if count > MAX_PAGES:
                raise UnusablePdfError(
                    f"The PDF has more than {MAX_PAGES:,} pages",
                    advice="Store a PDF with the pages that are needed.",
                )
        return found, count

    def _walk_pages(
        self, node: PdfObject, inherited: dict[str, PdfObject], seen: set[int], depth: int
    ) -> Iterator[dict[str, PdfObject]]:
        if isinstance(node, Reference):
            if node.number in seen:
                raise damaged("its page tree leads back to itself")
            seen.add(node.number)
        if depth > MAX_TREE_DEPTH:
            raise damaged(f"its page tree is more than {MAX_TREE_DEPTH} levels deep")
        entries = self.resolve(node)
        if not isinstance(entries, dict):
            return
        passed = {
            name: entries.get(name, inherited.get(name))
            for name in ("Resources", "MediaBox", "CropBox", "Rotate")
        }
        kids = self.resolve(entries.get("Kids"))
        if not isinstance(kids, list):
            yield {**entries, **passed}
            return
        for kid in kids:
            yield from self._walk_pages(kid, passed, seen, depth + 1)

    def _find_catalog(self) -> dict[str, PdfObject]:
        catalog = self.resolve_dictionary(self.trailer.get("Root"))
        if not self.resolve_dictionary(catalog.get("Pages")) and not self._is_searched:
            self._search()
            catalog = self.resolve_dictionary(self.trailer.get("Root"))
        if not self.resolve_dictionary(catalog.get("Pages")):
            raise damaged("it has no pages")
        return catalog

    # --- objects

    def _load(self, number: int) -> PdfObject:
        if number in self._objects:
            return self._objects[number]
        if number in self._loading:
            raise damaged("an object needs itself to be read")
        self._loading.add(number)
        try:
            place = self._places.get(number)
            value = self._read_place(self._places.get(number, _FREE), number)
        finally:
            self._loading.discard(number)
        self._objects[number] = value
        return value

    def _read_place(self, place: int | _InStream, number: int) -> PdfObject:
        if isinstance(place, _InStream):
            return self._load_from_stream(place, number)
        return None if place == _FREE else self._read_object(place, number)

    def _read_object(self, place: int, number: int) -> PdfObject:
        found = _OBJECT.match(self._data, place)
        if found is None or int(found[1]) != number:
            if self._is_searched:
                raise damaged(f"object {number} is not where it should be")
            self._search()
            return self._read_place(self._places.get(number, _FREE), number)
        return self._read_body(found.end())

    def _read_body(self, position: int) -> PdfObject:
        lexer = Lexer(self._data, position)
        if lexer.data.startswith(b"endobj", lexer.skip()):
            return None
        value = lexer.read_object()
        start = _STREAM.match(self._data, lexer.position)
        if not isinstance(value, dict) or start is None:
            return value
        return Stream(value, self._read_stream_data(value, start.end()))

    def _read_stream_data(self, entries: dict[str, PdfObject], start: int) -> bytes:
        length = self.resolve(entries.get("Length"))
        if isinstance(length, int) and 0 <= length <= len(self._data) - start:
            if _END.match(self._data, start + length) is not None:
                return self._data[start : start + length]
        end = self._data.find(b"endstream", start)
        if end < 0:
            raise damaged("a stream does not end")
        data = self._data[start:end]
        return data.removesuffix(b"\n").removesuffix(b"\r")

    def _load_from_stream(self, place: _InStream, number: int) -> PdfObject:
        data, offsets = self._open_object_stream(place.stream)
        if place.index >= len(offsets):
            raise damaged(f"object {number} is missing in its stream")
        value = Lexer(data, offsets[place.index]).read_object()
        if isinstance(value, Stream):
            raise damaged("a stream is in another stream")
        return value

    def _open_object_stream(self, number: int) -> tuple[bytes, list[int]]:
        known = self._object_streams.get(number)
        if known is None:
            numbers, known = self._read_object_stream(number)
            del numbers
            self._object_streams[number] = known
        return known

    def _read_object_stream(self, number: int) -> tuple[list[int], tuple[bytes, list[int]]]:
        """Return the numbers of the objects of a stream, and its data with their offsets."""
        place = self._places.get(number)
        if not isinstance(place, int):
            raise damaged("a stream of objects is missing")
        stream = self._load(number)
        if not isinstance(stream, Stream):
            raise damaged("a stream of objects is missing")
        data = self.decode(stream).data
        count, first = (self.resolve(stream.entries.get(name)) for name in ("N", "First"))
        if not isinstance(count, int) or not isinstance(first, int) or count > MAX_OBJECTS:
            raise damaged("a stream of objects has no valid size")
        lexer = Lexer(data)
        pairs = [(lexer.read_integer(), lexer.read_integer()) for _ in range(count)]
        return [number for number, _ in pairs], (data, [first + offset for _, offset in pairs])

    # --- the cross-reference

    def _read_cross_reference(self) -> None:
        starts = _START.findall(self._data, max(len(self._data) - 4096, 0)) or _START.findall(self._data)
        if not starts:
            raise damaged("it has no cross-reference")
        pending, seen = [int(starts[-1])], set[int]()
        while pending:
            offset = pending.pop(0)
            if offset in seen:
                continue
            seen.add(offset)
            if len(seen) > MAX_SECTIONS:
                raise damaged("its cross-reference has too many sections")
            entries = self._read_section(self._base + offset)
            self.trailer = {**entries, **self.trailer}
            # A hybrid file has its compressed objects in a stream (7.5.8.4), which comes first.
            for name in ("XRefStm", "Prev"):
                if isinstance(entries.get(name), int):
                    pending.append(entries[name])
        if "Root" not in self.trailer:
            raise damaged("it has no catalogue")

    def _read_section(self, position: int) -> dict[str, PdfObject]:
        lexer = Lexer(self._data, position)
        if lexer.accept(b"xref"):
            return self._read_table(lexer)
        found = _OBJECT.match(self._data, position)
        stream = self._read_body(found.end()) if found else None
        if not isinstance(stream, Stream):
            raise damaged("a section of its cross-reference is missing")
        self._read_reference_stream(stream)
        return stream.entries

    def _read_table(self, lexer: Lexer) -> dict[str, PdfObject]:
        while not lexer.accept(b"trailer"):
            first, count = lexer.read_integer(), lexer.read_integer()
            for number in range(first, first + count):
                found = _ENTRY.match(lexer.data, lexer.position)
                if found is None:
                    raise damaged("its cross-reference cannot be read")
                lexer.position = found.end()
                if found[3] == b"n":
                    self._place(number, self._base + int(found[1]))
                else:
                    self._place(number, _FREE)
        entries = lexer.read_object()
        if not isinstance(entries, dict):
            raise damaged("its trailer is missing")
        return entries

    def _read_reference_stream(self, stream: Stream) -> None:
        """Read the entries of a cross-reference stream (7.5.8)."""
        widths = stream.entries.get("W")
        size = stream.entries.get("Size")
        if (
            not isinstance(widths, list)
            or len(widths) != 3
            or not all(isinstance(width, int) and 0 <= width <= 8 for width in widths)
            or not isinstance(size, int)
        ):
            raise damaged("its cross-reference cannot be read")
        index = stream.entries.get("Index", [0, size])
        if not isinstance(index, list) or not all(isinstance(each, int) for each in index):
            raise damaged("its cross-reference cannot be read")
        data, row = self.decode(stream).data, sum(widths)
        at = 0
        for first, count in zip(index[::2], index[1::2], strict=False):
            for number in range(first, first + min(count, MAX_OBJECTS + 1)):
                if row == 0 or at + row > len(data):
                    return
                self._read_reference_row(number, data[at : at + row], widths)
                at += row

    def _read_reference_row(self, number: int, row: bytes, widths: Sequence[int]) -> None:
        kind_end, middle = widths[0], widths[0] + widths[1]
        kind = int.from_bytes(row[:kind_end], "big") if kind_end else 1
        second, third = int.from_bytes(row[kind_end:middle], "big"), int.from_bytes(row[middle:], "big")
        if kind == 1:
            self._place(number, self._base + second)
        elif kind == 2:
            self._place(number, _InStream(second, third))
        else:
            self._place(number, _FREE)

    def _place(self, number: int, place: int | _InStream) -> None:
        """Record where an object is, unless a newer section has it."""
        self._places.setdefault(number, place)
        if len(self._places) > MAX_OBJECTS:
            raise UnusablePdfError(f"The PDF has more than {MAX_OBJECTS:,} objects")

    def _search(self) -> None:
        """Find the objects by their first words, the last of a number counts; then those in streams."""
        self._is_searched = True
        self._places.clear()
        self._objects.clear()
        self._object_streams.clear()
        for found in _ANY_OBJECT.finditer(self._data):
            self._places[int(found[1])] = found.start()
            if len(self._places) > MAX_OBJECTS:
                raise UnusablePdfError(f"The PDF has more than {MAX_OBJECTS:,} objects")
        trailer: dict[str, PdfObject] = {}
        for found in re.finditer(rb"trailer(?=[\0\t\n\f\r ]*+<<)", self._data):
            trailer |= self._try_dictionary(found.end())
        for number in sorted(self._places):
            trailer |= self._search_stream(number)
        self.trailer = trailer
        if "Root" not in trailer:
            self._search_catalog()

    def _try_dictionary(self, position: int) -> dict[str, PdfObject]:
        try:
            found = Lexer(self._data, position).read_object()
        except UnusablePdfError:
            return {}
        return found if isinstance(found, dict) else {}

    def _search_stream(self, number: int) -> dict[str, PdfObject]:
        """Record the objects in an object stream; return the trailer in a cross-reference stream."""
        place = self._places[number]
        if not isinstance(place, int):
            return {}
        if b"/ObjStm" not in (head := self._data[place : place + 1024]) and b"/XRef" not in head:
            return {}
        try:
            value = self._load(number)
            if not isinstance(value, Stream):
                return {}
            if value.entries.get("Type") == "XRef":
                return value.entries
            numbers, known = self._read_object_stream(number)
        except UnusablePdfError:
            return {}
        self._object_streams[number] = known
        for index, inside in enumerate(numbers):
            self._places.setdefault(inside, _InStream(number, index))
        return {}

    def _search_catalog(self) -> None:
        for number in sorted(self._places):
            try:
                value = self._load(number)
            except UnusablePdfError:
                continue
            if isinstance(value, dict) and value.get("Type") == "Catalog":
                self.trailer["Root"] = Reference(number, 0)


def is_name(value: PdfObject, *names: str) -> bool:
    """Return whether a value is one of some names."""
    return isinstance(value, Name) and value in names
