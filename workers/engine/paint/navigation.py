"""Links, named places and the outline of a document (PDF 1.7, 12.3 and 12.5.6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from workers.engine.layout.display import LinkArea, OutlineEntry, Page
from workers.engine.paint.canvas_file import CanvasFile, refer_to_page
from workers.engine.paint.objects import Part, Written, write_number

_SCHEMES: Final = ("https:", "http:", "mailto:", "tel:")
_KEPT_IN_ADDRESSES: Final = ":/?#[]@!$&'*+,;=%-._~"  # RFC 3986; brackets of strings are escaped


class Navigation:
    """The ways through one document, added to the canvas page by page.

    `prefix` keeps its places apart from those of other documents in the file. The outline is that
    of its own pages, counted from 0.
    """

    def __init__(
        self,
        file: CanvasFile,
        pages: Sequence[Page],
        outline: Sequence[OutlineEntry],
        *,
        prefix: str = "",
    ) -> None:
        self._file = file
        self._prefix = prefix
        self._names = {anchor.name for page in pages for anchor in page.anchors}
        targets = (link.target for page in pages for link in page.links)
        self._targets = {target[1:] for target in targets if target.startswith("#")}
        self._headings = _group_by_page(outline)
        self._levels: list[int] = []  # of the headings around the next one
        self._count = 0  # of headings
        self._page = 0
        self._places: dict[bytes, list[Part]] = {}  # by name, as the file names them

    def add_page(self, page: Page) -> None:
        """Add the links of the page under construction, and what others lead to."""
        for anchor in page.anchors:
            self._add_place(anchor.name, anchor.x, page.height - anchor.y)
        for link in page.links:
            self._add_link(link, page.height)
        for entry in self._headings.get(self._page, ()):
            self._add_heading(entry, page.height)
        self._page += 1

    def name_places(self) -> None:
        """Write the named places, to which links from outside of the file can lead."""
        if self._places:
            entries = [part for _, place in sorted(self._places.items()) for part in place]
            self._file.set_catalog("Names", Written(b"<< /Dests << /Names [", *entries, b"] >> >>"))

    def _add_place(self, name: str, left: float, top: float) -> None:
        """Add a place of this page; of two equal names the first counts."""
        written = b"<%b>" % name.encode("utf-8", "replace").hex().encode("ascii")
        if written in self._places:
            return
        left, top = self._file.from_paper(left, top)
        ends = b" [", b" /XYZ %b %b null] " % (write_number(left), write_number(top))
        page = refer_to_page(self._file.page_number)
        self._places[written] = [written, ends[0], page, ends[1]]
        if name in self._targets:
            self._file.add_place(self._key_of(name), left=left, top=top)

    def _add_link(self, link: LinkArea, page_height: float) -> None:
        """Add a link; one to a place that is nowhere is left out."""
        bottom = page_height - link.y - link.height
        corners = (link.x, bottom, link.x + link.width, bottom + link.height)
        if link.target.startswith("#"):
            if link.target[1:] in self._names:
                self._file.link_place(self._key_of(link.target[1:]), corners)
        # Build refuses other schemes; a file must not carry one even if that check had a hole.
        elif link.target.lower().startswith(_SCHEMES):
            self._file.link_address(quote(link.target, safe=_KEPT_IN_ADDRESSES), corners)

    def _add_heading(self, entry: OutlineEntry, page_height: float) -> None:
        """Add a heading to the outline, under the nearest higher one before it."""
        while self._levels and self._levels[-1] >= entry.level:
            self._levels.pop()
        self._count += 1
        place = f"{self._prefix}heading {self._count}"
        _, top = self._file.from_paper(0.0, page_height - entry.y)
        self._file.add_place(place, left=None, top=top)
        self._file.add_outline_entry(entry.text, place, len(self._levels))
        self._levels.append(entry.level)

    def _key_of(self, name: str) -> str:
        return f"{self._prefix}#{name}"


def _group_by_page(outline: Sequence[OutlineEntry]) -> dict[int, list[OutlineEntry]]:
    grouped: dict[int, list[OutlineEntry]] = {}
    for entry in outline:
        grouped.setdefault(entry.page, []).append(entry)
    return grouped
