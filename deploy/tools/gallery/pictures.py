"""Pages as small PNGs."""

from __future__ import annotations

import io
from typing import Final

import pypdfium2
from PIL import Image, ImageOps

DPI: Final = 90
MAX_BYTES: Final = 40 * 1024

_COLORS: Final = 32
_EDGE: Final = (211, 217, 225)


def draw_pages(pdf: bytes, *, max_pages: int = 1, dpi: int = DPI) -> list[bytes]:
    """Return the first pages of a PDF as PNGs of at most 32 colours, each with a thin frame."""
    with pypdfium2.PdfDocument(pdf) as document:
        pages = [document[index] for index in range(min(len(document), max_pages))]
        return [_to_png(page.render(scale=dpi / 72).to_pil().convert("RGB")) for page in pages]


def _to_png(page: Image.Image) -> bytes:
    framed = ImageOps.expand(page, 1, _EDGE)
    # Wide coverage keeps rare colours, one round of k-means makes the frequent ones exact.
    quantised = framed.quantize(
        _COLORS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    file = io.BytesIO()
    quantised.save(file, "PNG", optimize=True)
    return file.getvalue()
