"""Images ready to be placed: pixels, drawings, and pages of PDFs."""

from __future__ import annotations

from workers.engine.pdf_pages import ImportedPage
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import VectorImage

Drawable = PreparedImage | VectorImage | ImportedPage
