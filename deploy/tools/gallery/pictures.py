"""A page as a small PNG."""

from __future__ import annotations

import io
from typing import Final

import pypdfium2
from PIL import Image, ImageOps

DPI: Final = 90
MAX_BYTES: Final = 40 * 1024

_COLORS: Final = 32
_EDGE: Final = (211, 217, 225)


def draw_page(pdf: bytes) -> bytes:
    """Return the first page of a PDF as a PNG of at most 32 colours, with a thin frame."""
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[0].render(scale=DPI / 72).to_pil().convert("RGB")
    framed = ImageOps.expand(page, 1, _EDGE)
    # Wide coverage keeps rare colours, one round of k-means makes the frequent ones exact.
    quantised = framed.quantize(
        _COLORS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    file = io.BytesIO()
    quantised.save(file, "PNG", optimize=True)
    return file.getvalue()
