"""WOFF 1: its tables, each compressed by itself, are unpacked to the OpenType font it contains."""

from __future__ import annotations

import struct
import zlib
from struct import pack, unpack_from
from typing import Final, NamedTuple

from workers.engine.fonts.properties import FontRefusedError

SIGNATURE: Final = b"wOFF"
MAX_UNPACKED: Final = 64_000_000  # bytes, the limit of a font
_MAX_TABLES: Final = 100
_DIRECTORY: Final = 44  # offset (WOFF 1.0, 3)
_DAMAGED: Final = "The WOFF file is damaged"


class _Entry(NamedTuple):
    tag: bytes
    offset: int
    packed: int  # length in the file
    length: int  # of the table
    checksum: int


def unpack_woff(data: bytes) -> bytes:
    """Return the OpenType font in a WOFF file.

    Raises:
        FontRefusedError: Damaged, or larger than 64 MB unpacked.
    """
    try:
        flavor = data[4:8]
        (count,) = unpack_from(">H", data, 12)
        if not 0 < count <= _MAX_TABLES:
            raise FontRefusedError(f"{_DAMAGED}: it has {count} tables")
        entries = [_Entry(*unpack_from(">4s4I", data, _DIRECTORY + 20 * at)) for at in range(count)]
    except struct.error as error:
        raise FontRefusedError(_DAMAGED) from error
    if sum(entry.length for entry in entries) > MAX_UNPACKED:
        raise FontRefusedError(
            f"The WOFF file unpacks to more than {MAX_UNPACKED // 1_000_000} MB", "Make it smaller."
        )
    return _join(flavor, entries, [_unpack(data, entry) for entry in entries])


def _unpack(data: bytes, entry: _Entry) -> bytes:
    """Return a table, never longer than its entry says."""
    packed = data[entry.offset : entry.offset + entry.packed]
    if len(packed) != entry.packed:
        raise FontRefusedError(f"{_DAMAGED}: its tables extend beyond the end of the file")
    table = packed
    if entry.packed < entry.length:
        try:
            table = zlib.decompressobj().decompress(packed, entry.length + 1)
        except zlib.error as error:
            raise FontRefusedError(f"{_DAMAGED}: it cannot be unpacked") from error
    if len(table) != entry.length:
        raise FontRefusedError(f"{_DAMAGED}: a table is not as long as its entry says")
    return table


def _join(flavor: bytes, entries: list[_Entry], tables: list[bytes]) -> bytes:
    """Return an OpenType file; HarfBuzz needs no search fields, and writes checksums itself."""
    directory = [flavor, pack(">4H", len(entries), 0, 0, 0)]
    offset = 12 + 16 * len(entries)
    content = []
    for entry, table in zip(entries, tables, strict=True):
        directory.append(pack(">4s3I", entry.tag, entry.checksum, offset, entry.length))
        padded = table + bytes(-len(table) % 4)
        content.append(padded)
        offset += len(padded)
    return b"".join((*directory, *content))
