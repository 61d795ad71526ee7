"""WebP (RFC 9649): decoded, as PDF has no filter for it."""

from __future__ import annotations

import io
import struct
from typing import Final

from PIL import Image as Pillow

from workers.engine.layout.images.orientation import find_orientation
from workers.engine.layout.prepared_images import (
    POINTS_PER_PIXEL,
    SMALLER,
    Matrix,
    PixelStream,
    PreparedImage,
    UndrawableError,
    check_size,
    is_opaque,
    pack_pixels,
)

STILL: Final = "Save one of its pictures as an image of its own."
# Decoding takes 16 bytes a pixel, measured: 390 MB.
MAX_WEBP_PIXELS: Final = 24_000_000
_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def prepare_webp(data: bytes, key: str) -> PreparedImage:
    """Decode a still WebP image.

    Raises:
        UndrawableError: Damaged, animated, or too large.
    """
    width, height = _read_size(data)
    check_size(width, height)
    if width * height > MAX_WEBP_PIXELS:
        raise UndrawableError(
            f"The image has {width} × {height} pixels; "
            f"of a WebP at most {MAX_WEBP_PIXELS // 1_000_000} megapixels are drawn",
            advice=SMALLER,
        )
    image, matrix = _decode(data, (width, height))
    pixels, mask = _pack_with_mask(image)
    if matrix[0] == 0:
        width, height = height, width
    return PreparedImage(
        key=key,
        width=width,
        height=height,
        width_points=width * POINTS_PER_PIXEL,  # the format has no resolution
        height_points=height * POINTS_PER_PIXEL,
        pixels=pixels,
        mask=mask,
        matrix=matrix,
    )


def _decode(data: bytes, size: tuple[int, int]) -> tuple[Pillow.Image, Matrix]:
    with Pillow.open(io.BytesIO(data), formats=("WEBP",)) as opened:
        if opened.size != size:
            raise UndrawableError("The WebP file is damaged: its headers have different sizes")
        # A copy frees the decoder, which has the canvas twice.
        return opened.copy(), find_orientation(opened)


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


def _pack_with_mask(image: Pillow.Image) -> tuple[PixelStream, PixelStream | None]:
    if image.mode != "RGBA":
        return pack_pixels(image), None
    alpha = image.getchannel("A")
    mask = None if is_opaque(alpha) else pack_pixels(alpha)
    return pack_pixels(image.convert("RGB")), mask
