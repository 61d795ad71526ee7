"""Properties of an image file, found by preparing it as a render does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from workers.engine.layout.images.formats import find_format, list_labels
from workers.engine.layout.images.prepare import CODE, CONVERT, prepare_image
from workers.engine.layout.problems import ContentProblem
from workers.engine.pdf_pages import ImportedPage, is_pdf
from workers.engine.prepared_images import POINTS_PER_PIXEL
from workers.engine.svg import VectorImage, is_svg

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
