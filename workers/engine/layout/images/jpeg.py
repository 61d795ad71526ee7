"""JPEG (ITU-T T.81): embedded unchanged, after one decoding to find damage."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PIL import Image as Pillow
from PIL import ImageCms

from workers.engine.layout.images.decoded import find_orientation, read_profile, to_srgb
from workers.engine.prepared_images import (
    MAX_DECODED_PIXELS,
    Matrix,
    PixelStream,
    PreparedImage,
    UndrawableError,
    check_size,
    prepare_pixels,
)

PLAIN: Final = "Save it as a baseline or progressive JPEG of 8 bits."
_SPACES: Final = {1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}
_DECODABLE_FRAMES: Final = (0xC0, 0xC1, 0xC2)  # Huffman coded: baseline, extended, progressive
# Encoders write up to 255 for a colour profile and some hundred for metadata before the first scan.
_MAX_SEGMENTS: Final = 10_000
_QUALITY: Final = 95  # of a file whose colours are converted: the difference is not seen
_STRAY: Final = 0  # a byte between segments, which decoders skip after the frame header
_OTHER_FRAMES: Final = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)


@dataclass(frozen=True, slots=True)
class _JpegHeader:
    width: int
    height: int
    components: int
    is_adobe: bool


def prepare_jpeg(data: bytes, key: str) -> PreparedImage:
    """Prepare a JPEG file for embedding.

    Raises:
        UndrawableError: Damaged, too large, or of a kind that PDF cannot embed.
    """
    header = _read_header(data)
    check_size(header.width, header.height)
    matrix, per_inch, profile = _verify_by_decoding(data)
    if profile is not None:
        data = _convert_colors(data, header, profile)
    pixels = PixelStream(
        width=header.width,
        height=header.height,
        bits=8,
        color_space=_SPACES[header.components],
        filter="DCTDecode",
        data=data,
        is_inverted=header.components == 4 and header.is_adobe,
    )
    return prepare_pixels(key, pixels, mask=None, matrix=matrix, per_inch=per_inch)


def _read_header(data: bytes) -> _JpegHeader:
    """Return size and components from the frame header, and whether an Adobe marker precedes it."""
    is_adobe = False
    header: _JpegHeader | None = None
    for steps, (marker, at, end) in enumerate(_walk_segments(data)):
        if steps >= _MAX_SEGMENTS:
            raise UndrawableError(
                f"The JPEG file is damaged: it has more than {_MAX_SEGMENTS:,} segments before its pixels"
            )
        if header is not None:
            continue
        if marker == _STRAY:
            break
        content = data[at : min(end, at + 6)]
        if marker == 0xEE and content.startswith(b"Adobe"):
            is_adobe = True
        if marker in _OTHER_FRAMES:
            raise UndrawableError(
                "The JPEG file is lossless or arithmetic coded, which PDF cannot embed",
                advice=PLAIN,
            )
        if marker in _DECODABLE_FRAMES and len(content) == 6:
            precision, height, width, components = struct.unpack(">BHHB", content)
            if precision != 8 or components not in _SPACES:
                raise UndrawableError(
                    f"The JPEG file has {components} components of {precision} bits; 1, 3 or 4 of 8 bits are drawn",
                    advice=PLAIN,
                )
            header = _JpegHeader(width, height, components, is_adobe)
    if header is None:
        raise UndrawableError("The JPEG file is damaged: it has no frame header")
    return header


def _walk_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, start and end of the segments before the first scan; stray bytes one by one."""
    at = 2
    while at + 4 <= len(data):
        marker = data[at + 1] if data[at] == 0xFF else _STRAY
        if marker in (0xFF, _STRAY):  # 0xFF: a fill byte, allowed before any marker
            at += 1
            yield marker, at, at
            continue
        if marker == 0xDA:  # start of scan: no header follows
            return
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        yield marker, at + 4, at + 2 + length
        at += 2 + max(length, 2)


def _convert_colors(data: bytes, header: _JpegHeader, profile: ImageCms.ImageCmsProfile) -> bytes:
    """Return a JPEG in sRGB; ink and what is too large to be decoded stay as they are."""
    if header.components == 4 or header.width * header.height > MAX_DECODED_PIXELS:
        return data
    with Pillow.open(io.BytesIO(data), formats=("JPEG",)) as opened:
        converted = to_srgb(opened, profile)
        if converted is opened:
            return data
        file = io.BytesIO()
        converted.save(file, "JPEG", quality=_QUALITY, subsampling=0)
        return file.getvalue()


def _verify_by_decoding(
    data: bytes,
) -> tuple[Matrix, tuple[float, float], ImageCms.ImageCmsProfile | None]:
    """Decode the file at an eighth of its size, to find damage."""
    with Pillow.open(io.BytesIO(data), formats=("JPEG",)) as image:
        matrix = find_orientation(image)
        profile = read_profile(image.info.get("icc_profile"))
        across, down = image.info.get("dpi", (0.0, 0.0))
        image.draft(None, (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
    return matrix, (float(across), float(down)), profile
