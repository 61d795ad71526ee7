"""The display list: what layout hands to paint. Points, origin at the paper's top left, y down.

Every item knows its `owner`: the node it belongs to, or None for page furniture (a PDF artifact),
so that tagged PDF can be written without touching layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from workers.engine.layout.fonts.shaping import Cluster
from workers.engine.units import Color


class Owner(Protocol):
    """A node of the document: anything with a role and a source."""


class Glyphs(NamedTuple):
    """A run of shaped text on one baseline. `codes` is the ready PDF operand (hex string or TJ array).

    `face` is the font face that shaped it (layout/fonts/); `text` is what it says, for extraction,
    dumps and tags; `width` in points, letter and word spacing included.
    """

    x: float
    y: float  # baseline
    face: object
    size: float
    color: Color
    codes: bytes
    text: str
    width: float
    owner: object | None
    word_spacing: float = 0.0
    letter_spacing: float = 0.0


class ShapedGlyphs(NamedTuple):
    """A run of text written by clusters of glyphs, from left to right (layout/fonts/shaping.py).

    `text` is what it says in the order of reading.
    """

    x: float
    y: float  # baseline
    face: object
    size: float
    color: Color
    clusters: tuple[Cluster, ...]
    text: str
    width: float
    owner: object | None


class Fill(NamedTuple):
    """A filled rectangle, with round corners where `radius` is not 0."""

    x: float
    y: float
    width: float
    height: float
    color: Color
    owner: object | None
    radius: float = 0.0


class Stroke(NamedTuple):
    """A straight line; `dash` in points, empty for solid."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    color: Color
    owner: object | None
    dash: tuple[float, ...] = ()


class Outline(NamedTuple):
    """A stroked rectangle with round corners: a border that is the same on all four sides."""

    x: float
    y: float
    width: float
    height: float
    line_width: float
    color: Color
    owner: object | None
    radius: float = 0.0
    dash: tuple[float, ...] = ()


class Cells(NamedTuple):
    """Many filled rectangles of one colour painted as one path: the modules of a bar code.

    They are counted in whole units from the corner at `x`, `y`, so edges that meet are equal.
    """

    x: float
    y: float
    unit_width: float
    unit_height: float
    rectangles: tuple[tuple[int, int, int, int], ...]
    color: Color
    owner: object | None


class Polygons(NamedTuple):
    """Many polygons of one colour painted as one path by the even-odd rule, as Cells are counted."""

    x: float
    y: float
    unit: float
    polygons: tuple[tuple[tuple[int, int], ...], ...]
    color: Color
    owner: object | None


class Picture(NamedTuple):
    """An image; `image` is a prepared picture (layout/images/), shared by all its uses.

    `node` is the element that asked for it; decoration has no owner, but a place in the text.
    """

    x: float
    y: float
    width: float
    height: float
    image: object
    owner: object | None
    node: object | None = None


class Save(NamedTuple):
    """Begin a group: clip to a rectangle, and/or turn about a point, and/or see through."""

    clip: tuple[float, float, float, float] | None = None
    rotate: tuple[float, float, float] | None = None  # degrees clockwise, centre x, centre y
    opacity: float = 1.0


class Restore(NamedTuple):
    """End the innermost group."""


Item = Glyphs | ShapedGlyphs | Fill | Stroke | Outline | Cells | Polygons | Picture | Save | Restore


class LinkArea(NamedTuple):
    """A clickable rectangle; `target` is a checked address, or `#id`."""

    x: float
    y: float
    width: float
    height: float
    target: str


class Anchor(NamedTuple):
    """A named place that links and the outline point to."""

    name: str
    x: float
    y: float


class OutlineEntry(NamedTuple):
    """A heading in the outline: level from 1, text, page from 0, height on the page."""

    level: int
    text: str
    page: int
    y: float


@dataclass(slots=True)
class Page:
    """One laid-out page: paper size and what is drawn on it, in painting order.

    Things may be drawn as far outside of the paper as `bleed` and, for marks, `slug` beyond it.
    """

    width: float
    height: float
    items: list[Item] = field(default_factory=list)
    links: list[LinkArea] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    bleed: float = 0.0
    slug: float = 0.0


class Pages(Protocol):
    """The pages of a document in order, as many times as they are asked for; a list, or drawn then."""

    def __len__(self) -> int:
        """Give the number of pages."""

    def __iter__(self) -> Iterator[Page]:
        """Give the pages."""


@dataclass(slots=True)
class LaidOut:
    """A whole document as pages, with its outline, which is complete after the last page was read.

    Pages are drawn as they are read, so that a long document never stands in memory as a whole.
    """

    pages: Pages
    outline: list[OutlineEntry]

    def drawn(self) -> LaidOut:
        """Give the document with all its pages drawn."""
        return LaidOut(list(self.pages), self.outline)
