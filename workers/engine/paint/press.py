"""Printing: laid-out pages become the bytes of a PDF, not yet finished."""

from __future__ import annotations

from dataclasses import replace

from workers.engine.layout.display import LaidOut, Page
from workers.engine.paint.canvas_file import CanvasFile, Content
from workers.engine.paint.marks import Painter, Stock
from workers.engine.paint.navigation import Navigation
from workers.engine.ports import Description


def print_pages(laid_out: LaidOut, description: Description | None = None) -> bytes:
    """Write the pages, their links and the outline as a PDF. Equal pages give equal bytes.

    A file without `description` says nothing of itself; what else it may need, finishing adds.
    """
    file = CanvasFile(description)
    stock = Stock(file)
    pages: list[Page] = []
    contents: list[Content] = []
    for page in laid_out.pages:
        contents.append(Painter(stock, width=page.width, height=page.height).paint(page.items))
        pages.append(replace(page, items=[]))  # the marks are written; what is linked stays
    navigation = Navigation(file, pages, laid_out.outline)
    contents.reverse()
    for page in pages:
        add_page(file, page, contents.pop(), navigation)
    navigation.name_places()
    return file.write()


def add_page(file: CanvasFile, page: Page, content: Content, navigation: Navigation) -> None:
    """Put a page on the canvas with its links, and its places and headings to lead to."""
    file.begin_page(page.width, page.height, bleed=page.bleed, slug=page.slug)
    navigation.add_page(page)
    file.end_page(content)
