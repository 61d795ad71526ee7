"""A volume: many documents printed into one PDF, with one set of fonts and images for all."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from workers.engine.layout.display import LaidOut, OutlineEntry, Page
from workers.engine.layout.fonts import Face
from workers.engine.paint.marks import Painter, Stock
from workers.engine.paint.navigation import add_outline, locate_destinations
from workers.engine.paint.objects import PdfFile
from workers.engine.paint.press import describe_page
from workers.engine.paint.repeats import Repeats

# Alphabets that a font has whole in a volume once one of their characters is used. Volumes made
# from like documents then embed equal fonts, which are kept once when the volumes are joined.
_ALPHABETS: Final = (
    range(0x20, 0x7F),
    range(0xA0, 0x180),
    range(0x370, 0x400),
    range(0x400, 0x460),
    range(0x2010, 0x2040),
    range(0x20A0, 0x20C0),
)


# What is left of a page is short: level 9 costs it 0.1 ms more than 4 and saves a twentieth.
_COMPRESSION: Final = 9


class Volume:
    """A PDF under construction that documents are added to, each with its entry in the outline."""

    def __init__(self) -> None:
        self._file = PdfFile()
        self._stock = Stock(self._file, widen=widen_to_alphabets)
        self._repeats = Repeats(self._stock)
        self._pages: list[Page] = []
        self._references: list[bytes] = []
        self._outline: list[OutlineEntry] = []

    def add(self, document: LaidOut, *, title: str) -> None:
        """Add a drawn document under `title`; its own outline comes below that entry."""
        first = len(self._pages)
        pages = list(document.pages)
        slots = [self._file.reserve() for _ in pages]
        references = [reference for _, reference in slots]
        # Places are written out instead of named: two documents may use one name.
        destinations = locate_destinations(pages, references)
        for ordinal, (page, (slot, _)) in enumerate(zip(pages, slots, strict=True)):
            painter = Painter(self._stock, width=page.width, height=page.height)
            items = self._repeats.shorten(page, ordinal=ordinal)
            content = self._file.add_deflated(b"", painter.paint(items), level=_COMPRESSION)
            slot.body = describe_page(self._file, page, content, self._stock, destinations)
            self._file.add_page(slot)
            self._pages.append(replace(page, items=[], links=[], anchors=[]))
        self._references += references
        self._outline.append(OutlineEntry(1, title, first, 0.0))
        self._outline += (
            entry._replace(level=entry.level + 1, page=entry.page + first)
            for at, entry in enumerate(document.outline)
            if at > 0 or entry.text != title  # a headline that is the title would stand there twice
        )

    @property
    def page_count(self) -> int:
        """Give the number of pages so far."""
        return len(self._pages)

    def close(self) -> bytes:
        """Give the PDF; nothing can be added afterwards."""
        self._stock.close()
        add_outline(self._file, self._outline, self._pages, self._references)
        return self._file.write()


def widen_to_alphabets(face: Face, used: AbstractSet[str]) -> frozenset[str]:
    """Give `used` and the rest of each alphabet that one of them is from, as far as the face has it."""
    codes = {ord(char) for char in used}
    alphabets = (alphabet for alphabet in _ALPHABETS if not codes.isdisjoint(alphabet))
    rest = (chr(code) for alphabet in alphabets for code in alphabet)
    return frozenset(used).union(char for char in rest if char in face.glyphs)
