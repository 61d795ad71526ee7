"""The chunks of a PNG file (ISO/IEC 15948), read in pieces: judging a file must not take its size in memory."""

from __future__ import annotations

import zlib
from typing import BinaryIO, Final

from shared.limits import KB

_PIECE: Final = 64 * KB
_SIGNATURE_BYTES: Final = 8
_HEADER_BYTES: Final = 13
# Samples of one pixel by colour type, to be multiplied by the bit depth.
_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
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


def check_png(file: BinaryIO) -> None:
    """Check structure and checksums of all chunks, and that the pixels unpack to as many as told.

    Raises:
        ValueError: the file is damaged.
        zlib.error: its pixels cannot be unpacked.
    """
    file.seek(_SIGNATURE_BYTES)
    pixels: _Pixels | None = None
    while True:
        kind, length = _read_chunk_head(file)
        checksum = zlib.crc32(kind)
        left = length
        while left:
            piece = file.read(min(left, _PIECE))
            if not piece:
                raise ValueError("it ends inside a chunk")
            left -= len(piece)
            checksum = zlib.crc32(piece, checksum)
            if kind == b"IHDR":
                if pixels is not None:
                    raise ValueError("it has two headers")
                pixels = _Pixels(piece)
            elif kind == b"IDAT":
                if pixels is None:
                    raise ValueError("it has pixels before its header")
                pixels.feed(piece)
        if int.from_bytes(file.read(4), "big") != checksum:
            raise ValueError(f"the checksum of its chunk {kind.decode('latin-1')!r} is wrong")
        if kind == b"IEND":
            break
    if pixels is None:
        raise ValueError("it has no header")
    pixels.close()


class _Pixels:
    """Unpacks pixels piece by piece and keeps nothing but their number."""

    def __init__(self, header: bytes) -> None:
        self._expected = _count_bytes(header)
        self._seen = 0
        self._inflate = zlib.decompressobj()

    def feed(self, piece: bytes) -> None:
        rest = piece
        while rest and self._seen <= self._expected and not self._inflate.eof:
            self._seen += len(self._inflate.decompress(rest, _PIECE))
            rest = self._inflate.unconsumed_tail

    def close(self) -> None:
        if self._seen < self._expected:
            self._seen += len(self._inflate.flush())
        if self._seen < self._expected:
            raise ValueError(f"its pixels end after {self._seen} of {self._expected} bytes")


def _read_chunk_head(file: BinaryIO) -> tuple[bytes, int]:
    head = file.read(8)
    if len(head) < 8:
        raise ValueError("it ends without its end chunk")
    return head[4:], int.from_bytes(head[:4], "big")


def _count_bytes(header: bytes) -> int:
    """Count the bytes of the unpacked rows, each with its filter byte."""
    if len(header) != _HEADER_BYTES:
        raise ValueError("its header has a wrong length")
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    depth, colour, interlaced = header[8], header[9], header[12]
    if colour not in _SAMPLES:
        raise ValueError(f"its colour type {colour} is unknown")
    bits = depth * _SAMPLES[colour]
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    return sum(
        rows * (1 + (columns * bits + 7) // 8)
        for x, y, dx, dy in passes
        if (columns := len(range(x, width, dx))) and (rows := len(range(y, height, dy)))
    )
