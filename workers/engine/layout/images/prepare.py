"""Preparation of images: the format is detected by the bytes, and equal bytes are prepared once."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from workers.engine.layout.images.jpeg import prepare_jpeg
from workers.engine.layout.images.png import PNG_SIGNATURE, prepare_png
from workers.engine.layout.images.prepared import (
    DECODER_ERRORS,
    EXPORT_AGAIN,
    PreparedImage,
    UndrawableError,
)
from workers.engine.layout.images.webp import prepare_webp
from workers.engine.layout.problems import ContentProblem
from workers.engine.layout.svg.convert import convert_svg
from workers.engine.layout.svg.drawing import Drawable, VectorImage
from workers.engine.layout.svg.reader import is_svg
from workers.engine.ports import ImageUnavailableError, Resources
from workers.engine.tree.image_sources import DataImage, ImageSource, RemoteImage

CODE: Final = "image-data"
MISSING_CODE: Final = "image-missing"
STORE: Final = "Store the image, or correct its name."
CHECK_ADDRESS: Final = "Correct the address, or store the image in the workspace."
CONVERT: Final = "Convert it to one of these."
CACHED_BYTES: Final = 48 * 1024 * 1024  # of prepared images per process


def load_image(picture: ImageSource, resources: Resources) -> Drawable | ContentProblem:
    """Fetch and prepare an image that a document names, or return the problem."""
    if isinstance(picture, DataImage):
        return prepare_image(picture.data)
    if isinstance(picture, RemoteImage):
        return _load_remote(picture.address, resources)
    data = resources.find_image(picture.name)
    if data is None:
        return ContentProblem(
            MISSING_CODE, f'The workspace holds no image named "{picture.name}"', STORE
        )
    return prepare_image(data)


def _load_remote(address: str, resources: Resources) -> Drawable | ContentProblem:
    try:
        data = resources.find_remote_image(address)
    except ImageUnavailableError as error:
        text = f'The image at "{address}" cannot be fetched: {error}'
        return ContentProblem(MISSING_CODE, text, CHECK_ADDRESS)
    if data is None:
        return ContentProblem(
            MISSING_CODE, f'The image at "{address}" cannot be fetched', CHECK_ADDRESS
        )
    return prepare_image(data)


def prepare_image(data: bytes) -> Drawable | ContentProblem:
    """Check and prepare image bytes; equal bytes are prepared once while they are cached."""
    key = sha256(data).hexdigest()
    cached = _cache.find(key)
    if cached is not None:
        return cached
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged Exif data, which are ignored
            prepared = _prepare(data, key)
    except UndrawableError as error:
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
    if isinstance(image, VectorImage):
        return image.memory_bytes
    return len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)


def _prepare(data: bytes, key: str) -> Drawable:
    if is_svg(data):
        return convert_svg(data, key, _prepare_raster)
    return _prepare_pixels(data, key, "The image is neither PNG, JPEG, WebP nor SVG")


def _prepare_raster(data: bytes) -> PreparedImage:
    """Prepare an image embedded in an SVG."""
    key = sha256(data).hexdigest()
    return _prepare_pixels(data, key, "The image is neither PNG, JPEG nor WebP")


def _prepare_pixels(data: bytes, key: str, message: str) -> PreparedImage:
    media_type = find_raster_type(data)
    if media_type is None:
        raise UndrawableError(message, advice=CONVERT)
    return _READERS[media_type](data, key)


def find_raster_type(data: bytes) -> str | None:
    """Return the media type by the signature of a file, None for other files."""
    if data.startswith(PNG_SIGNATURE):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


_READERS: Final[Mapping[str, Callable[[bytes, str], PreparedImage]]] = {
    "image/png": prepare_png,
    "image/jpeg": prepare_jpeg,
    "image/webp": prepare_webp,
}
