"""Judging the bytes of an upload: their format, size in pixels, and whether a render can draw them."""

from __future__ import annotations

import hashlib
import struct
import threading
import zlib
from typing import BinaryIO, Final

from PIL import Image

from api.images.jpeg import is_jpeg, read_jpeg_size
from api.images.png import check_png, is_png
from api.images.refusal import DAMAGED, RefusedImageError, check_size, check_webp_size
from api.images.svg import is_svg, read_svg_size
from api.images.webp import is_webp, read_webp_size
from shared.db.images import ImageFacts
from shared.errors import ServiceError
from shared.limits import KB, MAX_IMAGE_PIXELS

_PIECE: Final = 64 * KB
# Raised by the library on damaged files.
_DECODER_ERRORS: Final = (
    *(OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, OverflowError, EOFError),
    *(struct.error, zlib.error, Image.DecompressionBombError, Image.DecompressionBombWarning),
)

# The library's own guard stands behind ours: it warns above this and refuses above twice as much.
Image.MAX_IMAGE_PIXELS = MAX_IMAGE_PIXELS
# A progressive JPEG or a WebP at its pixel limit takes hundreds of megabytes to decode: one at a time.
_decoding: Final = threading.Lock()


def inspect_image(file: BinaryIO, size: int) -> ImageFacts:
    """Return what the bytes state of themselves; the file stands at its start again afterwards.

    The dimensions are judged from the header, before anything is decoded. What every render refuses
    is refused here, in the same words.

    Raises:
        ServiceError: 400, none of the accepted formats, or an image that no render draws.
    """
    try:
        media, width, height = _inspect(file, size)
    except RefusedImageError as error:
        raise ServiceError(400, str(error)) from error
    file.seek(0)
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    file.seek(0)
    return ImageFacts(media, size, width, height, digest.hexdigest())


def _inspect(file: BinaryIO, size: int) -> tuple[str, int, int]:
    if is_webp(file):
        return "image/webp", *_inspect_webp(file)
    if is_svg(file):
        with _decoding:
            return "image/svg+xml", *read_svg_size(file, size)
    if is_png(file):
        # Not by the library, which reads each chunk whole: one may be as large as the file.
        return "image/png", *check_png(file, size)
    if is_jpeg(file):
        return "image/jpeg", *_inspect_jpeg(file)
    raise RefusedImageError(
        "The image is neither PNG, JPEG, WebP nor SVG", advice="Convert it to one of these."
    )


def _inspect_webp(file: BinaryIO) -> tuple[int, int]:
    # The library makes room for the canvas as soon as it opens the file: judge the size before.
    size = read_webp_size(file)
    check_webp_size(*size)
    try:
        with _decoding, Image.open(file, formats=("WEBP",)) as image:
            if image.size != size:
                raise RefusedImageError(
                    "The WebP file is damaged: its headers tell different sizes"
                )
            image.load()
    except _DECODER_ERRORS as error:
        raise RefusedImageError(DAMAGED) from error
    return size


def _inspect_jpeg(file: BinaryIO) -> tuple[int, int]:
    size = read_jpeg_size(file)
    check_size(*size)
    try:
        with _decoding, Image.open(file, formats=("JPEG",)) as image:
            # The decoder may halve the picture three times while it reads all of it: an eighth of
            # the memory's side, the same errors.
            image.draft("L", (max(1, image.width // 8), max(1, image.height // 8)))
            image.load()
    except _DECODER_ERRORS as error:
        raise RefusedImageError(DAMAGED) from error
    return size
