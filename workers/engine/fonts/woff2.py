"""WOFF2: a compressed font is unpacked to the OpenType font it contains."""

from __future__ import annotations

from io import BytesIO
from struct import pack_into, unpack_from
from typing import Any, Final

from workers.engine.fonts.properties import FontRefusedError

SIGNATURE: Final = b"wOF2"
MAX_UNPACKED: Final = 32_000_000  # bytes: outlines are rebuilt glyph by glyph in Python
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
        return _unpack(font_only)
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
    limit = min(_FREE_UNPACKED + _UNPACKED_PER_BYTE * len(data), MAX_UNPACKED)
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


def _unpack(font_only: bytes) -> bytes:
    from fontTools.ttLib.woff2 import decompress

    unpacked = BytesIO()
    decompress(BytesIO(font_only), unpacked)
    return unpacked.getvalue()
