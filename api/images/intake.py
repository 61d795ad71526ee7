"""Judging the bytes of an upload: their format, size in pixels, and whether they can be decoded."""

from __future__ import annotations

import hashlib
import threading
import zlib
from typing import BinaryIO, Final

from PIL import Image, UnidentifiedImageError

from api.images.png import check_png
from api.images.svg import is_svg, read_svg_size
from api.images.webp import is_webp, read_webp_size
from shared.db.images import ImageFacts
from shared.errors import ServiceError
from shared.limits import KB, MAX_IMAGE_PIXELS, MAX_WEBP_PIXELS

ACCEPTED: Final = "PNG, JPEG, WebP and SVG"
_FORMATS: Final = ("PNG", "JPEG")
_PIECE: Final = 64 * KB

# The library's own guard stands behind ours: it warns above this and refuses above twice as much.
Image.MAX_IMAGE_PIXELS = MAX_IMAGE_PIXELS
# A progressive JPEG or a WebP at its pixel limit takes hundreds of megabytes to decode: one at a time.
_decoding: Final = threading.Lock()


def inspect_image(file: BinaryIO, size: int) -> ImageFacts:
    """Give what the bytes say of themselves; the file stands at its start again afterwards.

    The dimensions are judged from the header, before anything is decoded.

    Raises:
        ServiceError: 400, none of the accepted formats, more than 100 megapixels (24 of a WebP),
            not decodable, or an SVG over its bounds.
    """
    try:
        media, width, height = _inspect(file, size)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels() from error
    except UnidentifiedImageError as error:
        raise ServiceError(
            400, f"The bytes are no image that is accepted; accepted are {ACCEPTED}."
        ) from error
    except (OSError, SyntaxError, ValueError, zlib.error, EOFError, IndexError) as error:
        raise ServiceError(400, f"The image cannot be decoded: {error}.") from error
    file.seek(0)
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    file.seek(0)
    return ImageFacts(media, size, width, height, digest.hexdigest())


def _inspect(file: BinaryIO, size: int) -> tuple[str, int, int]:
    if is_webp(file):
        return _inspect_webp(file)
    if is_svg(file):
        with _decoding:
            return "image/svg+xml", *read_svg_size(file, size)
    return _inspect_other(file)


def _inspect_webp(file: BinaryIO) -> tuple[str, int, int]:
    # The library makes room for the canvas as soon as it opens the file: judge the size before.
    width, height = read_webp_size(file)
    _check_pixels(width, height)
    if width * height > MAX_WEBP_PIXELS:
        raise _too_many_pixels(MAX_WEBP_PIXELS, "of a WebP")
    with _decoding, Image.open(file, formats=("WEBP",)) as image:
        if image.size != (width, height):
            raise ValueError("its headers tell different sizes")
        image.load()
    return "image/webp", width, height


def _inspect_other(file: BinaryIO) -> tuple[str, int, int]:
    with Image.open(file, formats=_FORMATS) as image:
        width, height = image.size
        _check_pixels(width, height)
        _check_decodable(image, file)
        return Image.MIME[image.format or ""], width, height


def _check_pixels(width: int, height: int) -> None:
    if width * height == 0:
        raise ValueError("it has no pixels")
    if width * height > MAX_IMAGE_PIXELS:
        raise _too_many_pixels()


def _too_many_pixels(limit: int = MAX_IMAGE_PIXELS, of_what: str = "") -> ServiceError:
    most = f"{limit // 1_000_000} megapixels, the most accepted {of_what}".rstrip()
    return ServiceError(400, f"The image has more than {most}.")


def _check_decodable(image: Image.Image, file: BinaryIO) -> None:
    if image.format == "PNG":
        # Not the library's own check, which reads each chunk whole: one may be as large as the file.
        check_png(file)
        return
    with _decoding:
        # The decoder may halve the picture three times while it reads all of it: an eighth of
        # the memory's side, the same errors.
        image.draft("L", (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
