"""Examples of elements as whole documents, the stored files they may use, and their pictures."""

from __future__ import annotations

import io
import re
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import Image, ImageChops, ImageOps

from workers.engine.local_files import FolderResources
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import RenderOptions
from workers.engine.syntax.examples import read_examples
from workers.engine.syntax.vocabulary import ELEMENTS

# The instant of `now` in every example, so that pictures do not depend on the date.
OPTIONS: Final = RenderOptions(datetime(2026, 3, 2, 9, 30, tzinfo=UTC), with_sample=True)

# The image `logo`, and the font `brand`: a subset of Inter, by tests/golden/make_fonts.py.
RESOURCES: Final = FolderResources(
    Path(__file__).parents[2] / "embedded" / "demo" / "documents", Path(__file__).parent
)
_PAGE: Final = '<page size="130mm 280mm" margin="5mm"/>'
_FIRST_TAG: Final = re.compile(r"<([a-z][a-z0-9-]*)")


# The stored templates that examples extend and import from.
LINKED: Final = {
    "letterhead@3": b"""
<document lang="en-GB" title="Letter">
  <data><json>{ "sender": "Northwind Tools Ltd" }</json></data>
  <color name="brand" value="#00539c"/>
  <part name="mark"><p color="brand" font-weight="bold">{{ data.sender }}</p></part>
  <page size="105mm 74mm" margin="8mm">
    <header margin-bottom="4mm"><use part="mark"/></header>
    <footer font-size="7pt"><p>{{ sender }}, 4 Quayside</p></footer>
  </page>
  <flow><insert flow="text"/><p margin-top="4mm">Yours faithfully</p></flow>
  <flow name="text"><p>The text of the letter.</p></flow>
</document>"""
}


def read_sections(name: str) -> dict[str, list[tuple[str, str]]]:
    """Return the entries of a text file beside this one by section: each name, and what follows its colon."""
    sections: dict[str, list[tuple[str, str]]] = {}
    entries: list[tuple[str, str]] = []
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines():
        if line.startswith("## "):
            entries = sections.setdefault(line[3:], [])
        elif line and not line.startswith("# "):
            entry, _, text = line.partition(": ")
            entries.append((entry, text))
    return sections


@dataclass(frozen=True, slots=True)
class Example:
    """An example and the elements it illustrates: a whole document, or a part of one."""

    names: tuple[str, ...]
    text: str

    @property
    def document(self) -> str:
        """The whole document; a part is placed inside the elements that may contain it."""
        ancestors = self._ancestors
        if not ancestors:
            return self.text
        opened = "".join(f"<{tag}>" for tag in ancestors)
        closed = "".join(f"</{tag}>" for tag in reversed(ancestors))
        page = "" if "page" in ancestors or self.text.startswith("<page") else _PAGE
        return opened.replace("<document>", f'<document lang="en-GB">{page}') + self.text + closed

    @property
    def picture(self) -> str:
        """The file name of its picture."""
        return f"{self.names[0]}.png"

    @property
    def shows_pages(self) -> bool:
        """Whether its picture shows whole pages, as the example has a page of its own."""
        return "<page" in self.text or "page" in self._ancestors

    @property
    def _ancestors(self) -> tuple[str, ...]:
        found = _FIRST_TAG.search(self.text)
        return find_ancestors(found[1]) if found else ("document", "flow")


def find_examples() -> tuple[Example, ...]:
    """Return every example of the vocabulary once, with all elements that share it."""
    names: dict[str, list[str]] = {}
    for name in ELEMENTS:
        names.setdefault(read_examples()[name], []).append(name)
    return tuple(Example(tuple(owners), text) for text, owners in names.items())


def find_ancestors(tag: str) -> tuple[str, ...]:
    """Return the shortest path from `document` to an element that may contain a tag; empty for `document`.

    Raises:
        LookupError: No element may contain it.
    """
    if tag == "document":
        return ()
    paths: deque[tuple[str, ...]] = deque([("document",)])
    seen = {"document", "part", "use"}  # a part accepts any content and is not drawn by itself
    while paths:
        path = paths.popleft()
        children = ELEMENTS[path[-1]].children
        if tag in children:
            return path
        for child in sorted(children - seen):
            seen.add(child)
            paths.append((*path, child))
    raise LookupError(f"no element may contain `{tag}`")


DPI: Final = 144  # displayed at 96, for high-resolution screens
MAX_BYTES: Final = 40 * 1024
MAX_PAGES: Final = 3  # side by side

_MARGIN: Final = 12  # pixels around the marks
_GAP: Final = 16  # pixels between pages
_COLORS: Final = 64
_EDGE: Final = (200, 200, 200)
_WHITE: Final = (255, 255, 255)


def draw_picture(example: Example) -> bytes:
    """Return an example as a PNG of at most 64 colours; deterministic.

    An example with a `page` of its own shows up to three whole pages, any other the marks on its
    first.

    Raises:
        AuthoringError: The example does not render.
    """
    return draw_document(example.document.encode(), shows_pages=example.shows_pages)


def draw_document(document: bytes, *, shows_pages: bool) -> bytes:
    """Return a complete document as a PNG, like `draw_picture`.

    Raises:
        AuthoringError: It does not render.
    """
    template = prepare_template(document, LINKED)
    pdf = render(template, None, options=OPTIONS, resources=RESOURCES).pdf
    pages = _rasterise(pdf)
    picture = _side_by_side(pages) if shows_pages else _cropped(pages[0])
    return write_png(picture, _COLORS)


def write_png(picture: Image.Image, colors: int) -> bytes:
    """Return a picture as a PNG of at most some colours."""
    file = io.BytesIO()
    # Wide coverage keeps rare colours, one round of k-means makes the frequent ones exact.
    quantised = picture.quantize(
        colors, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    quantised.save(file, "PNG", optimize=True)
    return file.getvalue()


def display_width(png: bytes) -> int:
    """Return the display width of a picture in CSS px."""
    with Image.open(io.BytesIO(png)) as picture:
        return round(picture.width * 96 / DPI)


def _rasterise(pdf: bytes) -> list[Image.Image]:
    with pypdfium2.PdfDocument(pdf) as document:
        document.init_forms()  # without it values of form fields are not drawn
        pages = [document[index] for index in range(min(len(document), MAX_PAGES))]
        return [page.render(scale=DPI / 72).to_pil().convert("RGB") for page in pages]


def _cropped(page: Image.Image) -> Image.Image:
    """Return a page cropped to its marks with a margin; an empty page keeps only the margin."""
    drawn = ImageChops.difference(page, Image.new("RGB", page.size, _WHITE)).getbbox()
    box = drawn or (0, 0, page.width // 2, 1)
    return ImageOps.expand(page.crop(box), _MARGIN, _WHITE)


def _side_by_side(pages: list[Image.Image]) -> Image.Image:
    framed = [ImageOps.expand(page, 1, _EDGE) for page in pages]
    width = sum(page.width for page in framed) + _GAP * (len(framed) - 1)
    picture = Image.new("RGB", (width, max(page.height for page in framed)), _WHITE)
    at = 0
    for page in framed:
        picture.paste(page, (at, 0))
        at += page.width + _GAP
    return picture
