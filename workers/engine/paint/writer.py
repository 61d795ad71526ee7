"""The PDF writer: laid-out pages become a PDF, which the finish stage completes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Final

from workers.engine.fonts import Face
from workers.engine.layout.display import LaidOutDocument, LaidOutPage, OutlineEntry, Widget
from workers.engine.paint.canvas_file import CanvasFile, PageContent
from workers.engine.paint.content_stream import ContentStreamWriter, PdfResources
from workers.engine.paint.form_fields import FormFields
from workers.engine.paint.navigation import Navigation
from workers.engine.paint.shared_forms import SharedForms
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


# Alphabets that a merged file embeds completely once one of their characters is used. Files made
# from similar documents then embed equal fonts, which are stored once when the files are joined.
_ALPHABETS: Final = (
    range(0x20, 0x7F),
    range(0xA0, 0x180),
    range(0x370, 0x400),
    range(0x400, 0x460),
    range(0x2010, 0x2040),
    range(0x20A0, 0x20C0),
)


class MergedWriter:
    """A PDF under construction to which documents are added, each with an outline entry."""

    def __init__(self) -> None:
        self._file = CanvasFile()
        self._resources = PdfResources(self._file, widen=widen_to_alphabets)
        self._shared_forms = SharedForms(self._resources)
        self._document_count = 0

    def add(self, document: LaidOutDocument, *, title: str) -> None:
        """Add a drawn document under `title`; its own outline is nested below that entry."""
        pages = list(document.pages)
        outline = [
            OutlineEntry(1, title, 0, 0.0),
            *(
                entry._replace(level=entry.level + 1)
                for at, entry in enumerate(document.outline)
                if at > 0
                or entry.text != title  # a first heading equal to the title is not repeated
            ),
        ]
        self._document_count += 1
        # Two documents may use the same name for a destination.
        navigation = Navigation(
            self._file, pages, outline, prefix=f"document {self._document_count} "
        )
        for ordinal, page in enumerate(pages):
            painter = ContentStreamWriter(self._resources, width=page.width, height=page.height)
            content = painter.paint(self._shared_forms.replace_repeats(page, ordinal=ordinal))
            add_page(self._file, page, content, navigation)

    @property
    def page_count(self) -> int:
        """The number of pages so far."""
        return self._file.page_number - 1

    def close(self) -> bytes:
        """Return the PDF; nothing can be added afterwards."""
        return self._file.write()


def widen_to_alphabets(face: Face, used: AbstractSet[str]) -> frozenset[str]:
    """Return `used` with the rest of each alphabet that contains one of them, as far as the face
    has it.
    """
    codes = {ord(char) for char in used}
    alphabets = (alphabet for alphabet in _ALPHABETS if not codes.isdisjoint(alphabet))
    rest = (chr(code) for alphabet in alphabets for code in alphabet)
    widened = frozenset(used).union(char for char in rest if char in face.glyphs)
    ligatures = face.ligatures.letters.keys() if face.ligatures is not None else frozenset()
    return widened if ligatures.isdisjoint(used) else widened | ligatures
