"""Rasterisation of pages, the only module that imports the rasteriser."""

from __future__ import annotations

import ctypes
import io
import struct
import zlib
from dataclasses import dataclass
from math import sqrt
from typing import Final

import pypdfium2
from PIL import Image

# A4 at 300 dpi has 8.7 million. Each takes four bytes, twice while the file is written.
MAX_PIXELS: Final = 16_000_000
MAX_SIDE: Final = 16_000  # WebP allows at most 16,383 pixels per side

# Lines use filter 0, which suits text on white: Pillow's choice of filters takes 70 % longer, for 20 %
# more bytes.
_PNG_LEVEL: Final = 3
_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_RGB_OF_8_BITS: Final = (8, 2, 0, 0, 0)  # depth, colour type, then compression, filter, interlace
_WEBP_METHOD: Final = 1  # method 0 is slower, for four times the bytes


@dataclass(frozen=True, slots=True)
class Raster:
    """A rasterised page: a PNG or WebP file, its size in pixels, and its scale in pixels per point."""

    data: bytes
    width: int
    height: int
    scale: float


def rasterise(pdf: bytes, *, scale: float, is_webp: bool = False) -> Raster:
    """Rasterise the first page of an unencrypted PDF on white, as a lossless PNG or WebP file.

    `scale` is in pixels per point. It is reduced to stay within `MAX_PIXELS` and `MAX_SIDE`.
    """
    with pypdfium2.PdfDocument(pdf) as document:
        document.init_forms()  # before the page is loaded; without it values of fields are not drawn
        page = document[0]
        scale = bound_scale(scale, *page.get_size())
        lines = _PngLines()
        page.render(scale=scale, rev_byteorder=True, bitmap_maker=lines.make_bitmap)
        data = (_write_webp if is_webp else _write_png)(lines)
        return Raster(data, lines.width, lines.height, scale)


class _PngLines:
    """The pixels of a bitmap as PNG compresses them: lines of RGB, each after a byte for its filter.

    The rasteriser draws into this memory, in which that byte is the padding of the line before.
    """

    def __init__(self) -> None:
        self.width = self.height = self.stride = 0
        self.memory = bytearray()

    def make_bitmap(
        self,
        width: int,
        height: int,
        *,
        format: int,  # noqa: A002  (the caller's name)
        rev_byteorder: bool,
    ) -> pypdfium2.PdfBitmap:
        """Allocate the lines, and return a bitmap over their pixels."""
        self.width, self.height, self.stride = width, height, 3 * width + 1
        size = self.stride * height
        self.memory = bytearray(size + 1)
        pixels = (ctypes.c_ubyte * size).from_buffer(self.memory, 1)
        return pypdfium2.PdfBitmap.new_native(
            width, height, format, rev_byteorder, buffer=pixels, stride=self.stride
        )

    def filtered(self) -> memoryview:
        """Return the lines with filter 0, which leaves their bytes as they are."""
        self.memory[:: self.stride] = bytes(self.height + 1)
        return memoryview(self.memory)[:-1]

    def to_picture(self) -> Image.Image:
        """Return the pixels as a picture."""
        size = (self.width, self.height)
        return Image.frombuffer("RGB", size, self.memory[1:], "raw", "RGB", self.stride, 1)


def bound_scale(scale: float, width: float, height: float) -> float:
    """Return the largest scale up to `scale` at which a page is within the limits; sizes in points."""
    # Leaves one pixel per side, as the rasteriser rounds up.
    most = (MAX_SIDE - 1) / max(width, height)
    if (width * scale + 1) * (height * scale + 1) > MAX_PIXELS:
        scale = _scale_of_area(width, height)
    return min(scale, most)


def _scale_of_area(width: float, height: float) -> float:
    """Return the scale at which a page, extended by one pixel in each direction, has `MAX_PIXELS`."""
    area, edges = width * height, width + height
    return (sqrt(edges * edges + 4 * area * (MAX_PIXELS - 1)) - edges) / (2 * area)


def _write_png(lines: _PngLines) -> bytes:
    """Return pixels as PNG (third edition, 11.2): header, one data chunk, and end."""
    head = struct.pack(">2I5B", lines.width, lines.height, *_RGB_OF_8_BITS)
    chunks = (
        (b"IHDR", head),
        (b"IDAT", zlib.compress(lines.filtered(), _PNG_LEVEL)),
        (b"IEND", b""),
    )
    return _PNG_SIGNATURE + b"".join(_write_chunk(name, data) for name, data in chunks)


def _write_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _write_webp(lines: _PngLines) -> bytes:
    file = io.BytesIO()
    lines.to_picture().save(file, "webp", lossless=True, method=_WEBP_METHOD, quality=0)
    return file.getvalue()
