"""Documents of a JSON a line: where each begins, and each by itself."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from shared.errors import ServiceError
from shared.limits import MAX_BATCH_DOCUMENTS, MAX_BODY_BYTES, MB

_BOM: Final = b"\xef\xbb\xbf"
_BUFFER_BYTES: Final = 256 * 1024
# A line that is not blank, from its first character on: a match is found in C, so that a body of
# nothing but line breaks costs no more than one of text.
_LINE: Final = re.compile(rb"\S[^\n]*(\n)?")


class NdjsonBody(io.RawIOBase):
    """A body that notes where its documents begin while it is read through.

    Raises `ServiceError` while reading: 413 for too many documents, or one too long.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._line_begun_at: int | None = None
        self.starts = array("Q")
        self.size = 0

    def readable(self) -> bool:
        """Tell that it is for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes as they are."""
        piece: bytes = self._source.read(size)
        if self.size == 0:
            piece = self._with_whole_mark(piece)
            self._note(piece, len(_BOM) if piece.startswith(_BOM) else 0)
        else:
            self._note(piece, 0)
        self.size += len(piece)
        if self._line_begun_at is not None and self.size - self._line_begun_at > MAX_BODY_BYTES:
            raise too_long(len(self.starts), most=MAX_BODY_BYTES)
        return piece

    def _with_whole_mark(self, piece: bytes) -> bytes:
        while 0 < len(piece) < len(_BOM) and (more := self._source.read(len(_BOM) - len(piece))):
            piece += more
        return piece

    def _note(self, piece: bytes, position: int) -> None:
        if self._line_begun_at is not None:
            end = piece.find(b"\n", position)
            if end < 0:
                return
            self._line_begun_at = None
            position = end + 1
        for line in _LINE.finditer(piece, position):
            check_number(len(self.starts))
            self.starts.append(self.size + line.start())
            if line[1] is None:
                self._line_begun_at = self.size + line.start()


def read_documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Give the documents of a stretch that begins and ends between lines, each with the number of
    bytes up to its end.
    """
    end = 0
    for line in io.BufferedReader(stream, _BUFFER_BYTES):  # type: ignore[type-var] # it is raw
        end += len(line)
        if not line.isspace():
            yield end, line.strip()


def check_number(documents: int) -> None:
    """Let one more document than these pass.

    Raises:
        ServiceError: 413, it is one too many.
    """
    if documents >= MAX_BATCH_DOCUMENTS:
        raise ServiceError(
            413, f"A batch has {MAX_BATCH_DOCUMENTS:,} documents at most; send more than one batch."
        )


def too_long(number: int, *, most: int) -> ServiceError:
    """Make the failure of a batch whose document of this number, from 1, is too long."""
    return ServiceError(
        413,
        f"Document {number:,} of the batch is larger than {most // MB} MB, which is the most "
        "accepted.",
    )
