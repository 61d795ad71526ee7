"""The form of a PDF file: small objects packed into streams, and the table of where each object is."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from sys import byteorder
from types import MappingProxyType
from typing import BinaryIO, Final

# The second line tells programs that the file is not text (PDF 1.7, 7.5.2).
_HEADER: Final = b"%PDF-1.7\n%\xbf\xf7\xa2\xfe\n"
_PER_STREAM: Final = 100  # a reader unpacks a whole stream for one of its objects
_LEVEL: Final = 6  # some KB a document; on a thousand pages 2 ms more than level 4, and 6 % less
_SHORT_TABLE: Final = 200  # bytes: to compress a table of 50 objects would save 50 of them
_FREE, _PLACED, _PACKED = 0, 1, 2  # types of entries of the table (PDF 1.7, table 18)
_UP: Final = 2  # PNG's filter, which stands before each row

_END_LENGTH: Final = len(b"endobj\n")
_STREAM: Final = b"\nstream\n"
_LENGTH: Final = re.compile(rb"/Length (\d+)\b(?! \d+ R)")
_ROOT: Final = re.compile(rb"/Root (\d+ \d+ R)")


def repack(
    file: bytes, *, information: bytes, additions: Mapping[int, bytes] = MappingProxyType({})
) -> bytes:
    """Write a PDF with a table of its objects (PDF 1.7, 7.5.4) again, its small objects in streams.

    `file` is as ReportLab writes it: one table, no object is free, direct lengths of streams.
    `information` is the document information dictionary in place of the file's own; `additions`
    has entries to add to the dictionary of an object, by its number. Equal input gives equal bytes.
    """
    bounds, root = _read_table(file)
    out = BytesIO()
    writer = ObjectWriter(out)
    small: list[tuple[int, bytes]] = []
    for start, end in pairwise(bounds):
        number = writer.reserve()
        body = file[file.index(b"\n", start) + 1 : end - _END_LENGTH].rstrip(b"\n")
        # Strings, arrays and dictionaries end with a bracket: only a stream ends like this.
        if body.endswith(b"endstream"):
            writer.put_whole(number, _with_entries(_end_stream(body), additions.get(number)))
        else:
            small.append((number, _with_entries(body, additions.get(number))))
    small.append((writer.reserve(), information))
    for number, body in small:
        writer.put(number, body)
    writer.close(root=root, information=b"%d 0 R" % small[-1][0])
    return out.getvalue()


def _read_table(file: bytes) -> tuple[list[int], bytes]:
    """Return where the objects begin and the last one ends, and the reference of the catalogue."""
    table = int(file[file.rindex(b"startxref") :].split()[1])
    head, trailer = file[table:].split(b"trailer", 1)
    entries = head.split(b"\n")[3:-1]  # after the keyword, the numbers and the free entry
    root = _ROOT.search(trailer)
    if root is None:
        raise ValueError("the trailer names no catalogue")
    return [*(int(entry[:10]) for entry in entries), table], root[1]


def _end_stream(body: bytes) -> bytes:
    """Put an end of line between the data and the keyword, as ISO 19005-2, 6.1.7.1 demands."""
    start = body.index(_STREAM)
    length = _LENGTH.search(body, 0, start)
    if length is None:
        raise ValueError("a stream has no direct length")
    return b"%b\nendstream" % body[: start + len(_STREAM) + int(length[1])]


def _with_entries(body: bytes, entries: bytes | None) -> bytes:
    """Add entries to the dictionary that an object is, or begins with."""
    if entries is None:
        return body
    at = body.rindex(b">>", 0, body.index(_STREAM) if _STREAM in body else len(body))
    return b"%b %b %b" % (body[:at], entries, body[at:])


class ObjectWriter:
    """Writes a PDF object by object, in any order: it holds 10 bytes an object and one pack.

    Equal objects in equal order give equal bytes: the identifier of the file is a digest of them.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._kinds = bytearray([_FREE])
        self._places = array("Q", [0])  # an offset, or the number of the object stream
        self._indexes = bytearray([0])  # the place inside of the object stream
        self._pack: list[tuple[int, bytes]] = []
        self._write(_HEADER)

    def reserve(self) -> int:
        """Give the number of an object that follows."""
        self._kinds.append(_FREE)
        self._places.append(0)
        self._indexes.append(0)
        return len(self._kinds) - 1

    def put(self, number: int, body: bytes) -> None:
        """Write an object that is no stream."""
        self._pack.append((number, body))
        if len(self._pack) == _PER_STREAM:
            self._flush_pack()

    def put_stream(self, number: int, entries: bytes, data: bytes) -> None:
        """Write a stream; `entries` are those of its dictionary but for `Length`."""
        self.put_whole(
            number,
            b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries, len(data), data),
        )

    def put_whole(self, number: int, body: bytes) -> None:
        """Write an object that stands for itself."""
        self._note(number, _PLACED, self._offset)
        self._write(b"%d 0 obj\n%b\nendobj\n" % (number, body))

    def close(self, *, root: bytes, information: bytes) -> None:
        """Write the table of objects as a stream, which is an object itself, the last (7.5.8)."""
        self._flush_pack()
        number, start = self.reserve(), self._offset
        self._note(number, _PLACED, start)
        identity = self._digest.hexdigest()[:32].encode("ascii")
        size = (max(self._places).bit_length() + 7) // 8
        rows = self._write_rows(size)
        packing = b""
        if len(rows) > _SHORT_TABLE:
            packing = b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode" % (
                size + 2
            )
            rows = _compress_rows(rows, size + 2)
        self.put_stream(
            number,
            b"/Type /XRef /Size %d /W [1 %d 1] /Root %b /Info %b /ID [<%b> <%b>]%b"
            % (number + 1, size, root, information, identity, identity, packing),
            rows,
        )
        self._write(b"startxref\n%d\n%%%%EOF\n" % start)

    def _write_rows(self, size: int) -> bytes:
        """Write the table: for each object its kind, its place in `size` bytes, and its index."""
        count, width = len(self._kinds), size + 2
        places = array("Q", self._places)
        if byteorder == "little":
            places.byteswap()
        columns = places.tobytes()
        rows = bytearray(count * width)
        rows[0::width] = self._kinds
        for at in range(size):
            rows[1 + at :: width] = columns[8 - size + at :: 8]
        rows[width - 1 :: width] = self._indexes
        return bytes(rows)

    def _flush_pack(self) -> None:
        """Pack objects into a stream that begins with their numbers and offsets (7.5.7)."""
        if not self._pack:
            return
        number = self.reserve()
        offsets: list[bytes] = []
        at = 0
        for index, (packed, body) in enumerate(self._pack):
            self._note(packed, _PACKED, number, index)
            offsets.append(b"%d %d" % (packed, at))
            at += len(body) + 1
        head = b" ".join(offsets) + b"\n"
        bodies = b"\n".join(body for _, body in self._pack)
        self.put_stream(
            number,
            b"/Type /ObjStm /N %d /First %d /Filter /FlateDecode" % (len(self._pack), len(head)),
            zlib.compress(head + bodies, _LEVEL),
        )
        self._pack.clear()

    def _note(self, number: int, kind: int, place: int, index: int = 0) -> None:
        self._kinds[number] = kind
        self._places[number] = place
        self._indexes[number] = index

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._digest.update(data)
        self._offset += len(data)


def _compress_rows(rows: bytes, width: int) -> bytes:
    """Write each row less the one above it, by a predictor of PNG: what repeats becomes zeros."""
    differences = _subtract(rows, bytes(width) + rows[:-width])
    count = len(rows) // width
    changes = bytearray(count * (width + 1))
    changes[:: width + 1] = bytes([_UP]) * count
    for at in range(width):
        changes[1 + at :: width + 1] = differences[at::width]
    return zlib.compress(changes, _LEVEL)


def _subtract(these: bytes, those: bytes) -> bytes:
    """Subtract each byte from its own, modulo 256: as two long numbers, a hundred times as quick.

    The upper bits stand apart, so that no byte borrows from the next.
    """
    upper = int.from_bytes(b"\x80" * len(these), "big")
    now, before = int.from_bytes(these, "big"), int.from_bytes(those, "big")
    change = ((now | upper) - (before & ~upper)) ^ ((now ^ before ^ upper) & upper)
    return change.to_bytes(len(these), "big")
