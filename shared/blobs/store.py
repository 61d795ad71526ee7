"""Blob stores: their interface, the keys of blobs, and readers of a part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import RawIOBase
from typing import Any, BinaryIO, Final, Protocol


class BlobMissingError(KeyError):
    """The store has no blob under this key."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of a blob's bytes; `length` is 1 or more."""

    offset: int
    length: int


class BlobStore(Protocol):
    """Blobs under keys such as `images/ws_1/ab12…`: parts of `A-Za-z0-9._:-` between slashes.

    Writes are atomic: readers see the old value or the new one, never a part. Every method raises
    `Unavailable("object store")` within 5 s if the store does not answer, and ValueError for an invalid
    key.
    """

    @property
    def is_local(self) -> bool:
        """Whether the blobs are files of this machine."""

    def put(
        self, key: str, stream: BinaryIO, size: int | None = None, *, is_transient: bool = False
    ) -> None:
        """Store exactly the next `size` bytes of the stream, or all that it has, replacing the old value.

        At most some tens of megabytes are held in memory. If reading the stream raises, nothing is
        stored. A transient blob is needed only by running processes; it may be lost in a power failure.

        Raises:
            ValueError: the stream ends before `size` bytes.
        """

    def open(
        self, key: str, *, byte_range: ByteRange | None = None
    ) -> AbstractContextManager[BinaryIO]:
        """Open a blob, or a range of it, for reading; leaving the context closes it.

        A range that extends past the end is cut off there.

        Raises:
            BlobMissingError: there is no blob under the key.
        """

    def read(self, key: str) -> bytes:
        """Return the whole blob.

        Raises:
            BlobMissingError: there is no blob under the key.
        """

    def delete(self, key: str) -> None:
        """Delete a blob; a missing one is not an error."""

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Iterate over the keys that begin with `prefix`, which ends with a slash, in any order."""

    def remove_temporary_files(self, *, older_than_seconds: float) -> int:
        """Remove temporary files that interrupted writers left, and return how many.

        They have no key. A writer that takes longer than `older_than_seconds` loses its file.
        """

    def check(self) -> None:
        """Check that the store answers and accepts writes.

        Raises:
            Unavailable: it does not.
        """


# No part begins with a dot, so none is `.`, `..` or a temporary file.
_KEY: Final = re.compile(
    r"[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}(?:/[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}){0,7}\Z"
)


def validate_key(key: str) -> str:
    """Return the key if it is valid.

    Raises:
        ValueError: the key does not match the pattern.
    """
    if not _KEY.match(key):
        raise ValueError(
            f"blob key {key!r}: expected up to 8 parts of A-Za-z0-9._:- between slashes, "
            "none beginning with a dot"
        )
    return key


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


class ExactReader(LimitedReader):
    """The next `size` bytes of a stream; reading raises ValueError if the stream ends before."""

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, by default all that are left."""
        chunk = super().read(size)
        if not chunk and self._left and size != 0:
            raise ValueError(f"the stream ended {self._left} bytes too early")
        return chunk


def skip(stream: BinaryIO, size: int) -> None:
    """Read past the next `size` bytes."""
    left = size
    while left and (chunk := stream.read(min(left, _SKIP_BYTES))):
        left -= len(chunk)
