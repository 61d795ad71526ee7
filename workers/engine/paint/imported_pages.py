"""Pages of other PDFs as objects of this one: a form XObject with its resources (ISO 32000-1, 8.10)."""

from __future__ import annotations

from workers.engine.paint.objects import WrittenObject
from workers.engine.pdf_pages import ImportedPage


def write_page(page: ImportedPage) -> WrittenObject:
    """Return an imported page as a form in a unit square, like a raster image."""
    objects = [WrittenObject() for _ in page.objects]
    for written, parts in zip(objects, page.objects, strict=True):
        # Objects may refer to each other before they are defined.
        written.define(*(objects[part] if isinstance(part, int) else part for part in parts))
    return objects[0]
