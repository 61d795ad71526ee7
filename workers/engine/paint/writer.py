"""The PDF writer: laid-out pages become a PDF, with what the document says of itself.

It adds links, destinations and the outline (ISO 32000-1, 12.3 and 12.5.6.5), and draws content that
documents of one template share as forms, found while they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import quote

from workers.engine.fonts import Face
from workers.engine.layout import display
from workers.engine.paint.attachments import write_attachments
from workers.engine.paint.canvas_file import CanvasFile, PaintedContent
from workers.engine.paint.content_stream import ContentStreamWriter, FormCall, PdfResources
from workers.engine.paint.form_fields import FormFields
from workers.engine.paint.structure_tree import StructureTree
from workers.engine.paint.tagged import TaggedStreamWriter
from workers.engine.ports import PART, PdfMetadata

# A form costs some 200 bytes once, and a call of it 8 bytes in each document.
_MIN_FORM_BYTES: Final = 60
_MAX_FORMS: Final = 300
_MAX_ITEMS: Final = 3_000  # of a page that is compared
_ORDINALS: Final = 4  # page ordinals that are distinguished: first, second, third, all others


class _SharedForm(NamedTuple):
    """Items that two documents drew alike, as a form."""

    keys: tuple[Hashable, ...]
    name: str


@dataclass(slots=True)
class _PageHistory:
    """The known forms and the last items of pages of one size."""

    runs: dict[Hashable, list[_SharedForm]]  # by their first item, longest first
    before: dict[int, dict[Hashable, int]]  # the index of each item on the page before, by ordinal


class SharedForms:
    """Replaces runs of items that recur from document to document by calls of forms.

    The drawing order is kept, so pages look and extract the same. Each document is compared with
    the one before it; the forms found serve the following ones.
    """

    def __init__(self, resources: PdfResources) -> None:
        self._resources = resources
        self._histories: dict[tuple[float, ...], _PageHistory] = {}
        self._form_count = 0

    def replace_repeats(
        self, page: display.LaidOutPage, *, ordinal: int
    ) -> list[display.Item | FormCall]:
        """Return the items of a page with recurring runs replaced by calls; `ordinal` counts from 0."""
        items = list(display.single_items(page.items))  # of a row, some cells may recur
        if len(items) > _MAX_ITEMS:
            return [*page.items]
        size = (page.width, page.height, page.bleed, page.slug)
        history = self._histories.setdefault(size, _PageHistory({}, {}))
        keys = list(_keys(items))
        replaced: list[display.Item | FormCall] = []
        before = history.before.get(min(ordinal, _ORDINALS - 1), {})
        at = 0
        while at < len(keys):
            run = _find(history, keys, at)
            if run is None:
                length = _common(before, keys, at)
                run = self._add_form(history, page, keys[at : at + length], items[at : at + length])
            if run is None:
                replaced.append(items[at])
                at += 1
            else:
                replaced.append(FormCall(run.name))
                at += len(run.keys)
        history.before[min(ordinal, _ORDINALS - 1)] = {
            key: at for at, key in enumerate(keys) if key is not None
        }
        return replaced

    def _add_form(
        self,
        history: _PageHistory,
        page: display.LaidOutPage,
        keys: Sequence[Hashable],
        items: Sequence[display.SingleItem],
    ) -> _SharedForm | None:
        """Add a form of items with their keys, if that saves space."""
        if not items or self._form_count >= _MAX_FORMS:
            return None
        painter = ContentStreamWriter(self._resources, width=page.width, height=page.height)
        content = painter.paint(items)
        if len(content.marks) < _MIN_FORM_BYTES:
            return None
        self._form_count += 1
        outside = page.bleed + page.slug
        corners = (-outside, -outside, page.width + outside, page.height + outside)
        run = _SharedForm(tuple(keys), self._resources.add_form(corners, content))
        known = history.runs.setdefault(run.keys[0], [])
        known.append(run)
        known.sort(key=lambda known_run: -len(known_run.keys))
        return run


def _find(history: _PageHistory, keys: Sequence[Hashable], at: int) -> _SharedForm | None:
    for run in history.runs.get(keys[at], ()):
        if tuple(keys[at : at + len(run.keys)]) == run.keys:
            return run
    return None


def _common(before: dict[Hashable, int], keys: Sequence[Hashable], at: int) -> int:
    """Return how many items from `at` on were in the same order on the page before."""
    length = 0
    expected = before.get(keys[at])
    while at + length < len(keys) and expected is not None:
        if before.get(keys[at + length]) != expected:
            break
        length += 1
        expected += 1
    return length


def _keys(items: Sequence[display.SingleItem]) -> Iterator[Hashable]:
    """Yield the drawn content of each item, None for one that cannot be part of a run.

    The owner does not matter, only whether the item is an artifact.
    """
    depth = 0  # of groups
    for item in items:
        depth += isinstance(item, display.Save)
        if depth:
            yield None
        else:
            yield type(item), *_drawn(item)
        depth -= isinstance(item, display.Restore)


def _drawn(item: display.SingleItem) -> Iterator[object]:
    for name, value in zip(item._fields, item, strict=True):
        if name != "node":
            yield (value is None) if name == "owner" else value


_SCHEMES: Final = ("https:", "http:", "mailto:", "tel:")
_KEPT_IN_ADDRESSES: Final = ":/?#[]@!$&'*+,;=%-._~"  # RFC 3986; string delimiters are escaped


class Navigation:
    """The links, destinations and outline of one document, added to the file page by page.

    `prefix` separates its destinations from those of other documents in the file. Pages of the
    outline are counted from 0. In a tagged document links belong to elements of `tree`.
    """

    def __init__(
        self,
        file: CanvasFile,
        pages: Sequence[display.LaidOutPage],
        outline: Sequence[display.OutlineEntry],
        *,
        prefix: str = "",
        tree: StructureTree | None = None,
    ) -> None:
        self._file = file
        self._tree = tree
        self._prefix = prefix
        self._names = {anchor.name for page in pages for anchor in page.anchors}
        targets = (link.target for page in pages for link in page.links)
        self._targets = {target[1:] for target in targets if target.startswith("#")}
        self._outline_by_page = _group_by_page(outline)
        self._levels: list[int] = []  # of the enclosing headings
        self._count = 0  # of headings
        self._page = 0

    def add_page(self, page: display.LaidOutPage) -> None:
        """Add the links, destinations and outline entries of the page under construction."""
        for anchor in page.anchors:
            self._add_destination(anchor, page.height)
        for link in () if self._file.is_print else page.links:  # ISO 15930-7: none on the paper
            self._add_link(link, page.height)
        for entry in self._outline_by_page.get(self._page, ()):
            self._add_heading(entry, page.height)
        self._page += 1

    def _add_destination(self, anchor: display.Anchor, page_height: float) -> None:
        """Add a destination on this page."""
        file, name, owner = self._file, anchor.name, anchor.owner
        left, top = file.to_media_box(anchor.x, page_height - anchor.y)
        if name in self._targets:
            file.add_destination(self._key_of(name), left=left, top=top, owner=owner)
        # Other files cannot link to a note or index mark, nor into one of several documents.
        if name[0] != ":" and not self._prefix:
            written = b"<%b>" % name.encode("utf-8", "replace").hex().encode("ascii")
            file.add_destination(written, left=left, top=top, owner=owner)

    def _add_link(self, link: display.LinkArea, page_height: float) -> None:
        """Add a link; one without a destination in the file is left out."""
        bottom, target = page_height - link.y - link.height, link.target
        corners = (link.x, bottom, link.x + link.width, bottom + link.height)
        if target.startswith("#"):
            if target[1:] not in self._names:
                return
            key, contents = self._key_of(target[1:]), self._describe(link)
            number = self._file.add_link(corners, destination=key, contents=contents)
        # The tree stage rejects other schemes; this check holds even if that one had a gap.
        elif target.lower().startswith(_SCHEMES):
            address = quote(target, safe=_KEPT_IN_ADDRESSES)
            contents = self._describe(link)
            number = self._file.add_link(corners, address=address, contents=contents)
        else:
            return
        if self._tree is not None:
            self._tree.add_link(link, self._file.page_number, number)

    def _describe(self, link: display.LinkArea) -> str:
        """Return the description of a link, for a tagged document (ISO 14289-1, 7.18.5)."""
        return "" if self._tree is None else self._tree.describe_link(link)

    def _add_heading(self, entry: display.OutlineEntry, page_height: float) -> None:
        """Add a heading to the outline, below the nearest one of a higher level."""
        while self._levels and self._levels[-1] >= entry.level:
            self._levels.pop()
        self._count += 1
        destination = f"{self._prefix}heading {self._count}"
        _, top = self._file.to_media_box(0.0, page_height - entry.y)
        self._file.add_outline_entry(
            entry.text, destination, len(self._levels), top=top, owner=entry.owner
        )
        self._levels.append(entry.level)

    def _key_of(self, name: str) -> str:
        return f"{self._prefix}#{name}"


def _group_by_page(
    outline: Sequence[display.OutlineEntry],
) -> dict[int, list[display.OutlineEntry]]:
    grouped: dict[int, list[display.OutlineEntry]] = {}
    for entry in outline:
        grouped.setdefault(entry.page, []).append(entry)
    return grouped


def write_pages(laid_out: display.LaidOutDocument, description: PdfMetadata = PART) -> bytes:
    """Write pages, links and outline as a PDF. Equal pages produce equal bytes."""
    file = CanvasFile(description)
    file.embed_files(write_attachments(description.attachments))
    resources = PdfResources(file)
    structure = laid_out.structure
    tree = None if structure is None else StructureTree(structure, is_pdf2=description.is_pdf2)
    pages: list[display.LaidOutPage] = []
    contents: list[PaintedContent] = []
    widgets: list[list[display.Widget]] = []
    for number, page in enumerate(laid_out.pages, start=1):
        painter = _painter(resources, tree, page, number)
        contents.append(painter.paint(page.items))
        widgets.append(painter.widgets)
        # The content is written; links and anchors are still needed.
        pages.append(replace(page, items=[]))
    navigation = Navigation(file, pages, laid_out.outline, tree=tree)
    form = FormFields(file, resources, tree)
    contents.reverse()
    for page, fields in zip(pages, widgets, strict=True):
        add_page(file, page, contents.pop(), navigation, partial(form.add_page, fields))
    form.close()
    return file.write(tree)


def _painter(
    resources: PdfResources, tree: StructureTree | None, page: display.LaidOutPage, number: int
) -> ContentStreamWriter:
    if tree is None:
        return ContentStreamWriter(resources, width=page.width, height=page.height)
    return TaggedStreamWriter(resources, tree, width=page.width, height=page.height, page=number)


def add_page(
    file: CanvasFile,
    page: display.LaidOutPage,
    content: PaintedContent,
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

    def __init__(self, description: PdfMetadata = PART) -> None:
        self._file = CanvasFile(description)
        self._resources = PdfResources(self._file, widen=widen_to_alphabets)
        self._shared_forms = SharedForms(self._resources)
        self._document_count = 0

    def add(self, document: display.LaidOutDocument, *, title: str) -> None:
        """Add a drawn document under `title`; its own outline is nested below that entry."""
        pages = list(document.pages)
        outline = [
            display.OutlineEntry(1, title, 0, 0.0),
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
    """Return `used` with the rest of each alphabet that contains one of them, as far as the face has it."""
    codes = {ord(char) for char in used}
    alphabets = (alphabet for alphabet in _ALPHABETS if not codes.isdisjoint(alphabet))
    rest = (chr(code) for alphabet in alphabets for code in alphabet)
    widened = frozenset(used).union(char for char in rest if char in face.glyphs)
    ligatures = face.ligatures.letters.keys() if face.ligatures is not None else frozenset()
    return widened if ligatures.isdisjoint(used) else widened | ligatures
