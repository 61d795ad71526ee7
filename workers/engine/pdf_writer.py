"""Writer of PDF files with object streams and a cross-reference stream (PDF 1.7, 7.5.7, 7.5.8)."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from sys import byteorder
from typing import BinaryIO, Final, NamedTuple

# The second line marks the file as binary (PDF 1.7, 7.5.2).
_HEADER: Final = b"%PDF-1.7\n%\xbf\xf7\xa2\xfe\n"
_OBJECTS_PER_STREAM: Final = 100  # a reader decompresses a whole stream for one object
_LEVEL: Final = 6  # 2 ms slower than level 4 for a thousand pages, 6 % smaller
_SHORT_TABLE: Final = 200  # bytes: compressing a table of 50 objects saves 50 bytes
_FREE, _IN_USE, _COMPRESSED = 0, 1, 2  # types of entries (PDF 1.7, table 18)
_UP: Final = 2  # PNG filter type, the first byte of each row

_END_LENGTH: Final = len(b"endobj\n")
_STREAM: Final = b"\nstream\n"
_LENGTH: Final = re.compile(rb"/Length (\d+)\b(?! \d+ R)")
_ROOT: Final = re.compile(rb"/Root (\d+ \d+ R)")


class AppendedObjects(NamedTuple):
    """Objects to append to a file, and entries to add to the dictionaries of its objects, by number."""

    bodies: Sequence[bytes]
    additions: Mapping[int, bytes]


def _append_nothing(_: int) -> AppendedObjects:
    return AppendedObjects((), {})


def repack(
    file: bytes,
    *,
    information: bytes,
    append: Callable[[int], AppendedObjects] = _append_nothing,
) -> bytes:
    """Rewrite a PDF with its non-stream objects in object streams. Deterministic.

    `file` has one cross-reference table (PDF 1.7, 7.5.4) without free objects, and direct stream
    lengths. `information` replaces its document information dictionary. `append` is called with the
    number of the first object that it returns.
    """
    bounds, root = _read_table(file)
    bodies, additions = append(len(bounds) + 1)  # the information dictionary comes first
    out = BytesIO()
    writer = ObjectWriter(out)
    small: list[tuple[int, bytes]] = []
    for start, end in pairwise(bounds):
        number = writer.reserve()
        body = file[file.index(b"\n", start) + 1 : end - _END_LENGTH].rstrip(b"\n")
        # Only streams end with this keyword.
        if body.endswith(b"endstream"):
            writer.write_raw_object(number, _add_entries(_end_stream(body), additions.get(number)))
        else:
            small.append((number, _add_entries(body, additions.get(number))))
    small.append((writer.reserve(), information))
    information_number = small[-1][0]
    small += [(writer.reserve(), body) for body in bodies]
    for number, body in small:
        writer.write_object(number, body)
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


def _end_stream(body: bytes) -> bytes:
    """Return a stream with a line end between data and keyword (ISO 19005-2, 6.1.7.1)."""
    start = body.index(_STREAM)
    length = _LENGTH.search(body, 0, start)
    if length is None:
        raise ValueError("a stream has no direct length")
    return b"%b\nendstream" % body[: start + len(_STREAM) + int(length[1])]


def _add_entries(body: bytes, entries: bytes | None) -> bytes:
    """Return an object with entries added to its dictionary."""
    if entries is None:
        return body
    at = body.rindex(b">>", 0, body.index(_STREAM) if _STREAM in body else len(body))
    return b"%b %b %b" % (body[:at], entries, body[at:])


class ObjectWriter:
    """Writes a PDF object by object, in any order, with 10 bytes of memory per object.

    Deterministic: the file identifier is a digest of the content.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._kinds = bytearray([_FREE])
        self._offsets = array("Q", [0])  # the byte offset, or the number of the object stream
        self._indexes = bytearray([0])  # the index in the object stream
        self._pack: list[tuple[int, bytes]] = []
        self._write(_HEADER)

    def reserve(self) -> int:
        """Return a new object number."""
        self._kinds.append(_FREE)
        self._offsets.append(0)
        self._indexes.append(0)
        return len(self._kinds) - 1

    def write_object(self, number: int, body: bytes) -> None:
        """Write an object other than a stream, into an object stream."""
        self._pack.append((number, body))
        if len(self._pack) == _OBJECTS_PER_STREAM:
            self._flush_pack()

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
        size = (max(self._offsets).bit_length() + 7) // 8
        rows = self._write_rows(size)
        packing = b""
        if len(rows) > _SHORT_TABLE:
            packing = b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode" % (
                size + 2
            )
            rows = _compress_rows(rows, size + 2)
        self.write_stream(
            number,
            b"/Type /XRef /Size %d /W [1 %d 1] /Root %b /Info %b /ID [<%b> <%b>]%b"
            % (number + 1, size, root, information, identity, identity, packing),
            rows,
        )
        self._write(b"startxref\n%d\n%%%%EOF\n" % start)

    def _write_rows(self, size: int) -> bytes:
        """Return the rows of the table: type, offset or stream number in `size` bytes, and index."""
        count, width = len(self._kinds), size + 2
        offsets = array("Q", self._offsets)
        if byteorder == "little":
            offsets.byteswap()
        columns = offsets.tobytes()
        rows = bytearray(count * width)
        rows[0::width] = self._kinds
        for at in range(size):
            rows[1 + at :: width] = columns[8 - size + at :: 8]
        rows[width - 1 :: width] = self._indexes
        return bytes(rows)

    def _flush_pack(self) -> None:
        """Write the collected objects as an object stream (PDF 1.7, 7.5.7)."""
        if not self._pack:
            return
        number = self.reserve()
        offsets: list[bytes] = []
        at = 0
        for index, (packed, body) in enumerate(self._pack):
            self._record_entry(packed, _COMPRESSED, number, index)
            offsets.append(b"%d %d" % (packed, at))
            at += len(body) + 1
        head = b" ".join(offsets) + b"\n"
        bodies = b"\n".join(body for _, body in self._pack)
        self.write_stream(
            number,
            b"/Type /ObjStm /N %d /First %d /Filter /FlateDecode" % (len(self._pack), len(head)),
            zlib.compress(head + bodies, _LEVEL),
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


def _compress_rows(rows: bytes, width: int) -> bytes:
    """Compress rows with PNG's Up predictor: repeated bytes become zeros."""
    differences = _subtract(rows, bytes(width) + rows[:-width])
    count = len(rows) // width
    changes = bytearray(count * (width + 1))
    changes[:: width + 1] = bytes([_UP]) * count
    for at in range(width):
        changes[1 + at :: width + 1] = differences[at::width]
    return zlib.compress(changes, _LEVEL)


def _subtract(these: bytes, those: bytes) -> bytes:
    """Return the bytewise differences modulo 256, computed on two long integers for speed.

    The upper bits are handled separately, so that no byte borrows from the next.
    """
    upper = int.from_bytes(b"\x80" * len(these), "big")
    now, before = int.from_bytes(these, "big"), int.from_bytes(those, "big")
    change = ((now | upper) - (before & ~upper)) ^ ((now ^ before ^ upper) & upper)
    return change.to_bytes(len(these), "big")
