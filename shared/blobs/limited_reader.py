"""A stream limited to a number of bytes of another."""

from __future__ import annotations

from io import RawIOBase
from typing import Any, BinaryIO, Final

_SKIP_BYTES: Final = 256 * 1024


class LimitedReader(RawIOBase, BinaryIO):
    """The next `size` bytes of a stream; it ends earlier only where the stream does."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes and return their number."""
        chunk = self.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, by default all that are left."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        chunk = self._stream.read(wanted) if wanted else b""
        self._left -= len(chunk)
        return chunk


def skip(stream: BinaryIO, size: int) -> None:
    """Read past the next `size` bytes."""
    left = size
    while left and (chunk := stream.read(min(left, _SKIP_BYTES))):
        left -= len(chunk)
