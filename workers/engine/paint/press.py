"""Printing: laid-out pages become the bytes of a PDF, not yet finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workers.engine.layout.display import LaidOut, Page
from workers.engine.paint.marks import Painter, Stock
from workers.engine.paint.navigation import add_links, add_outline, add_places, name_destinations
from workers.engine.paint.objects import PdfFile, write_number
from workers.engine.ports import Description


def print_pages(laid_out: LaidOut, description: Description | None = None) -> bytes:
    """Write the pages, their links and the outline as a PDF. Equal pages give equal bytes.

    A file without `description` says nothing of itself; what else it may need, finishing adds.
    """
    file = PdfFile()
    if description is not None:
        file.describe(description)
    stock = Stock(file)
    pages: list[Page] = []
    contents: list[bytes] = []
    for page in laid_out.pages:
        painter = Painter(stock, width=page.width, height=page.height)
        contents.append(file.add_deflated(b"", painter.paint(page.items)))
        pages.append(replace(page, items=[]))  # the marks are written; what is linked stays
    stock.close()
    references = _add_pages(file, pages, contents, stock)
    add_places(file, pages, references)
    add_outline(file, laid_out.outline, pages, references)
    return file.write()


def _add_pages(
    file: PdfFile, pages: Sequence[Page], contents: Sequence[bytes], stock: Stock
) -> list[bytes]:
    """Add the pages, whose links lead to places on any of them; gives their references."""
    destinations = name_destinations(pages)
    references: list[bytes] = []
    for page, content in zip(pages, contents, strict=True):
        slot, reference = file.reserve()
        slot.body = describe_page(file, page, content, stock, destinations)
        file.add_page(slot)
        references.append(reference)
    return references


def describe_page(
    file: PdfFile, page: Page, content: bytes, stock: Stock, destinations: Mapping[str, bytes]
) -> bytes:
    """Write the dictionary of a page; `content` is the reference of its content stream."""
    return b"<< /Type /Page /Parent %b %b /Resources %b /Contents %b%b >>" % (
        file.page_tree,
        _boxes(page),
        stock.reference,
        content,
        add_links(file, page, destinations),
    )


def _boxes(page: Page) -> bytes:
    """Write the boxes of a page (PDF 1.7, 14.11.2): the paper as it is cut stays at the origin."""
    outside = page.bleed + page.slug
    media = b"/MediaBox %b" % _box(page, outside)
    if not outside:
        return media
    return b"%b /BleedBox %b /TrimBox %b" % (media, _box(page, page.bleed), _box(page, 0.0))


def _box(page: Page, outside: float) -> bytes:
    low, right, top = -outside, page.width + outside, page.height + outside
    return b"[%b %b %b %b]" % tuple(write_number(edge) for edge in (low, low, right, top))
