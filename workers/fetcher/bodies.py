"""Bytes that were fetched: small ones in memory, larger ones in a file that no folder names."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from shared.limits import MB

_IN_MEMORY: Final = 1 * MB
_PIECE: Final = 256 * 1024


class Body:
    """Bytes that any number of threads may read at once; they go when nobody has them any more."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        """Take what lies in a file from its beginning; the file is the caller's to close."""
        self.size: Final = size
        self._data = b""
        self._descriptor = -1
        file.seek(0)
        if size <= _IN_MEMORY:
            self._data = file.read(size)
        else:
            self._descriptor = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._descriptor)

    def read_pieces(self) -> Iterator[bytes]:
        """Give all bytes in their order."""
        if self._descriptor < 0:
            yield self._data
            return
        at = 0
        while at < self.size and (piece := os.pread(self._descriptor, _PIECE, at)):
            at += len(piece)
            yield piece


def open_spool() -> BinaryIO:
    """Open a file to fetch into, in memory while it is small."""
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
