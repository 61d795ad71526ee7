"""NDJSON batches: one JSON document for each line."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from shared.errors import ServiceError
from shared.limits import MB
from shared.settings import get_limits

_BOM: Final = b"\xef\xbb\xbf"
_BUFFER_BYTES: Final = 256 * 1024
# A line that is not blank, from its first character on. Matching runs in C, so that a body of only line
# breaks takes no longer than text.
_LINE: Final = re.compile(rb"\S[^\n]*(\n)?")


class NdjsonBody(io.RawIOBase):
    """An NDJSON stream that records the byte offset of each document.

    Reading raises `ServiceError`: 413 for too many documents or one that is too large.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._line_begun_at: int | None = None
        self.starts = array("Q")
        self.size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, unchanged."""
        piece: bytes = self._source.read(size)
        if self.size == 0:
            piece = self._complete_bom(piece)
            self._record_starts(piece, len(_BOM) if piece.startswith(_BOM) else 0)
        else:
            self._record_starts(piece, 0)
        self.size += len(piece)
        most = get_limits().body_bytes
        if self._line_begun_at is not None and self.size - self._line_begun_at > most:
            raise document_too_large(len(self.starts), most=most)
        return piece

    def _complete_bom(self, piece: bytes) -> bytes:
        while 0 < len(piece) < len(_BOM) and (more := self._source.read(len(_BOM) - len(piece))):
            piece += more
        return piece

    def _record_starts(self, piece: bytes, position: int) -> None:
        if self._line_begun_at is not None:
            end = piece.find(b"\n", position)
            if end < 0:
                return
            self._line_begun_at = None
            position = end + 1
        for line in _LINE.finditer(piece, position):
            check_document_count(len(self.starts))
            self.starts.append(self.size + line.start())
            if line[1] is None:
                self._line_begun_at = self.size + line.start()


def read_documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a range that begins and ends between lines: the number of bytes up to the end
    of the document, and the document.
    """
    end = 0
    for line in io.BufferedReader(stream, _BUFFER_BYTES):  # type: ignore[type-var] # it is raw
        end += len(line)
        if not line.isspace():
            yield end, line.strip()


def check_document_count(documents: int) -> None:
    """Check that another document may follow `documents` others.

    Raises:
        ServiceError: 413, the limit is reached.
    """
    most = get_limits().batch_documents
    if documents >= most:
        raise ServiceError(
            413, f"A batch has {most:,} documents at most; send more than one batch."
        )


def document_too_large(number: int, *, most: int) -> ServiceError:
    """Return the error of a batch whose document `number`, counted from 1, exceeds `most` bytes."""
    return ServiceError(
        413,
        f"Document {number:,} of the batch is larger than {most // MB} MB, the limit.",
    )
