"""The elements that stand below each other."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.choices import (
    ALL,
    COLUMNS,
    ENTRIES,
    LIST_STYLE,
    NUMBER_STYLE,
    PICTURE_BOX,
    RULE_BOX,
    SOLID_BREAKS,
    TEXT,
    UNSPOKEN,
    without,
)
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NUMBER_PROPERTIES,
    POSITIONS,
)
from workers.engine.syntax.vocabulary.specs import (
    HEADINGS,
    Content,
    attribute,
    element,
    expression,
    required,
)

BARCODE_TYPES: Final = (
    *("qr", "micro-qr", "epc-qr", "swiss-qr", "datamatrix", "gs1-datamatrix", "aztec", "pdf417"),
    *("maxicode", "code128", "gs1-128", "code39", "codabar", "ean13", "ean8", "upca", "upce"),
    *("itf14", "gs1-databar", "gs1-databar-stacked", "gs1-databar-stacked-omni"),
    *("gs1-databar-limited", "gs1-databar-expanded", "gs1-databar-expanded-stacked"),
)
_BARCODE_TYPE: Final = v.choice(*BARCODE_TYPES)


BLOCK_ELEMENTS: Final = (
    element("p", "A paragraph.", Content.INLINE, *ALL, NUMBER_PROPERTIES),
    *(
        element(
            name, f"A heading of level {level}; an entry of the outline.", Content.INLINE,
            attribute("outline", v.BOOLEAN, "Whether the outline and the contents list it.", "true"),
            *ALL, NUMBER_PROPERTIES,
        )
        for level, name in enumerate(HEADINGS, 1)
    ),
    element(
        "div", "Blocks below each other in a box of their own, or in columns.", Content.BLOCKS,
        COLUMNS,
    ENTRIES,
        attribute("column-fill", v.choice("balance", "auto"), "Whether columns end at one height, or fill one after the other.", "balance"),
        *ALL,
    ),
    element(
        "row", "Blocks side by side; a child's width is 1fr unless it says otherwise.", Content.BLOCKS,
        attribute("gap", v.LENGTH, "Space between the blocks.", "5mm"),
        attribute("align-items", v.choice("normal", "start", "center", "end", "stretch", "baseline"), "How blocks of different height stand; normal is start, with text beside text on one baseline.", "normal"),
        *ALL,
    ),
    element(
        "grid", "Cells of fixed size, filled in order and continued on further pages; each block in it takes one.", Content.BLOCKS,
        required("grid-template-columns", v.TRACKS, "Widths of the columns."),
        attribute("grid-auto-rows", v.AUTO_LENGTH, "Height of the rows; auto is by content.", "auto"),
        attribute("grid-auto-flow", v.choice("row", "column"), "Whether the next cell is the one beside, or the one below.", "row"),
        attribute("column-gap", v.LENGTH, "Space between columns.", "0"),
        attribute("row-gap", v.LENGTH, "Space between rows.", "0"),
        attribute("skip", v.count(0, 10_000), "How many cells stay empty before the first.", "0"),
        COMMON, TEXT, BOX_PROPERTIES, without(BREAK_PROPERTIES, "orphans", "widows"),
    ),
    element(
        "box", "A box of fixed size; with an offset it stands out of the flow.", Content.BLOCKS,
        POSITIONS,
        attribute("layer", v.choice("under", "over"), "On pages, whether it lies under or over the text.", "under"),
        *ALL,
    ),
    element(
        "ul", "A bulleted list.", Content.LISTED,
        attribute("list-style-type", LIST_STYLE, "Marker.", "disc"), *ALL,
        children=("li", "group"),
    ),
    element(
        "ol", "A numbered list.", Content.LISTED,
        attribute("list-style-type", NUMBER_STYLE, "Kind of numbers.", "decimal"),
        attribute("start", v.count(-999_999, 999_999), "First number.", "1"), *ALL,
        children=("li", "group"),
    ),
    element(
        "li", "An item of a list.", Content.BLOCKS,
        attribute("checked", v.BOOLEAN, "Draws a check box in place of the marker, with a tick or empty."), *ALL,
    ),
    element(
        "img", "An image.", Content.EMPTY,
        required("src", v.IMAGE, "Stored name, https address or data address."),
        attribute("alt", v.TEXT, "What the image shows; empty for decoration."),
        attribute("object-fit", v.choice("contain", "cover", "fill", "none"), "How it fills its box.", "contain"),
        attribute("object-position", v.POSITION, "Where it stands in its box: left, center or right, top, center or bottom, lengths, or per cent of the free room.", "center center"),
        attribute("optional", v.BOOLEAN, "Whether a missing image is left out with a warning.", "false"),
        UNSPOKEN, PICTURE_BOX, SOLID_BREAKS,
    ),
    element("hr", "A rule across.", Content.EMPTY, UNSPOKEN, RULE_BOX, SOLID_BREAKS),
    element("pre", "Text whose spaces and line ends are kept.", Content.INLINE, *ALL),
    element(
        "blockquote", "A quotation.", Content.BLOCKS, *ALL,
    ),
    element(
        "barcode", "A bar code.", Content.EMPTY,
        required("type", _BARCODE_TYPE, "Kind of code."),
        required("value", v.TEXT, "Text to encode; for epc-qr and swiss-qr an object of payment data."),
        attribute("alt", v.TEXT, "What the code holds."),
        attribute("show-text", v.BOOLEAN, "Whether the value is written below the code.", "false"),
        attribute("level", v.choice("L", "M", "Q", "H"), "Error correction of QR codes; Micro QR has L, M and Q.", "M"),
        attribute("correction", v.count(0, 8), "Error correction: level 0 to 8 of pdf417, 1 to 4 (10, 23, 36 and 50 %) of aztec; chosen by size unless given."),
        attribute("columns", v.count(1, 30), "Columns of pdf417, up to 30, or of gs1-databar-expanded-stacked, up to 10; chosen by size unless given."),
        attribute("escapes", v.BOOLEAN, "Whether `\\xHH` in the value is the character of that number, as `\\x1D` for a group separator, and `\\\\` a backslash.", "false"),
        attribute("add-on", v.TEXT, "2 or 5 digits beside ean13, upca or upce."),
        attribute("module", v.length(low=0.1, high=100), "Width of one module; fills the box unless given."),
        attribute("quiet", v.BOOLEAN, "Whether an empty border is kept around the code.", "true"),
        UNSPOKEN, PICTURE_BOX, SOLID_BREAKS,
    ),
    element(
        "markdown", "Markdown: written inside, or the text that a value holds. Code in it wraps, unless a `style` for `pre` says otherwise; headings have the ids that GitHub gives them, and `[text](#id)` links to one.", Content.TEXT,
        expression("value", "The text; given instead of writing it inside."),
        *ALL,
    ),
    element(
        "insert", "The content of a named flow, in place.", Content.EMPTY,
        required("flow", v.NAME, "Name of the flow."),
        COMMON, BREAK_PROPERTIES,
    ),
    element(
        "break", "A page break, or with need one that is made only if less is left.", Content.EMPTY,
        attribute("to", v.choice("page", "column", "left", "right", "area"), "Where to go on.", "page"),
        attribute("need", v.LENGTH, "Height that must be left, or the break is made."),
        without(COMMON, "class", "lang"),
    ),
    element(
        "toc", "Contents: the headings of the document, or the captions of its tables, each with its number and page. The styles `toc-1` to `toc-6` are those of its levels.", Content.EMPTY,
        attribute("levels", n.LEVELS, "Levels of headings that it lists.", "1-3"),
        attribute("of", v.choice("headings", "table"), "What it lists; the titles of tables are their captions.", "headings"),
        attribute("leader", v.choice("dot", "line", "none"), "What leads from an entry to its page.", "dot"),
        UNSPOKEN, ENTRIES, BOX_PROPERTIES, BREAK_PROPERTIES,
    ),
    element(
        "index", "An index of the terms that `mark` elements name, in the order of the language's letters, with pages. The styles `index-1` to `index-3` are those of its levels, and `index-letter` lies over the first entry of a letter.", Content.EMPTY,
        COMMON, ENTRIES, BOX_PROPERTIES, BREAK_PROPERTIES,
    ),
    element(
        "group", "No box: carries for and if for several elements.", Content.PARENT, COMMON,
    ),
)  # fmt: skip
