"""Nodes of the concrete document: loops expanded, expressions evaluated, styles computed.

Nodes are values: layout never changes them, and may lay out the same node again at another width.
Only running content, page boxes, and heads and feet of tables still hold expressions, as `Repeated`
nodes. Pages and the whole document are in tree/document.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.address_windows import AddressWindow
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.tree.node_values import (
    CategoryKind,
    ChartAxis,
    ChartSeries,
    FieldKind,
    FieldOption,
)
from workers.engine.tree.page_values import FragmentValues, Total, TotalValues
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import Style, TextStyle
from workers.engine.units import NO_BORDER, Border, Color, Length, LengthKind

Values = TypeVar("Values")
Made = TypeVar("Made")

CENTER: Final = Length(50.0, LengthKind.PERCENT)


class Role(StrEnum):
    """Structure types of ISO 32000-2, 14.8.4. Running content has none: it is an artifact."""

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
    NOTE = "Note"
    FORM = "Form"
    ARTIFACT = "Artifact"


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One iteration of a `for`: the list as the author wrote it, and the iteration from 1."""

    name: str
    index: int

    def __str__(self) -> str:
        return f"{self.name} row {self.index}"


def describe_loops(loop: tuple[LoopStep, ...]) -> str:
    """Return the loop iterations of a failure, as the end of a message; empty outside of loops."""
    return f" ({', '.join(map(str, loop))})" if loop else ""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a node: its element's location and the loop iterations around, outermost first."""

    location: SourceLocation
    loop: tuple[LoopStep, ...] = ()


class SourceNode(Protocol):
    """A node made from an element: a block, a list item, or a part of a table."""

    @property
    def source(self) -> Source:
        """The source of the node."""


@dataclass(slots=True, eq=False)
class Repeated(Generic[Values, Made]):
    """Nodes that pages or fragments of a table repeat, made from the values of each; static ones once."""

    make: Callable[[Values], tuple[Made, ...]]
    is_static: bool
    _made: tuple[Made, ...] | None = None

    def evaluate(self, values: Values) -> tuple[Made, ...]:
        """Return the nodes of one page or fragment."""
        made = self.make(values) if self._made is None else self._made
        if self.is_static:
            self._made = made
        return made


# --- inline content ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters of one style, white space collapsed and text-transform applied.

    `link` is a checked target (https, http, mailto, tel, or `#id`), None for plain text.
    """

    text: str
    style: TextStyle
    link: str | None = None


@dataclass(frozen=True, slots=True)
class NoteCall(TextRun):
    """The number of a note in running text; outline entries and references leave it out."""


@dataclass(frozen=True, slots=True)
class PageRange(TextRun):
    """Pages in an entry of an index, such as 12–14, which lines do not separate."""


@dataclass(frozen=True, slots=True)
class LineBreak:
    """A forced line break; an empty line has the height of `style`."""

    style: TextStyle


@dataclass(frozen=True, slots=True)
class InlineBlock:
    """An image, bar code, chart or form field in a line, on the baseline.

    `link` is a checked target as of a `TextRun`; form fields have none.
    """

    block: Image | Barcode | Chart | FormField
    link: str | None = None

    @property
    def alt(self) -> str:
        """The alternative text, empty for decoration and form fields."""
        return "" if isinstance(self.block, FormField) else self.block.alt


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to the element `target`; layout writes its text, number or page.

    `show` is `text`, `number` or `page`, or `note` for the call of a note that is numbered on its
    page. `source` is for errors.
    """

    target: str
    show: str
    style: TextStyle
    source: Source
    transform: str = "none"


@dataclass(frozen=True, slots=True)
class InlineAnchor:
    """A named point in a line, without size: the target of links to an id in it, and of index entries."""

    name: str


Inline = TextRun | LineBreak | InlineBlock | Reference | InlineAnchor


# --- blocks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Label:
    """The number before a paragraph's first line.

    `width` is its column in points, next to all lines; None if the text of the first
    line follows it directly.
    """

    text: str
    width: float | None = None


@dataclass(frozen=True, slots=True)
class Leader:
    """The leader after an entry of the contents (`dot`, `line` or `none`), and the page of `target`."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class ParagraphExtras:
    """Rare parts of a paragraph: a number, a leader to a page, and whether it holds references.

    A heading that `spans_columns` stands across those of the container around it.
    """

    label: Label | None = None
    leader: Leader | None = None
    has_references: bool = False
    spans_columns: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StyledNode:
    """A node made from an element, in a style. `id` is its anchor, which its element may state."""

    source: Source
    style: Style
    id: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Paragraph:
    """Inline content broken into lines: p, h1 to h6, pre, caption, and loose text.

    `outline` is a heading's entry in the document outline, None for none; `extra` is None for most.
    """

    source: Source
    role: Role
    style: Style
    inlines: tuple[Inline, ...]
    outline: str | None = None
    id: str | None = None
    extra: ParagraphExtras | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """Offsets of a positioned box from its container's edges; None if not given.

    The container is the nearest box or grid cell around it, else the paper. `is_over` is for boxes
    of a page: painted over its text, not under it.
    """

    top: Length | None = None
    right: Length | None = None
    bottom: Length | None = None
    left: Length | None = None
    is_over: bool = False


class Envelope(NamedTuple):
    """The window of an envelope in which a box stands, which is positioned on the paper."""

    standard: str
    window: AddressWindow
    has_fold_marks: bool


class FloatTo(StrEnum):
    """The place a figure floats to: an edge of its area, or an area of its own."""

    TOP = "top"
    BOTTOM = "bottom"
    PAGE = "page"


class Floating(NamedTuple):
    """The float of a figure: `spans_columns` of its area, `stays_in_section` before the next one."""

    to: FloatTo
    spans_columns: bool = False
    stays_in_section: bool = True


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Columns of equal width, `gap` points apart with `rule` between them (CSS Multi-column 1).

    Balanced columns end at one height; the first is the rightmost in right-to-left text.
    """

    count: int
    gap: float
    is_balanced: bool = False
    rule: Border = NO_BORDER
    is_rtl: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """Blocks below each other in one box: div, box, blockquote. `position` takes it out of the flow.

    An `is_box` contains the positioned boxes inside it; `columns` is None for a single column,
    `floating` for a box in the flow, `envelope` for any but that of an address.
    """

    source: Source
    role: Role
    style: Style
    children: tuple[Block, ...]
    position: Position | None = None
    id: str | None = None
    is_box: bool = False
    columns: ColumnLayout | None = None
    floating: Floating | None = None
    envelope: Envelope | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PageFoot(StyledNode):
    """A container at the lower left corner of the paper, with its upper margin free above it."""

    role: ClassVar[Role] = Role.DIV

    children: tuple[Container]


@dataclass(frozen=True, slots=True, eq=False)
class Row(StyledNode):
    """Blocks side by side; a child's width is its own `width`, `1fr` unless given.

    `gap` in points.
    """

    role: ClassVar[Role] = Role.DIV

    children: tuple[Block, ...]
    gap: float
    align: str  # normal, start, center, end, stretch, baseline


@dataclass(frozen=True, slots=True, eq=False)
class Grid(StyledNode):
    """Cells of fixed width, one block in each, continued on further pages; gaps in points.

    `row_height` is None if the content of a row makes its height; `skip` cells stay empty before
    the first. With `fills_columns` the next cell is the one below.
    """

    role: ClassVar[Role] = Role.DIV

    children: tuple[Block, ...]
    columns: tuple[Length, ...]
    row_height: float | None
    column_gap: float
    row_gap: float
    skip: int = 0
    fills_columns: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ListItem(StyledNode):
    """A list item; `marker` is the text painted before its first line, empty for none."""

    role: ClassVar[Role] = Role.LIST_ITEM

    marker: str
    children: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListBlock(StyledNode):
    """A bulleted or numbered list; `numbering` is its `list-style-type`."""

    role: ClassVar[Role] = Role.LIST

    children: tuple[ListItem, ...]
    numbering: str


@dataclass(frozen=True, slots=True, eq=False)
class Rule(StyledNode):
    """A horizontal rule across its container; `border` is its line."""

    role: ClassVar[Role] = Role.ARTIFACT  # a separator (ISO 32000-2, 14.8.2.2)

    border: Border


@dataclass(frozen=True, slots=True, eq=False)
class Image(StyledNode):
    """An image; an empty `alt` marks decoration. `fit` is CSS object-fit.

    `position` is CSS object-position, across and down. `fallback` replaces one that cannot be drawn.
    """

    role: ClassVar[Role] = Role.FIGURE

    picture: ImageSource
    alt: str
    fit: str  # contain, cover, fill, none
    is_optional: bool
    position: tuple[Length, Length] = (CENTER, CENTER)
    fallback: Container | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Barcode(BarcodeSpec):
    """A bar code."""

    role: ClassVar[Role] = Role.FIGURE

    source: Source
    style: Style
    alt: str
    shows_text: bool
    module: float | None  # bar width in points
    reduction: float = 0.0  # of dark bars, in points
    id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chart(StyledNode):
    """A chart. `xs` are texts, decimals, or dates and times without a zone, by `x_kind`.

    `value_axis` is the axis of values, `x_axis` the category axis. `gauge` is the share of a gauge
    from 0 to 1, None if it has no value.
    """

    role: ClassVar[Role] = Role.FIGURE

    kind: str
    alt: str
    xs: tuple[object, ...]
    x_kind: CategoryKind
    series: tuple[ChartSeries, ...]
    value_axis: ChartAxis
    x_axis: ChartAxis
    title: str = ""
    stack: str = "none"  # none, sum, share
    legend: str = "auto"  # auto, none, top, bottom
    colors: tuple[Color, ...] = ()
    is_hatched: bool = False
    shows_values: bool = False
    gauge: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FormField(StyledNode):
    """A form field, or its box and value for filling by hand unless it `is_interactive`.

    `value` is its text, the value of the selected option, or that of a button while it is checked.
    `cells` is the number of equal cells with one character each, 0 without cells.
    """

    role: ClassVar[Role] = Role.FORM

    kind: FieldKind
    name: str
    label: str
    value: str
    is_checked: bool = False
    is_required: bool = False
    is_readonly: bool = False
    is_interactive: bool = True
    max_length: int | None = None
    cells: int = 0
    options: tuple[FieldOption, ...] = ()

    @property
    def shown_text(self) -> str:
        """The text in the field: of a choice, that of the selected option."""
        if self.kind is not FieldKind.CHOICE:
            return self.value
        return next((option.text for option in self.options if option.value == self.value), "")


@dataclass(frozen=True, slots=True, eq=False)
class Break(StyledNode):
    """A forced break; with `need` (points), only if less space is left."""

    role: ClassVar[Role] = Role.ARTIFACT  # nothing is drawn

    to: str  # page, column, left, right, area
    need: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Contents(StyledNode):
    """A table of contents: titles of a `kind` (`headings`, `table`), of levels `first` to `last`.

    `entries` are the styles of levels 1 to 6; `leader` leads from a title to its page.
    """

    role: ClassVar[Role] = Role.CONTENTS

    kind: str
    first: int
    last: int
    leader: str
    entries: tuple[ComputedStyle, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Index(StyledNode):
    """The index of the document's terms; `entries` are the styles of levels 1 to 3."""

    role: ClassVar[Role] = Role.INDEX

    entries: tuple[ComputedStyle, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Note(StyledNode):
    """A footnote or endnote. `id` is its anchor, `call_anchor` that of its call.

    `number` is empty for none; layout numbers a note in `Footnotes.page_numbered`. `marker_style`
    is the style of the number, which takes `number_width` points before the text, or its own width
    if that is None.
    """

    role: ClassVar[Role] = Role.NOTE

    children: tuple[Block, ...]
    number: str
    marker_style: TextStyle
    number_width: float | None
    call_anchor: str
    id: str = field(kw_only=True)


# --- tables -----------------------------------------------------------------------------------------


class Occurrence(StrEnum):
    """The fragments of a table, or the pages of a page sequence, on which something is shown."""

    ALL = "all"
    FIRST = "first"
    REST = "rest"
    LAST = "last"
    NOT_LAST = "not-last"
    ODD = "odd"
    EVEN = "even"
    BLANK = "blank"
    CONTENT = "content"  # all pages but blank ones


@dataclass(frozen=True, slots=True)
class Column:
    """A column's width.

    Per cent are of the table, `fr` of the space left, `auto` of the content.
    """

    width: Length
    min_width: Length
    max_width: Length | None


@dataclass(frozen=True, slots=True, eq=False)
class CellTemplate:
    """The common part of all cells made from one td or th in one style, made once for all rows."""

    source: Source
    role: Role
    style: Style
    colspan: int
    rowspan: int
    id: str | None = None  # a cell with an id has a template of its own
    scope: str = ""  # of a header cell: row, column or both; empty if its position says so


@dataclass(frozen=True, slots=True, eq=False)
class SpanningCell:
    """A cell of a row above, from its column `first` on: it spans `rows` more, the current one included."""

    cell: CellTemplate
    first: int
    rows: int

    @property
    def last(self) -> int:
        """The column after its last."""
        return self.first + self.cell.colspan


@dataclass(frozen=True, slots=True, eq=False)
class RowTemplate(StyledNode):
    """The common part of all rows made from one tr in one style.

    `starts` are the columns its cells begin at, empty if cells follow one another; a column between
    them is covered by one of `covers`, cells of rows above. With `is_text`, all cells of its rows are
    plain text.
    """

    cells: tuple[CellTemplate, ...]
    repeats: bool  # sticky group row
    starts: tuple[int, ...] = ()
    is_text: bool = False
    covers: tuple[SpanningCell, ...] = ()

    @property
    def columns(self) -> Sequence[int]:
        """The first column of each cell."""
        return self.starts or [*accumulate([cell.colspan for cell in self.cells], initial=0)][:-1]


def is_head_row(template: RowTemplate) -> bool:
    """Return whether a row consists of several head cells, which then head their columns."""
    cells = template.cells
    return len(cells) > 1 and all(cell.role is Role.HEAD_CELL for cell in cells)


# A cell of plain text is its text, in the cell's own style; anything else is blocks.
CellContent = str | tuple["Block", ...]


@dataclass(slots=True, eq=False)
class TableRow:
    """One row: shared template, own contents, and its contribution to each total if it counts.

    `carried` are the totals after it, empty in a table without totals.
    `loop` are the loop iterations for messages; rows of one loop share all but the last step.
    """

    template: RowTemplate
    cells: Sequence[CellContent]
    loop: tuple[LoopStep, ...] = ()
    contributions: TotalValues = ()
    carried: TotalValues = ()


@dataclass(frozen=True, slots=True, eq=False)
class RowGroup(StyledNode):
    """A thead or tfoot: its rows and the fragments that show it.

    `has_built_in_rule` marks a rule of the user-agent style sheet, which any other border
    overrides.
    """

    on: Occurrence
    rows: Repeated[FragmentValues, TableRow]
    has_built_in_rule: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Caption:
    """A table's title, above the fragments that show it."""

    block: Block
    on: Occurrence


@dataclass(frozen=True, slots=True, eq=False)
class TableBody(StyledNode):
    """A tbody: rows in order."""

    rows: Sequence[TableRow]


@dataclass(frozen=True, slots=True, eq=False)
class Table(StyledNode):
    """A table. `totals` are the values that its rows accumulate and its fragments carry."""

    role: ClassVar[Role] = Role.TABLE

    columns: tuple[Column, ...]
    heads: tuple[RowGroup, ...]
    bodies: tuple[TableBody, ...]
    feet: tuple[RowGroup, ...]
    stripe: tuple[Color | None, ...] = ()
    totals: tuple[Total, ...] = ()
    captions: tuple[Caption, ...] = ()


Block = (
    Paragraph
    | Container
    | PageFoot
    | Row
    | Grid
    | ListBlock
    | Rule
    | Image
    | Barcode
    | Chart
    | FormField
    | Break
    | Table
    | Contents
    | Index
    | Note
)


def child_blocks(block: Block | ListItem) -> tuple[Block | ListItem, ...]:
    """Return the blocks directly inside a block, in reading order; of a table, those of its captions."""
    match block:
        case Container() | PageFoot() | Row() | Grid() | ListBlock() | ListItem() | Note():
            return block.children
        case Table():
            return tuple(caption.block for caption in block.captions)
        case _:
            return ()
