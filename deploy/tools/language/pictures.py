"""Pictures of the reference: examples rendered by the engine, rasterised, cropped and quantised."""

from __future__ import annotations

import io
from typing import Final

import pypdfium2
from PIL import Image, ImageChops, ImageOps

from deploy.tools.language.examples import LINKED, OPTIONS, Example, ExampleResources
from workers.engine.pipeline import prepare_template, render

DPI: Final = 144  # displayed at 96, for high-resolution screens
MAX_BYTES: Final = 40 * 1024
MAX_PAGES: Final = 3  # side by side

_MARGIN: Final = 12  # pixels around the marks
_GAP: Final = 16  # pixels between pages
_COLORS: Final = 64
_EDGE: Final = (200, 200, 200)
_WHITE: Final = (255, 255, 255)


def draw_picture(example: Example) -> bytes:
    """Return an example as a PNG of at most 64 colours; deterministic.

    An example with a `page` of its own shows up to three whole pages, any other the marks on its
    first.

    Raises:
        AuthoringError: The example does not render.
    """
    return draw_document(example.document.encode(), shows_pages=example.shows_pages)


def draw_document(document: bytes, *, shows_pages: bool) -> bytes:
    """Return a complete document as a PNG, like `draw_picture`.

    Raises:
        AuthoringError: It does not render.
    """
    template = prepare_template(document, LINKED)
    pdf = render(template, None, options=OPTIONS, resources=ExampleResources()).pdf
    pages = _rasterise(pdf)
    picture = _side_by_side(pages) if shows_pages else _cropped(pages[0])
    file = io.BytesIO()
    # Wide coverage keeps rare colours, one round of k-means makes the frequent ones exact.
    quantised = picture.quantize(
        _COLORS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    quantised.save(file, "PNG", optimize=True)
    return file.getvalue()


def display_width(png: bytes) -> int:
    """Return the display width of a picture in CSS px."""
    with Image.open(io.BytesIO(png)) as picture:
        return round(picture.width * 96 / DPI)


def _rasterise(pdf: bytes) -> list[Image.Image]:
    with pypdfium2.PdfDocument(pdf) as document:
        document.init_forms()  # without it values of form fields are not drawn
        pages = [document[index] for index in range(min(len(document), MAX_PAGES))]
        return [page.render(scale=DPI / 72).to_pil().convert("RGB") for page in pages]


def _cropped(page: Image.Image) -> Image.Image:
    """Return a page cropped to its marks with a margin; an empty page keeps only the margin."""
    drawn = ImageChops.difference(page, Image.new("RGB", page.size, _WHITE)).getbbox()
    box = drawn or (0, 0, page.width // 2, 1)
    return ImageOps.expand(page.crop(box), _MARGIN, _WHITE)


def _side_by_side(pages: list[Image.Image]) -> Image.Image:
    framed = [ImageOps.expand(page, 1, _EDGE) for page in pages]
    width = sum(page.width for page in framed) + _GAP * (len(framed) - 1)
    picture = Image.new("RGB", (width, max(page.height for page in framed)), _WHITE)
    at = 0
    for page in framed:
        picture.paste(page, (at, 0))
        at += page.width + _GAP
    return picture
