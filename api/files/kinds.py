"""The kinds of stored files: accepted types and limits of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic

from api.ports import Cell
from shared.files.kinds import FONTS, IMAGES
from shared.files.repository import F, StoredFiles
from shared.jobs.records import BodyKind
from shared.limits import MAX_FONT_BYTES, MAX_IMAGE_BYTES
from shared.templates.pins import Pins


@dataclass(frozen=True, slots=True)
class FileKind(Generic[F]):
    """One kind of file; `plural` is also its path under /v2.

    `larger_hint` ends the error message for base64 data over the limit.
    """

    singular: str
    plural: str
    formats: str
    larger_hint: str
    media_types: tuple[str, ...]
    max_bytes: int
    files: StoredFiles[F]
    body_kind: BodyKind
    pins: Callable[[Cell], Pins]


IMAGE: Final = FileKind(
    singular="image",
    plural="images",
    formats="a PNG, JPEG, WebP, SVG or PDF",
    larger_hint="PUT /v2/images/{name} accepts images up to 50 MB",
    media_types=("image/png", "image/jpeg", "image/webp", "image/svg+xml", "application/pdf"),
    max_bytes=MAX_IMAGE_BYTES,
    files=IMAGES,
    body_kind=BodyKind.IMAGE,
    pins=lambda cell: cell.image_pins,
)
FONT: Final = FileKind(
    singular="font",
    plural="fonts",
    formats="a TrueType, OpenType, WOFF or WOFF2 font",
    larger_hint="the limit for fonts is 20 MB",
    media_types=(
        "font/ttf",
        "font/otf",
        "font/collection",
        "font/woff",
        "font/woff2",
        "font/sfnt",
        "application/octet-stream",
    ),
    max_bytes=MAX_FONT_BYTES,
    files=FONTS,
    body_kind=BodyKind.FONT,
    pins=lambda cell: cell.font_pins,
)
