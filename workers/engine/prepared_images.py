"""Prepared images: PDF streams ready to be placed, and the error for images that cannot be drawn."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Final

from PIL import Image as Pillow
from PIL import ImageCms

from workers.engine.pdf_writer import compress

MAX_PIXELS: Final = 100_000_000  # by the header, before anything is decoded
MAX_DECODED_PIXELS: Final = 32_000_000  # decoded in memory: 128 MB at 4 bytes a pixel
POINTS_PER_PIXEL: Final = 0.75  # a CSS px, for an image without a resolution

Matrix = tuple[float, float, float, float, float, float]

UPRIGHT: Final[Matrix] = (1, 0, 0, 1, 0, 0)

_CREATED: Final = slice(24, 36)  # of the header (ICC.1:2010, 7.2)
_SRGB_PUBLISHED: Final = b"".join(part.to_bytes(2, "big") for part in (1999, 10, 18, 0, 0, 0))

# Pillow checks headers too; its default limit would refuse images that are accepted here.
Pillow.MAX_IMAGE_PIXELS = MAX_PIXELS


@dataclass(frozen=True, slots=True)
class PixelStream:
    """Pixels of an image as a PDF image XObject (ISO 32000-1 8.9.5); `data` is already compressed.

    `predictor_colors` is the number of components where rows have PNG filters, else 0; `color_key`
    is the colour that is not painted (8.9.6.4); `is_inverted` means that 0 is full ink, as in
    Adobe's CMYK JPEG.
    """

    width: int
    height: int
    bits: int
    color_space: str  # DeviceGray, DeviceRGB, DeviceCMYK, Indexed
    filter: str  # FlateDecode, DCTDecode
    data: bytes
    palette: bytes = b""
    predictor_colors: int = 0
    color_key: tuple[int, ...] = ()
    is_inverted: bool = False


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An image ready to be placed: displayed size in pixels and points, and streams.

    `key` is the SHA-256 of the file: equal images are one object in a document. `matrix` maps the
    stored unit square to the displayed one (EXIF orientation).
    """

    key: str
    width: int
    height: int
    width_points: float
    height_points: float
    pixels: PixelStream
    mask: PixelStream | None
    matrix: Matrix


def prepare_pixels(
    key: str,
    pixels: PixelStream,
    *,
    mask: PixelStream | None,
    matrix: Matrix,
    per_inch: tuple[float, float],
) -> PreparedImage:
    """Return an image of pixels with a resolution, turned by its matrix."""
    width, height = pixels.width, pixels.height
    across, down = per_inch
    if matrix[0] == 0:
        (width, height), (across, down) = (height, width), (down, across)
    return PreparedImage(
        key,
        width,
        height,
        width_points=to_points(width, across),
        height_points=to_points(height, down),
        pixels=pixels,
        mask=mask,
        matrix=matrix,
    )


SMALLER: Final = "Make it smaller."
EXPORT_AGAIN: Final = "Export it again from its source, or use another one."


class UndrawableError(Exception):
    """The image cannot be drawn; the message is the reason, `advice` the remedy."""

    def __init__(self, text: str, *, advice: str = EXPORT_AGAIN) -> None:
        super().__init__(text)
        self.advice = advice


# Raised by Pillow's decoders for damaged files, as seen in its source and in fuzzing.
DECODER_ERRORS: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    EOFError,
    struct.error,
    zlib.error,
    Pillow.DecompressionBombError,
    Pillow.DecompressionBombWarning,
)


def check_size(width: int, height: int) -> None:
    """Check the number of pixels.

    Raises:
        UndrawableError: No pixels, or more than `MAX_PIXELS`.
    """
    if not width or not height:
        raise UndrawableError("The image has no pixels")
    if width * height > MAX_PIXELS:
        raise UndrawableError(
            f"The image has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} megapixels are drawn",
            advice=SMALLER,
        )


def to_points(pixels: int, per_inch: float) -> float:
    """Return the size of some pixels in points; without a plausible resolution a pixel is a CSS px."""
    # A resolution outside this range is a placeholder of the encoder.
    return pixels * 72 / per_inch if 30 <= per_inch <= 2400 else pixels * POINTS_PER_PIXEL


def pack_pixels(image: Pillow.Image) -> PixelStream:
    """Return the pixels of a decoded image as a stream."""
    return PixelStream(
        width=image.width,
        height=image.height,
        bits=8,
        color_space="DeviceRGB" if image.mode == "RGB" else "DeviceGray",
        filter="FlateDecode",
        data=compress(image.tobytes()),
    )


def is_opaque(alpha: Pillow.Image) -> bool:
    """Return whether a mask is fully opaque."""
    return alpha.getextrema()[0] == 255


@cache
def make_srgb_profile() -> bytes:
    """Return the profile with the date of the standard instead of its own; the result is constant."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_CREATED] = _SRGB_PUBLISHED
    return bytes(profile)
