"""The header of a JPEG file (ITU-T T.81), read before it is decoded: size, coding and components."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from api.images.refusal import RefusedImageError

_PLAIN: Final = "Save it as a baseline or progressive JPEG of 8 bits."
_MAX_SEGMENTS: Final = 10_000
_STRAY: Final = 0  # stands for a byte between segments
_DECODABLE_FRAMES: Final = (0xC0, 0xC1, 0xC2)  # Huffman: baseline, extended, progressive
_OTHER_FRAMES: Final = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)


def is_jpeg(file: BinaryIO) -> bool:
    """Return whether a file begins as a JPEG does; it stands at its start again afterwards."""
    start = file.read(3)
    file.seek(0)
    return start == b"\xff\xd8\xff"


def read_jpeg_size(file: BinaryIO) -> tuple[int, int]:
    """Return width and height from the frame header; the file stands at its start again afterwards.

    Raises:
        RefusedImageError: no frame header, or a coding that PDF cannot hold.
    """
    size: tuple[int, int] | None = None
    for steps, (marker, content) in enumerate(_walk_segments(file)):
        if steps >= _MAX_SEGMENTS:
            raise RefusedImageError(
                f"The JPEG file is damaged: it has more than {_MAX_SEGMENTS:,} segments before its pixels"
            )
        if size is not None:
            continue
        if marker == _STRAY:
            break
        if marker in _OTHER_FRAMES:
            raise RefusedImageError(
                "The JPEG file is lossless or arithmetic coded, which PDF cannot hold",
                advice=_PLAIN,
            )
        if marker in _DECODABLE_FRAMES and len(content) == 6:
            size = _read_frame(content)
    file.seek(0)
    if size is None:
        raise RefusedImageError("The JPEG file is damaged: it has no frame header")
    return size


def _read_frame(content: bytes) -> tuple[int, int]:
    precision, height, width, components = struct.unpack(">BHHB", content)
    if precision != 8 or components not in (1, 3, 4):
        raise RefusedImageError(
            f"The JPEG file has {components} components of {precision} bits; 1, 3 or 4 of 8 bits are drawn",
            advice=_PLAIN,
        )
    return width, height


def _walk_segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield marker and first bytes of the segments before the first scan; stray bytes one by one."""
    at = 2
    while True:
        file.seek(at)
        head = file.read(10)
        if len(head) < 4:
            return
        marker = head[1] if head[0] == 0xFF else _STRAY
        if marker in (0xFF, _STRAY):  # 0xFF: a fill byte, allowed before any marker
            at += 1
            yield marker, b""
            continue
        if marker == 0xDA:  # start of scan: no header follows
            return
        length = int.from_bytes(head[2:4], "big")
        yield marker, head[4 : max(4, 2 + length)]
        at += 2 + max(length, 2)
