"""A PDF written to a stream object by object, with small objects packed (PDF 1.7, 7.5.7 and 7.5.8)."""

from __future__ import annotations

import zlib
from array import array
from hashlib import sha256
from typing import BinaryIO, Final

# Readers unpack a whole object stream to get at one object of it.
_PACKED_AT_ONCE: Final = 200
_FREE, _AT_OFFSET, _PACKED = 0, 1, 2  # types of cross-reference entries (7.5.8.3)
_HEADER: Final = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"


class ObjectWriter:
    """Writes objects in any order; what it holds in memory is 16 bytes an object and one pack."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._kinds = bytearray([_FREE])
        self._places = array("Q", [0])  # offset, or the number of the object stream
        self._indexes = array("H", [65535])  # place inside the object stream
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
        if len(self._pack) == _PACKED_AT_ONCE:
            self._flush_pack()

    def put_stream(self, number: int, entries: bytes, data: bytes) -> None:
        """Write a stream; `entries` are those of its dictionary but for `Length`."""
        self._note(number, _AT_OFFSET, self._offset)
        self._write(
            b"%d 0 obj\n<< %b /Length %d >>\nstream\n%b\nendstream\nendobj\n"
            % (number, entries, len(data), data)
        )

    def close(self, *, catalog: int, information: int) -> None:
        """Write the cross-reference stream and the trailer. Equal objects give an equal file id."""
        self._flush_pack()
        number = self.reserve()
        start = self._offset
        self._note(number, _AT_OFFSET, start)
        identity = self._digest.hexdigest()[:32].upper().encode("ascii")
        self.put_stream(
            number,
            b"/Type /XRef /Size %d /W [1 6 2] /Root %d 0 R /Info %d 0 R /ID [<%b> <%b>]"
            b" /Filter /FlateDecode" % (number + 1, catalog, information, identity, identity),
            zlib.compress(self._cross_references(), 6),
        )
        self._write(b"startxref\n%d\n%%%%EOF\n" % start)

    def _cross_references(self) -> bytes:
        rows = bytearray()
        for kind, place, index in zip(self._kinds, self._places, self._indexes, strict=True):
            rows += kind.to_bytes(1, "big") + place.to_bytes(6, "big") + index.to_bytes(2, "big")
        return bytes(rows)

    def _flush_pack(self) -> None:
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
            zlib.compress(head + bodies, 6),
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
