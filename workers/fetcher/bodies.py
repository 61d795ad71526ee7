"""Downloaded bodies: small ones in memory, larger ones in unnamed files."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from shared.limits import MB

_IN_MEMORY: Final = 1 * MB
_CHUNK_BYTES: Final = 256 * 1024


class SharedBody:
    """A body that several threads may read at once; it is freed with its last reference."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        """Read `size` bytes from the beginning of a file; the caller closes the file."""
        self.size: Final = size
        self._data = b""
        self._descriptor = -1
        file.seek(0)
        if size <= _IN_MEMORY:
            self._data = file.read(size)
        else:
            self._descriptor = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._descriptor)

    def read_chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks."""
        if self._descriptor < 0:
            yield self._data
            return
        at = 0
        while at < self.size and (chunk := os.pread(self._descriptor, _CHUNK_BYTES, at)):
            at += len(chunk)
            yield chunk


def open_spool() -> BinaryIO:
    """Open a temporary file for a download, in memory while it is small."""
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
