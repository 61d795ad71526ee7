"""A zip written as it is sent: nothing of it is stored, and no more than its table is held."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

# The least instant a zip can name: the same batch gives the same bytes at any time.
_DOS_TIME: Final = 0
_DOS_DATE: Final = (1 << 5) | 1
_UTF8_NAMES: Final = 0x0800
_PLAIN: Final = 20  # version 2.0
_ZIP64: Final = 45
_MAX_32: Final = 0xFFFFFFFF
_MAX_16: Final = 0xFFFF
_UNIX: Final = 3
_ORDINARY_FILE: Final = 0o100644 << 16

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s4B4HL2L5H2L")
_OFFSET_64: Final = struct.Struct("<HHQ")
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64: Final = struct.Struct("<4sLQL")
_END: Final = struct.Struct("<4s4H2LH")


class ZipWriter:
    """Writes entries whose size and CRC-32 are known, one after the other, uncompressed."""

    def __init__(self) -> None:
        self._offset = 0
        self._count = 0
        self._table = bytearray()

    def write(
        self, name: str, pieces: Iterable[bytes], *, size: int, crc32: int
    ) -> Iterator[bytes]:
        """Give the bytes of an entry, below 4 GB.

        Raises:
            ValueError: the pieces are not of the size given; the archive is of no use then.
        """
        raw = name.encode("utf-8", "replace")
        begun_at = self._offset
        yield self._counted(
            _LOCAL.pack(
                b"PK\3\4", _PLAIN, _UTF8_NAMES, 0, _DOS_TIME, _DOS_DATE, crc32, size, size,
                len(raw), 0,
            )
            + raw
        )  # fmt: skip
        for piece in pieces:
            yield self._counted(piece)
        if self._offset - begun_at != _LOCAL.size + len(raw) + size:
            raise ValueError(f"entry {name!r} is not of {size} bytes")
        self._note(raw, begun_at, size=size, crc32=crc32)

    def close(self) -> bytes:
        """Give the table that ends the archive."""
        begun_at, size = self._offset, len(self._table)
        is_large = self._count >= _MAX_16 or begun_at + size >= _MAX_32
        end = _END.pack(
            b"PK\5\6", 0, 0,
            min(self._count, _MAX_16), min(self._count, _MAX_16),
            min(size, _MAX_32), min(begun_at, _MAX_32), 0,
        )  # fmt: skip
        if not is_large:
            return bytes(self._table) + end
        end_64 = _END_64.pack(
            b"PK\6\6", _END_64.size - 12, _ZIP64, _ZIP64, 0, 0,
            self._count, self._count, size, begun_at,
        )  # fmt: skip
        locator = _LOCATOR_64.pack(b"PK\6\7", 0, begun_at + size, 1)
        return bytes(self._table) + end_64 + locator + end

    def _note(self, name: bytes, begun_at: int, *, size: int, crc32: int) -> None:
        extra = b"" if begun_at < _MAX_32 else _OFFSET_64.pack(1, 8, begun_at)
        version = _ZIP64 if extra else _PLAIN
        self._table += _CENTRAL.pack(
            b"PK\1\2", version, _UNIX, version, 0, _UTF8_NAMES, 0, _DOS_TIME, _DOS_DATE, crc32,
            size, size, len(name), len(extra), 0, 0, 0, _ORDINARY_FILE, min(begun_at, _MAX_32),
        )  # fmt: skip
        self._table += name + extra
        self._count += 1

    def _counted(self, piece: bytes) -> bytes:
        self._offset += len(piece)
        return piece
