"""Builders for display lists, and ways to look at the PDF they become."""

from __future__ import annotations

import io
import re

import pikepdf
import pypdfium2
from PIL import Image

from tests.engine.typefaces import find_face
from tests.soundness import note_pdf
from workers.engine.layout.display import GlyphRun, LaidOutDocument, LaidOutPage
from workers.engine.paint.writer import write_pages
from workers.engine.units import BLACK, Color, ColorSpace

RED = Color(ColorSpace.RGB, (1.0, 0.0, 0.0))
BLUE = Color(ColorSpace.RGB, (0.0, 0.0, 1.0))
OWNER = object()
_BEFORE = re.compile(rb"\A1 0 0 1 0 0 cm\n|^BT /\w+ 1 Tf 1.2 TL ET\n", re.MULTILINE)


def text(x: float, y: float, content: str, **changes) -> GlyphRun:
    face = changes.pop("face", find_face(("sans-serif",), 400, False))
    size = changes.pop("size", 10.0)
    glyphs = GlyphRun(
        x, y, face, size, BLACK, face.encode(content), content, face.measure(content) * size, OWNER
    )
    return glyphs._replace(**changes)


def page(*items, width: float = 100, height: float = 100, **parts) -> LaidOutPage:
    return LaidOutPage(width, height, list(items), **parts)


def printed(*pages: LaidOutPage, outline=()) -> bytes:
    return note_pdf(write_pages(LaidOutDocument(list(pages), list(outline))))


def opened(pdf: bytes, **options) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(pdf), **options)


def marks(pdf: bytes, number: int = 0) -> bytes:
    """Return the operators of a page, without those that ReportLab puts before them."""
    with opened(pdf) as file:
        contents = file.pages[number].Contents
        return _BEFORE.sub(b"", contents.read_bytes())


def extracted(pdf: bytes, number: int = 0) -> str:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return document[number].get_textpage().get_text_bounded()
    finally:
        document.close()


def rendered(pdf: bytes, number: int = 0, scale: float = 1) -> Image.Image:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return document[number].render(scale=scale).to_pil().convert("RGB")
    finally:
        document.close()
