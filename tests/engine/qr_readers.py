"""Two independent readers of QR codes: zxing-cpp, which also writes ours, and quirc."""

from __future__ import annotations

from typing import NamedTuple

import deqr
import zxingcpp
from PIL import Image, ImageOps


class ReadCode(NamedTuple):
    """The content of a QR code as both readers found it, its level and version."""

    content: bytes
    level: str
    version: int


def read_twice(image: Image.Image) -> ReadCode:
    """Return the only code of an image, as both readers read it."""
    grey = image.convert("L")
    (code,) = zxingcpp.read_barcodes(grey)
    (other,) = deqr.QuircDecoder().decode(_cut_out(grey, code), convert_data=False)
    parts = [bytes(entry.data) for entry in other.data_entries]
    assert bytes(code.bytes) == b"".join(parts)
    assert code.extra["ECLevel"] == other.ecc_level.name
    return ReadCode(bytes(code.bytes), other.ecc_level.name, other.version)


def _cut_out(image: Image.Image, code: zxingcpp.Barcode) -> Image.Image:
    """Return a code with a white edge: quirc does not find a small one on a large page."""
    at = code.position
    corners = (at.top_left, at.top_right, at.bottom_left, at.bottom_right)
    xs, ys = [each.x for each in corners], [each.y for each in corners]
    return ImageOps.expand(image.crop((min(xs), min(ys), max(xs) + 1, max(ys) + 1)), 30, 255)
