"""WebP (RFC 9649): its size is read before its decoder runs."""

from __future__ import annotations

import struct
from typing import Final

from workers.engine.layout.images.decoded import check_pixels, prepare_decoded
from workers.engine.prepared_images import PreparedImage, UndrawableError

STILL: Final = "Save one of its pictures as an image of its own."
_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def prepare_webp(data: bytes, key: str) -> PreparedImage:
    """Decode a still WebP image.

    Raises:
        UndrawableError: Damaged, animated, or too large.
    """
    size = _read_size(data)
    check_pixels(*size, "WEBP")
    image = prepare_decoded(data, key, "WEBP")
    if (image.pixels.width, image.pixels.height) != size:
        raise UndrawableError("The WebP file is damaged: its headers have different sizes")
    return image


def _read_size(data: bytes) -> tuple[int, int]:
    """Return the size from the first chunk: the decoder would allocate memory for it before checking more."""
    kind, content = data[12:16], data[20:30]
    if kind == b"VP8X" and len(content) == 10:
        if content[0] & _ANIMATED:
            raise UndrawableError(
                "The WebP file is animated; a page shows still images", advice=STILL
            )
        width, height = content[4:7], content[7:10]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    # A lossless image of one colour may be a header of 5 bytes and 3 of pixels.
    if kind == b"VP8L" and content[:1] == b"\x2f" and len(content) >= 5:
        bits = int.from_bytes(content[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[3:6] == b"\x9d\x01\x2a" and len(content) == 10:
        width, height = struct.unpack("<HH", content[6:10])
        return width & 0x3FFF, height & 0x3FFF  # the upper two bits are a display scale
    raise UndrawableError("The WebP file is damaged: its first chunk is not an image header")
