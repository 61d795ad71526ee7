"""The PDF writer: laid-out pages become a PDF, which the finish stage completes."""

from __future__ import annotations

from dataclasses import replace

from workers.engine.layout.display import LaidOutDocument, LaidOutPage
from workers.engine.paint.canvas_file import CanvasFile, PageContent
from workers.engine.paint.content_stream import ContentStreamWriter, PdfResources
from workers.engine.paint.navigation import Navigation
from workers.engine.paint.structure_tree import StructureTree
from workers.engine.paint.tagged import TaggedStreamWriter
from workers.engine.ports import PdfMetadata


def write_pages(laid_out: LaidOutDocument, description: PdfMetadata | None = None) -> bytes:
    """Write pages, links and outline as a PDF. Equal pages give equal bytes.

    Without `description` the file has no metadata; the finish stage may add it.
    """
    file = CanvasFile(description)
    resources = PdfResources(file)
    tree = None if laid_out.structure is None else StructureTree(laid_out.structure)
    pages: list[LaidOutPage] = []
    contents: list[PageContent] = []
    for number, page in enumerate(laid_out.pages, start=1):
        contents.append(_painter(resources, tree, page, number).paint(page.items))
        pages.append(
            replace(page, items=[])
        )  # the content is written; links and anchors are still needed
    navigation = Navigation(file, pages, laid_out.outline, tree=tree)
    contents.reverse()
    for page in pages:
        add_page(file, page, contents.pop(), navigation)
    navigation.write_destinations()
    return file.write(tree)


def _painter(
    resources: PdfResources, tree: StructureTree | None, page: LaidOutPage, number: int
) -> ContentStreamWriter:
    if tree is None:
        return ContentStreamWriter(resources, width=page.width, height=page.height)
    return TaggedStreamWriter(resources, tree, width=page.width, height=page.height, page=number)


def add_page(
    file: CanvasFile, page: LaidOutPage, content: PageContent, navigation: Navigation
) -> None:
    """Add a page to the file with its links, destinations and outline entries."""
    file.begin_page(page.width, page.height, bleed=page.bleed, slug=page.slug)
    navigation.add_page(page)
    file.end_page(content)
