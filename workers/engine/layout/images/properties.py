"""Properties of an image file, found by preparing it as a render does."""

from __future__ import annotations

from dataclasses import dataclass

from workers.engine.layout.images.prepare import find_raster_type, prepare_image
from workers.engine.layout.problems import ContentProblem
from workers.engine.layout.svg.drawing import VectorImage


@dataclass(frozen=True, slots=True)
class ImageProperties:
    """Media type and size of a drawable image.

    `width` and `height` are pixels as stored in the file, before EXIF orientation; of an SVG they
    are CSS px, rounded, at least 1.
    """

    media_type: str
    width: int
    height: int


def read_image_properties(data: bytes) -> ImageProperties | ContentProblem:
    """Return the properties of an image, or the problem with which a render refuses it."""
    image = prepare_image(data)
    if isinstance(image, ContentProblem):
        return image
    if isinstance(image, VectorImage):
        return ImageProperties(
            "image/svg+xml", max(1, round(image.width)), max(1, round(image.height))
        )
    media_type = find_raster_type(data)
    assert media_type is not None, "an image that was prepared has a known signature"
    return ImageProperties(media_type, image.pixels.width, image.pixels.height)
