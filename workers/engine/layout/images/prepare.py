"""Preparing images: the format is told by the bytes, and the same bytes are prepared once."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from workers.engine.layout.images.jpeg import prepare_jpeg
from workers.engine.layout.images.png import PNG_SIGNATURE, prepare_png
from workers.engine.layout.images.prepared import (
    ANEW,
    DECODER_ERRORS,
    PreparedImage,
    UndrawableError,
)
from workers.engine.layout.images.webp import prepare_webp
from workers.engine.layout.problems import Problem
from workers.engine.layout.svg.convert import convert_svg
from workers.engine.layout.svg.drawing import Drawable, VectorImage
from workers.engine.layout.svg.reader import is_svg
from workers.engine.ports import ImageAwayError, Resources
from workers.engine.tree.nodes import AnyImage, DataImage, RemoteImage

CODE: Final = "image-data"
MISSING_CODE: Final = "image-missing"
STORE: Final = "Store the image, or correct its name."
READDRESS: Final = "Correct the address, or store the image in the workspace."
CONVERT: Final = "Convert it to one of these."
CACHED_BYTES: Final = 48 * 1024 * 1024  # prepared images kept per process


def load_picture(picture: AnyImage, resources: Resources) -> Drawable | Problem:
    """Fetch and prepare the image a document names; what is wrong with it is a problem."""
    if isinstance(picture, DataImage):
        return prepare_image(picture.data)
    if isinstance(picture, RemoteImage):
        return _load_remote(picture.address, resources)
    data = resources.find_image(picture.name)
    if data is None:
        return Problem(MISSING_CODE, f'The workspace holds no image named "{picture.name}"', STORE)
    return prepare_image(data)


def _load_remote(address: str, resources: Resources) -> Drawable | Problem:
    try:
        data = resources.find_remote_image(address)
    except ImageAwayError as away:
        text = f'The image at "{address}" cannot be fetched: {away}'
        return Problem(MISSING_CODE, text, READDRESS)
    if data is None:
        return Problem(MISSING_CODE, f'The image at "{address}" cannot be fetched', READDRESS)
    return prepare_image(data)


def prepare_image(data: bytes) -> Drawable | Problem:
    """Judge and prepare image bytes; the same bytes are prepared once while they stay in the cache."""
    key = sha256(data).hexdigest()
    known = _cache.find(key)
    if known is not None:
        return known
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged Exif data, which turns nothing
            prepared = _prepare(data, key)
    except UndrawableError as wrong:
        return Problem(CODE, str(wrong), wrong.advice)
    except DECODER_ERRORS:
        return Problem(CODE, "The image is damaged: its data cannot be decoded", ANEW)
    _cache.keep(prepared)
    return prepared


class _Cache:
    """The images prepared last, up to a number of bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Drawable] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> Drawable | None:
        image = self._kept.get(key)
        if image is not None:
            self._kept.move_to_end(key)
        return image

    def keep(self, image: Drawable) -> None:
        self._kept[image.key] = image
        self._size += _size(image)
        while self._size > CACHED_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size -= _size(oldest)


_cache = _Cache()


def _size(image: Drawable) -> int:
    if isinstance(image, VectorImage):
        return image.weight
    return len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)


def _prepare(data: bytes, key: str) -> Drawable:
    if is_svg(data):
        return convert_svg(data, key, _prepare_raster)
    return _prepare_pixels(data, key, "The image is neither PNG, JPEG, WebP nor SVG")


def _prepare_raster(data: bytes) -> PreparedImage:
    """Prepare an image that stands in an SVG."""
    key = sha256(data).hexdigest()
    return _prepare_pixels(data, key, "The image is neither PNG, JPEG nor WebP")


def _prepare_pixels(data: bytes, key: str, otherwise: str) -> PreparedImage:
    media_type = find_raster_type(data)
    if media_type is None:
        raise UndrawableError(otherwise, advice=CONVERT)
    return _READERS[media_type](data, key)


def find_raster_type(data: bytes) -> str | None:
    """Return the media type that a file's signature names, None for other files."""
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
