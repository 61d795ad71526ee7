"""Writer of PDF files with object streams and a cross-reference stream (PDF 1.7, 7.5.7, 7.5.8)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from sys import byteorder
from types import MappingProxyType
from typing import BinaryIO, Final, NamedTuple

from workers.engine.aligned_rows import AlignedObjects, predict_rows
from workers.engine.compression import compress

# The second line marks the file as binary (PDF 1.7, 7.5.2).
_HEADER: Final = b"%PDF-1.7\n%\xbf\xf7\xa2\xfe\n"
# A reader decompresses a whole stream for one object. Short tagged documents have one stream: each
# more takes 250 bytes, and 5 µs for tables of the compression alone.
_OBJECTS_PER_STREAM: Final = 250
# Deflate writes at most 258 bytes at once, so that what it makes of thousands of equal rows repeats
# itself; filters follow each other (PDF 1.7, 7.4.1). Not worth the time where rows differ.
_WORTHWHILE: Final = 0.8
_SHORT_TABLE: Final = 200  # bytes: compressing a table of 50 objects saves 50 bytes
_FREE, _IN_USE, _COMPRESSED = 0, 1, 2  # types of entries (PDF 1.7, table 18)

_END_LENGTH: Final = len(b"endobj\n")
_STREAM: Final = b"\nstream\n"
_LENGTH: Final = re.compile(rb"/Length (\d+)\b(?! \d+ R)")
_ANNOTATIONS: Final = b"/Annots"
CONTENT_MARK: Final = "%%content %d"  # a comment
_LONGEST_MARK: Final = 40
_FILTER: Final = b"/Filter"
_CONTENT: Final = re.compile(rb"%content (\d+)\s*\Z")
_ROOT: Final = re.compile(rb"/Root (\d+ \d+ R)")


class AppendedObjects(NamedTuple):
    """Objects to append to a file, and entries to add to the dictionaries of its objects, by number.

    The numbers of `aligned_count` aligned objects follow those of the `bodies`. `annotations` are
    added to pages, both by number.
    """

    bodies: Sequence[bytes]
    additions: Mapping[int, bytes]
    aligned_count: int = 0
    aligned: Iterable[AlignedObjects] = ()
    annotations: Mapping[int, Sequence[int]] = MappingProxyType({})


def _append_nothing(_: int) -> AppendedObjects:
    return AppendedObjects((), {})


def repack(
    file: bytes,
    *,
    information: bytes,
    contents: Sequence[bytes] = (),
    append: Callable[[int], AppendedObjects] = _append_nothing,
) -> bytes:
    """Rewrite a PDF with its non-stream objects in object streams. Deterministic.

    `file` has one cross-reference table (PDF 1.7, 7.5.4) without free objects, and direct stream
    lengths. `information` replaces its document information dictionary. A stream without filters that
    ends in a `CONTENT_MARK` gets the element of `contents` that the mark counts, which is compressed.
    `append` is called with the number of the first object that it returns.
    """
    bounds, root = _read_table(file)
    appended = append(len(bounds) + 1)  # the information dictionary comes first
    additions = appended.additions
    out = BytesIO()
    writer = ObjectWriter(out)
    small: list[tuple[int, bytes]] = []
    for number, (start, end) in enumerate(pairwise(bounds), writer.reserve(len(bounds) - 1)):
        body = file[file.index(b"\n", start) + 1 : end - _END_LENGTH].rstrip(b"\n")
        # Only streams end with this keyword.
        if body.endswith(b"endstream"):
            writer.write_raw_object(
                number, _add_entries(_end_stream(body, contents), additions.get(number))
            )
        else:
            body = _add_entries(body, additions.get(number))
            small.append((number, _add_annotations(body, appended.annotations.get(number))))
    small.append((writer.reserve(), information))
    information_number = small[-1][0]
    small += enumerate(appended.bodies, writer.reserve(len(appended.bodies)))
    number = writer.reserve(appended.aligned_count)
    writer.write_objects(small)
    for objects in appended.aligned:
        writer.write_aligned(number, objects)
        number += len(objects.offsets)
    writer.close(root=root, information=b"%d 0 R" % information_number)
    return out.getvalue()


def _read_table(file: bytes) -> tuple[list[int], bytes]:
    """Return the offsets of the objects and the end of the last, and the catalogue reference."""
    table = int(file[file.rindex(b"startxref") :].split()[1])
    head, trailer = file[table:].split(b"trailer", 1)
    entries = head.split(b"\n")[3:-1]  # skips the keyword, the subsection header and the free entry
    root = _ROOT.search(trailer)
    if root is None:
        raise ValueError("the trailer names no catalogue")
    return [*(int(entry[:10]) for entry in entries), table], root[1]


def _end_stream(body: bytes, contents: Sequence[bytes]) -> bytes:
    """Return a stream with its content if that is apart, and a line end between data and keyword
    (ISO 19005-2, 6.1.7.1).
    """
    start = body.index(_STREAM)
    # The last one is its own: names and values of resources come before it.
    lengths = [*_LENGTH.finditer(body, 0, start)]
    if not lengths:
        raise ValueError("a stream has no direct length")
    end = start + len(_STREAM) + int(lengths[-1].group(1))
    if _FILTER not in body[:start]:
        mark = _CONTENT.search(body, max(end - _LONGEST_MARK, start), end)
        if mark is not None:
            return _fill(body[:start], lengths[-1], contents[int(mark[1])])
    return b"%b\nendstream" % body[:end]


def _fill(dictionary: bytes, length: re.Match[bytes], data: bytes) -> bytes:
    """Return a stream with compressed data in place of its own."""
    return b"%b/Filter /FlateDecode /Length %d%b%b%b\nendstream" % (
        dictionary[: length.start()],
        len(data),
        dictionary[length.end() :],
        _STREAM,
        data,
    )


def _add_entries(body: bytes, entries: bytes | None) -> bytes:
    """Return an object with entries added to its dictionary."""
    if entries is None:
        return body
    at = body.rindex(b">>", 0, body.index(_STREAM) if _STREAM in body else len(body))
    return b"%b %b %b" % (body[:at], entries, body[at:])


def _add_annotations(page: bytes, numbers: Sequence[int] | None) -> bytes:
    """Return a page with annotations added to those that it has."""
    if not numbers:
        return page
    added = b" ".join([b"%d 0 R" % number for number in numbers])
    if _ANNOTATIONS not in page:
        return _add_entries(page, b"%b [%b]" % (_ANNOTATIONS, added))
    at = page.index(b"]", page.index(_ANNOTATIONS))
    return b"%b %b %b" % (page[:at], added, page[at:])


class ObjectWriter:
    """Writes a PDF object by object, in any order, with 11 bytes of memory per object.

    Deterministic: the file identifier is a digest of the content.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._kinds = bytearray([_FREE])
        self._offsets = array("Q", [0])  # the byte offset, or the number of the object stream
        self._indexes = array("H", [0])  # the index in the object stream
        self._most_packed = 1  # objects in one stream
        self._pack: list[tuple[int, bytes]] = []
        self._write(_HEADER)

    def reserve(self, count: int = 1) -> int:
        """Return a new object number, the first of `count` consecutive ones."""
        first = len(self._kinds)
        self._kinds += bytes(count)  # _FREE
        self._offsets.frombytes(bytes(self._offsets.itemsize * count))
        self._indexes.frombytes(bytes(self._indexes.itemsize * count))
        return first

    def write_object(self, number: int, body: bytes) -> None:
        """Write an object other than a stream, into an object stream."""
        self._pack.append((number, body))
        if len(self._pack) == _OBJECTS_PER_STREAM:
            self._flush_pack()

    def write_objects(self, objects: Sequence[tuple[int, bytes]]) -> None:
        """Write objects other than streams, into object streams."""
        at = 0
        while at < len(objects):
            room = _OBJECTS_PER_STREAM - len(self._pack)
            self._pack += objects[at : at + room]
            at += room
            if len(self._pack) == _OBJECTS_PER_STREAM:
                self._flush_pack()

    def write_aligned(self, first: int, objects: AlignedObjects) -> None:
        """Write objects with consecutive numbers from `first` as an object stream, whose rows are
        predicted from the row above.
        """
        number, count, columns = self.reserve(), len(objects.offsets), objects.columns
        self._kinds[first : first + count] = bytes([_COMPRESSED]) * count
        self._offsets[first : first + count] = array("Q", [number]) * count
        self._indexes[first : first + count] = array("H", range(count))
        self._most_packed = max(self._most_packed, count)
        digits = len(str(first + count - 1))
        head = _make_head(objects.offsets, digits, columns) % tuple(range(first, first + count))
        packed = compress(predict_rows(head, columns) + objects.rows)
        filters = b"/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns %d >>"
        again = compress(packed)
        if len(again) < len(packed) * _WORTHWHILE:
            packed = again
            filters = (
                b"/Filter [/FlateDecode /FlateDecode]"
                b" /DecodeParms [null << /Predictor 12 /Columns %d >>]"
            )
        start = len(head) // (columns + 1) * columns
        entries = b"/Type /ObjStm /N %d /First %d %b" % (count, start, filters % columns)
        self.write_stream(number, entries, packed)

    def write_stream(self, number: int, entries: bytes, data: bytes) -> None:
        """Write a stream; `entries` are those of its dictionary except `Length`."""
        self.write_raw_object(
            number,
            b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries, len(data), data),
        )

    def write_raw_object(self, number: int, body: bytes) -> None:
        """Write an object outside of object streams."""
        self._record_entry(number, _IN_USE, self._offset)
        self._write(b"%d 0 obj\n%b\nendobj\n" % (number, body))

    def close(self, *, root: bytes, information: bytes) -> None:
        """Write the cross-reference stream as the last object (PDF 1.7, 7.5.8)."""
        self._flush_pack()
        number, start = self.reserve(), self._offset
        self._record_entry(number, _IN_USE, start)
        identity = self._digest.hexdigest()[:32].encode("ascii")
        # No object is after this one, and no stream has a higher number.
        sizes = (1, _size_of(max(start, number)), _size_of(self._most_packed - 1))
        width = sum(sizes)
        packing = b""
        if width * len(self._kinds) > _SHORT_TABLE:
            packing = b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode" % width
            rows = compress(predict_rows(self._write_rows(1, sizes), width))
        else:
            rows = self._write_rows(0, sizes)
        self.write_stream(
            number,
            b"/Type /XRef /Size %d /W [%d %d %d] /Root %b /Info %b /ID [<%b> <%b>]%b"
            % (number + 1, *sizes, root, information, identity, identity, packing),
            rows,
        )
        self._write(b"startxref\n%d\n%%%%EOF\n" % start)

    def _write_rows(self, start: int, sizes: Sequence[int]) -> bytes:
        """Return the rows of the table: `start` zero bytes, then type, offset or stream number, and
        index, each in as many bytes as its size.
        """
        count, width = len(self._kinds), start + sum(sizes)
        rows = bytearray(count * width)
        at = start
        columns = bytes(self._kinds), _to_big_endian(self._offsets), _to_big_endian(self._indexes)
        for written, size in zip(columns, sizes, strict=True):
            item = len(written) // count
            for byte in range(item - size, item):
                rows[at::width] = written[byte::item]
                at += 1
        return bytes(rows)

    def _flush_pack(self) -> None:
        """Write the collected objects as an object stream (PDF 1.7, 7.5.7)."""
        if not self._pack:
            return
        number, count = self.reserve(), len(self._pack)
        self._most_packed = max(self._most_packed, count)
        kinds, places, indexes = self._kinds, self._offsets, self._indexes
        offsets: list[bytes] = []
        at = 0
        for index, (packed, body) in enumerate(self._pack):
            kinds[packed], places[packed], indexes[packed] = _COMPRESSED, number, index
            offsets.append(b"%d %d" % (packed, at))
            at += len(body) + 1
        head = b" ".join(offsets) + b"\n"
        bodies = b"\n".join([body for _, body in self._pack])
        self.write_stream(
            number,
            b"/Type /ObjStm /N %d /First %d /Filter /FlateDecode" % (count, len(head)),
            compress(head + bodies),
        )
        self._pack.clear()

    def _record_entry(self, number: int, kind: int, offset: int, index: int = 0) -> None:
        self._kinds[number] = kind
        self._offsets[number] = offset
        self._indexes[number] = index

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._digest.update(data)
        self._offset += len(data)


def _size_of(value: int) -> int:
    """Return the least number of bytes for a value, at least 1."""
    return max((value.bit_length() + 7) // 8, 1)


def _to_big_endian(column: array[int]) -> bytes:
    values = column[:]
    if byteorder == "little":
        values.byteswap()
    return values.tobytes()


@lru_cache(maxsize=16)
def _make_head(offsets: Sequence[int], digits: int, columns: int) -> bytes:
    """Return rows of as many pairs of number and offset as fit in `columns`, in which numbers of
    some digits are to be set.
    """
    wide = len(str(offsets[-1]))
    size = digits + wide + 2
    fit = columns // size
    pairs = [b"%%%dd %*d " % (digits, wide, offset) for offset in offsets]
    rows = [pairs[at : at + fit] for at in range(0, len(pairs), fit)]
    return b"".join([b"\0%b%*b" % (b"".join(row), columns - len(row) * size, b"") for row in rows])
