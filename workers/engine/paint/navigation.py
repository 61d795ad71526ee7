"""Links, destinations and the outline of a document (ISO 32000-1, 12.3 and 12.5.6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from workers.engine.layout.display import LaidOutPage, LinkArea, OutlineEntry
from workers.engine.paint.canvas_file import CanvasFile
from workers.engine.paint.objects import ObjectPart, WrittenObject, refer_to_page, write_number
from workers.engine.paint.structure_tree import StructureTree

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
        pages: Sequence[LaidOutPage],
        outline: Sequence[OutlineEntry],
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
        self._inner: set[str] = set()
        self._places: dict[bytes, list[ObjectPart]] = {}  # by name as written in the file

    def add_page(self, page: LaidOutPage) -> None:
        """Add the links, destinations and outline entries of the page under construction."""
        for anchor in page.anchors:
            self._add_destination(anchor.name, anchor.x, page.height - anchor.y)
        for link in page.links:
            self._add_link(link, page.height)
        for entry in self._outline_by_page.get(self._page, ()):
            self._add_heading(entry, page.height)
        self._page += 1

    def write_destinations(self) -> None:
        """Write the named destinations, which other files can link to."""
        if self._places:
            entries = [
                part for _, destination in sorted(self._places.items()) for part in destination
            ]
            self._file.set_catalog(
                "Names", WrittenObject(b"<< /Dests << /Names [", *entries, b"] >> >>")
            )

    def _add_destination(self, name: str, left: float, top: float) -> None:
        """Add a destination on this page; the first of equal names counts."""
        if name[0] == ":":  # a note or index mark, which other files cannot link to
            if name in self._targets and name not in self._inner:
                self._inner.add(name)
                left, top = self._file.to_media_box(left, top)
                self._file.add_destination(self._key_of(name), left=left, top=top)
            return
        written = b"<%b>" % name.encode("utf-8", "replace").hex().encode("ascii")
        if written in self._places:
            return
        left, top = self._file.to_media_box(left, top)
        ends = b" [", b" /XYZ %b %b null] " % (write_number(left), write_number(top))
        page = refer_to_page(self._file.page_number)
        self._places[written] = [written, ends[0], page, ends[1]]
        if name in self._targets:
            self._file.add_destination(self._key_of(name), left=left, top=top)

    def _add_link(self, link: LinkArea, page_height: float) -> None:
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

    def _describe(self, link: LinkArea) -> str:
        """Return the description of a link, for a tagged document (ISO 14289-1, 7.18.5)."""
        return "" if self._tree is None else self._tree.describe_link(link)

    def _add_heading(self, entry: OutlineEntry, page_height: float) -> None:
        """Add a heading to the outline, below the nearest one of a higher level."""
        while self._levels and self._levels[-1] >= entry.level:
            self._levels.pop()
        self._count += 1
        destination = f"{self._prefix}heading {self._count}"
        _, top = self._file.to_media_box(0.0, page_height - entry.y)
        self._file.add_outline_entry(entry.text, destination, len(self._levels), top=top)
        self._levels.append(entry.level)

    def _key_of(self, name: str) -> str:
        return f"{self._prefix}#{name}"


def _group_by_page(outline: Sequence[OutlineEntry]) -> dict[int, list[OutlineEntry]]:
    grouped: dict[int, list[OutlineEntry]] = {}
    for entry in outline:
        grouped.setdefault(entry.page, []).append(entry)
    return grouped
