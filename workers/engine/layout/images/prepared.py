"""What an image becomes before it is placed: the streams a PDF holds, and why one cannot be drawn."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Final

from PIL import Image as Pillow

MAX_PIXELS: Final = 100_000_000  # contract.md; told by the header, before anything is decoded
MAX_DECODED_PIXELS: Final = 32_000_000  # what must be unpacked in memory: 128 MB at 4 bytes a pixel
POINTS_PER_PIXEL: Final = 0.75  # a CSS px, for an image that states no resolution

Matrix = tuple[float, float, float, float, float, float]

UPRIGHT: Final[Matrix] = (1, 0, 0, 1, 0, 0)

# Pillow judges headers too; its own bound would refuse images that the contract takes.
Pillow.MAX_IMAGE_PIXELS = MAX_PIXELS


@dataclass(frozen=True, slots=True)
class PixelStream:
    """The pixels of an image as PDF stores them (PDF 1.7, 8.9.5). `data` is compressed already.

    `predictor_colors` is the number of components when the rows carry PNG filters, 0 when not;
    `color_key` is the one colour that is not painted (8.9.6.4), `is_inverted` when 0 is full ink, as in Adobe's CMYK JPEG files.
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
    """An image ready to be placed: its size as shown, in pixels and in points, and its streams.

    `key` is the sha256 of the file: equal images are one object in a document. `matrix` turns the
    stored unit square into the shown one (EXIF orientation).
    """

    key: str
    width: int
    height: int
    width_points: float
    height_points: float
    pixels: PixelStream
    mask: PixelStream | None
    matrix: Matrix


SMALLER: Final = "Make it smaller."
ANEW: Final = "Save it anew from its source, or use another one."


class UndrawableError(Exception):
    """The image cannot be drawn: why, and what to do about it."""

    def __init__(self, text: str, *, advice: str = ANEW) -> None:
        super().__init__(text)
        self.advice = advice


# What Pillow's readers raise on damaged files, seen in its source and in fuzzing.
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


def judge_size(width: int, height: int) -> None:
    """Refuse what has no pixels, or more than are drawn."""
    if not width or not height:
        raise UndrawableError("The image has no pixels")
    if width * height > MAX_PIXELS:
        raise UndrawableError(
            f"The image has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} megapixels are drawn",
            advice=SMALLER,
        )


def to_points(pixels: int, per_inch: float) -> float:
    """Give the size of a number of pixels at a resolution, as CSS has it without a believable one."""
    # A resolution outside this range is a writer's placeholder, not a size.
    return pixels * 72 / per_inch if 30 <= per_inch <= 2400 else pixels * POINTS_PER_PIXEL


def pack_pixels(image: Pillow.Image) -> PixelStream:
    """Give the pixels of an unpacked image as a stream."""
    return PixelStream(
        width=image.width,
        height=image.height,
        bits=8,
        color_space="DeviceRGB" if image.mode == "RGB" else "DeviceGray",
        filter="FlateDecode",
        data=zlib.compress(image.tobytes(), 6),
    )


def is_opaque(alpha: Pillow.Image) -> bool:
    """Tell whether a mask hides nothing."""
    return alpha.getextrema()[0] == 255
