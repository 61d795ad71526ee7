"""The PDF writer: laid-out pages become a PDF, which the finish stage completes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from workers.engine.layout.display import LaidOutDocument, LaidOutPage, Widget
from workers.engine.paint.canvas_file import CanvasFile, PageContent
from workers.engine.paint.content_stream import ContentStreamWriter, PdfResources
from workers.engine.paint.form_fields import FormFields
from workers.engine.paint.navigation import Navigation
from workers.engine.paint.structure_tree import StructureTree
from workers.engine.paint.tagged import TaggedStreamWriter
from workers.engine.ports import PdfMetadata


def write_pages(laid_out: LaidOutDocument, description: PdfMetadata | None = None) -> bytes:
    """Write pages, links and outline as a PDF. Equal pages produce equal bytes.

    Without `description` the file has no metadata; the finish stage may add it.
    """
    file = CanvasFile(description)
    resources = PdfResources(file)
    tree = None if laid_out.structure is None else StructureTree(laid_out.structure)
    pages: list[LaidOutPage] = []
    contents: list[PageContent] = []
    widgets: list[list[Widget]] = []
    for number, page in enumerate(laid_out.pages, start=1):
        painter = _painter(resources, tree, page, number)
        contents.append(painter.paint(page.items))
        widgets.append(painter.widgets)
        pages.append(
            replace(page, items=[])
        )  # the content is written; links and anchors are still needed
    navigation = Navigation(file, pages, laid_out.outline, tree=tree)
    form = FormFields(file, resources, tree)
    contents.reverse()
    for page, fields in zip(pages, widgets, strict=True):
        add_page(file, page, contents.pop(), navigation, partial(form.add_page, fields))
    navigation.write_destinations()
    form.close()
    return file.write(tree)


def _painter(
    resources: PdfResources, tree: StructureTree | None, page: LaidOutPage, number: int
) -> ContentStreamWriter:
    if tree is None:
        return ContentStreamWriter(resources, width=page.width, height=page.height)
    return TaggedStreamWriter(resources, tree, width=page.width, height=page.height, page=number)


def add_page(
    file: CanvasFile,
    page: LaidOutPage,
    content: PageContent,
    navigation: Navigation,
    add_fields: Callable[[float], None] = lambda _height: None,
) -> None:
    """Add a page to the file with its links, destinations, outline entries and form fields.

    `add_fields` is called with the height of the page.
    """
    file.begin_page(page.width, page.height, bleed=page.bleed, slug=page.slug)
    navigation.add_page(page)
    add_fields(page.height)
    file.end_page(content)
