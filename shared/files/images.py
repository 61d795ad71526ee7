"""The images of workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.db.tables import image_reservations, images
from shared.files.repository import StoredFiles
from shared.limits import MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES


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
