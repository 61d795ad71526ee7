"""WOFF 1 and WOFF2: compressed fonts are unpacked to the OpenType font they contain."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from struct import pack, pack_into, unpack_from
from typing import Any, Final, NamedTuple

from workers.engine.fonts.properties import FontRefusedError

WOFF_SIGNATURE: Final = b"wOFF"
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


WOFF2_SIGNATURE: Final = b"wOF2"
MAX_WOFF2_UNPACKED: Final = 32_000_000  # bytes: outlines are rebuilt glyph by glyph in Python
_FREE_UNPACKED: Final = 1_000_000
_UNPACKED_PER_BYTE: Final = 40  # fonts are packed to a half or a fifth
_HEADER_BYTES: Final = 48
_FLAVOR, _LENGTH, _TABLES, _PACKED, _METADATA = 4, 8, 12, 20, 28  # offsets (WOFF2, 4.1)


def unpack_woff2(data: bytes) -> bytes:
    """Return the OpenType font in a WOFF2 file.

    Raises:
        FontRefusedError: Damaged, a collection, or larger than 32 MB unpacked.
    """
    if data[_FLAVOR : _FLAVOR + 4] == b"ttcf":
        raise FontRefusedError(
            "The WOFF2 file is a collection", "Send its fonts one by one, or the collection as TTC."
        )
    try:
        font_only = _remove_metadata(data)
        return _unpack_by_tables(font_only)
    except (FontRefusedError, MemoryError, RecursionError):
        raise
    except Exception as error:
        # Damaged data raise many kinds of exception in the decoder.
        raise FontRefusedError("The WOFF2 file is damaged: it cannot be unpacked") from error


def _remove_metadata(data: bytes) -> bytes:
    """Return the file without its metadata, once its unpacked size is known to be within the limit.

    The library unpacks font and metadata whole, however large they are.
    """
    import brotli  # imported here: most processes never need it
    from fontTools.ttLib.woff2 import WOFF2DirectoryEntry

    file = BytesIO(data)
    file.seek(_HEADER_BYTES)
    length = 0
    (count,) = unpack_from(">H", data, _TABLES)
    for _ in range(count):
        entry: Any = WOFF2DirectoryEntry()
        entry.fromFile(file)
        length += entry.length
    start = file.tell()
    end = start + unpack_from(">I", data, _PACKED)[0]
    limit = min(_FREE_UNPACKED + _UNPACKED_PER_BYTE * len(data), MAX_WOFF2_UNPACKED)
    if length > limit:
        raise FontRefusedError(
            f"The WOFF2 file unpacks to more than {limit:,} bytes, the most for its size",
            "Make it smaller.",
        )
    unpacked = brotli.Decompressor().process(data[start:end], output_buffer_limit=length + 1)
    if len(unpacked) != length:
        raise ValueError("the tables do not fill the unpacked data")
    font_only = bytearray(data[:end])
    font_only[_METADATA:_HEADER_BYTES] = bytes(_HEADER_BYTES - _METADATA)
    pack_into(">I", font_only, _LENGTH, end)
    return bytes(font_only)


def _unpack_by_tables(font_only: bytes) -> bytes:
    from fontTools.ttLib.woff2 import decompress

    unpacked = BytesIO()
    decompress(BytesIO(font_only), unpacked)
    return unpacked.getvalue()
