"""The elements outside the text: data, styles, pages, flows, security, watermarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.syntax import files
from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.choices import (
    BOXED,
    CELL_PADDING,
    COLUMNS,
    FINAL,
    LIST_STYLE,
    NUMBER_STYLE,
    STRIPE,
    TEXT,
    without,
)
from workers.engine.syntax.vocabulary.properties import COMMON, POSITIONS, PROPERTIES
from workers.engine.syntax.vocabulary.specs import (
    Content,
    attribute,
    element,
    expression,
    fixed,
    required,
)
from workers.engine.units import mm

MAX_BLEED: Final = mm(50)

_ANY_LIST_STYLE: Final = v.choice(*LIST_STYLE.choices, *NUMBER_STYLE.choices)


STRUCTURE: Final = (
    element(
        "document", "The root: what the document is, and everything in it.", Content.LISTED,
        *fixed(attribute("version", v.choice("1"), "Version of the language.", "1")),
        attribute("title", v.TEXT, "Title, shown by viewers."),
        attribute("author", v.TEXT, "Author, in the file's information."),
        attribute("subject", v.TEXT, "Subject, in the file's information."),
        attribute("keywords", v.TEXT, "Keywords, in the file's information."),
        attribute("lang", v.LANG, "Language of the document.", "en"),
        attribute("timezone", v.TIMEZONE, "Time zone in which instants are shown.", "UTC"),
        attribute("currency", v.CURRENCY, "Currency of amounts that name none."),
        attribute("filename", v.TEXT, "File name offered for download."),
        *fixed(attribute("missing-glyph", v.choice("warn", "error"), "What a character is that no font has; in a file for archives it is always an error.", "warn")),
        *fixed(attribute("profile", files.PROFILE, "Standard for archives that the file conforms to.")),
        children=("data", "style", "color", "font", "page", "flow", "security", "attachment", "watermark"),
    ),
    element(
        "data", "The data section: defaults, types, computed values, conditions.", Content.LISTED,
        FINAL,
        children=("json", "field", "dataset", "let", "assert"),
    ),
    element(
        "json", "The default values, as one JSON object.", Content.TEXT,
    ),
    element(
        "field", "Declares one value of the data: its type and what it must satisfy.", Content.EMPTY,
        *fixed(
            required("name", v.DATA_PATH, "Dotted path of the value."),
            attribute("type", v.choice("string", "integer", "decimal", "boolean", "date", "datetime", "time", "image", "markdown", "json"), "Type of the value.", "string"),
            attribute("label", v.TEXT, "Name for people; also a column's heading in CSV."),
            attribute("required", v.BOOLEAN, "Whether an empty value is an error.", "false"),
            attribute("pattern", v.PATTERN, "Regular expression the whole text must match."),
            attribute("values", v.WORD_LIST, "The only values allowed."),
            attribute("min", v.TEXT, "Least value, of the field's type."),
            attribute("max", v.TEXT, "Greatest value, of the field's type."),
            attribute("maxlength", v.count(1, 1_000_000), "Greatest number of characters."),
            attribute("format", v.TEXT, "Pattern of dates in CSV, such as dd.MM.yyyy."),
        ),
        FINAL,
    ),
    element(
        "dataset", "Declares a list of records and the fields of each.", Content.LISTED,
        *fixed(
            required("name", v.DATA_PATH, "Dotted path of the list."),
            attribute("label", v.TEXT, "Name for people."),
            attribute("csv", v.BOOLEAN, "Whether a CSV body becomes this list.", "false"),
            attribute("header", v.BOOLEAN, "Whether the first CSV row names the columns.", "true"),
            attribute("delimiter", v.DELIMITER, "Separator of CSV cells; detected unless given."),
            attribute("decimal", v.choice(".", ","), "Decimal sign of numbers in CSV.", "."),
            attribute("required", v.BOOLEAN, "Whether an empty list is an error.", "false"),
            attribute("min-rows", v.count(0, 1_000_000), "Least number of records.", "0"),
            attribute("max-rows", v.count(0, 1_000_000), "Greatest number of records.", "100000"),
        ),
        FINAL,
        children=("field",),
    ),
    element(
        "let", "Names a computed value.", Content.EMPTY,
        *fixed(required("name", v.VARIABLE, "Name of the value.")),
        expression("value", "What it is.", is_required=True),
        FINAL,
    ),
    element(
        "assert", "A condition that must hold.", Content.EMPTY,
        expression("test", "The condition.", is_required=True),
        attribute("message", v.TEXT, "What to tell when it does not hold."),
        *fixed(attribute("severity", v.choice("error", "warning"), "Whether it stops the render.", "error")),
        without(COMMON, "id", "class"),
    ),
    element(
        "style", "Properties under a name, or for every element of a tag.", Content.EMPTY,
        *fixed(
            attribute("name", v.NAME, "Name for use in class."),
            attribute("element", v.NAME, "Tag whose elements all have these properties."),
            attribute("extends", v.NAME, "Another named style this one starts from."),
            attribute("list-style-type", _ANY_LIST_STYLE, "Markers of lists."),
            STRIPE,
            CELL_PADDING,
            *PROPERTIES.values(),
        ),
        FINAL,
    ),
    element(
        "color", "Gives a colour a name.", Content.EMPTY,
        *fixed(
            required("name", v.NAME, "Name of the colour."),
            required("value", v.PLAIN_COLOR, "The colour."),
        ),
        FINAL,
    ),
    element(
        "font", "Declares a stored font as one face of a family, for use in `font-family`.", Content.EMPTY,
        *fixed(
            required("family", v.FAMILY, "Name of the family; several fonts may share it. It goes before a family of the house of the same name."),
            required("src", v.STORED_FONT, "Name of the stored font."),
            attribute("font-weight", v.WEIGHT_RANGE, "Weight it is used for, or the range of a variable font; that of the font unless given."),
            attribute("font-style", v.choice("normal", "italic"), "Upright or italic; as the font says unless given."),
            attribute("font-stretch", v.STRETCH_RANGE, "Width it is used for, or the range of a variable font; that of the font unless given."),
            attribute("index", v.count(0, 31), "Which font of a collection, from 0.", "0"),
            attribute("font-variation-settings", v.AXES, "Values of other axes of a variable font."),
        ),
        FINAL,
    ),
    element(
        "page", "A page: paper, margins, header and footer, areas, boxes.", Content.LISTED,
        *fixed(
            attribute("name", v.NAME, "Family of pages; a flow or block chooses it.", "default"),
            attribute("on", v.choice("all", "first", "last", "odd", "even", "rest", "not-last", "blank"), "Pages of the family it is for; it starts from the one for all.", "all"),
        ),
        attribute("size", v.PAPER, "Paper size.", "A4"),
        attribute("margin", v.sides(v.LENGTH), "Margins, for one to four sides.", "20mm"),
        attribute("margin-top", v.LENGTH, "Upper margin."),
        attribute("margin-right", v.LENGTH, "Right margin."),
        attribute("margin-bottom", v.LENGTH, "Lower margin."),
        attribute("margin-left", v.LENGTH, "Left margin."),
        attribute("background", v.BACKGROUND, "Colour of the whole page.", "transparent"),
        attribute("background-image", v.IMAGE, "Image over the whole page."),
        attribute("bleed", v.length(high=MAX_BLEED), "How far the background goes beyond the paper, to be cut off.", "0"),
        attribute("marks", v.choice("none", "crop"), "Whether marks show where to cut.", "none"),
        FINAL,
        children=("header", "footer", "area", "box", "watermark"),
    ),
    element(
        "area", "A rectangle of the page that a flow is poured into; areas of one flow form a chain.", Content.EMPTY,
        *fixed(attribute("flow", v.NAME, "Name of the flow.", "body")),
        COLUMNS,
        attribute("column-rule", v.BORDER, "Line between columns.", "none"),
        attribute("overflow", v.choice("continue", "error", "shrink", "hidden"), "Whether what does not fit goes on in the next area, is an error, gets smaller, or is cut off.", "continue"),
        *(replace(spec, doc=f"Distance from the {edge} of the region between header and footer.") for spec, edge in zip(POSITIONS, ("left edge", "upper edge", "right edge", "lower edge"), strict=True)),
        attribute("width", v.PARTIAL_LENGTH, "Width; up to the edges unless given."),
        attribute("height", v.PARTIAL_LENGTH, "Height; up to the edges unless given."),
        attribute("padding", v.sides(v.LENGTH), "Space inside, for one to four sides.", "0"),
    ),
    *(
        element(
            name, doc, Content.BLOCKS,
            attribute("max-height", v.PARTIAL_LENGTH, "Greatest height; per cent is of the page.", "40%"),
            *BOXED,
        )
        for name, doc in (
            ("header", "Stands at the top of every page, inside the margins."),
            ("footer", "Stands at the foot of every page, inside the margins."),
        )
    ),
    element(
        "flow", "Content; the one named body fills the pages, others fill areas or are inserted.", Content.BLOCKS,
        *fixed(
            attribute("name", v.NAME, "Name of the flow.", "body"),
            attribute("replace", v.choice("allow", "deny"), "Whether a Markdown payload may replace it.", "allow"),
        ),
        attribute("page", v.NAME, "Family of its pages.", "default"),
        attribute("max-pages", v.count(1, 100_000), "Greatest number of pages it may fill."),
        FINAL,
        TEXT,
    ),
    element(
        "security", "Encrypts the file and limits what readers may do.", Content.EMPTY,
        attribute("user-password", v.TEXT, "Needed to open the file."),
        attribute("owner-password", v.TEXT, "Needed to lift the limits; random unless given."),
        attribute("encryption", v.choice("aes-256", "aes-128"), "Method.", "aes-256"),
        attribute("print", v.choice("high", "low", "none"), "Printing.", "high"),
        attribute("copy", v.BOOLEAN, "Copying text and images.", "true"),
        attribute("modify", v.BOOLEAN, "Changing the file.", "true"),
        attribute("annotate", v.BOOLEAN, "Adding notes.", "true"),
        attribute("fill-forms", v.BOOLEAN, "Filling in forms.", "true"),
        attribute("assemble", v.BOOLEAN, "Adding, removing and turning pages.", "true"),
        FINAL,
    ),
    element(
        "attachment", "A file inside the PDF: written here, or the value of an expression.", Content.TEXT,
        required("name", files.FILE_NAME, "File name, unique in the document."),
        attribute("type", files.MEDIA_TYPE, "Media type; by the ending of the name unless given."),
        attribute("relationship", v.choice("unspecified", "source", "data", "alternative", "supplement"), "What the file is to the document.", "unspecified"),
        attribute("description", v.TEXT, "What the file is, for readers."),
        attribute("modified", files.MOMENT, "When the file was last changed."),
        expression("value", "What it holds: a text, a data address in base64, or a record or list, written as JSON."),
        expression("if", "Leaves the file out unless this holds."),
        FINAL,
    ),
    element(
        "watermark", "A mark across every page, or those of the page it stands in.", Content.EMPTY,
        attribute("text", v.TEXT, "What it says; this or `src`."),
        attribute("src", v.IMAGE, "Image to draw, as large as fits in seven tenths of the page."),
        attribute("layer", v.choice("over", "under"), "Above or below the content.", "over"),
        attribute("opacity", v.OPACITY, "How opaque it is.", "0.15"),
        attribute("rotate", v.ANGLE, "Turn, against the clock.", "45deg"),
        attribute("font-size", v.length(low=0.5, high=2000), "Size; fits the diagonal unless given."),
        attribute("color", v.COLOR, "Colour.", "grey"),
        expression("if", "Leaves the mark out unless this holds."),
    ),
)  # fmt: skip
