"""Preparation of images: the format is detected by the bytes, and equal bytes are prepared once.

The name and the declared type of an image do not count.
"""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from workers.engine.layout.context import ContentProblem
from workers.engine.layout.display import Drawable
from workers.engine.layout.images.decoded import prepare_decoded, prepare_webp
from workers.engine.layout.images.embedded import PNG_SIGNATURE, prepare_jpeg, prepare_png
from workers.engine.pdf_pages import ImportedPage, UnusablePdfError, import_page, is_pdf
from workers.engine.ports import ImageUnavailableError, Resources
from workers.engine.prepared_images import (
    DECODER_ERRORS,
    EXPORT_AGAIN,
    POINTS_PER_PIXEL,
    PreparedImage,
    UndrawableError,
)
from workers.engine.svg import VectorImage, convert_svg, is_svg
from workers.engine.tree.node_values import DataImage, ImageSource, RemoteImage


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


CHECKED_PAGES: Final = 10  # of a PDF; renders check each page that they draw


@dataclass(frozen=True, slots=True)
class ImageProperties:
    """Media type and size of a drawable image.

    `width` and `height` are pixels as stored in the file, before EXIF orientation; of an SVG, and of
    the first page of a PDF, they are CSS px, rounded, at least 1.
    """

    media_type: str
    width: int
    height: int


def read_image_properties(data: bytes) -> ImageProperties | ContentProblem:
    """Return the properties of an image, or the problem with which a render refuses it."""
    found = find_format(data)
    if (found is None and not (is_svg(data) or is_pdf(data))) or (found and not found.is_stored):
        labels = list_labels("SVG", "PDF", stored=True)
        return ContentProblem(CODE, f"The image is neither {labels}", CONVERT)
    image = prepare_image(data)
    if isinstance(image, ContentProblem):
        return image
    if isinstance(image, ImportedPage):
        return _read_pdf_properties(data, image)
    if isinstance(image, VectorImage):
        return ImageProperties(
            "image/svg+xml", max(1, round(image.width)), max(1, round(image.height))
        )
    assert found is not None, "an image that was prepared has a known signature"
    return ImageProperties(found.media_type, image.pixels.width, image.pixels.height)


def _read_pdf_properties(data: bytes, first: ImportedPage) -> ImageProperties | ContentProblem:
    for number in range(2, min(first.pages, CHECKED_PAGES) + 1):
        page = prepare_image(data, number)
        if isinstance(page, ContentProblem):
            return ContentProblem(page.code, f"Page {number}: {page.text}", page.advice)
    width, height = (
        max(1, round(side / POINTS_PER_PIXEL)) for side in (first.width_points, first.height_points)
    )
    return ImageProperties("application/pdf", width, height)


CODE: Final = "image-data"
MISSING_CODE: Final = "image-missing"
STORE: Final = "Store the image, or correct its name."
CHECK_ADDRESS: Final = "Correct the address, or store the image in the workspace."
NO_PAGE: Final = "Remove the number of the page, or store a PDF."
CONVERT: Final = "Convert it to one of these."
CACHED_BYTES: Final = 48 * 1024 * 1024  # of prepared images per process


def load_image(picture: ImageSource, resources: Resources) -> Drawable | ContentProblem:
    """Fetch and prepare an image that a document names, or return the problem."""
    if isinstance(picture, DataImage):
        return prepare_image(picture.data, picture.page)
    if isinstance(picture, RemoteImage):
        return _load_remote(picture, resources)
    data = resources.find_image(picture.name)
    if data is None:
        return ContentProblem(
            MISSING_CODE, f'The workspace holds no image named "{picture.name}"', STORE
        )
    return prepare_image(data, picture.page)


def _load_remote(picture: RemoteImage, resources: Resources) -> Drawable | ContentProblem:
    address = picture.address
    try:
        data = resources.find_remote_image(address)
    except ImageUnavailableError as error:
        text = f'The image at "{address}" cannot be fetched: {error}'
        return ContentProblem(MISSING_CODE, text, CHECK_ADDRESS)
    if data is None:
        return ContentProblem(
            MISSING_CODE, f'The image at "{address}" cannot be fetched', CHECK_ADDRESS
        )
    return prepare_image(data, picture.page)


def prepare_image(data: bytes, page: int = 1) -> Drawable | ContentProblem:
    """Check and prepare image bytes, or a page of a PDF.

    Equal bytes are prepared once while they are cached, each page of a PDF on its own.
    """
    digest = sha256(data).hexdigest()
    key = digest if page == 1 else f"p{page}-{digest}"
    cached = _cache.find(key)
    if cached is not None:
        return cached
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged Exif data, which are ignored
            prepared = _prepare(data, key, page)
    except (UndrawableError, UnusablePdfError) as error:
        return ContentProblem(CODE, str(error), error.advice)
    except DECODER_ERRORS:
        return ContentProblem(
            CODE, "The image is damaged: its data cannot be decoded", EXPORT_AGAIN
        )
    _cache.put(prepared)
    return prepared


class _ImageCache:
    """Prepared images, least recently used first, up to `CACHED_BYTES`."""

    def __init__(self) -> None:
        self._images: OrderedDict[str, Drawable] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> Drawable | None:
        image = self._images.get(key)
        if image is not None:
            self._images.move_to_end(key)
        return image

    def put(self, image: Drawable) -> None:
        self._images[image.key] = image
        self._size += _size(image)
        while self._size > CACHED_BYTES:
            _, oldest = self._images.popitem(last=False)
            self._size -= _size(oldest)


_cache = _ImageCache()


def _size(image: Drawable) -> int:
    if isinstance(image, VectorImage | ImportedPage):
        return image.memory_bytes
    return len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)


def _prepare(data: bytes, key: str, page: int) -> Drawable:
    if find_format(data) is None and is_pdf(data):
        return import_page(data, page, key)
    if page != 1:
        raise UndrawableError(
            f"The image is not a PDF, and its page {page} is drawn", advice=NO_PAGE
        )
    if is_svg(data):
        return convert_svg(data, key, _prepare_raster)
    return _prepare_pixels(data, key, f"The image is neither {list_labels('SVG', 'PDF')}")


def _prepare_raster(data: bytes) -> PreparedImage:
    """Prepare an image embedded in an SVG."""
    key = sha256(data).hexdigest()
    return _prepare_pixels(data, key, f"The image is neither {list_labels()}")


def _prepare_pixels(data: bytes, key: str, message: str) -> PreparedImage:
    found = find_format(data)
    if found is None:
        raise UndrawableError(message, advice=CONVERT)
    return found.prepare(data, key)
