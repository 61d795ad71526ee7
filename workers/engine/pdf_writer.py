"""Writer of PDF files with object streams and a cross-reference stream (PDF 1.7, 7.5.7, 7.5.8)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from sys import byteorder
from typing import BinaryIO, Final, NamedTuple

import deflate
from PIL import Image, ImageChops

# Pages of a statement of 5,000 rows: level 5 takes 13 ms and 382 KB, 6 16 ms and 374 KB. zlib's level
# 6 takes 29 ms and 399 KB.
_LEVEL: Final = 6
# libdeflate's tables at this level, rounded up. The package does not check that it got them, and
# would end the process where the limit of memory leaves less.
_TABLES: Final = 1024 * 1024
_FLAGS: Final = MAP_PRIVATE | MAP_ANONYMOUS


_NOT_REGULAR: Final = re.compile(rb"[^!-~]|[#%()/<>\[\]{}]")


def compress(data: bytes) -> bytes:
    """Return data in the zlib format. Equal data give equal bytes on all processors.

    Raises:
        MemoryError: the address space is used up.
    """
    try:
        mmap(-1, _TABLES + 2 * len(data), _FLAGS).close()  # 4 µs: no page of it is touched
    except OSError as error:
        raise MemoryError from error
    return bytes(deflate.zlib_compress(data, _LEVEL))


def write_text(text: str) -> bytes:
    """Return a text string (ISO 32000-1, 7.9.2.2): ASCII literally, other text as UTF-16."""
    if text.isascii() and text.isprintable():
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        return b"(" + escaped.encode("ascii") + b")"
    return b"<FEFF" + text.encode("utf-16-be", "replace").hex().encode("ascii") + b">"


def write_name(name: bytes) -> bytes:
    """Return a name with its slash, other than regular characters escaped (ISO 32000-1, 7.3.5)."""
    return b"/" + _NOT_REGULAR.sub(lambda found: b"#%02x" % found[0][0], name)


def write_references(numbers: Iterable[int]) -> bytes:
    """Return references to objects by their numbers."""
    return b" ".join([b"%d 0 R" % number for number in numbers])


def write_information(entries: Mapping[str, str], *, is_print: bool) -> bytes:
    """Return the document information dictionary (ISO 32000-1, 14.3.3)."""
    written = [
        b"/%b %b" % (name.encode("ascii"), write_text(text)) for name, text in entries.items()
    ]
    trapped = b" /Trapped /False" if is_print else b""
    return b"<< %b%b >>" % (b" ".join(written), trapped)


def write_number(value: float) -> bytes:
    """Return a number with up to three decimals and no exponent."""
    return b"%.11g" % (round(value * 1000) / 1000 + 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedObject:
    """A PDF object that is prepared once, and written in many documents.

    Its parts are bytes, other objects to which it refers, and what each document states itself. With
    `content` it is a stream, and the parts are entries of its dictionary.
    """

    parts: tuple[object, ...]
    content: tuple[object, ...] | None = None


# The second line marks the file as binary (PDF 1.7, 7.5.2).
_HEADER: Final = b"%%PDF-%b\n%%\xbf\xf7\xa2\xfe\n"
# A reader decompresses a whole stream for one object. Short tagged documents have one stream: each
# more takes 250 bytes, and 5 µs for tables of the compression alone.
_OBJECTS_PER_STREAM: Final = 250
# Deflate writes at most 258 bytes at once, so that what it makes of thousands of equal rows repeats
# itself; filters follow each other (PDF 1.7, 7.4.1). Not worth the time where rows differ.
_WORTHWHILE: Final = 0.8
_SHORT_TABLE: Final = 200  # bytes: compressing a table of 50 objects saves 50 bytes
_UP: Final = 2  # the filter, the first byte of each row
_FREE, _IN_USE, _COMPRESSED = 0, 1, 2  # types of entries (PDF 1.7, table 18)


class AlignedObjects(NamedTuple):
    """Similar objects of one stream, padded so that equal parts are below one another in rows.

    `rows` are their bodies, each of one or more rows of a zero byte and `columns` bytes, at least 16.
    `offsets` are where each body starts without the zeros: a tuple or a range, to be a key.
    """

    columns: int
    offsets: Sequence[int]
    rows: bytes


class AppendedObjects(NamedTuple):
    """Objects to append to a file, and entries to add to the dictionaries of its objects, by number.

    The numbers of `aligned_count` aligned objects follow those of the `bodies`.
    """

    bodies: Sequence[bytes]
    additions: Mapping[int, bytes]
    aligned_count: int = 0
    aligned: Iterable[AlignedObjects] = ()


class FormattedObjects(NamedTuple):
    """The objects of a document as bytes, from number 1, and the numbers of some of them.

    A file of PDF 2.0 has no document information.
    """

    bodies: list[bytes]
    root: int
    information: int | None
    pages: Sequence[int]


def _append_nothing(_first: int) -> AppendedObjects:
    return AppendedObjects((), {})


def write_file(
    objects: FormattedObjects,
    *,
    append: Callable[[int], AppendedObjects] = _append_nothing,
    version: bytes = b"1.7",
) -> bytes:
    """Write a PDF, its non-stream objects in object streams. Deterministic.

    `append` is called with the number of the first object that it returns.
    """
    out = BytesIO()
    writer = ObjectWriter(out, version if objects.information else b"2.0")
    first = writer.reserve(len(objects.bodies))
    appended = append(first + len(objects.bodies))
    # All are numbered before the first object stream, which takes a number too.
    after = writer.reserve(len(appended.bodies) + appended.aligned_count)
    for number, body in enumerate(objects.bodies, first):
        if body.endswith(b"endstream"):
            writer.write_raw_object(number, body)
            continue
        entries = appended.additions.get(number)
        writer.write_object(number, b"%b%b>>" % (body[:-2], entries) if entries else body)
    for number, body in enumerate(appended.bodies, after):
        writer.write_object(number, body)
    number = after + len(appended.bodies)
    for block in appended.aligned:
        writer.write_aligned(number, block)
        number += len(block.offsets)
    writer.close(root=objects.root, information=objects.information)
    return out.getvalue()


class ObjectWriter:
    """Writes a PDF object by object, in any order, with 11 bytes of memory per object.

    Deterministic: the file identifier is a digest of the content.
    """

    def __init__(self, out: BinaryIO, version: bytes = b"1.7") -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._kinds = bytearray([_FREE])
        self._offsets = array("Q", [0])  # the byte offset, or the number of the object stream
        self._indexes = array("H", [0])  # the index in the object stream
        self._most_packed = 1  # objects in one stream
        self._pack: list[tuple[int, bytes]] = []
        self._write(_HEADER % version)

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
        packed = compress(predict_rows(head + objects.rows, columns))
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
            number, b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries, len(data), data)
        )

    def write_raw_object(self, number: int, body: bytes) -> None:
        """Write an object outside of object streams."""
        self._record_entry(number, _IN_USE, self._offset)
        self._write(b"%d 0 obj\n%b\nendobj\n" % (number, body))

    def close(self, *, root: int, information: int | None) -> None:
        """Write the cross-reference stream as the last object (PDF 1.7, 7.5.8)."""
        self._flush_pack()
        number, start = self.reserve(), self._offset
        self._record_entry(number, _IN_USE, start)
        identity = self._digest.hexdigest()[:32].encode("ascii")
        # No object is after this one, and no stream has a higher number.
        sizes = (1, _size_of(max(start, number)), _size_of(self._most_packed - 1))
        width = sum(sizes)
        about = b"" if information is None else b" /Info %d 0 R" % information
        packing = b""
        if width * len(self._kinds) > _SHORT_TABLE:
            packing = b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode" % width
            rows = compress(predict_rows(self._write_rows(1, sizes), width))
        else:
            rows = self._write_rows(0, sizes)
        self.write_stream(
            number,
            b"/Type /XRef /Size %d /W [%d %d %d] /Root %d 0 R%b /ID [<%b> <%b>]%b"
            % (number + 1, *sizes, root, about, identity, identity, packing),
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

    def _record_entry(self, number: int, kind: int, offset: int) -> None:
        self._kinds[number] = kind
        self._offsets[number] = offset

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._digest.update(data)
        self._offset += len(data)


def predict_rows(rows: bytes, columns: int) -> bytes:
    """Return rows, each a zero byte and `columns` bytes, predicted from the row above by PNG's Up
    filter (PDF 1.7, 7.4.4.4). Rows that differ in counters compress to a tenth of what they do else.
    """
    width = columns + 1
    both = Image.frombytes("L", (width, len(rows) // width + 1), bytes(width) + rows)
    changes = ImageChops.subtract_modulo(both.crop((0, 1, *both.size)), both)
    changes.paste(_UP, (0, 0, 1, changes.height))
    return changes.tobytes()


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
