"""The concrete document: loops expanded, expressions evaluated, styles resolved; what layout takes.

Nodes are values: layout never changes them and may lay out the same node again at another width.
Only page headers, footers, page boxes and table heads and feet hold expressions still to be
evaluated (language.md 1.1, principle 7); they are `PageTime` and `PieceRows`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from workers.engine.diagnostics import Diagnostic, Place
from workers.engine.ports import Attachment, Profile, Security
from workers.engine.tree.styles import Overflow, Style, TextStyle
from workers.engine.units import NO_BORDER, Border, Color, Length, LengthKind, Sides

if TYPE_CHECKING:
    from workers.engine.tree.titles import Crossings

CENTER: Final = Length(50.0, LengthKind.PERCENT)


class Role(StrEnum):
    """The structure type of what is drawn; PDF 2.0, 14.8.4. Page furniture has none: it is an artifact."""

    SECT = "Sect"
    DIV = "Div"
    P = "P"
    H1 = "H1"
    H2 = "H2"
    H3 = "H3"
    H4 = "H4"
    H5 = "H5"
    H6 = "H6"
    BLOCK_QUOTE = "BlockQuote"
    CODE = "Code"
    LIST = "L"
    LIST_ITEM = "LI"
    TABLE = "Table"
    CAPTION = "Caption"
    TABLE_HEAD = "THead"
    TABLE_BODY = "TBody"
    TABLE_FOOT = "TFoot"
    ROW = "TR"
    HEAD_CELL = "TH"
    CELL = "TD"
    FIGURE = "Figure"
    CONTENTS = "TOC"
    CONTENTS_ENTRY = "TOCI"
    INDEX = "Index"
    ARTIFACT = "Artifact"


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One turn of a `for`: the list as the author wrote it, and the turn from 1."""

    name: str
    index: int


def where_in_loops(loop: tuple[LoopStep, ...]) -> str:
    """Name the loop turns of a failure, as the end of a message; empty outside of loops."""
    return f" ({', '.join(f'{step.name} row {step.index}' for step in loop)})" if loop else ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a node comes from: its element's place and the loop turns it was made in, outermost first."""

    place: Place
    loop: tuple[LoopStep, ...] = ()


# --- inline content ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one look. White space is collapsed and text-transform applied already.

    `link` is a checked target (https, http, mailto, tel, or `#id`), None for plain text.
    """

    text: str
    style: TextStyle
    link: str | None = None


@dataclass(frozen=True, slots=True)
class LineBreak:
    """A forced line break; an empty line has the height of `style`."""

    style: TextStyle


@dataclass(frozen=True, slots=True)
class InlineBlock:
    """An image or bar code standing in a line, on the baseline."""

    block: Image | Barcode


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to the element `target`; layout writes its text, number or page there.

    `show` is `text`, `number` or `page`; the source is for errors.
    """

    target: str
    show: str
    style: TextStyle
    source: Source
    transform: str = "none"


@dataclass(frozen=True, slots=True)
class Spot:
    """A named place in a line, which takes no room: the index leads to it."""

    name: str


Inline = Run | LineBreak | InlineBlock | Reference | Spot


# --- blocks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Label:
    """The number in front of a paragraph's first line.

    `width` is the room for it in points, beside which all lines stand; with None the text of the
    first line follows it.
    """

    text: str
    width: float | None = None


@dataclass(frozen=True, slots=True)
class Leader:
    """What follows an entry of the contents: a `dot`, `line` or `none`, and the page of `target`."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class Extra:
    """What few paragraphs have: a number, a page at the end; `refers` where references stand in it."""

    label: Label | None = None
    leader: Leader | None = None
    refers: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Inline content broken into lines: p, h1 to h6, pre, caption, and gathered loose text.

    `outline` is the entry of a heading in the document outline, None for none; `extra` is None for
    most.
    """

    source: Source
    role: Role
    style: Style
    inlines: tuple[Inline, ...]
    outline: str | None = None
    id: str | None = None
    extra: Extra | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """Offsets of a box taken out of the flow, from its container's edges; None where not given.

    The container is the nearest box or grid cell around it, else the paper. `is_over` is for the
    boxes of a page: drawn over its text, not under it.
    """

    top: Length | None = None
    right: Length | None = None
    bottom: Length | None = None
    left: Length | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of one width side by side, `gap` points apart with `rule` between them.

    Balanced ones end at one height; the first is the rightmost where lines read from right to left.
    """

    count: int
    gap: float
    is_balanced: bool = False
    rule: Border = NO_BORDER
    is_rtl: bool = False


@dataclass(frozen=True, slots=True)
class Container:
    """Blocks below each other in one box: div, box, blockquote. `position` takes it out of the flow.

    Boxes with a position inside an `is_box` count from its edges; `columns` is None for one.
    """

    source: Source
    role: Role
    style: Style
    children: tuple[Block, ...]
    position: Position | None = None
    id: str | None = None
    is_box: bool = False
    columns: Columns | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Blocks side by side; a child's width is its own `width`, `1fr` unless given. `gap` in points."""

    source: Source
    style: Style
    children: tuple[Block, ...]
    gap: float
    align: str  # normal, start, center, end, stretch, baseline
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of fixed width, one block in each, continued on further pages; gaps in points.

    `row_height` is None where the content of a row makes its height; `skip` cells stay empty before
    the first. With `fills_columns` the next cell is the one below.
    """

    source: Source
    style: Style
    children: tuple[Block, ...]
    columns: tuple[Length, ...]
    row_height: float | None
    column_gap: float
    row_gap: float
    skip: int = 0
    fills_columns: bool = False
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item; `marker` is the text drawn before its first line, empty for none."""

    source: Source
    style: Style
    marker: str
    children: tuple[Block, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A bulleted or numbered list."""

    source: Source
    style: Style
    items: tuple[ListItem, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule across its container; `line` is its look."""

    source: Source
    style: Style
    line: Border


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image of the workspace, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class DataImage:
    """An image given in the document as a data address, decoded from base64."""

    data: bytes


@dataclass(frozen=True, slots=True)
class RemoteImage:
    """An image at an http or https address, which the farm fetches."""

    address: str


AnyImage = StoredImage | DataImage | RemoteImage


def read_image(value: str | bytes) -> AnyImage:
    """Give the image of a checked value (syntax/values.py): a name, an address, or its bytes."""
    if isinstance(value, bytes):
        return DataImage(value)
    return RemoteImage(value) if "://" in value else StoredImage(value)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; an empty `alt` says decoration. `fit` is CSS object-fit.

    `position` is where it stands in its box, across and down; per cent is of what it leaves free.
    """

    source: Source
    style: Style
    picture: AnyImage
    alt: str
    fit: str  # contain, cover, fill, none
    is_optional: bool
    id: str | None = None
    position: tuple[Length, Length] = (CENTER, CENTER)


@dataclass(frozen=True, slots=True)
class Barcode:
    """A bar code. `value` is text, or a mapping for the payment types; layout checks and encodes it."""

    source: Source
    style: Style
    symbology: str
    value: str | Mapping[str, Any]
    alt: str
    shows_text: bool
    level: str
    module: float | None  # bar width in points
    has_quiet_zone: bool
    id: str | None = None
    columns: int | None = None
    correction: int | None = None
    add_on: str = ""
    has_escapes: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """A forced break, or with `need` (points) one that is made only if less is left."""

    source: Source
    to: str  # page, column, left, right, area
    need: float | None


@dataclass(frozen=True, slots=True)
class EntryStyle:
    """How the entries of one level look; `transform` is their text-transform."""

    style: Style
    transform: str = "none"


@dataclass(frozen=True, slots=True)
class Contents:
    """A table of contents: the titles of a `kind` (`headings`, `table`), of levels from `first` to `last`.

    `entries` are the styles of levels 1 to 6; `leader` is what leads from a title to its page.
    """

    source: Source
    style: Style
    kind: str
    first: int
    last: int
    leader: str
    entries: tuple[EntryStyle, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """The index of the document's terms; `entries` are the styles of levels 1 to 3."""

    source: Source
    style: Style
    entries: tuple[EntryStyle, ...]
    id: str | None = None


# --- tables -----------------------------------------------------------------------------------------


class On(StrEnum):
    """Which piece of a broken table, or which page of a numbering run."""

    ALL = "all"
    FIRST = "first"
    REST = "rest"
    LAST = "last"
    NOT_LAST = "not-last"
    ODD = "odd"
    EVEN = "even"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Column:
    """A column's width; per cent is of the table, `fr` of what is left, `auto` of the content."""

    width: Length
    min_width: Length
    max_width: Length | None


@dataclass(frozen=True, slots=True)
class CellTemplate:
    """What all cells made from one td or th under one look share; made once, not once per row."""

    source: Source
    role: Role
    style: Style
    colspan: int
    rowspan: int
    id: str | None = None  # one that has an id is made for its row alone


@dataclass(frozen=True, slots=True)
class RowTemplate:
    """What all rows made from one tr under one look share; interned by build.

    `starts` are the columns its cells begin at, empty where cells follow one another; a column
    between them is covered by a cell of a row above.
    """

    source: Source
    style: Style
    cells: tuple[CellTemplate, ...]
    repeats: bool  # sticky group row
    id: str | None = None
    starts: tuple[int, ...] = ()


# A cell of plain text is its text, in the cell's own style; anything else is blocks.
CellContent = str | tuple["Block", ...]


class TotalMode(StrEnum):
    """How a total takes the value of a row (language.md 1.8)."""

    SUM = "sum"
    LAST = "last"
    COUNT = "count"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Total:
    """A carried total of a table; `start` is None for one that is empty before the first row."""

    name: str
    mode: TotalMode
    start: Decimal | None


# A value for each of a table's totals, in their order; None where there is none yet.
Carried = tuple[Decimal | None, ...]


@dataclass(slots=True)
class TableRow:
    """One row: shared template, own contents, and what it adds to each total if it is counted.

    `loop` holds the loop turns for messages; rows of one loop share all but the last step.
    """

    template: RowTemplate
    cells: Sequence[CellContent]
    loop: tuple[LoopStep, ...] = ()
    counted: Carried = ()


@dataclass(frozen=True, slots=True)
class PieceValues:
    """Carried totals of one piece of a table, each in the order of `Table.totals`, and page values."""

    before: Carried
    here: Carried
    after: Carried
    whole: Carried
    page: PageValues


class PieceRows(Protocol):
    """Head or foot rows, evaluated per piece; `is_static` when they are the same on every piece."""

    is_static: bool

    def evaluate(self, values: PieceValues) -> tuple[TableRow, ...]:
        """Give the rows for one piece."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A thead or tfoot: its rows and the pieces it stands on.

    `has_built_in_rule` tells that the rule below is nobody's wish: it gives way to one further down.
    """

    source: Source
    style: Style
    on: On
    rows: PieceRows
    has_built_in_rule: bool = False


@dataclass(frozen=True, slots=True)
class Caption:
    """A table's title, above the pieces it stands on."""

    block: Block
    on: On


@dataclass(frozen=True, slots=True)
class TableBody:
    """A tbody: rows in order."""

    source: Source
    style: Style
    rows: Sequence[TableRow]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `totals` are the values that its rows add up to and its pieces carry."""

    source: Source
    style: Style
    columns: tuple[Column, ...]
    heads: tuple[RowGroup, ...]
    bodies: tuple[TableBody, ...]
    feet: tuple[RowGroup, ...]
    stripe: tuple[Color | None, ...] = ()
    totals: tuple[Total, ...] = ()
    captions: tuple[Caption, ...] = ()
    id: str | None = None


Block = (
    Paragraph
    | Container
    | Row
    | Grid
    | ListBlock
    | Rule
    | Image
    | Barcode
    | Break
    | Table
    | Contents
    | Index
)


# --- pages and the document -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageValues:
    """What `page.*` reads at page time (language.md 1.4).

    `number` counts from `first` in a numbering run, and `count` is its last page's; the blank pages
    that end a run are not counted. `index` and `total` are of the whole document.
    """

    number: int
    count: int
    index: int
    total: int
    name: str
    is_blank: bool = False
    first: int = 1

    @property
    def is_first(self) -> bool:
        """Tell whether this is the first page of its numbering run."""
        return self.number == self.first

    @property
    def is_last(self) -> bool:
        """Tell whether this is the last page of its numbering run."""
        return self.number == self.count


class PageTime(Protocol):
    """Content evaluated once per page; `is_static` when no page value is used in it."""

    is_static: bool

    def evaluate(self, values: PageValues) -> tuple[Block, ...]:
        """Give the blocks for one page."""


@dataclass(frozen=True, slots=True)
class RunningBox:
    """A header or footer: its box and its content; `max_height` of the page's height in per cent or points."""

    source: Source
    style: Style
    content: PageTime
    max_height: Length


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the body region a flow is poured into; offsets and sizes are of the region."""

    source: Source
    style: Style  # of the box that holds what must not leave the area
    flow: str
    columns: Columns
    overflow: Overflow | None  # None continues in the next area
    position: Position
    width: Length | None
    height: Length | None
    padding: Sides[float]


@dataclass(frozen=True, slots=True)
class PageMaster:
    """One member of a page family: paper, margins (points) and furniture.

    `boxes` are containers with positions, absolute to the paper. Without areas the flow `body` has
    the whole region. `bleed` is how far (points) the background goes beyond the paper.
    """

    source: Source | None
    name: str
    on: On
    width: float
    height: float
    margin: Sides[float]
    background: Color | None
    background_image: AnyImage | None
    header: RunningBox | None
    footer: RunningBox | None
    boxes: PageTime | None
    areas: tuple[Area, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    bleed: float = 0.0
    has_crop_marks: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """Content poured into pages of one family."""

    source: Source | None
    name: str
    page: str
    blocks: tuple[Block, ...]
    max_pages: int | None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What the document says of itself, evaluated."""

    title: str
    author: str
    subject: str
    keywords: str
    lang: str
    filename: str | None


@dataclass(frozen=True, slots=True)
class Watermark:
    """A template's own mark across its pages: a text, or a picture.

    `size` is that of the text in points, None to fit the diagonal.
    """

    text: str
    is_over: bool
    opacity: float
    rotate: float
    size: float | None
    color: Color
    source: Source | None = None
    picture: AnyImage | None = None


@dataclass(frozen=True, slots=True)
class DeclaredFont:
    """A `font` element: a stored font as a face of a family. What is None is the font's own."""

    source: Source
    family: str
    name: str  # of the stored font
    index: int
    weight: tuple[int, int] | None
    stretch: tuple[float, float] | None
    is_italic: bool | None
    settings: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document, ready for layout."""

    info: DocumentInfo
    masters: tuple[PageMaster, ...]
    flows: tuple[Flow, ...]
    security: Security | None
    watermarks: tuple[Watermark, ...]
    warnings: tuple[Diagnostic, ...]
    profile: Profile | None = None
    attachments: tuple[Attachment, ...] = ()
    refuses_missing_glyphs: bool = False
    fonts: tuple[DeclaredFont, ...] = ()
    crossings: Crossings | None = None  # None where nothing refers to anything
