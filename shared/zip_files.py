"""ZIP archives of uncompressed entries, and the names of files in them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from typing import Final

DEFAULT_FILENAME: Final = "example.pdf"
MAX_FILENAME: Final = 200  # file systems take 255 bytes, of which callers add some
UNSAFE: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f"\\/:*?<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]'
)
# The earliest timestamp of the format, so that the bytes of a batch do not depend on the time.
_DOS_TIME: Final = 0
_DOS_DATE: Final = (1 << 5) | 1
_UTF8_NAMES: Final = 0x0800
_VERSION_2_0: Final = 20  # version 2.0
_VERSION_ZIP64: Final = 45
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
    """Writes uncompressed entries of known size and CRC-32, with zip64 records where needed."""

    def __init__(self) -> None:
        self.offset = 0  # the number of bytes so far, written or skipped
        self._count = 0
        self._central_directory = bytearray()

    def write(
        self, name: str, chunks: Iterable[bytes], *, size: int, crc32: int
    ) -> Iterator[bytes]:
        """Yield the bytes of an entry below 4 GB.

        Raises:
            ValueError: the chunks do not add up to `size`; the archive is invalid then.
        """
        raw = _encode(name)
        head = _LOCAL.pack(
            b"PK\3\4", _VERSION_2_0, _UTF8_NAMES, 0, _DOS_TIME, _DOS_DATE, crc32, size, size, len(raw), 0
        )  # fmt: skip
        left = size
        yield head + raw
        for chunk in chunks:
            left -= len(chunk)
            yield chunk
        if left:
            raise ValueError(f"entry {name!r} does not have {size} bytes")
        self.skip(name, size=size, crc32=crc32)

    def skip(self, name: str, *, size: int, crc32: int) -> None:
        """Count an entry as written: it is in the central directory."""
        self._add_directory_entry(_encode(name), self.offset, size=size, crc32=crc32)
        self.offset += entry_size(name, size)

    def close(self) -> bytes:
        """Return the central directory and the end records."""
        offset, size = self.offset, len(self._central_directory)
        is_large = self._count >= _MAX_16 or offset + size >= _MAX_32
        end = _END.pack(
            b"PK\5\6", 0, 0,
            min(self._count, _MAX_16), min(self._count, _MAX_16),
            min(size, _MAX_32), min(offset, _MAX_32), 0,
        )  # fmt: skip
        if not is_large:
            return bytes(self._central_directory) + end
        end_64 = _END_64.pack(
            b"PK\6\6", _END_64.size - 12, _VERSION_ZIP64, _VERSION_ZIP64, 0, 0,
            self._count, self._count, size, offset,
        )  # fmt: skip
        locator = _LOCATOR_64.pack(b"PK\6\7", 0, offset + size, 1)
        return bytes(self._central_directory) + end_64 + locator + end

    def _add_directory_entry(self, name: bytes, offset: int, *, size: int, crc32: int) -> None:
        extra = b"" if offset < _MAX_32 else _OFFSET_64.pack(1, 8, offset)
        version = _VERSION_ZIP64 if extra else _VERSION_2_0
        self._central_directory += _CENTRAL.pack(
            b"PK\1\2", version, _UNIX, version, 0, _UTF8_NAMES, 0, _DOS_TIME, _DOS_DATE, crc32,
            size, size, len(name), len(extra), 0, 0, 0, _ORDINARY_FILE, min(offset, _MAX_32),
        )  # fmt: skip
        self._central_directory += name + extra
        self._count += 1


def entry_size(name: str, size: int) -> int:
    """Return the number of bytes of an entry with its header."""
    return _LOCAL.size + len(_encode(name)) + size


def _encode(name: str) -> bytes:
    return name.encode("utf-8", "replace")


def name_entry(index: int, filename: str | None) -> str:
    """Return the name of a document's PDF in an archive."""
    return f"{index:06d}-{sanitize_filename(filename or DEFAULT_FILENAME)}"


def sanitize_filename(
    filename: str, *, extension: str = ".pdf", default: str = DEFAULT_FILENAME
) -> str:
    """Return a name that is safe in a header, a folder and an archive, with the extension."""
    safe = UNSAFE.sub("_", filename.encode("utf-8", "replace").decode())
    stem = safe.removesuffix(extension).strip(" .").encode()[:MAX_FILENAME].decode(errors="ignore")
    return f"{stem}{extension}" if stem else default
