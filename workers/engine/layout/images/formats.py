"""The formats of pictures: each is detected by its bytes, whatever its name or declared type."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from workers.engine.layout.images.decoded import prepare_decoded, prepare_webp
from workers.engine.layout.images.jpeg import prepare_jpeg
from workers.engine.layout.images.png import PNG_SIGNATURE, prepare_png
from workers.engine.prepared_images import PreparedImage


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """A format of pictures in pixels, and how a file of it is prepared.

    Those that are not `is_stored` are drawn where a document has or names them, and cannot be uploaded.
    """

    label: str
    media_type: str
    suffixes: tuple[str, ...]
    signature: re.Pattern[bytes]
    prepare: Callable[[bytes, str], PreparedImage]
    is_stored: bool = False


def _decoded(label: str, *suffixes: str, signature: bytes) -> ImageFormat:
    return ImageFormat(
        label,
        f"image/{label.lower()}",
        suffixes,
        re.compile(signature, re.DOTALL),
        partial(prepare_decoded, kind=label),
    )


FORMATS: Final = (
    ImageFormat(
        "PNG", "image/png", (".png",), re.compile(re.escape(PNG_SIGNATURE)), prepare_png, True
    ),
    ImageFormat(
        "JPEG", "image/jpeg", (".jpg", ".jpeg"), re.compile(rb"\xff\xd8\xff"), prepare_jpeg, True
    ),
    ImageFormat(
        "WebP",
        "image/webp",
        (".webp",),
        re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
        prepare_webp,
        True,
    ),
    _decoded("AVIF", ".avif", signature=rb".{4}ftypavi[fs]"),
    _decoded("GIF", ".gif", signature=rb"GIF8[79]a"),
    _decoded("BMP", ".bmp", signature=rb"BM.{4}\0\0\0\0"),
    _decoded("TIFF", ".tif", ".tiff", signature=rb"II\*\0|MM\0\*"),
)
# Drawings and pages of PDFs are no pixels.
SUFFIXES: Final = (*(suffix for each in FORMATS for suffix in each.suffixes), ".svg", ".pdf")


def find_format(data: bytes) -> ImageFormat | None:
    """Return the format of pixels by the signature of a file, None for other files."""
    return next((each for each in FORMATS if each.signature.match(data)), None)


def list_labels(*more: str, stored: bool = False) -> str:
    """Return the names of the formats, or of those that are stored, for `neither`."""
    labels = [each.label for each in FORMATS if each.is_stored or not stored]
    *first, last = (*labels, *more)
    return f"{', '.join(first)} nor {last}"
