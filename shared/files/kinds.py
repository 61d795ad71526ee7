"""The kinds of files of workspaces: images and fonts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.db.tables import font_reservations, fonts, image_reservations, images
from shared.files.repository import StoredFiles
from shared.limits import (
    MAX_WORKSPACE_BYTES,
    MAX_WORKSPACE_FONT_BYTES,
    MAX_WORKSPACE_FONTS,
    MAX_WORKSPACE_IMAGES,
)


@dataclass(frozen=True, slots=True)
class ImageFileProperties:
    """Properties of an image file; `width` and `height` are pixels, for SVG and PDF CSS pixels."""

    content_type: str
    bytes: int
    width: int
    height: int
    sha256: str


IMAGES: Final = StoredFiles(
    images,
    image_reservations,
    ImageFileProperties,
    folder="images",
    max_bytes=MAX_WORKSPACE_BYTES,
    max_count=MAX_WORKSPACE_IMAGES,
)


@dataclass(frozen=True, slots=True)
class FontFileProperties:
    """Properties of a font file; `faces` are JSON values as in the interface."""

    format: str
    bytes: int
    sha256: str
    faces: Sequence[Mapping[str, Any]]


FONTS: Final = StoredFiles(
    fonts,
    font_reservations,
    FontFileProperties,
    folder="fonts",
    max_bytes=MAX_WORKSPACE_FONT_BYTES,
    max_count=MAX_WORKSPACE_FONTS,
)
