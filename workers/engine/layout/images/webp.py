"""WebP (RFC 9649): unpacked whole, for PDF has no filter that reads it."""

from __future__ import annotations

import io
import struct
from typing import Final

from PIL import Image as Pillow

from workers.engine.layout.images.orientation import find_orientation
from workers.engine.layout.images.prepared import (
    POINTS_PER_PIXEL,
    SMALLER,
    Matrix,
    PixelStream,
    PreparedImage,
    UndrawableError,
    is_opaque,
    judge_size,
    pack_pixels,
)

STILL: Final = "Save one of its pictures as an image of its own."
# A WebP is unpacked whole, 16 bytes a pixel measured while it is read: 390 MB.
MAX_WEBP_PIXELS: Final = 24_000_000
_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def prepare_webp(data: bytes, key: str) -> PreparedImage:
    """Unpack the one picture of the file: PDF has no filter that reads WebP."""
    width, height = _webp_size(data)
    judge_size(width, height)
    if width * height > MAX_WEBP_PIXELS:
        raise UndrawableError(
            f"The image has {width} × {height} pixels; "
            f"of a WebP at most {MAX_WEBP_PIXELS // 1_000_000} megapixels are drawn",
            advice=SMALLER,
        )
    image, matrix = _decoded_webp(data, (width, height))
    pixels, mask = _flate_with_mask(image)
    if matrix[0] == 0:
        width, height = height, width
    return PreparedImage(
        key=key,
        width=width,
        height=height,
        width_points=width * POINTS_PER_PIXEL,  # the format knows no resolution
        height_points=height * POINTS_PER_PIXEL,
        pixels=pixels,
        mask=mask,
        matrix=matrix,
    )


def _decoded_webp(data: bytes, size: tuple[int, int]) -> tuple[Pillow.Image, Matrix]:
    with Pillow.open(io.BytesIO(data), formats=("WEBP",)) as opened:
        if opened.size != size:
            raise UndrawableError("The WebP file is damaged: its headers tell different sizes")
        # A copy lets go of the decoder, which holds the canvas twice.
        return opened.copy(), find_orientation(opened)


def _webp_size(data: bytes) -> tuple[int, int]:
    """Read the size from the first chunk; the reader would make room for it before it looks further."""
    kind, content = data[12:16], data[20:30]
    if kind == b"VP8X" and len(content) == 10:
        if content[0] & _ANIMATED:
            raise UndrawableError(
                "The WebP file is animated; a page shows still images", advice=STILL
            )
        width, height = content[4:7], content[7:10]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    # A lossless picture of one colour may be a header of 5 bytes and 3 of pixels.
    if kind == b"VP8L" and content[:1] == b"\x2f" and len(content) >= 5:
        bits = int.from_bytes(content[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[3:6] == b"\x9d\x01\x2a" and len(content) == 10:
        width, height = struct.unpack("<HH", content[6:10])
        return width & 0x3FFF, height & 0x3FFF  # the upper two bits are a scale for displays
    raise UndrawableError("The WebP file is damaged: its first chunk is no image header")


def _flate_with_mask(image: Pillow.Image) -> tuple[PixelStream, PixelStream | None]:
    if image.mode != "RGBA":
        return pack_pixels(image), None
    alpha = image.getchannel("A")
    mask = None if is_opaque(alpha) else pack_pixels(alpha)
    return pack_pixels(image.convert("RGB")), mask
