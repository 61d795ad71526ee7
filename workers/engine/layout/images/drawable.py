"""Images ready to be placed: pixels, drawings, and pages of PDFs."""

from __future__ import annotations

from workers.engine.layout.prepared_images import PreparedImage
from workers.engine.layout.svg.drawing import VectorImage
from workers.engine.pdf_pages.pages import ImportedPage

Drawable = PreparedImage | VectorImage | ImportedPage
