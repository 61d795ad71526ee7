"""The kinds of stored files: accepted types, limits and JSON fields of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic

from api.ports import Cell
from shared.db.files import F, StoredFiles
from shared.db.fonts import FONTS, FontFileProperties
from shared.db.images import IMAGES, ImageFileProperties
from shared.jobs import BodyKind
from shared.limits import MAX_FONT_BYTES, MAX_IMAGE_BYTES
from shared.redis_state.pins import Pins

FONT_TYPES: Final = (
    "font/ttf",
    "font/otf",
    "font/collection",
    "font/woff",
    "font/woff2",
    "font/sfnt",
    "application/octet-stream",
)
IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/svg+xml", "application/pdf")


@dataclass(frozen=True, slots=True)
class FileKind(Generic[F]):
    """One kind of file; `plural` is also its path under /v2.

    `larger_hint` ends the error message for base64 data over the limit. `read_facts` takes the worker's
    findings, the size in bytes and the SHA-256 in hexadecimal; `write_properties` returns JSON fields.
    """

    singular: str
    plural: str
    formats: str
    larger_hint: str
    media_types: tuple[str, ...]
    max_bytes: int
    files: StoredFiles[F]
    body_kind: BodyKind
    read_facts: Callable[[Mapping[str, Any], int, str], F]
    write_properties: Callable[[F], dict[str, Any]]
    pins: Callable[[Cell], Pins]


def _read_image(found: Mapping[str, Any], size: int, sha256: str) -> ImageFileProperties:
    return ImageFileProperties(found["content_type"], size, found["width"], found["height"], sha256)


def _write_image(properties: ImageFileProperties) -> dict[str, Any]:
    return {
        "content_type": properties.content_type,
        "bytes": properties.bytes,
        "width": properties.width,
        "height": properties.height,
        "sha256": properties.sha256,
    }


def _read_font(found: Mapping[str, Any], size: int, sha256: str) -> FontFileProperties:
    return FontFileProperties(found["format"], size, sha256, list(found["faces"]))


def _write_font(properties: FontFileProperties) -> dict[str, Any]:
    return {
        "format": properties.format,
        "bytes": properties.bytes,
        "sha256": properties.sha256,
        "faces": properties.faces,
    }


IMAGE: Final = FileKind(
    singular="image",
    plural="images",
    formats="a PNG, JPEG, WebP, SVG or PDF",
    larger_hint="PUT /v2/images/{name} accepts images up to 50 MB",
    media_types=IMAGE_TYPES,
    max_bytes=MAX_IMAGE_BYTES,
    files=IMAGES,
    body_kind=BodyKind.IMAGE,
    read_facts=_read_image,
    write_properties=_write_image,
    pins=lambda cell: cell.image_pins,
)
FONT: Final = FileKind(
    singular="font",
    plural="fonts",
    formats="a TrueType, OpenType, WOFF or WOFF2 font",
    larger_hint="the limit for fonts is 20 MB",
    media_types=FONT_TYPES,
    max_bytes=MAX_FONT_BYTES,
    files=FONTS,
    body_kind=BodyKind.FONT,
    read_facts=_read_font,
    write_properties=_write_font,
    pins=lambda cell: cell.font_pins,
)
