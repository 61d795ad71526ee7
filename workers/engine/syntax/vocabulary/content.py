"""The elements of content: blocks, lines, tables, charts and forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from workers.engine.barcodes import SYMBOLOGIES
from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.address_windows import ADDRESS_WINDOWS
from workers.engine.syntax.names import FIELD_NAME
from workers.engine.syntax.vocabulary import properties as p
from workers.engine.syntax.vocabulary.specs import (
    HEADINGS,
    IN_PARTS,
    ROWS,
    AttributeSpec,
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    of_types,
    required,
)

_BARCODE_TYPE: Final = v.choice(*SYMBOLOGIES)


BLOCK_ELEMENTS: Final = (
    element("p", "A paragraph.", ContentModel.INLINE, p.TERM, p.PARAGRAPH_PROPERTIES, *p.BLOCK_ATTRIBUTES, p.NUMBER_PROPERTIES),
    *(
        element(
            name, f"A heading of level {level}; an entry of the outline.", ContentModel.INLINE,
            attribute("outline", v.BOOLEAN, "Whether the outline and the contents list it.", "true"),
            p.TERM, *p.BLOCK_ATTRIBUTES, p.NUMBER_PROPERTIES,
        )
        for level, name in enumerate(HEADINGS, 1)
    ),
    element(
        "div", "A box of blocks, in one or more columns.", ContentModel.BLOCKS,
        p.COLUMNS,
    p.ENTRIES,
        attribute("column-fill", v.choice("balance", "auto"), "Whether columns are balanced, or filled one after the other.", "balance"),
        p.IMAGE_PROPERTIES,
        *p.BLOCK_ATTRIBUTES,
    ),
    element(
        "figure", "Content with a caption that counts itself, such as a picture or a chart; it is broken only where it is taller than a page. `ref` to its id shows the number and the text of the caption, `toc of=\"figure\"` lists it. The style `figure-caption` applies to its caption.", ContentModel.BLOCKS,
        attribute("float", v.choice("here", "top", "bottom", "page"), "Where the figure stands: where it is written, at the top or bottom of this page or column or the next, or on a page of its own, between those of the text.", "here"),
        attribute("span", v.choice("column", "columns"), "Width of a figure that floats: that of its column, or of all columns of the area.", "column"),
        attribute("float-within", v.choice("section", "flow"), "How far a figure may float: to the page on which its section ends, or to the end of the flow. A section ends at the next heading of its level or above. No figure floats past a forced page break.", "section"),
        p.COMMON, p.TEXT, p.BOX_PROPERTIES, p.without(p.BREAK_PROPERTIES, "break-inside", "orphans", "widows"),
        children=("caption",),
    ),
    element(
        "row", "Blocks side by side; the default width of a child is 1fr.", ContentModel.BLOCKS,
        attribute("gap", v.LENGTH, "Space between the blocks.", "5mm"),
        attribute("align-items", v.choice("normal", "start", "center", "end", "stretch", "baseline"), "Vertical alignment of blocks of different height; normal is start, with the first baselines of text aligned.", "normal"),
        p.COMMON, p.TEXT, p.BOX_PROPERTIES, p.BREAK_PROPERTIES,
    ),
    element(
        "grid", "A grid of cells, filled in order and continued on further pages; each block in it is one cell.", ContentModel.BLOCKS,
        required("grid-template-columns", v.TRACKS, "Widths of the columns."),
        attribute("grid-auto-rows", v.AUTO_LENGTH, "Height of the rows; auto is by content.", "auto"),
        attribute("grid-auto-flow", v.choice("row", "column"), "Whether cells are filled row by row, or column by column.", "row"),
        attribute("column-gap", v.LENGTH, "Space between columns.", "0"),
        attribute("row-gap", v.LENGTH, "Space between rows.", "0"),
        attribute("skip", v.count(0, 10_000), "Number of cells left empty before the first.", "0"),
        p.COMMON, p.TEXT, p.BOX_PROPERTIES, p.without(p.BREAK_PROPERTIES, "orphans", "widows"),
    ),
    element(
        "box", "A box of fixed size; an offset takes it out of the flow.", ContentModel.BLOCKS,
        p.POSITIONS,
        attribute("layer", v.choice("under", "over"), "In a page: whether it is drawn below or above the text.", "under"),
        *p.BLOCK_ATTRIBUTES,
    ),
    element(
        "ul", "A bulleted list.", ContentModel.LISTED,
        attribute("list-style-type", p.LIST_STYLE, "Marker style.", "disc"), *p.BLOCK_ATTRIBUTES,
        children=("li", "group"),
    ),
    element(
        "ol", "A numbered list.", ContentModel.LISTED,
        attribute("list-style-type", p.NUMBER_STYLE, "Number style.", "decimal"),
        attribute("start", v.count(-999_999, 999_999), "First number.", "1"), *p.BLOCK_ATTRIBUTES,
        children=("li", "group"),
    ),
    element(
        "li", "A list item.", ContentModel.BLOCKS,
        attribute("checked", v.BOOLEAN, "Whether the marker is a ticked or an empty check box."), *p.BLOCK_ATTRIBUTES,
    ),
    element(
        "img", "An image.", ContentModel.EMPTY,
        required("src", v.IMAGE, "Name of a stored image or PDF, https URL, or data URL."),
        attribute("page", v.PDF_PAGE, "Page of a PDF.", "1"),
        attribute("alt", v.TEXT, "Alternative text: what the image shows; empty for decoration."),
        attribute("object-fit", v.choice("contain", "cover", "fill", "none"), "How the image is fitted into its box.", "contain"),
        attribute("object-position", v.POSITION, "Position in its box: left, center or right, top, center or bottom, lengths, or per cent of the free space.", "center center"),
        attribute("optional", v.BOOLEAN, "Whether a missing image is skipped with a warning.", "false"),
        p.COMMON_WITHOUT_LANG, p.PICTURE_BOX, p.without(p.MONOLITHIC_BREAKS, "page"),
    ),
    element("hr", "A horizontal rule.", ContentModel.EMPTY, p.COMMON_WITHOUT_LANG, p.RULE_BOX, p.MONOLITHIC_BREAKS),
    element("pre", "Preformatted text: spaces and line ends are kept.", ContentModel.INLINE, *p.BLOCK_ATTRIBUTES),
    element(
        "blockquote", "A quotation.", ContentModel.BLOCKS, *p.BLOCK_ATTRIBUTES,
    ),
    element(
        "barcode", "A bar code.", ContentModel.EMPTY,
        required("type", _BARCODE_TYPE, "Kind of code."),
        required("value", v.TEXT, "Text to encode; for payment codes (epc-qr, swiss-qr, spayd-qr, hct-qr, upi-qr, pix-qr, zbp-qr, upn-qr) and codes of the law (ksef-qr, ksef-certificate-qr, verifactu-qr, zatca-qr) an object of its data."),
        attribute("alt", v.TEXT, "Alternative text: the content of the code."),
        attribute("show-text", v.BOOLEAN, "Whether the value is printed below the code.", "false"),
        attribute("level", v.choice("L", "M", "Q", "H"), "Error correction of QR codes; Micro QR has L, M and Q.", "M"),
        attribute("correction", v.count(0, 8), "Error correction: level 0 to 8 of pdf417, 1 to 4 (10, 23, 36 and 50 %) of aztec; chosen by size unless given."),
        attribute("columns", v.count(1, 30), "Columns of pdf417, up to 30, or of gs1-databar-expanded-stacked, up to 10; chosen by size unless given."),
        attribute("escapes", v.BOOLEAN, "Whether `\\xHH` in the value is the character of that number, as `\\x1D` for a group separator, and `\\\\` a backslash.", "false"),
        attribute("add-on", v.TEXT, "2 or 5 digits beside ean13, upca or upce."),
        attribute("module", v.length(low=0.1, high=100), "Width of one module; by default the code fills its box."),
        attribute("dpi", v.keywords({"203": 203, "300": 300, "600": 600}), "Dots per inch of the printer: modules are whole numbers of its dots, as many as fit, and lie on its grid, counted from the top left corner of the page (make the height of the paper whole dots for printers that count from below). Not for swiss-qr, maxicode and postal codes, whose size is fixed. A module below the least of its kind, or ink in the quiet zone, is a warning."),
        attribute("bar-width-reduction", v.length(high=10), "What dark bars and modules are drawn narrower by, since ink spreads; with `dpi` the nearest number of whole dots.", "0"),
        attribute("quiet", v.BOOLEAN, "Whether the code has its quiet zone.", "true"),
        p.COMMON_WITHOUT_LANG, p.PICTURE_BOX, p.MONOLITHIC_BREAKS,
    ),
    element(
        "qr-bill", "The payment part and receipt of a Swiss invoice, 210 mm wide and 105 mm high, at the lower edge of the paper. It takes the rest of its page, or the next page if too little is left.", ContentModel.EMPTY,
        replace(expression("value", "The payment: a record as bar codes of type swiss-qr take it."), is_required=True),
        attribute("lang", v.choice("de", "fr", "it", "en"), "Language of the headings; that of the document unless given, or English."),
        attribute("separator", v.choice("scissors", "text", "none"), "Lines to cut along with scissors, or with an instruction above the bill; none for perforated paper.", "scissors"),
        p.without(p.COMMON, "class", "lang"),
    ),
    element(
        "payment-slip", "A payment code in a frame, with its values in words: beneficiary, account, amount and reference, in English, German, French, Italian, Spanish, Dutch or Portuguese by `lang`. An amount that is not given has a box to fill in.", ContentModel.EMPTY,
        *fixed(attribute("type", v.choice("sepa"), "Kind of payment: sepa is a credit transfer in euros (EPC069-12).", "sepa")),
        replace(expression("value", "The payment: a record as bar codes of type epc-qr take it."), is_required=True),
        p.COMMON, p.SLIP_TEXT, p.BOX_PROPERTIES, p.MONOLITHIC_BREAKS,
    ),
    element(
        "address", "The address of a letter where a standard has the window of the envelope, whatever is around it. It takes no room in the flow. Lines that are too long or too many are warnings, and so is anything else that is printed in the window.", ContentModel.EMPTY,
        required("standard", v.choice(*ADDRESS_WINDOWS), "The standard: DIN 5008 form B or A, ISO 269 (DL), SN 010130 with the window on the left or right, BS 4264 (DL), NF Z 11-001, or the US envelope no. 10."),
        expression("value", "The lines of the address: a text, or a list of texts and lists, as in `[buyer.name, buyer.lines]`. Blank lines are left out.", is_required=True),
        attribute("sender", v.TEXT, "The address of the sender in one line above that of the recipient; us-10 has no room for it."),
        expression("remarks", "Lines below that of the sender, such as “Registered”."),
        attribute("fold-marks", v.BOOLEAN, "Whether the edge of the paper has marks where the letter is folded and, by DIN 5008, where it is punched.", "false"),
        p.COMMON, p.SLIP_TEXT, p.only("text-align"),
    ),
    element(
        "markdown", "Markdown: the text inside, or the value of an expression. Code in it wraps, unless a `style` for `pre` changes that; headings have the ids that GitHub generates, and `[text](#id)` links to one.", ContentModel.TEXT,
        expression("value", "The Markdown text, instead of text inside."),
        p.IMAGE_PROPERTIES,
        *p.BLOCK_ATTRIBUTES,
    ),
    element(
        "insert", "Inserts the content of a named flow.", ContentModel.EMPTY,
        required("flow", v.NAME, "Name of the flow."),
        p.COMMON, p.BREAK_PROPERTIES,
    ),
    element(
        "break", "A page break; with `need` a conditional one.", ContentModel.EMPTY,
        attribute("to", v.choice("page", "column", "left", "right", "area"), "Where the content continues.", "page"),
        attribute("need", v.LENGTH, "Breaks only if less than this height is left."),
        p.without(p.COMMON, "class", "lang"),
    ),
    element(
        "toc", "A table of contents: the headings of the document, or the captions of its tables or figures, each with its number and page. The styles `toc-1` to `toc-6` apply to its levels.", ContentModel.EMPTY,
        attribute("levels", n.LEVELS, "Levels of headings to list.", "1-3"),
        attribute("of", v.choice("headings", "table", "figure"), "What to list: headings, or the captions of tables or of figures.", "headings"),
        attribute("leader", v.choice("dot", "line", "none"), "Leader between an entry and its page number.", "dot"),
        p.COMMON_WITHOUT_LANG, p.ENTRIES, p.BOX_PROPERTIES, p.BREAK_PROPERTIES,
    ),
    element(
        "index", "An index of the terms of `mark` elements with their pages, in the alphabetical order of the language. The styles `index-1` to `index-3` apply to its levels, and `index-letter` to the first entry of each letter.", ContentModel.EMPTY,
        p.COMMON, p.ENTRIES, p.BOX_PROPERTIES, p.BREAK_PROPERTIES,
    ),
    element(
        "group", "Applies `for` and `if` to several elements; it has no box.", ContentModel.TRANSPARENT, p.COMMON,
    ),
    element(
        "else", "The alternative to the element directly before it, used if the `if` of that element is false. No text is allowed between the two.", ContentModel.TRANSPARENT,
    ),
    element(
        "use", "Inserts a `part`; every other attribute is an argument. A value that is exactly one `{{ }}` keeps its type, so that lists and records can be passed. The content fills the `slot` of the part, must be allowed there, and uses the names in scope at the `use`.", ContentModel.BLOCKS,
        *fixed(required("part", v.NAME, "Name of the part.")),
        p.without(p.COMMON, "id", "class", "lang"),
        children=IN_PARTS, accepts_arguments=True,
    ),
    element(
        "slot", "In a `part`, the position of the content of its `use`; its own content is the default if the `use` is empty.", ContentModel.TRANSPARENT,
    ),
)  # fmt: skip


INLINE_ELEMENTS: Final = (
    element(
        "span", "Inline text with its own properties.", ContentModel.INLINE, p.TERM, p.COMMON, p.INLINE_TEXT,
        p.PROPERTIES["background"],
    ),
    *(
        element(name, doc, ContentModel.INLINE, p.TERM, p.COMMON, p.INLINE_TEXT)
        for name, doc in (
            ("b", "Bold text."), ("i", "Italic text."), ("u", "Underlined text."), ("s", "Struck-through text."),
            ("sub", "Subscript."), ("sup", "Superscript."), ("code", "Text in the monospaced font."),
            ("bdi", "Text set apart from the text around it, which it does not reorder; its direction is that of its first letter unless given."),
        )
    ),
    element(
        "a", "A link: its text, and the images, bar codes and charts in it.", ContentModel.INLINE,
        required("href", v.LINK, "URL, or # and the id of an element."),
        p.COMMON, p.INLINE_TEXT,
    ),
    element(
        "ref", "A cross-reference: shows the text, number or page of an element, and links to it. It is not allowed in repeated content.", ContentModel.EMPTY,
        required("to", n.TARGET, "Id of the element; headings of Markdown have one too."),
        attribute("show", v.choice("text", "number", "page"), "What to show.", "text"),
        p.COMMON_WITHOUT_LANG, p.without(p.INLINE_TEXT, "direction"),
    ),
    element(
        "mark", "An index entry: marks a position, or the text inside.", ContentModel.INLINE,
        required("term", n.TERM, "The term, with subterms after commas, up to three levels; `\\,` is a literal comma."),
        p.COMMON, p.INLINE_TEXT,
    ),
    element(
        "running", "Sets a running value from this place on, which [headers, footers and boxes](#pages) of pages show, such as the section or the customer of a page. It is not drawn.", ContentModel.EMPTY,
        *fixed(required("name", v.VARIABLE, "Name of the value.")),
        expression("value", "The value, shown as text.", is_required=True),
        p.without(p.COMMON_WITHOUT_LANG, "id", "class"),
    ),
    element("br", "A line break.", ContentModel.EMPTY),
)  # fmt: skip


NOTE_ELEMENTS: Final = (
    element(
        "footnote", "A note, called by its number at this position and placed at the foot of the page or column, or in the next `endnotes` of the flow. The style `footnote-call` applies to the number in the text, `footnote-rule` to the rule above the notes. It is not allowed in repeated content or in another note.", ContentModel.BLOCKS,
        p.NUMBER_PROPERTIES, p.NOTE_PROPERTIES, p.only("margin-bottom", "break-inside", "orphans", "widows"), p.COMMON, p.TEXT,
    ),
    element(
        "endnotes", "Collects the notes of the flow since the last `endnotes`, or since its start, in place of footnotes.", ContentModel.EMPTY,
        p.COMMON_WITHOUT_LANG, p.BOX_PROPERTIES, p.without(p.BREAK_PROPERTIES, "orphans", "widows"),
    ),
)  # fmt: skip


TABLE_ELEMENTS: Final = (
    element(
        "table", "A table; by default as wide as its container.", ContentModel.LISTED,
        p.STRIPE, p.CELL_PADDING, p.COMMON, p.TEXT, p.BOX_PROPERTIES, p.BREAK_PROPERTIES,
        children=("caption", "col", "total", "thead", "tbody", "tfoot", "tr", "group", "let"),
    ),
    element(
        "caption", "The caption of a table or a [figure](#figure), above a table.", ContentModel.INLINE,
        *fixed(attribute("on", p.TABLE_FRAGMENTS, "Fragments of a broken table that have it; not in a figure.", "first")),
        p.COMMON, p.TEXT, p.NUMBER_PROPERTIES, p.without(p.BOX_PROPERTIES, "margin", "margin-top", "margin-left", "margin-right", "width", "height", "min-width", "max-width", "max-height", "overflow", "min-font-size", "rotate"),
    ),
    element(
        "col", "A column: its width and the default properties of its cells.", ContentModel.EMPTY,
        attribute("width", v.TRACK, "Width; auto is by content.", "auto"),
        attribute("span", v.count(1, 200), "Number of columns that it declares.", "1"),
        p.only("min-width", "max-width"), p.without(p.COMMON, "id", "lang"), p.CELL_TEXT, p.CELL_BOX,
    ),
    element(
        "total", "A running total of body rows, carried from fragment to fragment of the table.", ContentModel.EMPTY,
        *fixed(
            required("name", v.VARIABLE, "Name of the total; totals.name.all is the whole table's."),
            attribute("mode", v.choice("sum", "last", "count", "min", "max"), "Aggregation of the values; count counts the rows for which value is true.", "sum"),
        ),
        expression("value", "Value of a counted row; rows with `for` or `count` are counted."),
        expression("start", "Value before the first row; 0 for sums, null for last, min and max."),
    ),
    element(
        "thead", "Header rows; if several match a fragment, all are drawn in order.", ContentModel.LISTED,
        *fixed(attribute("on", p.TABLE_FRAGMENTS, "Fragments of a broken table that have them.", "all")),
        p.COMMON_WITHOUT_ID, p.TEXT, p.ROWS_BOX, children=ROWS,
    ),
    element(
        "tbody", "Body rows.", ContentModel.LISTED, p.COMMON_WITHOUT_ID, p.TEXT, p.ROWS_BOX, p.without(p.BREAK_PROPERTIES, "page", "counter-reset", "counter-set"), children=ROWS,
    ),
    element(
        "tfoot", "Footer rows; if several match a fragment, all are drawn in order.", ContentModel.LISTED,
        *fixed(attribute("on", p.TABLE_FRAGMENTS, "Fragments of a broken table that have them.", "last")),
        p.COMMON_WITHOUT_ID, p.TEXT, p.ROWS_BOX, children=ROWS,
    ),
    element(
        "tr", "A row; it breaks only if it is taller than a page.", ContentModel.LISTED,
        *fixed(
            attribute("repeat", v.BOOLEAN, "Whether it is a header row of its tbody, repeated on each fragment that continues it.", "false"),
            attribute("count", v.BOOLEAN, "Whether totals count it; rows with `for` are counted by default."),
        ),
        p.COMMON, p.TEXT, p.ROW_BOX, p.ROW_BREAKS, children=("th", "td", "group"),
    ),
    *(
        element(
            name, doc, ContentModel.BLOCKS,
            attribute("colspan", v.count(1, 200), "Number of columns that it spans.", "1"),
            attribute("rowspan", v.count(1, 1000), "Number of rows that it spans; they are kept on one page if they fit on one.", "1"),
            *scope,
            p.TERM, p.COMMON, p.CELL_TEXT, p.CELL_BOX,
        )
        for name, doc, scope in (
            ("td", "A cell.", ()),
            ("th", "A header cell.", (fixed(attribute("scope", v.choice("row", "column", "both"), "The cells that it is a header of, in tagged files; unless given, those of its column in a `thead` or a row of `th` only, otherwise those of its row.")),)),
        )
    ),
)  # fmt: skip


class ChartKind(NamedTuple):
    """A type of chart: what it has, and what can be done with it."""

    has_axes: bool = False
    has_x: bool = True  # a value of each record on the category axis, or the name of its slice
    is_round: bool = False  # its values are shares of a whole
    is_filled: bool = False  # with areas, which may be hatched
    can_stack: bool = False
    can_label: bool = True


CHART_KINDS: Final[Mapping[str, ChartKind]] = {
    "column": ChartKind(has_axes=True, is_filled=True, can_stack=True),
    "bar": ChartKind(has_axes=True, is_filled=True, can_stack=True),
    "line": ChartKind(has_axes=True),
    "area": ChartKind(has_axes=True, is_filled=True, can_stack=True),
    "scatter": ChartKind(has_axes=True, can_label=False),
    "pie": ChartKind(is_round=True, is_filled=True),
    "donut": ChartKind(is_round=True, is_filled=True),
    "sparkline": ChartKind(has_x=False, can_label=False),
    "gauge": ChartKind(has_x=False, can_label=False),
}
GAUGE: Final = ("gauge",)
OF_RECORDS: Final = tuple(name for name in CHART_KINDS if name not in GAUGE)
WITH_AXES: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_axes)
_WITH_X: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_x)
_STACKED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_stack)
_FILLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.is_filled)
_LABELLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_label)

CHART_ELEMENTS: Final = (
    element(
        "chart", "A chart: columns, bars, lines, areas or points on axes, or a pie or donut. A sparkline and a gauge are small, for lines of text and table cells. Screen readers find the data of the others as a table, of up to 2,000 cells.", ContentModel.LISTED,
        *fixed(required("type", v.choice(*CHART_KINDS), "Type of chart.")),
        *of_types(OF_RECORDS, AttributeSpec("data", v.LOOP, "The records, and the name of each in x and y; required for all types except gauge.", is_expression=True), are_needed=True),
        *of_types(_WITH_X, expression("x", "Category of a record: a text, number or date on the axis, or the name of a slice. Optional for a sparkline."), are_needed=True),
        *of_types(OF_RECORDS, expression("y", "Value of a record, in a chart of one series; `series` elements declare several.")),
        *of_types(GAUGE, expression("value", "Value of a gauge."), are_needed=True),
        *of_types(GAUGE, expression("max", "Value of a full gauge; 1 unless given.")),
        required("alt", v.TEXT, "Alternative text: what the chart shows; empty for decoration."),
        *of_types(_WITH_X, attribute("title", v.TEXT, "Title, above the chart.")),
        *of_types(_STACKED, attribute("stack", v.choice("none", "sum", "share"), "Whether columns, bars and areas of several series are side by side, stacked, or stacked to 100 %; unless given, sum for areas and none for others.")),
        *of_types(_WITH_X, attribute("legend", v.choice("auto", "none", "top", "bottom"), "Position of the names of series or slices; auto is at the ends of lines and beside slices if there is room, else above.", "auto")),
        attribute("colors", v.COLORS, "Colours of series, or slices, in rotation; by default six that stay distinct for colour-blind readers and in black and white. The default of a sparkline and a gauge is the text colour."),
        *of_types(_FILLED, attribute("hatch", v.BOOLEAN, "Whether areas are hatched too, with one pattern per series.", "false")),
        *of_types(_LABELLED, attribute("values", v.BOOLEAN, "Whether columns, bars and points are labelled with values, and slices and stacks to 100 % with percentages.", "false")),
        p.COMMON, p.only("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color", "letter-spacing", "direction"),
        p.PICTURE_BOX, p.MONOLITHIC_BREAKS,
        children=("series", "axis"),
    ),
    element(
        "series", "One series of a chart.", ContentModel.EMPTY,
        expression("y", "Value of a record; null and an empty text are a gap.", is_required=True),
        attribute("label", v.TEXT, "Name in the legend."),
        attribute("color", v.COLOR, "Colour of the series."),
        p.without(p.COMMON, "id", "class", "lang"),
    ),
    element(
        "axis", "Settings of one axis of a chart; the type of the chart determines which side has values and which categories.", ContentModel.EMPTY,
        *fixed(required("side", v.choice("start", "end", "left", "right", "bottom"), "Side of the chart; start is where lines of text begin.")),
        attribute("title", v.TEXT, "Title of the axis."),
        attribute("min", v.CHART_BOUND, "Lower bound; by the data unless given."),
        attribute("max", v.CHART_BOUND, "Upper bound; by the data unless given."),
        AttributeSpec("format", v.FILTERS, "Format of numbers or dates: a filter with its arguments, as after `|` in an expression.", is_expression=True),
        attribute("ticks", v.count(2, 20), "Approximate number of ticks; by the length of the axis unless given."),
        attribute("grid", v.BOOLEAN, "Whether grid lines are drawn at its ticks; the default is true for values and false for categories."),
        attribute("labels", v.BOOLEAN, "Whether ticks are labelled.", "true"),
    ),
)  # fmt: skip


MAX_LENGTH: Final = 10_000

_NAME: Final = required("name", FIELD_NAME, "Name of the field, unique in the document.")
_LABEL: Final = attribute(
    "label",
    v.TEXT,
    "Accessible name: what screen readers announce, and the tooltip of viewers. It is not drawn.",
)
_REQUIRED: Final = attribute(
    "required", v.BOOLEAN, "Whether a viewer asks for a value before it submits the form.", "false"
)
_READONLY: Final = attribute("readonly", v.BOOLEAN, "Whether the value is fixed.", "false")
_INTERACTIVE: Final = attribute(
    "interactive",
    v.BOOLEAN,
    "Whether it is a field; with false its box and value are drawn only, for filling by hand.",
    "true",
)
_MAX_LENGTH: Final = attribute(
    "max-length", v.count(1, MAX_LENGTH), "Maximum number of characters."
)
_TEXT: Final = (
    *("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color"),
    "direction",
)
_BOX: Final = (
    *p.only(*_TEXT),
    *p.without(p.PICTURE_BOX, "rotate", "opacity", "background-image"),
    *p.MONOLITHIC_BREAKS,
)  # fmt: skip
_ALIGN: Final = p.only("text-align")

FORM_ELEMENTS: Final = (
    element(
        "input", "A form field: a line of text, a checkbox, or a radio button. Radio buttons of one name are a group, of which one is checked.", ContentModel.EMPTY,
        *fixed(attribute("type", v.choice("text", "checkbox", "radio"), "Type of field.", "text")),
        required("name", FIELD_NAME, "Name of the field, unique in the document; radio buttons of a group share it."),
        _LABEL,
        attribute("value", v.TEXT, "Text in the field; for a checkbox and a radio button the value while it is checked, which is yes unless given for a checkbox, and required for a radio button."),
        *of_types(("checkbox", "radio"), attribute("checked", v.BOOLEAN, "Whether a checkbox or radio button is checked.", "false")),
        _REQUIRED, _READONLY, _INTERACTIVE,
        of_types(("text",), _MAX_LENGTH, attribute("comb", v.count(1, 100), "Number of equal cells with one character each, such as 22 for an IBAN; no more characters are accepted.")),
        p.COMMON, of_types(("text",), *_ALIGN), _BOX,
    ),
    element(
        "textarea", "A form field of several lines of text.", ContentModel.EMPTY,
        _NAME, _LABEL,
        attribute("value", v.TEXT, "Text in the field; line ends in data are kept."),
        _REQUIRED, _READONLY, _INTERACTIVE, _MAX_LENGTH,
        p.COMMON, _ALIGN, _BOX,
    ),
    element(
        "select", "A form field with a list of options, of which one is selected.", ContentModel.LISTED,
        _NAME, _LABEL,
        attribute("value", v.TEXT, "Value of the selected option; none is selected unless given."),
        _REQUIRED, _READONLY, _INTERACTIVE, p.COMMON, _ALIGN, _BOX,
        children=("option",),
    ),
    element(
        "option", "An option of a `select`: its text.", ContentModel.TEXT,
        attribute("value", v.TEXT, "Value of the field while the option is selected; its text unless given."),
        p.without(p.COMMON, "id", "class", "lang"),
    ),
    element(
        "signature", "An empty signature field, to be signed in a viewer or by a signing service.", ContentModel.EMPTY,
        _NAME, _LABEL, _REQUIRED, _INTERACTIVE, p.COMMON_WITHOUT_LANG,
        p.without(_BOX, *_TEXT, "padding", "padding-top", "padding-right", "padding-bottom", "padding-left"),
    ),
)  # fmt: skip
