"""The kinds of files that a workspace stores: what is accepted, and how each is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic

from api.ports import Cell
from shared.buckets.pins import Pins
from shared.db.files import F, StoredFiles
from shared.db.fonts import FONTS, FontFacts
from shared.db.images import IMAGES, ImageFacts
from shared.jobs import BodyKind
from shared.limits import MAX_FONT_BYTES, MAX_IMAGE_BYTES

FONT_TYPES: Final = (
    "font/ttf",
    "font/otf",
    "font/collection",
    "font/woff2",
    "font/sfnt",
    "application/octet-stream",
)
IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/svg+xml")


@dataclass(frozen=True, slots=True)
class FileKind(Generic[F]):
    """One kind of file; the routes are those of its plural.

    `larger` ends the message to a client whose base64 is too long: how larger files are sent.
    `read_facts` takes what the worker found, the size in bytes and the SHA-256 in hexadecimal;
    `write_facts` returns the JSON fields of the interface.
    """

    singular: str
    plural: str
    formats: str
    larger: str
    media_types: tuple[str, ...]
    max_bytes: int
    has_source_url: bool
    files: StoredFiles[F]
    body_kind: BodyKind
    read_facts: Callable[[Mapping[str, Any], int, str], F]
    write_facts: Callable[[F], dict[str, Any]]
    pins: Callable[[Cell], Pins]


def _read_image(found: Mapping[str, Any], size: int, sha256: str) -> ImageFacts:
    return ImageFacts(found["content_type"], size, found["width"], found["height"], sha256)


def _write_image(facts: ImageFacts) -> dict[str, Any]:
    return {
        "content_type": facts.content_type,
        "bytes": facts.bytes,
        "width": facts.width,
        "height": facts.height,
        "sha256": facts.sha256,
    }


def _read_font(found: Mapping[str, Any], size: int, sha256: str) -> FontFacts:
    return FontFacts(found["format"], size, sha256, list(found["faces"]))


def _write_font(facts: FontFacts) -> dict[str, Any]:
    return {
        "format": facts.format,
        "bytes": facts.bytes,
        "sha256": facts.sha256,
        "faces": facts.faces,
    }


IMAGE: Final = FileKind(
    singular="image",
    plural="images",
    formats="a PNG, JPEG, WebP or SVG",
    larger="PUT /v2/images/{name} takes images up to 50 MB",
    media_types=IMAGE_TYPES,
    max_bytes=MAX_IMAGE_BYTES,
    has_source_url=True,
    files=IMAGES,
    body_kind=BodyKind.IMAGE,
    read_facts=_read_image,
    write_facts=_write_image,
    pins=lambda cell: cell.image_pins,
)
FONT: Final = FileKind(
    singular="font",
    plural="fonts",
    formats="a TrueType, OpenType or WOFF2 font",
    larger="the limit of fonts is 20 MB",
    media_types=FONT_TYPES,
    max_bytes=MAX_FONT_BYTES,
    has_source_url=False,
    files=FONTS,
    body_kind=BodyKind.FONT,
    read_facts=_read_font,
    write_facts=_write_font,
    pins=lambda cell: cell.font_pins,
)
