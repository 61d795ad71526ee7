"""An element's example as a whole document, and what every example may use: one stored image."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from workers.engine.ports import FontFile, RenderOptions
from workers.engine.syntax.vocabulary import ELEMENTS

# The instant of `now` in every example: the same text gives the same picture on every day.
OPTIONS: Final = RenderOptions(now=datetime(2026, 3, 2, 9, 30, tzinfo=UTC))

_LOGO: Final = Path(__file__).parents[1] / "embedded" / "demo" / "documents" / "logo.png"
_FONT: Final = Path(__file__).parent / "brand.ttf"  # a part of Inter, tests/golden/make_fonts.py
_SHEET: Final = '<page size="130mm 280mm" margin="5mm"/>'
_FIRST_TAG: Final = re.compile(r"<([a-z][a-z0-9-]*)")


class ExampleImages:
    """The stored files of the examples: the image `logo` and the font `brand`."""

    def find_image(self, name: str) -> bytes | None:
        """Give the logo's bytes, None for any other name."""
        return _LOGO.read_bytes() if name == "logo" else None

    def find_remote_image(self, address: str) -> bytes | None:
        """Give None: nothing outside is reached."""
        return None

    def find_font(self, name: str) -> FontFile | None:
        """Return the font `brand`, None for any other name."""
        if name != "brand":
            return None
        data = _FONT.read_bytes()
        return FontFile(sha256(data).hexdigest(), lambda: data)

    def list_fonts(self) -> Sequence[str]:
        """Return the one name."""
        return ("brand",)


@dataclass(frozen=True, slots=True)
class Example:
    """One example and the elements it is for: a whole document, or a part of one."""

    names: tuple[str, ...]
    text: str

    @property
    def document(self) -> str:
        """Give the whole document: a part is put where it may stand, on a sheet of our own."""
        around = self._around
        if not around:
            return self.text
        opened = "".join(f"<{tag}>" for tag in around)
        closed = "".join(f"</{tag}>" for tag in reversed(around))
        sheet = "" if "page" in around or self.text.startswith("<page") else _SHEET
        return opened.replace("<document>", f'<document lang="en-GB">{sheet}') + self.text + closed

    @property
    def picture(self) -> str:
        """Give the file name of its picture."""
        return f"{self.names[0]}.png"

    @property
    def shows_pages(self) -> bool:
        """Tell whether the picture is of whole pages: the example decides about them itself."""
        return "<page" in self.text or "page" in self._around

    @property
    def _around(self) -> tuple[str, ...]:
        found = _FIRST_TAG.search(self.text)
        return find_place(found[1]) if found else ("document", "flow")


def find_examples() -> tuple[Example, ...]:
    """Give every example of the vocabulary once, with all elements that share it."""
    names: dict[str, list[str]] = {}
    for spec in ELEMENTS.values():
        if spec.example:
            names.setdefault(spec.example, []).append(spec.name)
    return tuple(Example(tuple(owners), text) for text, owners in names.items())


def find_place(tag: str) -> tuple[str, ...]:
    """Give the shortest way from `document` to an element that may hold a tag; none for itself.

    Raises:
        LookupError: no element of the language may hold it.
    """
    if tag == "document":
        return ()
    ways: deque[tuple[str, ...]] = deque([("document",)])
    seen = {"document"}
    while ways:
        way = ways.popleft()
        children = ELEMENTS[way[-1]].children
        if tag in children:
            return way
        for child in sorted(children - seen):
            seen.add(child)
            ways.append((*way, child))
    raise LookupError(f"`{tag}` may stand nowhere")
