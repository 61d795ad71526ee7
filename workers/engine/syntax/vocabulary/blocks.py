"""The block elements."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.barcodes import SYMBOLOGIES
from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.address_windows import ADDRESS_WINDOWS
from workers.engine.syntax.vocabulary.attribute_sets import (
    BLOCK_ATTRIBUTES,
    COLUMNS,
    COMMON_WITHOUT_LANG,
    ENTRIES,
    LIST_STYLE,
    MONOLITHIC_BREAKS,
    NUMBER_STYLE,
    PICTURE_BOX,
    RULE_BOX,
    SLIP_TEXT,
    TERM,
    TEXT,
    only,
    without,
)
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    IMAGE_PROPERTIES,
    NUMBER_PROPERTIES,
    PARAGRAPH_PROPERTIES,
    POSITIONS,
)
from workers.engine.syntax.vocabulary.specs import (
    HEADINGS,
    IN_PARTS,
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    required,
)

_BARCODE_TYPE: Final = v.choice(*SYMBOLOGIES)


BLOCK_ELEMENTS: Final = (
    element("p", "A paragraph.", ContentModel.INLINE, TERM, PARAGRAPH_PROPERTIES, *BLOCK_ATTRIBUTES, NUMBER_PROPERTIES),
    *(
        element(
            name, f"A heading of level {level}; an entry of the outline.", ContentModel.INLINE,
            attribute("outline", v.BOOLEAN, "Whether the outline and the contents list it.", "true"),
            TERM, *BLOCK_ATTRIBUTES, NUMBER_PROPERTIES,
        )
        for level, name in enumerate(HEADINGS, 1)
    ),
    element(
        "div", "A box of blocks, in one or more columns.", ContentModel.BLOCKS,
        COLUMNS,
    ENTRIES,
        attribute("column-fill", v.choice("balance", "auto"), "Whether columns are balanced, or filled one after the other.", "balance"),
        IMAGE_PROPERTIES,
        *BLOCK_ATTRIBUTES,
    ),
    element(
        "figure", "Content with a caption that counts itself, such as a picture or a chart; it is broken only where it is taller than a page. `ref` to its id shows the number and the text of the caption, `toc of=\"figure\"` lists it. The style `figure-caption` applies to its caption.", ContentModel.BLOCKS,
        attribute("float", v.choice("here", "top", "bottom", "page"), "Where the figure stands: where it is written, at the top or bottom of this page or column or the next, or on a page of its own, between those of the text.", "here"),
        attribute("span", v.choice("column", "columns"), "Width of a figure that floats: that of its column, or of all columns of the area.", "column"),
        attribute("float-within", v.choice("section", "flow"), "How far a figure may float: to the page on which its section ends, or to the end of the flow. A section ends at the next heading of its level or above. No figure floats past a forced page break.", "section"),
        COMMON, TEXT, BOX_PROPERTIES, without(BREAK_PROPERTIES, "break-inside", "orphans", "widows"),
        children=("caption",),
    ),
    element(
        "row", "Blocks side by side; the default width of a child is 1fr.", ContentModel.BLOCKS,
        attribute("gap", v.LENGTH, "Space between the blocks.", "5mm"),
        attribute("align-items", v.choice("normal", "start", "center", "end", "stretch", "baseline"), "Vertical alignment of blocks of different height; normal is start, with the first baselines of text aligned.", "normal"),
        COMMON, TEXT, BOX_PROPERTIES, BREAK_PROPERTIES,
    ),
    element(
        "grid", "A grid of cells, filled in order and continued on further pages; each block in it is one cell.", ContentModel.BLOCKS,
        required("grid-template-columns", v.TRACKS, "Widths of the columns."),
        attribute("grid-auto-rows", v.AUTO_LENGTH, "Height of the rows; auto is by content.", "auto"),
        attribute("grid-auto-flow", v.choice("row", "column"), "Whether cells are filled row by row, or column by column.", "row"),
        attribute("column-gap", v.LENGTH, "Space between columns.", "0"),
        attribute("row-gap", v.LENGTH, "Space between rows.", "0"),
        attribute("skip", v.count(0, 10_000), "Number of cells left empty before the first.", "0"),
        COMMON, TEXT, BOX_PROPERTIES, without(BREAK_PROPERTIES, "orphans", "widows"),
    ),
    element(
        "box", "A box of fixed size; an offset takes it out of the flow.", ContentModel.BLOCKS,
        POSITIONS,
        attribute("layer", v.choice("under", "over"), "In a page: whether it is drawn below or above the text.", "under"),
        *BLOCK_ATTRIBUTES,
    ),
    element(
        "ul", "A bulleted list.", ContentModel.LISTED,
        attribute("list-style-type", LIST_STYLE, "Marker style.", "disc"), *BLOCK_ATTRIBUTES,
        children=("li", "group"),
    ),
    element(
        "ol", "A numbered list.", ContentModel.LISTED,
        attribute("list-style-type", NUMBER_STYLE, "Number style.", "decimal"),
        attribute("start", v.count(-999_999, 999_999), "First number.", "1"), *BLOCK_ATTRIBUTES,
        children=("li", "group"),
    ),
    element(
        "li", "A list item.", ContentModel.BLOCKS,
        attribute("checked", v.BOOLEAN, "Whether the marker is a ticked or an empty check box."), *BLOCK_ATTRIBUTES,
    ),
    element(
        "img", "An image.", ContentModel.EMPTY,
        required("src", v.IMAGE, "Name of a stored image or PDF, https URL, or data URL."),
        attribute("page", v.PDF_PAGE, "Page of a PDF.", "1"),
        attribute("alt", v.TEXT, "Alternative text: what the image shows; empty for decoration."),
        attribute("object-fit", v.choice("contain", "cover", "fill", "none"), "How the image is fitted into its box.", "contain"),
        attribute("object-position", v.POSITION, "Position in its box: left, center or right, top, center or bottom, lengths, or per cent of the free space.", "center center"),
        attribute("optional", v.BOOLEAN, "Whether a missing image is skipped with a warning.", "false"),
        COMMON_WITHOUT_LANG, PICTURE_BOX, without(MONOLITHIC_BREAKS, "page"),
    ),
    element("hr", "A horizontal rule.", ContentModel.EMPTY, COMMON_WITHOUT_LANG, RULE_BOX, MONOLITHIC_BREAKS),
    element("pre", "Preformatted text: spaces and line ends are kept.", ContentModel.INLINE, *BLOCK_ATTRIBUTES),
    element(
        "blockquote", "A quotation.", ContentModel.BLOCKS, *BLOCK_ATTRIBUTES,
    ),
    element(
        "barcode", "A bar code.", ContentModel.EMPTY,
        required("type", _BARCODE_TYPE, "Kind of code."),
        required("value", v.TEXT, "Text to encode; for payment codes (epc-qr, swiss-qr, spayd-qr, hct-qr, upi-qr, pix-qr, zbp-qr, upn-qr) an object of payment data."),
        attribute("alt", v.TEXT, "Alternative text: the content of the code."),
        attribute("show-text", v.BOOLEAN, "Whether the value is printed below the code.", "false"),
        attribute("level", v.choice("L", "M", "Q", "H"), "Error correction of QR codes; Micro QR has L, M and Q.", "M"),
        attribute("correction", v.count(0, 8), "Error correction: level 0 to 8 of pdf417, 1 to 4 (10, 23, 36 and 50 %) of aztec; chosen by size unless given."),
        attribute("columns", v.count(1, 30), "Columns of pdf417, up to 30, or of gs1-databar-expanded-stacked, up to 10; chosen by size unless given."),
        attribute("escapes", v.BOOLEAN, "Whether `\\xHH` in the value is the character of that number, as `\\x1D` for a group separator, and `\\\\` a backslash.", "false"),
        attribute("add-on", v.TEXT, "2 or 5 digits beside ean13, upca or upce."),
        attribute("module", v.length(low=0.1, high=100), "Width of one module; by default the code fills its box."),
        attribute("quiet", v.BOOLEAN, "Whether the code has its quiet zone.", "true"),
        COMMON_WITHOUT_LANG, PICTURE_BOX, MONOLITHIC_BREAKS,
    ),
    element(
        "qr-bill", "The payment part and receipt of a Swiss invoice, 210 mm wide and 105 mm high, at the lower edge of the paper. It takes the rest of its page, or the next page if too little is left.", ContentModel.EMPTY,
        replace(expression("value", "The payment: a record as bar codes of type swiss-qr take it."), is_required=True),
        attribute("lang", v.choice("de", "fr", "it", "en"), "Language of the headings; that of the document unless given, or English."),
        attribute("separator", v.choice("scissors", "text", "none"), "Lines to cut along with scissors, or with an instruction above the bill; none for perforated paper.", "scissors"),
        without(COMMON, "class", "lang"),
    ),
    element(
        "payment-slip", "A payment code in a frame, with its values in words: beneficiary, account, amount and reference, in English, German, French, Italian, Spanish, Dutch or Portuguese by `lang`. An amount that is not given has a box to fill in.", ContentModel.EMPTY,
        *fixed(attribute("type", v.choice("sepa"), "Kind of payment: sepa is a credit transfer in euros (EPC069-12).", "sepa")),
        replace(expression("value", "The payment: a record as bar codes of type epc-qr take it."), is_required=True),
        COMMON, SLIP_TEXT, BOX_PROPERTIES, MONOLITHIC_BREAKS,
    ),
    element(
        "address", "The address of a letter where a standard has the window of the envelope, whatever is around it. It takes no room in the flow. Lines that are too long or too many are warnings, and so is anything else that is printed in the window.", ContentModel.EMPTY,
        required("standard", v.choice(*ADDRESS_WINDOWS), "The standard: DIN 5008 form B or A, ISO 269 (DL), SN 010130 with the window on the left or right, BS 4264 (DL), NF Z 11-001, or the US envelope no. 10."),
        expression("value", "The lines of the address: a text, or a list of texts and lists, as in `[buyer.name, buyer.lines]`. Blank lines are left out.", is_required=True),
        attribute("sender", v.TEXT, "The address of the sender in one line above that of the recipient; us-10 has no room for it."),
        expression("remarks", "Lines below that of the sender, such as “Registered”."),
        attribute("fold-marks", v.BOOLEAN, "Whether the edge of the paper has marks where the letter is folded and, by DIN 5008, where it is punched.", "false"),
        COMMON, SLIP_TEXT, only("text-align"),
    ),
    element(
        "markdown", "Markdown: the text inside, or the value of an expression. Code in it wraps, unless a `style` for `pre` changes that; headings have the ids that GitHub generates, and `[text](#id)` links to one.", ContentModel.TEXT,
        expression("value", "The Markdown text, instead of text inside."),
        IMAGE_PROPERTIES,
        *BLOCK_ATTRIBUTES,
    ),
    element(
        "insert", "Inserts the content of a named flow.", ContentModel.EMPTY,
        required("flow", v.NAME, "Name of the flow."),
        COMMON, BREAK_PROPERTIES,
    ),
    element(
        "break", "A page break; with `need` a conditional one.", ContentModel.EMPTY,
        attribute("to", v.choice("page", "column", "left", "right", "area"), "Where the content continues.", "page"),
        attribute("need", v.LENGTH, "Breaks only if less than this height is left."),
        without(COMMON, "class", "lang"),
    ),
    element(
        "toc", "A table of contents: the headings of the document, or the captions of its tables or figures, each with its number and page. The styles `toc-1` to `toc-6` apply to its levels.", ContentModel.EMPTY,
        attribute("levels", n.LEVELS, "Levels of headings to list.", "1-3"),
        attribute("of", v.choice("headings", "table", "figure"), "What to list: headings, or the captions of tables or of figures.", "headings"),
        attribute("leader", v.choice("dot", "line", "none"), "Leader between an entry and its page number.", "dot"),
        COMMON_WITHOUT_LANG, ENTRIES, BOX_PROPERTIES, BREAK_PROPERTIES,
    ),
    element(
        "index", "An index of the terms of `mark` elements with their pages, in the alphabetical order of the language. The styles `index-1` to `index-3` apply to its levels, and `index-letter` to the first entry of each letter.", ContentModel.EMPTY,
        COMMON, ENTRIES, BOX_PROPERTIES, BREAK_PROPERTIES,
    ),
    element(
        "group", "Applies `for` and `if` to several elements; it has no box.", ContentModel.TRANSPARENT, COMMON,
    ),
    element(
        "else", "The alternative to the element directly before it, used if the `if` of that element is false. No text is allowed between the two.", ContentModel.TRANSPARENT,
    ),
    element(
        "use", "Inserts a `part`; every other attribute is an argument. A value that is exactly one `{{ }}` keeps its type, so that lists and records can be passed. The content fills the `slot` of the part, must be allowed there, and uses the names in scope at the `use`.", ContentModel.BLOCKS,
        *fixed(required("part", v.NAME, "Name of the part.")),
        without(COMMON, "id", "class", "lang"),
        children=IN_PARTS, accepts_arguments=True,
    ),
    element(
        "slot", "In a `part`, the position of the content of its `use`; its own content is the default if the `use` is empty.", ContentModel.TRANSPARENT,
    ),
)  # fmt: skip
