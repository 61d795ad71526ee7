"""The display list, the output of layout. Points, origin at the paper's upper left corner, y down.

Each item has an `owner`: its node, or None for an artifact such as running content. In a tagged
document the owner is the number of a structure element (layout/structure.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workers.engine.fonts import Cluster, Face
from workers.engine.pdf_pages import ImportedPage
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import VectorImage
from workers.engine.tree.document import PageMaster
from workers.engine.tree.nodes import FormField, SourceNode
from workers.engine.units import Color

if TYPE_CHECKING:
    from workers.engine.layout.structure import LogicalStructure


# A prepared image; its key is equal for equal images.
Drawable = PreparedImage | VectorImage | ImportedPage

# The node of an item, or the number of its structure element; None for an artifact.
Owner = SourceNode | int | None


class GlyphRun(NamedTuple):
    """A run of text in one face on one baseline.

    `codes` is the encoded PDF operand (string or TJ array). `text` is the Unicode text, for
    extraction and tags. `width` is in points and includes letter and word spacing.
    """

    x: float
    y: float  # baseline
    face: Face
    size: float
    color: Color
    codes: bytes
    text: str
    width: float
    owner: Owner
    letter_spacing: float = 0.0
    encoded: str = ""  # the characters of `codes` where they differ from `text`: ligatures


class TextRows(NamedTuple):
    """Rows of texts in one face, size and colour: the cells of rows of a table.

    It stands for as many glyph runs, and takes a fraction of their time: a statement has tens of
    thousands of cells. All rows have as many texts; an empty one draws nothing. What each text has
    (`xs`, `codes`, `texts`, `widths`) is listed row by row. `owners` are those of each row, None for
    artifacts.
    """

    xs: Sequence[float]
    ys: Sequence[float]  # baseline of each row
    face: Face
    size: float
    color: Color
    codes: Sequence[bytes]
    texts: Sequence[str]
    widths: Sequence[float]
    owners: Sequence[Sequence[Owner]] | None
    letter_spacing: float = 0.0

    @property
    def columns(self) -> int:
        """The number of texts in each row."""
        return len(self.texts) // len(self.ys)

    def runs(self) -> Iterator[GlyphRun]:
        """Yield the texts as glyph runs."""
        owners = repeat(None) if self.owners is None else chain.from_iterable(self.owners)
        ys = chain.from_iterable(repeat(y, self.columns) for y in self.ys)
        places = zip(self.xs, ys, self.codes, self.texts, self.widths, owners, strict=False)
        for x, y, codes, text, width, owner in places:
            if text:
                style = self.face, self.size, self.color
                yield GlyphRun(x, y, *style, codes, text, width, owner, self.letter_spacing)


class ShapedRun(NamedTuple):
    """A run of shaped glyph clusters, from left to right (fonts/shaping.py).

    `text` is the Unicode text in logical order.
    """

    x: float
    y: float  # baseline
    face: Face
    size: float
    color: Color
    clusters: tuple[Cluster, ...]
    text: str
    width: float
    owner: Owner


class Fill(NamedTuple):
    """A filled rectangle, its corners rounded by `radius`."""

    x: float
    y: float
    width: float
    height: float
    color: Color
    owner: Owner
    radius: float = 0.0


class Stroke(NamedTuple):
    """A straight line; `dash` in points, empty for solid."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    color: Color
    owner: Owner
    dash: tuple[float, ...] = ()


class StrokeRows(NamedTuple):
    """Straight lines repeated below one another: the borders of rows of a table, without an owner.

    `lines` are those of one row, down from its top.
    """

    lines: Sequence[Stroke]
    tops: Sequence[float]
    owner: None = None

    def strokes(self) -> Iterator[Stroke]:
        """Yield the lines, row by row."""
        for top in self.tops:
            for line in self.lines:
                yield line._replace(y1=top + line.y1, y2=top + line.y2)


class StrokedRectangle(NamedTuple):
    """A stroked rectangle, its corners rounded by `radius`: a border that is equal on all four sides."""

    x: float
    y: float
    width: float
    height: float
    line_width: float
    color: Color
    owner: Owner
    radius: float = 0.0
    dash: tuple[float, ...] = ()


class RectangleSet(NamedTuple):
    """Many filled rectangles of one colour painted as one path: the modules of a bar code.

    Coordinates are whole units from the corner at `x`, `y`, so that adjacent edges coincide.
    """

    x: float
    y: float
    unit_width: float
    unit_height: float
    rectangles: tuple[tuple[int, int, int, int], ...]
    color: Color
    owner: Owner


# The points of a subpath, the first where it starts: two numbers end a straight line, six are the
# control points and end of a Bézier curve (ISO 32000-1, 8.5.2.2).
Subpath = tuple[tuple[float, ...], ...]


class Path(NamedTuple):
    """Lines and curves in one colour: filled, or with a `width` stroked with round joins."""

    subpaths: tuple[Subpath, ...]
    color: Color
    owner: Owner
    width: float = 0.0
    dash: tuple[float, ...] = ()


class Picture(NamedTuple):
    """A prepared image (layout/images.py), shared by all its uses.

    `node` is what it is drawn for; a decorative image has no owner but still has a source.
    """

    x: float
    y: float
    width: float
    height: float
    image: Drawable
    owner: Owner
    node: SourceNode | PageMaster | None = None


class Save(NamedTuple):
    """Start a group: clip to a rectangle, rotate about a point, and apply an opacity, each if given."""

    clip: tuple[float, float, float, float] | None = None
    rotate: tuple[float, float, float] | None = None  # degrees clockwise, x and y of the centre
    opacity: float = 1.0


class Restore(NamedTuple):
    """End the innermost group."""


class Widget(NamedTuple):
    """The area of a form field, and its appearance in each of its states.

    Appearances are items relative to the upper left corner of the area: of a button one when it is
    checked and one when it is not, of any other field one. `node` is its `FormField`, `face` the
    font of text typed into it. It is not content of the page: its place among the items is that
    in the structure tree.
    """

    x: float
    y: float
    width: float
    height: float
    node: FormField
    face: Face
    appearances: tuple[tuple[Item, ...], ...]
    owner: Owner = None


# What is drawn, but for rows of it.
Ink = (
    GlyphRun | ShapedRun | Fill | Stroke | StrokedRectangle | RectangleSet | Path | Picture | Widget
)
SingleItem = Ink | Save | Restore
Item = SingleItem | TextRows | StrokeRows


def single_items(items: Iterable[Item]) -> Iterator[SingleItem]:
    """Yield items, and one by one those that stand for several."""
    for item in items:
        if isinstance(item, TextRows):
            yield from item.runs()
        elif isinstance(item, StrokeRows):
            yield from item.strokes()
        else:
            yield item


class LinkArea(NamedTuple):
    """A clickable rectangle; `target` is a checked URI, or `#id`.

    `owner` is the link's structure element in a tagged document.
    """

    x: float
    y: float
    width: float
    height: float
    target: str
    owner: Owner = None


class Anchor(NamedTuple):
    """A named destination of links and of the outline."""

    name: str
    x: float
    y: float
    owner: Owner = None  # its structure element in a tagged document


class OutlineEntry(NamedTuple):
    """An entry of the outline: level from 1, text, page from 0, y on the page.

    The outline order is that in which pages draw their headings; `Navigation` nests them by level.
    """

    level: int
    text: str
    page: int
    y: float
    owner: Owner = None  # its structure element in a tagged document


@dataclass(slots=True)
class LaidOutPage:
    """A laid-out page: its paper size and its items in painting order.

    Items may extend into the `bleed` around the paper, and crop marks into the `slug` around that.
    """

    width: float
    height: float
    items: list[Item] = field(default_factory=list)
    links: list[LinkArea] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    bleed: float = 0.0
    slug: float = 0.0
    media: str = "plain"


class LaidOutPages(Protocol):
    """The pages of a document in order: a list, or an iterable that draws each page when it is read."""

    def __len__(self) -> int:
        """Return the number of pages."""

    def __iter__(self) -> Iterator[LaidOutPage]:
        """Iterate over the pages."""


@dataclass(slots=True)
class LaidOutDocument:
    """The pages of a document and its outline, which is complete once all pages were read.

    Pages are drawn as they are read, so that a long document is never in memory as a whole.
    `structure` is built meanwhile for a tagged document, and None for any other. `added_pages` at the
    end are backs of sheets, which do not count.
    """

    pages: LaidOutPages
    outline: list[OutlineEntry]
    structure: LogicalStructure | None = None
    added_pages: int = 0

    @property
    def page_count(self) -> int:
        """The number of pages that count."""
        return len(self.pages) - self.added_pages

    def draw_all(self) -> LaidOutDocument:
        """Return the document with all pages drawn."""
        return replace(self, pages=list(self.pages))
