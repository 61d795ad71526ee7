"""Every element and attribute of the language, declared once (language.md 1.5 and 1.6).

The checks, the cascade, LANGUAGE.md and the editor schema all read from here. What stands here
works; what does not work yet is not declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from workers.engine.syntax import values as v
from workers.engine.syntax.examples import EXAMPLES
from workers.engine.syntax.values import Kind
from workers.engine.units import mm

MAX_BLEED: Final = mm(50)


class Group(Enum):
    """The groups of attributes that many elements share."""

    OWN = "own"
    COMMON = "common"
    TEXT = "text"
    BOX = "box"
    BREAK = "break"
    POSITION = "position"


class Content(Enum):
    """What may stand inside an element beside the children it lists."""

    EMPTY = "nothing"
    LISTED = "only the elements listed"
    TEXT = "text without elements"
    INLINE = "text and inline elements"
    BLOCKS = "blocks, text and inline elements"
    PARENT = "what its parent may hold"


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One attribute: its kind of value and what it is for.

    `default` is as an author would write it. An expression attribute holds one without braces; a
    fixed one is read before any data are known and takes no `{{ }}`; all others may hold `{{ }}`
    and are read by `kind` once evaluated.
    """

    name: str
    kind: Kind[Any]
    doc: str
    default: str | None = None
    group: Group = Group.OWN
    is_inherited: bool = False
    is_required: bool = False
    is_expression: bool = False
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class ElementSpec:
    """One element: its attributes, what it may hold, and a small example of its use."""

    name: str
    doc: str
    attributes: Mapping[str, AttributeSpec]
    content: Content
    children: frozenset[str]
    example: str

    @property
    def takes_text(self) -> bool:
        """Tell whether character data may stand directly inside."""
        return self.content in (Content.TEXT, Content.INLINE, Content.BLOCKS)


# --- shared attributes ----------------------------------------------------------------------------------


def _attribute(name: str, kind: Kind[Any], doc: str, default: str | None = None) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, default)


def _required(name: str, kind: Kind[Any], doc: str) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, is_required=True)


def _expression(name: str, doc: str, *, is_required: bool = False) -> AttributeSpec:
    return AttributeSpec(name, v.EXPRESSION, doc, is_required=is_required, is_expression=True)


def _property(
    group: Group, name: str, kind: Kind[Any], default: str | None, doc: str
) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, default, group)


def _inherited(name: str, kind: Kind[Any], default: str | None, doc: str) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, default, Group.TEXT, is_inherited=True)


_BREAK_BEFORE: Final = v.choice("auto", "page", "column", "left", "right")
_BREAK_AFTER: Final = v.choice(*_BREAK_BEFORE.choices, "avoid")

COMMON: Final = (
    AttributeSpec("id", v.NAME, "Name of this element, unique in the document; links and the outline lead to it.", group=Group.COMMON),
    AttributeSpec("class", v.NAMES, "Styles to use, in order; later ones win.", group=Group.COMMON),
    AttributeSpec("if", v.EXPRESSION, "Leaves the element out unless this holds.", group=Group.COMMON, is_expression=True),
    AttributeSpec("for", v.LOOP, "Repeats the element for every item of a list.", group=Group.COMMON, is_expression=True),
    AttributeSpec("lang", v.LANG, "Language of the text; formats follow it.", group=Group.COMMON, is_inherited=True),
)  # fmt: skip

TEXT_PROPERTIES: Final = (
    _inherited("font-family", v.FAMILIES, "Noto Sans", "Font families; each character takes the first that has it."),
    _inherited("font-size", v.FONT_SIZE, "10pt", "Size of the font; per cent and em are of the parent's."),
    _inherited("font-weight", v.FONT_WEIGHT, "normal", "Weight of the font; from 600 on it is bold."),
    _inherited("font-style", v.choice("normal", "italic"), "normal", "Upright or italic."),
    _inherited("color", v.COLOR, "black", "Colour of the text."),
    _inherited("line-height", v.LINE_HEIGHT, "1.35", "Height of a line; a number counts in font sizes."),
    _inherited("letter-spacing", v.SIGNED_LENGTH, "0", "Space added between characters."),
    _inherited("text-align", v.choice("start", "end", "left", "right", "center", "justify", "decimal"), "start", "Where lines stand; decimal lines up the decimal signs of a table's column, and sets other text to the right."),
    _inherited("text-indent", v.SIGNED_LENGTH, "0", "Indent of a paragraph's first line."),
    _inherited("text-transform", v.choice("none", "uppercase", "lowercase", "capitalize"), "none", "Change of case."),
    _property(Group.TEXT, "text-decoration", v.choice("none", "underline", "line-through"), "none", "Line under or through the text."),
    _inherited("white-space", v.choice("normal", "nowrap", "pre-line", "pre"), "normal", "How spaces and line ends are kept."),
    _inherited("hyphens", v.choice("none", "manual"), "manual", "Whether soft hyphens may break words."),
    _inherited("overflow-wrap", v.choice("normal", "anywhere"), "anywhere", "Whether a word that is too long breaks anywhere."),
    _property(Group.TEXT, "vertical-align", v.VERTICAL_ALIGN, "top", "In cells, where content stands; in lines, sub, super or a rise."),
)  # fmt: skip

BOX_PROPERTIES: Final = (
    _property(Group.BOX, "width", v.TRACK, "auto", "Outer width; fr shares what is left in a row or table."),
    _property(Group.BOX, "height", v.AUTO_LENGTH, "auto", "Outer height; content that is taller is an error."),
    _property(Group.BOX, "min-width", v.LENGTH, "0", "Least outer width."),
    _property(Group.BOX, "max-width", v.OPTIONAL_LENGTH, "none", "Greatest outer width."),
    _property(Group.BOX, "min-height", v.LENGTH, "0", "Least outer height."),
    _property(Group.BOX, "max-height", v.OPTIONAL_LENGTH, "none", "Greatest outer height; content that is taller is an error."),
    _property(Group.BOX, "margin", v.sides(v.AUTO_LENGTH), None, "Space around, for one to four sides."),
    _property(Group.BOX, "margin-top", v.AUTO_LENGTH, "0", "Space above; auto pushes to the foot of the page."),
    _property(Group.BOX, "margin-right", v.AUTO_LENGTH, "0", "Space to the right."),
    _property(Group.BOX, "margin-bottom", v.LENGTH, "0", "Space below."),
    _property(Group.BOX, "margin-left", v.AUTO_LENGTH, "0", "Space to the left."),
    _property(Group.BOX, "padding", v.sides(v.LENGTH), None, "Space inside the border, for one to four sides."),
    _property(Group.BOX, "padding-top", v.LENGTH, "0", "Space inside the upper border."),
    _property(Group.BOX, "padding-right", v.LENGTH, "0", "Space inside the right border."),
    _property(Group.BOX, "padding-bottom", v.LENGTH, "0", "Space inside the lower border."),
    _property(Group.BOX, "padding-left", v.LENGTH, "0", "Space inside the left border."),
    _property(Group.BOX, "border", v.BORDER, "none", "Border on all four sides."),
    _property(Group.BOX, "border-top", v.BORDER, "none", "Upper border."),
    _property(Group.BOX, "border-right", v.BORDER, "none", "Right border."),
    _property(Group.BOX, "border-bottom", v.BORDER, "none", "Lower border."),
    _property(Group.BOX, "border-left", v.BORDER, "none", "Left border."),
    _property(Group.BOX, "border-radius", v.LENGTH, "0", "Radius of round corners."),
    _property(Group.BOX, "background", v.BACKGROUND, "transparent", "Colour behind the content."),
    _property(Group.BOX, "background-image", v.IMAGE, None, "Image behind the content, filling the box."),
    _property(Group.BOX, "opacity", v.OPACITY, "1", "How opaque the element is drawn."),
    _property(Group.BOX, "overflow", v.choice("error", "shrink", "hidden", "ellipsis", "visible"), "error", "What happens to content that does not fit: an error, smaller text, cut off, cut off with dots, or drawn beyond."),
    _property(Group.BOX, "min-font-size", v.LEAST_FONT_SIZE, None, "Least size of text that shrinks; 70% of its size unless given."),
    _property(Group.BOX, "rotate", v.ANGLE, "0deg", "Turn, clockwise; multiples of 90 swap width and height."),
)  # fmt: skip

BREAK_PROPERTIES: Final = (
    _property(Group.BREAK, "break-before", _BREAK_BEFORE, "auto", "Whether a page or column begins here; left and right are the sides of an opened book."),
    _property(Group.BREAK, "break-after", _BREAK_AFTER, "auto", "Whether a page or column ends here, or the next block stays near."),
    _property(Group.BREAK, "break-inside", v.choice("auto", "avoid"), "auto", "Whether to keep the element in one piece."),
    replace(_inherited("orphans", v.count(1, 100), "2", "Least lines, or rows of a tbody, before a break."), group=Group.BREAK),
    replace(_inherited("widows", v.count(1, 100), "2", "Least lines, or rows of a tbody, after a break."), group=Group.BREAK),
    replace(_inherited("page", v.NAME, None, "Family of the pages it stands on; another one begins a page."), group=Group.BREAK),
    _property(Group.BREAK, "counter-reset", v.COUNTER_RESET, None, "Begins a page, and counts pages anew from here."),
)  # fmt: skip

POSITIONS: Final = tuple(
    AttributeSpec(side, v.OFFSET, f"Takes the box out of the flow: distance from the {edge} of the nearest box, cell or paper.", group=Group.POSITION)
    for side, edge in (("left", "left edge"), ("top", "upper edge"), ("right", "right edge"), ("bottom", "lower edge"))
)  # fmt: skip

PROPERTIES: Final[Mapping[str, AttributeSpec]] = MappingProxyType(
    {spec.name: spec for spec in (*TEXT_PROPERTIES, *BOX_PROPERTIES, *BREAK_PROPERTIES)}
)


def _without(specs: tuple[AttributeSpec, ...], *names: str) -> tuple[AttributeSpec, ...]:
    return tuple(spec for spec in specs if spec.name not in names)


def _only(*names: str) -> tuple[AttributeSpec, ...]:
    return tuple(PROPERTIES[name] for name in names)


# Properties that have no effect on an element are not declared for it: a margin on a cell is a
# finding, not a margin that nobody sees.
_TEXT: Final = _without(TEXT_PROPERTIES, "vertical-align")
_CHARACTERS: Final = (
    *_only("font-family", "font-size", "font-weight", "font-style", "color", "letter-spacing"),
    *_only("text-transform", "text-decoration"),
    replace(PROPERTIES["vertical-align"], kind=v.RISE, default="0", doc="Sub, super, or a rise."),
)
_CELL_TEXT: Final = (
    *_TEXT,
    replace(PROPERTIES["vertical-align"], kind=v.CELL_ALIGN, doc="Where the content stands."),
)
_BORDERS: Final = _only("border", "border-top", "border-right", "border-bottom", "border-left")
_PADDINGS: Final = _only(
    "padding", "padding-top", "padding-right", "padding-bottom", "padding-left"
)
_CELL_BOX: Final = (*_only("height", "min-height", "background"), *_PADDINGS, *_BORDERS)
_ROW_BOX: Final = (*_only("height", "min-height", "background"), *_BORDERS)
_ROWS_BOX: Final = _only("background", "border", "border-top", "border-bottom")
_PICTURE_BOX: Final = _without(
    BOX_PROPERTIES, "min-width", "min-height", "overflow", "min-font-size"
)
_RULE_BOX: Final = _without(BOX_PROPERTIES, "max-height", "overflow", "min-font-size")
# What is evaluated page by page has no size to try out before its page is known.
_RUNNING_BOX: Final = (
    *_without(BOX_PROPERTIES, "overflow", "min-font-size"),
    replace(PROPERTIES["overflow"], kind=v.choice("error", "hidden", "ellipsis", "visible")),
)
_SOLID_BREAKS: Final = _only("break-before", "break-after", "page", "counter-reset")
_ROW_BREAKS: Final = _only("break-before", "break-after", "orphans", "widows")
_COLUMNS: Final = (
    _attribute("columns", v.count(1, 12), "How many columns the content stands in.", "1"),
    _attribute("column-gap", v.LENGTH, "Space between columns.", "5mm"),
)
_FINAL: Final = replace(
    _attribute("final", v.BOOLEAN, "Refuses to be replaced by a payload.", "false"), is_fixed=True
)
_LIST_STYLE: Final = v.choice("disc", "circle", "square", "dash", "none")
_NUMBER_STYLE: Final = v.choice(
    "decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman"
)
_ANY_LIST_STYLE: Final = v.choice(*_LIST_STYLE.choices, *_NUMBER_STYLE.choices)
_BARCODE_TYPE: Final = v.choice(
    *("qr", "datamatrix", "gs1-datamatrix", "code128", "gs1-128", "code39", "codabar"),
    *("ean13", "ean8", "upca", "itf14", "epc-qr"),
)
_PIECES: Final = v.choice("all", "first", "rest", "last", "not-last")
_STRIPE: Final = _attribute("stripe", v.BACKGROUNDS, "Colours that body rows take in turn.")
_CELL_PADDING: Final = _attribute(
    "cell-padding", v.sides(v.LENGTH), "Padding of all cells.", "1mm 1.5mm"
)


# --- content classes ------------------------------------------------------------------------------------

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE: Final = frozenset(
    ("span", "b", "i", "u", "s", "sub", "sup", "code", "a", "br", "img", "barcode", "group")
)
BLOCKS: Final = frozenset(
    {
        "p",
        *_HEADINGS,
        "div",
        "row",
        "grid",
        "box",
        "ul",
        "ol",
        "table",
        "img",
        "hr",
        "pre",
        "blockquote",
    }
    | {"barcode", "markdown", "insert", "break", "group", "let", "assert"}
)
_ROWS: Final = frozenset(("tr", "group"))


# --- elements -------------------------------------------------------------------------------------------


def _element(
    name: str,
    doc: str,
    content: Content,
    *attributes: AttributeSpec | tuple[AttributeSpec, ...],
    children: Iterable[str] = (),
    example: str = "",
) -> ElementSpec:
    """Compose an element; an own attribute replaces one of the same name from a group.

    A worked example of examples.py stands before a short one given here.
    """
    flat: dict[str, AttributeSpec] = {}
    for entry in attributes:
        for spec in (entry,) if isinstance(entry, AttributeSpec) else entry:
            if spec.name not in flat:
                flat[spec.name] = spec
    inside = frozenset(children)
    if content is Content.INLINE:
        inside |= INLINE
    if content is Content.BLOCKS:
        inside |= BLOCKS | INLINE
    return ElementSpec(
        name, doc, MappingProxyType(flat), content, inside, EXAMPLES.get(name, example)
    )


def _fixed(*specs: AttributeSpec) -> tuple[AttributeSpec, ...]:
    return tuple(replace(spec, is_fixed=True) for spec in specs)


_ALL: Final = (COMMON, _TEXT, BOX_PROPERTIES, BREAK_PROPERTIES)
# What is printed again and again is no place to lead to, and bar codes and pictures have no text.
_UNNAMED: Final = _without(COMMON, "id")
_UNSPOKEN: Final = _without(COMMON, "lang")
_BOXED: Final = (_UNNAMED, _TEXT, _RUNNING_BOX)

_STRUCTURE: Final = (
    _element(
        "document", "The root: what the document is, and everything in it.", Content.LISTED,
        *_fixed(_attribute("version", v.choice("1"), "Version of the language.", "1")),
        _attribute("title", v.TEXT, "Title, shown by viewers."),
        _attribute("author", v.TEXT, "Author, in the file's information."),
        _attribute("subject", v.TEXT, "Subject, in the file's information."),
        _attribute("keywords", v.TEXT, "Keywords, in the file's information."),
        _attribute("lang", v.LANG, "Language of the document.", "en"),
        _attribute("timezone", v.TIMEZONE, "Time zone in which instants are shown.", "UTC"),
        _attribute("currency", v.CURRENCY, "Currency of amounts that name none."),
        _attribute("filename", v.TEXT, "File name offered for download."),
        children=("data", "style", "color", "page", "flow", "security", "watermark"),
    ),
    _element(
        "data", "The data section: defaults, types, computed values, conditions.", Content.LISTED,
        _FINAL,
        children=("json", "field", "dataset", "let", "assert"),
    ),
    _element(
        "json", "The default values, as one JSON object.", Content.TEXT,
    ),
    _element(
        "field", "Declares one value of the data: its type and what it must satisfy.", Content.EMPTY,
        *_fixed(
            _required("name", v.DATA_PATH, "Dotted path of the value."),
            _attribute("type", v.choice("string", "integer", "decimal", "boolean", "date", "datetime", "time", "image", "markdown", "json"), "Type of the value.", "string"),
            _attribute("label", v.TEXT, "Name for people; also a column's heading in CSV."),
            _attribute("required", v.BOOLEAN, "Whether an empty value is an error.", "false"),
            _attribute("pattern", v.PATTERN, "Regular expression the whole text must match."),
            _attribute("values", v.WORD_LIST, "The only values allowed."),
            _attribute("min", v.TEXT, "Least value, of the field's type."),
            _attribute("max", v.TEXT, "Greatest value, of the field's type."),
            _attribute("maxlength", v.count(1, 1_000_000), "Greatest number of characters."),
            _attribute("format", v.TEXT, "Pattern of dates in CSV, such as dd.MM.yyyy."),
        ),
        _FINAL,
    ),
    _element(
        "dataset", "Declares a list of records and the fields of each.", Content.LISTED,
        *_fixed(
            _required("name", v.DATA_PATH, "Dotted path of the list."),
            _attribute("label", v.TEXT, "Name for people."),
            _attribute("csv", v.BOOLEAN, "Whether a CSV body becomes this list.", "false"),
            _attribute("header", v.BOOLEAN, "Whether the first CSV row names the columns.", "true"),
            _attribute("delimiter", v.DELIMITER, "Separator of CSV cells; detected unless given."),
            _attribute("decimal", v.choice(".", ","), "Decimal sign of numbers in CSV.", "."),
            _attribute("required", v.BOOLEAN, "Whether an empty list is an error.", "false"),
            _attribute("min-rows", v.count(0, 1_000_000), "Least number of records.", "0"),
            _attribute("max-rows", v.count(0, 1_000_000), "Greatest number of records.", "100000"),
        ),
        _FINAL,
        children=("field",),
    ),
    _element(
        "let", "Names a computed value.", Content.EMPTY,
        *_fixed(_required("name", v.VARIABLE, "Name of the value.")),
        _expression("value", "What it is.", is_required=True),
        _FINAL,
    ),
    _element(
        "assert", "A condition that must hold.", Content.EMPTY,
        _expression("test", "The condition.", is_required=True),
        _attribute("message", v.TEXT, "What to tell when it does not hold."),
        *_fixed(_attribute("severity", v.choice("error", "warning"), "Whether it stops the render.", "error")),
        _without(COMMON, "id", "class"),
    ),
    _element(
        "style", "Properties under a name, or for every element of a tag.", Content.EMPTY,
        *_fixed(
            _attribute("name", v.NAME, "Name for use in class."),
            _attribute("element", v.NAME, "Tag whose elements all have these properties."),
            _attribute("extends", v.NAME, "Another named style this one starts from."),
            _attribute("list-style-type", _ANY_LIST_STYLE, "Markers of lists."),
            _STRIPE,
            _CELL_PADDING,
            *PROPERTIES.values(),
        ),
        _FINAL,
    ),
    _element(
        "color", "Gives a colour a name.", Content.EMPTY,
        *_fixed(
            _required("name", v.NAME, "Name of the colour."),
            _required("value", v.PLAIN_COLOR, "The colour."),
        ),
        _FINAL,
    ),
    _element(
        "page", "A page: paper, margins, header and footer, areas, boxes.", Content.LISTED,
        *_fixed(
            _attribute("name", v.NAME, "Family of pages; a flow or block chooses it.", "default"),
            _attribute("on", v.choice("all", "first", "last", "odd", "even", "rest", "not-last", "blank"), "Pages of the family it is for; it starts from the one for all.", "all"),
        ),
        _attribute("size", v.PAPER, "Paper size.", "A4"),
        _attribute("margin", v.sides(v.LENGTH), "Margins, for one to four sides.", "20mm"),
        _attribute("margin-top", v.LENGTH, "Upper margin."),
        _attribute("margin-right", v.LENGTH, "Right margin."),
        _attribute("margin-bottom", v.LENGTH, "Lower margin."),
        _attribute("margin-left", v.LENGTH, "Left margin."),
        _attribute("background", v.BACKGROUND, "Colour of the whole page.", "transparent"),
        _attribute("background-image", v.IMAGE, "Image over the whole page."),
        _attribute("bleed", v.length(high=MAX_BLEED), "How far the background goes beyond the paper, to be cut off.", "0"),
        _attribute("marks", v.choice("none", "crop"), "Whether marks show where to cut.", "none"),
        _FINAL,
        children=("header", "footer", "area", "box", "watermark"),
    ),
    _element(
        "area", "A rectangle of the page that a flow is poured into; areas of one flow form a chain.", Content.EMPTY,
        *_fixed(_attribute("flow", v.NAME, "Name of the flow.", "body")),
        _COLUMNS,
        _attribute("column-rule", v.BORDER, "Line between columns.", "none"),
        _attribute("overflow", v.choice("continue", "error", "shrink", "hidden"), "Whether what does not fit goes on in the next area, is an error, gets smaller, or is cut off.", "continue"),
        *(replace(spec, doc=f"Distance from the {edge} of the region between header and footer.") for spec, edge in zip(POSITIONS, ("left edge", "upper edge", "right edge", "lower edge"), strict=True)),
        _attribute("width", v.PARTIAL_LENGTH, "Width; up to the edges unless given."),
        _attribute("height", v.PARTIAL_LENGTH, "Height; up to the edges unless given."),
        _attribute("padding", v.sides(v.LENGTH), "Space inside, for one to four sides.", "0"),
    ),
    *(
        _element(
            name, doc, Content.BLOCKS,
            _attribute("max-height", v.PARTIAL_LENGTH, "Greatest height; per cent is of the page.", "40%"),
            *_BOXED,
        )
        for name, doc in (
            ("header", "Stands at the top of every page, inside the margins."),
            ("footer", "Stands at the foot of every page, inside the margins."),
        )
    ),
    _element(
        "flow", "Content; the one named body fills the pages, others fill areas or are inserted.", Content.BLOCKS,
        *_fixed(
            _attribute("name", v.NAME, "Name of the flow.", "body"),
            _attribute("replace", v.choice("allow", "deny"), "Whether a Markdown payload may replace it.", "allow"),
        ),
        _attribute("page", v.NAME, "Family of its pages.", "default"),
        _attribute("max-pages", v.count(1, 100_000), "Greatest number of pages it may fill."),
        _FINAL,
        _TEXT,
    ),
    _element(
        "security", "Encrypts the file and limits what readers may do.", Content.EMPTY,
        _attribute("user-password", v.TEXT, "Needed to open the file."),
        _attribute("owner-password", v.TEXT, "Needed to lift the limits; random unless given."),
        _attribute("encryption", v.choice("aes-256", "aes-128"), "Method.", "aes-256"),
        _attribute("print", v.choice("high", "low", "none"), "Printing.", "high"),
        _attribute("copy", v.BOOLEAN, "Copying text and images.", "true"),
        _attribute("modify", v.BOOLEAN, "Changing the file.", "true"),
        _attribute("annotate", v.BOOLEAN, "Adding notes.", "true"),
        _attribute("fill-forms", v.BOOLEAN, "Filling in forms.", "true"),
        _attribute("assemble", v.BOOLEAN, "Adding, removing and turning pages.", "true"),
        _FINAL,
    ),
    _element(
        "watermark", "A mark across every page, or those of the page it stands in.", Content.EMPTY,
        _required("text", v.TEXT, "What it says."),
        _attribute("layer", v.choice("over", "under"), "Above or below the content.", "over"),
        _attribute("opacity", v.OPACITY, "How opaque it is.", "0.15"),
        _attribute("rotate", v.ANGLE, "Turn, against the clock.", "45deg"),
        _attribute("font-size", v.length(low=0.5, high=2000), "Size; fits the diagonal unless given."),
        _attribute("color", v.COLOR, "Colour.", "grey"),
        _expression("if", "Leaves the mark out unless this holds."),
    ),
)  # fmt: skip

_BLOCK_ELEMENTS: Final = (
    _element("p", "A paragraph.", Content.INLINE, *_ALL),
    *(
        _element(
            name, f"A heading of level {level}; an entry of the outline.", Content.INLINE,
            _attribute("outline", v.BOOLEAN, "Whether the outline lists it.", "true"),
            *_ALL,
        )
        for level, name in enumerate(_HEADINGS, 1)
    ),
    _element(
        "div", "Blocks below each other in a box of their own, or in columns.", Content.BLOCKS,
        _COLUMNS,
        _attribute("column-fill", v.choice("balance", "auto"), "Whether columns end at one height, or fill one after the other.", "balance"),
        *_ALL,
    ),
    _element(
        "row", "Blocks side by side; a child's width is 1fr unless it says otherwise.", Content.BLOCKS,
        _attribute("gap", v.LENGTH, "Space between the blocks.", "5mm"),
        _attribute("align-items", v.choice("start", "center", "end"), "How blocks of different height stand.", "start"),
        *_ALL,
    ),
    _element(
        "grid", "Cells of fixed size, filled in order and continued on further pages; each block in it takes one.", Content.BLOCKS,
        _required("grid-template-columns", v.TRACKS, "Widths of the columns."),
        _attribute("grid-auto-rows", v.AUTO_LENGTH, "Height of the rows; auto is by content.", "auto"),
        _attribute("grid-auto-flow", v.choice("row", "column"), "Whether the next cell is the one beside, or the one below.", "row"),
        _attribute("column-gap", v.LENGTH, "Space between columns.", "0"),
        _attribute("row-gap", v.LENGTH, "Space between rows.", "0"),
        _attribute("skip", v.count(0, 10_000), "How many cells stay empty before the first.", "0"),
        COMMON, _TEXT, BOX_PROPERTIES, _without(BREAK_PROPERTIES, "orphans", "widows"),
    ),
    _element(
        "box", "A box of fixed size; with an offset it stands out of the flow.", Content.BLOCKS,
        POSITIONS,
        _attribute("layer", v.choice("under", "over"), "On pages, whether it lies under or over the text.", "under"),
        *_ALL,
    ),
    _element(
        "ul", "A bulleted list.", Content.LISTED,
        _attribute("list-style-type", _LIST_STYLE, "Marker.", "disc"), *_ALL,
        children=("li", "group"),
    ),
    _element(
        "ol", "A numbered list.", Content.LISTED,
        _attribute("list-style-type", _NUMBER_STYLE, "Kind of numbers.", "decimal"),
        _attribute("start", v.count(-999_999, 999_999), "First number.", "1"), *_ALL,
        children=("li", "group"),
    ),
    _element("li", "An item of a list.", Content.BLOCKS, *_ALL),
    _element(
        "img", "An image.", Content.EMPTY,
        _required("src", v.IMAGE, "Stored name or data address."),
        _attribute("alt", v.TEXT, "What the image shows; empty for decoration."),
        _attribute("object-fit", v.choice("contain", "cover", "fill", "none"), "How it fills its box.", "contain"),
        _attribute("object-position", v.POSITION, "Where it stands in its box: left, center or right, top, center or bottom, lengths, or per cent of the free room.", "center center"),
        _attribute("optional", v.BOOLEAN, "Whether a missing image is left out with a warning.", "false"),
        _UNSPOKEN, _PICTURE_BOX, _SOLID_BREAKS,
    ),
    _element("hr", "A rule across.", Content.EMPTY, _UNSPOKEN, _RULE_BOX, _SOLID_BREAKS),
    _element("pre", "Text whose spaces and line ends are kept.", Content.INLINE, *_ALL),
    _element(
        "blockquote", "A quotation.", Content.BLOCKS, *_ALL,
    ),
    _element(
        "barcode", "A bar code.", Content.EMPTY,
        _required("type", _BARCODE_TYPE, "Kind of code."),
        _required("value", v.TEXT, "Text to encode; for epc-qr an object of payment data."),
        _attribute("alt", v.TEXT, "What the code holds."),
        _attribute("show-text", v.BOOLEAN, "Whether the value is written below the code.", "false"),
        _attribute("level", v.choice("L", "M", "Q", "H"), "Error correction of QR codes.", "M"),
        _attribute("module", v.length(low=0.1, high=100), "Width of one module; fills the box unless given."),
        _attribute("quiet", v.BOOLEAN, "Whether an empty border is kept around the code.", "true"),
        _UNSPOKEN, _PICTURE_BOX, _SOLID_BREAKS,
    ),
    _element(
        "markdown", "Markdown: written inside, or the text that a value holds.", Content.TEXT,
        _expression("value", "The text; given instead of writing it inside."),
        *_ALL,
    ),
    _element(
        "insert", "The content of a named flow, in place.", Content.EMPTY,
        _required("flow", v.NAME, "Name of the flow."),
        COMMON, BREAK_PROPERTIES,
    ),
    _element(
        "break", "A page break, or with need one that is made only if less is left.", Content.EMPTY,
        _attribute("to", v.choice("page", "column", "left", "right", "area"), "Where to go on.", "page"),
        _attribute("need", v.LENGTH, "Height that must be left, or the break is made."),
        _without(COMMON, "class", "lang"),
    ),
    _element(
        "group", "No box: carries for and if for several elements.", Content.PARENT, COMMON,
    ),
)  # fmt: skip

_TABLE_ELEMENTS: Final = (
    _element(
        "table", "A table, as wide as its place unless it says otherwise.", Content.LISTED,
        _STRIPE, _CELL_PADDING, *_ALL,
        children=("caption", "col", "total", "thead", "tbody", "tfoot", "tr", "group"),
    ),
    _element(
        "caption", "The title of a table, above it.", Content.INLINE,
        *_fixed(_attribute("on", _PIECES, "Pieces of a broken table that it stands on.", "first")),
        COMMON, _TEXT, _without(BOX_PROPERTIES, "margin", "margin-top", "margin-left", "margin-right", "width", "height", "min-width", "max-width", "max-height", "overflow", "min-font-size", "rotate"),
    ),
    _element(
        "col", "A column: its width and the defaults of its cells.", Content.EMPTY,
        _attribute("width", v.TRACK, "Width; auto is by content.", "auto"),
        _attribute("span", v.count(1, 200), "How many columns this one stands for.", "1"),
        _only("min-width", "max-width"), _without(COMMON, "id", "lang"), _CELL_TEXT, _CELL_BOX,
    ),
    _element(
        "total", "A value that body rows add up to, carried from piece to piece of the table.", Content.EMPTY,
        *_fixed(
            _required("name", v.VARIABLE, "Name of the total; totals.name.all is the whole table's."),
            _attribute("mode", v.choice("sum", "last", "count", "min", "max"), "What becomes of the values; count counts the rows for which value holds.", "sum"),
        ),
        _expression("value", "What a counted row adds: of rows that carry for, or count."),
        _expression("start", "What is there before the first row; 0 for sums, nothing for last, min and max."),
    ),
    _element(
        "thead", "Head rows; of several that match a piece each is printed, in order.", Content.LISTED,
        *_fixed(_attribute("on", _PIECES, "Pieces of a broken table that they stand on.", "all")),
        _UNNAMED, _TEXT, _ROWS_BOX, children=_ROWS,
    ),
    _element(
        "tbody", "Body rows.", Content.LISTED, _UNNAMED, _TEXT, _ROWS_BOX, _without(BREAK_PROPERTIES, "page", "counter-reset"), children=_ROWS,
    ),
    _element(
        "tfoot", "Foot rows; of several that match a piece each is printed, in order.", Content.LISTED,
        *_fixed(_attribute("on", _PIECES, "Pieces of a broken table that they stand on.", "last")),
        _UNNAMED, _TEXT, _ROWS_BOX, children=_ROWS,
    ),
    _element(
        "tr", "A row; it is split only if it is taller than a page.", Content.LISTED,
        *_fixed(
            _attribute("repeat", v.BOOLEAN, "Whether it heads its tbody, and is printed again on each piece where that goes on.", "false"),
            _attribute("count", v.BOOLEAN, "Whether totals count it; rows that carry for are counted."),
        ),
        COMMON, _TEXT, _ROW_BOX, _ROW_BREAKS, children=("th", "td", "group"),
    ),
    *(
        _element(
            name, doc, Content.BLOCKS,
            _attribute("colspan", v.count(1, 200), "How many columns it spans.", "1"),
            _attribute("rowspan", v.count(1, 1000), "How many rows it spans; they stay on one page.", "1"),
            COMMON, _CELL_TEXT, _CELL_BOX,
        )
        for name, doc in (("td", "A cell."), ("th", "A head cell."))
    ),
)  # fmt: skip

_INLINE_ELEMENTS: Final = (
    _element(
        "span", "Text with properties of its own.", Content.INLINE, COMMON, _CHARACTERS,
        PROPERTIES["background"],
    ),
    *(
        _element(name, doc, Content.INLINE, COMMON, _CHARACTERS)
        for name, doc in (
            ("b", "Bold text."), ("i", "Italic text."), ("u", "Underlined text."), ("s", "Struck-through text."),
            ("sub", "Text set low and small."), ("sup", "Text set high and small."), ("code", "Text in the mono font."),
        )
    ),
    _element(
        "a", "A link.", Content.INLINE,
        _required("href", v.LINK, "Address, or # and the id of an element."),
        COMMON, _CHARACTERS,
    ),
    _element("br", "A line break.", Content.EMPTY),
)  # fmt: skip

ELEMENTS: Final[Mapping[str, ElementSpec]] = MappingProxyType(
    {
        spec.name: spec
        for spec in (*_STRUCTURE, *_BLOCK_ELEMENTS, *_TABLE_ELEMENTS, *_INLINE_ELEMENTS)
    }
)
