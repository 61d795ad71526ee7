"""Links, named places and the outline of a document (PDF 1.7, 12.3 and 12.5.6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from workers.engine.layout.display import LinkArea, OutlineEntry, Page
from workers.engine.paint.objects import PdfFile, Slot, write_number, write_text

_SCHEMES: Final = ("https:", "http:", "mailto:", "tel:")
_KEPT_IN_ADDRESSES: Final = ":/?#[]@!$&'*+,;=%-._~"  # RFC 3986; brackets of strings are escaped


def add_links(file: PdfFile, page: Page, destinations: Mapping[str, bytes]) -> bytes:
    """Write the links of a page as its `Annots` entry; a link to a place that is nowhere is left out.

    `destinations` has the places of the document by name, as `name_destinations` or
    `locate_destinations` write them.
    """
    annotations = [
        file.add(_annotation(link, action, page.height))
        for link in page.links
        if (action := _action(link.target, destinations))
    ]
    return b" /Annots [%b]" % b" ".join(annotations) if annotations else b""


def add_places(file: PdfFile, pages: Sequence[Page], references: Sequence[bytes]) -> None:
    """Write the named places that links point to; of two equal names the first is kept."""
    places = {_name(name): place for name, place in locate_destinations(pages, references).items()}
    if places:
        tree = b" ".join(b"%b %b" % entry for entry in sorted(places.items()))
        file.set_catalog("Names", file.add(b"<< /Dests << /Names [%b] >> >>" % tree))


def add_outline(
    file: PdfFile,
    outline: Sequence[OutlineEntry],
    pages: Sequence[Page],
    references: Sequence[bytes],
) -> None:
    """Write the headings as the document's outline, each under the nearest higher one before it."""
    if not outline:
        return
    root = _Heading(*file.reserve(), 0, b"")
    path = [root]
    for entry in outline:
        while path[-1].level >= entry.level:
            path.pop()
        heading = _Heading(*file.reserve(), entry.level, _heading_entries(entry, pages, references))
        path[-1].children.append(heading)
        path.append(heading)
    _fill_outline(root)
    file.set_catalog("Outlines", root.reference)


def name_destinations(pages: Iterable[Page]) -> dict[str, bytes]:
    """Give the places of a document as destinations by name (PDF 1.7, 12.3.2.3)."""
    return {anchor.name: _name(anchor.name) for page in pages for anchor in page.anchors}


def locate_destinations(pages: Sequence[Page], references: Sequence[bytes]) -> dict[str, bytes]:
    """Give the places of a document as explicit destinations (12.3.2.2); the first of a name counts."""
    places: dict[str, bytes] = {}
    for page, reference in zip(pages, references, strict=True):
        for anchor in page.anchors:
            place = b"[%b /XYZ %b %b null]" % (
                reference,
                write_number(anchor.x),
                write_number(page.height - anchor.y),
            )
            places.setdefault(anchor.name, place)
    return places


def _annotation(link: LinkArea, action: bytes, page_height: float) -> bytes:
    corners = (
        link.x,
        page_height - link.y - link.height,
        link.x + link.width,
        page_height - link.y,
    )
    rectangle = b" ".join(map(write_number, corners))
    # Flag 3 lets it be printed, which PDF/A demands (ISO 19005-2, 6.3.2).
    return b"<< /Type /Annot /Subtype /Link /F 4 /Rect [%b] /Border [0 0 0] /A %b >>" % (
        rectangle,
        action,
    )


def _action(target: str, destinations: Mapping[str, bytes]) -> bytes:
    if target.startswith("#"):
        destination = destinations.get(target[1:])
        return b"<< /S /GoTo /D %b >>" % destination if destination else b""
    # Build refuses other schemes; a file must not carry one even if that check had a hole.
    if not target.lower().startswith(_SCHEMES):
        return b""
    return b"<< /S /URI /URI %b >>" % write_text(quote(target, safe=_KEPT_IN_ADDRESSES))


def _name(name: str) -> bytes:
    return b"<%b>" % name.encode("utf-8", "replace").hex().encode("ascii")


@dataclass(slots=True)
class _Heading:
    slot: Slot
    reference: bytes
    level: int
    entries: bytes
    children: list[_Heading] = field(default_factory=list)


def _heading_entries(
    entry: OutlineEntry, pages: Sequence[Page], references: Sequence[bytes]
) -> bytes:
    top = write_number(pages[entry.page].height - entry.y)
    return b"/Title %b /Dest [%b /XYZ null %b null]" % (
        write_text(entry.text),
        references[entry.page],
        top,
    )


def _fill_outline(root: _Heading) -> None:
    """Link each heading to its neighbours. Lower levels are shown closed: their count is negative."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        children = parent.children
        waiting += children
        if children:
            parent.entries += b" /First %b /Last %b /Count %d" % (
                children[0].reference,
                children[-1].reference,
                len(children) if parent is root else -len(children),
            )
        parent.slot.body = b"<< %b >>" % parent.entries
        for at, child in enumerate(children):
            child.entries += b" /Parent " + parent.reference
            if at > 0:
                child.entries += b" /Prev " + children[at - 1].reference
            if at + 1 < len(children):
                child.entries += b" /Next " + children[at + 1].reference
