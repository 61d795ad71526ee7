"""A volume: many documents printed into one PDF, with one set of fonts and images for all."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from workers.engine.layout.display import LaidOut, OutlineEntry
from workers.engine.layout.fonts import Face
from workers.engine.paint.canvas_file import CanvasFile
from workers.engine.paint.marks import Painter, Stock
from workers.engine.paint.navigation import Navigation
from workers.engine.paint.press import add_page
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


class Volume:
    """A PDF under construction that documents are added to, each with its entry in the outline."""

    def __init__(self) -> None:
        self._file = CanvasFile()
        self._stock = Stock(self._file, widen=widen_to_alphabets)
        self._repeats = Repeats(self._stock)
        self._document_count = 0

    def add(self, document: LaidOut, *, title: str) -> None:
        """Add a drawn document under `title`; its own outline comes below that entry."""
        pages = list(document.pages)
        outline = [
            OutlineEntry(1, title, 0, 0.0),
            *(
                entry._replace(level=entry.level + 1)
                for at, entry in enumerate(document.outline)
                if at > 0 or entry.text != title  # a headline that is the title stands there once
            ),
        ]
        self._document_count += 1
        # Two documents may use one name for places of their own.
        navigation = Navigation(
            self._file, pages, outline, prefix=f"document {self._document_count} "
        )
        for ordinal, page in enumerate(pages):
            painter = Painter(self._stock, width=page.width, height=page.height)
            content = painter.paint(self._repeats.shorten(page, ordinal=ordinal))
            add_page(self._file, page, content, navigation)

    @property
    def page_count(self) -> int:
        """Return the number of pages so far."""
        return self._file.page_number - 1

    def close(self) -> bytes:
        """Return the PDF; nothing can be added afterwards."""
        return self._file.write()


def widen_to_alphabets(face: Face, used: AbstractSet[str]) -> frozenset[str]:
    """Give `used` and the rest of each alphabet that one of them is from, as far as the face has it."""
    codes = {ord(char) for char in used}
    alphabets = (alphabet for alphabet in _ALPHABETS if not codes.isdisjoint(alphabet))
    rest = (chr(code) for alphabet in alphabets for code in alphabet)
    return frozenset(used).union(char for char in rest if char in face.glyphs)
