"""Printing: laid-out pages become the bytes of a PDF, not yet finished."""

from __future__ import annotations

from workers.engine.layout.display import LaidOut, Page
from workers.engine.paint.marks import Painter, Stock
from workers.engine.paint.navigation import add_links, add_outline, add_places, find_names
from workers.engine.paint.objects import PdfFile, write_number


def print_pages(laid_out: LaidOut) -> bytes:
    """Write the pages, their links and the outline as a PDF. Equal pages give equal bytes.

    The file has no document information, metadata or encryption: finishing adds them.
    """
    file = PdfFile()
    stock = Stock(file)
    slots = [file.reserve() for _ in laid_out.pages]
    names = find_names(laid_out.pages)
    for page, (slot, _) in zip(laid_out.pages, slots, strict=True):
        slot.body = _print_page(file, page, stock, names)
        file.add_page(slot)
    stock.close()
    references = [reference for _, reference in slots]
    add_places(file, laid_out, references)
    add_outline(file, laid_out, references)
    return file.write()


def _print_page(file: PdfFile, page: Page, stock: Stock, names: frozenset[str]) -> bytes:
    marks = Painter(stock, width=page.width, height=page.height).paint(page.items)
    return b"<< /Type /Page /Parent %b /MediaBox [0 0 %b %b] /Resources %b /Contents %b%b >>" % (
        file.page_tree,
        write_number(page.width),
        write_number(page.height),
        stock.reference,
        file.add_deflated(b"", marks),
        add_links(file, page, names),
    )
