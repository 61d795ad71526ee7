"""The form of a PDF file: small objects packed into streams, and the table of where each object is."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from sys import byteorder
from typing import BinaryIO, Final

# The second line tells programs that the file is not text (PDF 1.7, 7.5.2).
_HEADER: Final = b"%PDF-1.7\n%\xbf\xf7\xa2\xfe\n"
_PER_STREAM: Final = 100  # a reader unpacks a whole stream for one of its objects
_LEVEL: Final = 6  # some KB a document; on a thousand pages 2 ms more than level 4, and 6 % less
_FREE, _PLACED, _PACKED = 0, 1, 2  # types of entries of the table (PDF 1.7, table 18)
_UP: Final = 2  # PNG's filter, which stands before each row


def pack(bodies: Sequence[bytes], *, root: bytes, information: bytes) -> bytes:
    """Write objects, numbered from 1, as a file; `root` and `information` refer to two of them.

    Streams stand for themselves, all others are packed behind them.
    """
    out = BytesIO()
    writer = ObjectWriter(out)
    small: list[tuple[int, bytes]] = []
    for body in bodies:
        number = writer.reserve()
        # Strings, arrays and dictionaries end with a bracket: only a stream ends like this.
        if body.endswith(b"endstream"):
            writer.put_whole(number, body)
        else:
            small.append((number, body))
    for number, body in small:
        writer.put(number, body)
    writer.close(root=root, information=information)
    return out.getvalue()


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
        self.put_stream(
            number,
            b"/Type /XRef /Size %d /W [1 %d 1] /Root %b /Info %b /ID [<%b> <%b>]"
            b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode"
            % (number + 1, size, root, information, identity, identity, size + 2),
            self._compress_table(size),
        )
        self._write(b"startxref\n%d\n%%%%EOF\n" % start)

    def _compress_table(self, size: int) -> bytes:
        """Write each row less the one above it: what repeats becomes zeros."""
        count, width = len(self._kinds), size + 3
        places = array("Q", self._places)
        if byteorder == "little":
            places.byteswap()
        columns = places.tobytes()
        rows = bytearray(count * width)
        rows[1::width] = self._kinds
        for at in range(size):
            rows[2 + at :: width] = columns[8 - size + at :: 8]
        rows[width - 1 :: width] = self._indexes
        changes = bytearray(_subtract(bytes(rows), bytes(width) + rows[:-width]))
        changes[::width] = bytes([_UP]) * count
        return zlib.compress(changes, _LEVEL)

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


def _subtract(these: bytes, those: bytes) -> bytes:
    """Subtract each byte from its own, modulo 256: as two long numbers, a hundred times as quick.

    The upper bits stand apart, so that no byte borrows from the next.
    """
    upper = int.from_bytes(b"\x80" * len(these), "big")
    now, before = int.from_bytes(these, "big"), int.from_bytes(those, "big")
    change = ((now | upper) - (before & ~upper)) ^ ((now ^ before ^ upper) & upper)
    return change.to_bytes(len(these), "big")
