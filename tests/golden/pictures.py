"""Pages as pictures: references for cases where ink matters, and for the report of a failure."""

from __future__ import annotations

import io

import pypdfium2
from PIL import Image

from tests.golden.case import LINKED, OPTIONS, Case, FolderImages
from workers.engine.pipeline import prepare_template, render

MAX_BYTES = 20 * 1024
COLORS = 32  # enough for text, tints and edges; few enough for small files


def draw(case: Case) -> Image.Image:
    """Draw the first page of a case at one pixel per point, in few colours.

    Raises:
        AuthoringError: the document has errors.
    """
    template = prepare_template(case.source, LINKED)
    pdf = render(template, case.payload, options=OPTIONS, resources=FolderImages()).pdf
    opened = pypdfium2.PdfDocument(pdf)
    try:
        page = opened[0].render(scale=1).to_pil()
    finally:
        opened.close()
    return page.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)


def to_png(picture: Image.Image) -> bytes:
    written = io.BytesIO()
    picture.save(written, "PNG", optimize=True)
    return written.getvalue()


def is_same(png: bytes, picture: Image.Image) -> bool:
    """Return whether two pictures have the same pixels."""
    with Image.open(io.BytesIO(png)) as kept:
        return kept.size == picture.size and kept.convert("RGB").tobytes() == (
            picture.convert("RGB").tobytes()
        )
