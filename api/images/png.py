"""The chunks of a PNG file (ISO/IEC 15948), read in pieces: judging a file must not take its size in memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from api.images.refusal import DAMAGED, RefusedImageError, check_size, check_unpacked_size
from shared.limits import KB, MAX_UNPACKED_PIXELS

_PIECE: Final = 64 * KB
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_SAMPLES: Final = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_DEPTHS: Final = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
_LAST_FILTER: Final = 4
# First column, first row, column step, row step of Adam7's passes.
_ADAM7: Final = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    height: int
    depth: int
    color_type: int
    is_interlaced: bool

    def is_unpacked(self, *, has_transparency: bool) -> bool:
        """Return whether PDF cannot read the pixels as they are."""
        if self.is_interlaced or self.color_type in (_GRAY_ALPHA, _RGBA):
            return True
        return self.color_type == _PALETTE and has_transparency

    def passes(self) -> Iterator[tuple[int, int]]:
        """Yield bytes of a row, its filter byte included, and number of rows of each pass."""
        bits = self.depth * _SAMPLES[self.color_type]
        for x, y, dx, dy in _ADAM7 if self.is_interlaced else ((0, 0, 1, 1),):
            columns, rows = len(range(x, self.width, dx)), len(range(y, self.height, dy))
            if columns and rows:
                yield 1 + (columns * bits + 7) // 8, rows


def is_png(file: BinaryIO) -> bool:
    """Return whether a file begins as a PNG does; it stands at its start again afterwards."""
    start = file.read(len(_SIGNATURE))
    file.seek(0)
    return start == _SIGNATURE


def check_png(file: BinaryIO, size: int) -> tuple[int, int]:
    """Return width and height; structure, checksums and pixels are checked as far as a render does.

    Raises:
        RefusedImageError: the file is damaged, or too large to be drawn.
    """
    header = _read_header(file)
    check_size(header.width, header.height)
    reader = _Reader(header)
    file.seek(len(_SIGNATURE))
    is_ended = reader.read_chunks(file, size)
    reader.check()
    if not is_ended:
        raise RefusedImageError("The PNG file is damaged: it ends without its end chunk")
    return header.width, header.height


def _read_header(file: BinaryIO) -> _Header:
    start = file.read(33)
    if len(start) < 33 or start[12:16] != b"IHDR":
        raise RefusedImageError("The PNG file is damaged: it has no header")
    width, height, depth, color_type, packing, filtering, interlace = struct.unpack(
        ">IIBBBBB", start[16:29]
    )
    is_standard = start[8:12] == b"\0\0\0\x0d" and depth in _DEPTHS.get(color_type, ())
    if not is_standard or packing or filtering or interlace > 1:
        raise RefusedImageError("The PNG file is damaged: its header is not of the standard")
    return _Header(width, height, depth, color_type, bool(interlace))


class _Reader:
    """Reads the chunks behind the header once, and keeps what decides about the image."""

    def __init__(self, header: _Header) -> None:
        self._header = header
        self._palette_bytes = 0
        self._has_transparency = False
        self._pixels = _Pixels(header)
        is_large = header.width * header.height > MAX_UNPACKED_PIXELS
        self._is_too_large = is_large and header.is_unpacked(has_transparency=False)

    def read_chunks(self, file: BinaryIO, size: int) -> bool:
        """Read up to the end chunk; False where the file ends before."""
        at, headers = len(_SIGNATURE), 0
        while len(head := file.read(8)) == 8:
            length, kind = struct.unpack(">I4s", head)
            if kind == b"IEND":
                return True
            if at + 12 + length > size:
                return False
            headers += kind == b"IHDR"
            if headers > 1:
                raise RefusedImageError("The PNG file is damaged: it has two headers")
            self._read_content(file, kind, length, at)
            at += 12 + length
        return False

    def _read_content(self, file: BinaryIO, kind: bytes, length: int, at: int) -> None:
        if kind == b"PLTE":
            self._palette_bytes = length
        self._has_transparency |= kind == b"tRNS"
        checksum = zlib.crc32(kind)
        while length:
            piece = file.read(min(length, _PIECE))
            length -= len(piece)
            checksum = zlib.crc32(piece, checksum)
            if kind == b"IDAT" and not self._is_too_large:
                self._pixels.feed(piece)
        if int.from_bytes(file.read(4), "big") != checksum:
            raise RefusedImageError(f"The PNG file is damaged: wrong checksum at byte {at}")

    def check(self) -> None:
        """Refuse what no render draws, in the order in which a render finds it."""
        header, size = self._header, self._palette_bytes
        if header.color_type == _PALETTE and not (3 <= size <= 768 and size % 3 == 0):
            raise RefusedImageError("The PNG file is damaged: its palette is missing or wrong")
        if not header.is_unpacked(has_transparency=self._has_transparency):
            self._pixels.check_rows()
            return
        check_unpacked_size(header.width, header.height)
        self._pixels.check_unpacked()


class _Pixels:
    """Unpacks pixels piece by piece; keeps their number, and whether each row has a known filter."""

    def __init__(self, header: _Header) -> None:
        self._passes = list(header.passes())
        self._expected = sum(row * rows for row, rows in self._passes)
        self._seen = 0
        self._in_pass = 0  # bytes of the first of the passes left
        self._inflate = zlib.decompressobj()
        self._is_torn = self._has_unknown_filter = False

    def feed(self, piece: bytes) -> None:
        rest = piece
        while rest and self._seen <= self._expected and not (self._inflate.eof or self._is_torn):
            try:
                pixels = self._inflate.decompress(rest, _PIECE)
            except zlib.error:
                self._is_torn = True
                return
            self._seen += len(pixels)
            self._check_filters(pixels)
            rest = self._inflate.unconsumed_tail

    def _check_filters(self, pixels: bytes) -> None:
        at = 0
        while self._passes and at < len(pixels):
            row, rows = self._passes[0]
            end = min(len(pixels), at + row * rows - self._in_pass)
            first = at + -self._in_pass % row
            if max(pixels[first:end:row], default=0) > _LAST_FILTER:
                self._has_unknown_filter = True
            self._in_pass += end - at
            at = end
            if self._in_pass == row * rows:
                del self._passes[0]
                self._in_pass = 0

    def check_rows(self) -> None:
        if self._has_unknown_filter:
            raise RefusedImageError("The PNG file is damaged: a row has an unknown filter")
        if self._is_torn:
            raise RefusedImageError(DAMAGED)
        if self._seen != self._expected:
            raise RefusedImageError(
                "The PNG file is damaged: it has more or fewer pixels than its header says"
            )

    def check_unpacked(self) -> None:
        if self._is_torn or self._has_unknown_filter or self._seen < self._expected:
            raise RefusedImageError(DAMAGED)
