"""The elements of a document's structure: data, styles, pages, flows, security, watermarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.einvoices import PROFILES, SYNTAX_NAMES
from workers.engine.syntax import values as v
from workers.engine.syntax.names import (
    DATE_OR_INSTANT,
    FEEDERS,
    FIELD_NAME,
    FILE_NAME,
    MARK_FORMAT,
    MEDIA_TYPE,
    MESSAGE_KEY,
    PARAMETERS,
    PROFILE,
)
from workers.engine.syntax.vocabulary import properties as p
from workers.engine.syntax.vocabulary.specs import (
    IN_PARTS,
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    required,
)
from workers.engine.units import mm

MAX_BLEED: Final = mm(50)

_CATEGORY: Final = v.choice("zero", "one", "two", "few", "many", "other")
_ANY_LIST_STYLE: Final = v.choice(*p.LIST_STYLE.choices, *p.NUMBER_STYLE.choices)


STRUCTURE: Final = (
    element(
        "document", "The root element, with the properties of the document.", ContentModel.LISTED,
        *fixed(
            attribute("version", v.choice("1"), "Version of the language.", "1"),
            attribute("extends", v.TEMPLATE_REFERENCE, "The [template](#templates-that-extend-others) below: this one is merged into it as an XML payload would be."),
        ),
        attribute("title", v.TEXT, "Title of the document, shown by viewers."),
        attribute("author", v.TEXT, "Author, in the document information."),
        attribute("subject", v.TEXT, "Subject, in the document information."),
        attribute("keywords", v.TEXT, "Keywords, in the document information."),
        attribute("lang", v.LANG, "Language of the document.", "en"),
        attribute("timezone", v.TIMEZONE, "Time zone of formatted instants.", "UTC"),
        attribute("currency", v.CURRENCY, "Default currency of amounts."),
        *fixed(attribute("minus-sign", v.choice("minus", "hyphen"), "Sign of negative numbers that filters format: the minus sign (U+2212), as wide as a plus, or the hyphen of the keyboard, for programs that read numbers from the text of the PDF.", "minus")),
        attribute("filename", v.TEXT, "File name offered for download."),
        *fixed(attribute("missing-glyph", v.choice("warn", "error"), "Severity of a character that no font has; with a PDF/A profile it is always an error.", "warn")),
        *fixed(attribute("print-checks", v.BOOLEAN, "Whether a render warns of what a print shop would ask about: images below 150 dots per inch at their size, lines below 0.25 pt, and text below 5 pt.", "false")),
        *fixed(attribute("duplex", v.BOOLEAN, "Whether sheets are printed on both sides. A document then ends with a back: a blank one is added where its last page is a front, which does not count. With this attribute, headers, footers and boxes of pages know `sheet.number`, `sheet.count` and `sheet.is_front`.", "false")),
        *fixed(attribute("profile", PROFILE, "Standards that the file conforms to: PDF/A for archiving, PDF/UA for accessibility, or both.")),
        *fixed(attribute("tagged", v.BOOLEAN, "Whether the file is a tagged PDF, whose structure tree tells screen readers and other programs its headings, lists, tables and figures. With `false` it is smaller, unless its profile requires tags. Merged files are not tagged; a document that says `true` is not merged.", "true")),
        children=("import", "setting", "data", "style", "color", "font", "messages", "part", "page", "flow", "security", "attachment", "einvoice", "watermark"),
    ),
    element(
        "import", "Adds the settings, parts, styles, colours, fonts and messages of another [template](#templates-that-extend-others); those of this one replace them.", ContentModel.EMPTY,
        *fixed(required("template", v.TEMPLATE_REFERENCE, "The template.")),
    ),
    element(
        "setting", "Declares a value that belongs to the template, such as a colour or a logo: expressions read it as `{{ settings.accent }}`, and so may attributes that are read before any data are known, such as the `value` of a `color`. A payload does not change it; a template that extends or imports this one may set its `value`.", ContentModel.EMPTY,
        *fixed(
            required("name", v.VARIABLE, "Name of the setting."),
            attribute("type", v.choice("string", "text", "color", "image", "boolean", "choice", "language", "paper"), "Type of the value: `text` has several lines, `image` is the name of a stored image, `choice` is one of `values`.", "string"),
            attribute("label", v.TEXT, "Display name."),
            attribute("value", v.TEXT, "The value. Only a `string`, a `text` and an `image` may be empty."),
            attribute("values", v.WORD_LIST, "The only values allowed."),
        ),
        p.FINAL,
    ),
    element(
        "data", "The data section: default values, sample values, types, computed values and assertions.", ContentModel.LISTED,
        *fixed(attribute("unknown", v.choice("warning", "error"), "Severity of a payload member that is not in the data section, but looks like one that is: probably a misspelled name. New templates say `error`. A member that looks like none is always a warning.", "warning")),
        p.FINAL,
        children=("json", "sample", "field", "dataset", "let", "assert"),
    ),
    element(
        "json", "The default values, as one JSON object: what every document has unless its payload says otherwise, such as words, formats and switches.", ContentModel.TEXT,
    ),
    element(
        "sample", "Sample values, as one JSON object. They are merged into the defaults, below the payload, only in drafts, in previews and by `pressroom render --sample`; a production render and a validation never see them.", ContentModel.TEXT,
    ),
    element(
        "field", "Declares one value of the data: its type and constraints.", ContentModel.EMPTY,
        *fixed(
            required("name", v.DATA_PATH, "Dotted path of the value."),
            attribute("type", v.choice("string", "integer", "decimal", "boolean", "date", "datetime", "time", "image", "markdown", "json"), "Type of the value.", "string"),
            attribute("label", v.TEXT, "Display name; also a column heading in CSV."),
            attribute("required", v.BOOLEAN, "Whether an empty value is an error.", "false"),
            attribute("pattern", v.PATTERN, "Regular expression that must match the whole text."),
            attribute("values", v.WORD_LIST, "The only values allowed."),
            attribute("min", v.TEXT, "Minimum, of the field's type."),
            attribute("max", v.TEXT, "Maximum, of the field's type."),
            attribute("maxlength", v.count(1, 1_000_000), "Maximum number of characters."),
            attribute("format", v.TEXT, "Date pattern in CSV, such as dd.MM.yyyy."),
        ),
        p.FINAL,
    ),
    element(
        "dataset", "Declares a list of records and the fields of each.", ContentModel.LISTED,
        *fixed(
            required("name", v.DATA_PATH, "Dotted path of the list."),
            attribute("label", v.TEXT, "Display name."),
            attribute("csv", v.BOOLEAN, "Whether a CSV body becomes this list.", "false"),
            attribute("header", v.BOOLEAN, "Whether the first CSV row names the columns.", "true"),
            attribute("delimiter", v.DELIMITER, "Separator of CSV cells; detected unless given here or by a first line such as `sep=;`."),
            attribute("decimal", v.choice(".", ","), "Decimal sign of numbers in CSV.", "."),
            attribute("required", v.BOOLEAN, "Whether an empty list is an error.", "false"),
            attribute("min-rows", v.count(0, 1_000_000), "Minimum number of records.", "0"),
            attribute("max-rows", v.count(0, 1_000_000), "Maximum number of records.", "100000"),
        ),
        p.FINAL,
        children=("field",),
    ),
    element(
        "let", "Declares a computed value.", ContentModel.EMPTY,
        *fixed(required("name", v.VARIABLE, "Name of the value.")),
        expression("value", "Expression of the value.", is_required=True),
        p.FINAL,
    ),
    element(
        "assert", "A condition that must be true.", ContentModel.EMPTY,
        expression("test", "The condition.", is_required=True),
        attribute("message", v.TEXT, "Message if the condition is false."),
        *fixed(attribute("severity", v.choice("error", "warning"), "Severity; an error stops the render.", "error")),
        p.without(p.COMMON, "id", "class"),
    ),
    element(
        "style", "A named set of properties, or the default properties of an element type.", ContentModel.EMPTY,
        *fixed(
            attribute("name", v.NAME, "Name for use in class."),
            attribute("element", v.NAME, "Element type that has these properties by default."),
            attribute("extends", v.NAME, "Named style to inherit from."),
            attribute("list-style-type", _ANY_LIST_STYLE, "Markers of lists."),
            p.STRIPE,
            p.CELL_PADDING,
            *p.PROPERTIES.values(),
        ),
        p.FINAL,
    ),
    element(
        "color", "Declares a named colour.", ContentModel.EMPTY,
        *fixed(
            required("name", v.NAME, "Name of the colour."),
            required("value", v.PLAIN_COLOR, "The colour; of a spot colour, what screens and printers without its ink show."),
            attribute("spot", v.INK, "Name of the ink of a spot colour, as the printer knows it. Text, lines, backgrounds and charts of this colour are on the plate of that ink alone; form fields, colour glyphs and drawings in SVG are not."),
        ),
        p.FINAL,
    ),
    element(
        "font", "Declares a stored font as one face of a family, for use in `font-family`.", ContentModel.EMPTY,
        *fixed(
            required("family", v.FAMILY, "Name of the family; several fonts may share it. It takes precedence over a bundled family of the same name."),
            required("src", v.STORED_FONT, "Name of the stored font."),
            attribute("font-weight", v.WEIGHT_RANGE, "Weight of the face, or the range of a variable font; that of the font file unless given."),
            attribute("font-style", v.choice("normal", "italic"), "Upright or italic; by the font file unless given."),
            attribute("font-stretch", v.STRETCH_RANGE, "Width of the face, or the range of a variable font; that of the font file unless given."),
            attribute("index", v.count(0, 31), "Index of the font in a collection, from 0.", "0"),
            attribute("font-variation-settings", v.AXES, "Values of other axes of a variable font."),
        ),
        p.FINAL,
    ),
    element(
        "messages", "Translations of one language, by key, for the filter `t`. The first `messages` is the fallback for other languages.", ContentModel.LISTED,
        *fixed(required("lang", v.LANG, "Language of the texts.")),
        p.FINAL,
        children=("message",),
    ),
    element(
        "message", "A translated text, in which the arguments of `t` are names. With `plural` or `ordinal` it is one form of the text, selected by the argument `n` and the plural rules of the language.", ContentModel.TEXT,
        *fixed(
            required("key", MESSAGE_KEY, "Key of the message."),
            attribute("plural", _CATEGORY, "Plural category of cardinal numbers."),
            attribute("ordinal", _CATEGORY, "Plural category of ordinal numbers: 1st, 2nd, 3rd."),
        ),
        p.FINAL,
    ),
    element(
        "part", "Reusable content, inserted by `use`: blocks, text, list items, rows, cells or columns. Its scope has its arguments, `settings`, `data`, `now`, `today` and `doc`, and in repeated content `page` and `totals`.", ContentModel.BLOCKS,
        *fixed(
            required("name", v.NAME, "Name of the part."),
            attribute("takes", PARAMETERS, "Its parameters, separated by commas. One with a default, an expression after an equals sign, is optional."),
        ),
        p.FINAL,
        children=IN_PARTS,
    ),
    element(
        "page", "A page: paper, margins, header, footer, areas and boxes.", ContentModel.LISTED,
        *fixed(
            attribute("name", v.NAME, "Page family, selected by a flow or block.", "default"),
            attribute("on", v.choice("all", "first", "last", "odd", "even", "rest", "not-last", "blank"), "Pages of the family that it applies to; it inherits from the one for all. Blank pages have no header, footer, boxes, background image and watermarks but those of the one for blank.", "all"),
        ),
        attribute("size", v.PAPER, "Paper size.", "A4"),
        attribute("margin", v.sides(v.LENGTH), "Margins, for one to four sides.", "20mm"),
        attribute("margin-top", v.LENGTH, "Upper margin."),
        attribute("margin-right", v.LENGTH, "Right margin."),
        attribute("margin-bottom", v.LENGTH, "Lower margin."),
        attribute("margin-left", v.LENGTH, "Left margin."),
        attribute("background", v.BACKGROUND, "Background colour of the whole page.", "transparent"),
        attribute("background-image", v.IMAGE, "Background image of the whole page, such as a letterhead: an image, or a page of a PDF."),
        attribute("background-page", v.PDF_PAGE, "Page of a PDF in background-image.", "1"),
        attribute("bleed", v.length(high=MAX_BLEED), "Extent of the background beyond the trimmed page.", "0"),
        attribute("media", v.choice("plain", "letterhead", "slip"), "Paper of the page, told for each page in the result of a merged document: the printer has a tray for it.", "plain"),
        attribute("marks", v.choice("none", "crop"), "Whether crop marks are drawn.", "none"),
        p.FINAL,
        children=("header", "footer", "area", "box", "marks", "watermark"),
    ),
    element(
        "area", "A rectangle of the page that a flow fills; the areas of one flow are linked in order.", ContentModel.EMPTY,
        *fixed(attribute("flow", v.NAME, "Name of the flow.", "body")),
        p.COLUMNS,
        attribute("column-fill", v.choice("auto", "balance"), "Whether the columns at the end of the flow, and before a page break, are filled one after the other, or balanced. Footnotes stay at the foot of the area. Columns in which a figure floats, or whose last note continues on the next page, are not balanced.", "auto"),
        attribute("column-rule", v.BORDER, "Line between columns.", "none"),
        attribute("overflow", v.choice("continue", "error", "shrink", "hidden"), "Treatment of content that does not fit: continued in the next area, an error, shrunk, or clipped.", "continue"),
        *(replace(spec, doc=f"Distance from the {edge} of the region between header and footer.") for spec, edge in zip(p.POSITIONS, ("left edge", "upper edge", "right edge", "lower edge"), strict=True)),
        attribute("width", v.PARTIAL_LENGTH, "Width; to the edges unless given."),
        attribute("height", v.PARTIAL_LENGTH, "Height; to the edges unless given."),
        attribute("padding", v.sides(v.LENGTH), "Space inside, for one to four sides.", "0"),
    ),
    *(
        element(
            name, doc, ContentModel.BLOCKS,
            attribute("max-height", v.PARTIAL_LENGTH, "Maximum height; per cent of the page height.", "40%"),
            *p.RUNNING_BOX,
        )
        for name, doc in (
            ("header", "Content at the top of every page, inside the margins."),
            ("footer", "Content at the bottom of every page, inside the margins."),
        )
    ),
    element(
        "flow", "Content of the document; the flow named body fills the pages, others fill areas or are inserted.", ContentModel.BLOCKS,
        *fixed(
            attribute("name", v.NAME, "Name of the flow.", "body"),
            attribute("replace", v.choice("allow", "deny"), "Whether a Markdown payload may replace it.", "allow"),
        ),
        attribute("page", v.NAME, "Page family.", "default"),
        attribute("max-pages", v.count(1, 100_000), "Maximum number of pages."),
        p.FINAL,
        p.TEXT,
        p.FLOW_PROPERTIES,
        p.IMAGE_PROPERTIES,
        children=("qr-bill",),
    ),
    element(
        "security", "Encrypts the file and sets its permissions, or signs it.", ContentModel.EMPTY,
        attribute("user-password", v.TEXT, "Password to open the file."),
        attribute("owner-password", v.TEXT, "Password to remove the restrictions; random unless given."),
        attribute("encryption", v.choice("aes-256", "aes-128"), "Encryption method.", "aes-256"),
        attribute("print", v.choice("high", "low", "none"), "Printing.", "high"),
        attribute("copy", v.BOOLEAN, "Copying text and images.", "true"),
        attribute("modify", v.BOOLEAN, "Modifying the file.", "true"),
        attribute("annotate", v.BOOLEAN, "Adding annotations.", "true"),
        attribute("fill-forms", v.BOOLEAN, "Filling in forms.", "true"),
        attribute("assemble", v.BOOLEAN, "Inserting, deleting and rotating pages.", "true"),
        attribute("sign", v.NAME, "Certificate of the account that signs the file, which is not encrypted then."),
        attribute("sign-field", FIELD_NAME, "Signature field to sign; the only one of the document unless given."),
        p.FINAL,
    ),
    element(
        "attachment", "An embedded file: the text inside, or the value of an expression.", ContentModel.TEXT,
        required("name", FILE_NAME, "File name, unique in the document."),
        attribute("type", MEDIA_TYPE, "Media type; by the file extension unless given."),
        attribute("relationship", v.choice("unspecified", "source", "data", "alternative", "supplement"), "Relationship of the file to the document.", "unspecified"),
        attribute("description", v.TEXT, "Description, shown by viewers."),
        attribute("modified", DATE_OR_INSTANT, "Time of the last change; 1970-01-01 unless given, as archives ask for one."),
        expression("value", "Content: a text, a base64 data URL, or a record or list, written as JSON."),
        expression("if", "Omits the file unless this is true."),
        p.FINAL,
    ),
    element(
        "einvoice", "Makes the document an electronic invoice by EN 16931: the record is validated by its rules, compared with the elements that have a `term`, and embedded in the file as XML.", ContentModel.EMPTY,
        attribute("profile", v.choice(*PROFILES), "Profile, which determines the terms of the invoice.", "en16931"),
        attribute("syntax", v.choice(*SYNTAX_NAMES), "Syntax: cii is that of Factur-X and ZUGFeRD; ubl is that of Peppol, also accepted for en16931, extended-ctc-fr and xrechnung. Unless given, ubl for peppol and cii for others."),
        attribute("rules", v.choice("own", "official"), "Rules that the invoice must keep: those of the engine, or also the official files of the service, with those of France if both parties are there. With own, the latter are warnings.", "own"),
        expression("from", "The record of the invoice.", is_required=True),
        expression("if", "Omits the invoice unless this is true."),
        p.FINAL,
    ),
    element(
        "marks", "Marks for the inserting machine, drawn on the front of every sheet: `omr` is a column of lines, from the top start, gate, end of set, parity (the number of lines is even), the number of the sheet from 1 to 7 as 1, 2 and 4, and feeders 1 to 4; other types are bar codes of a `format`. Whatever else stands in the clear zone around is a warning.", ContentModel.EMPTY,
        *fixed(required("type", v.choice("omr", "datamatrix", "code128", "itf"), "Type of the marks.")),
        required("left", v.LENGTH, "Distance from the left edge of the paper."),
        required("top", v.LENGTH, "Distance from the upper edge of the paper."),
        attribute("format", MARK_FORMAT, "Content of a bar code: `{job}`, `{set}`, `{sheet}` in the set, `{count}` of its sheets, and `{inserts}` as four digits. `{set:06}` has six digits, the last ones of a larger number, with a warning.", "{set:06}{sheet:02}{count:02}"),
        attribute("job", v.TEXT, "Name of the job.", ""),
        attribute("set", v.count(0, 999_999_999), "Number of the set, which is the document.", "1"),
        attribute("sequence", v.count(1, 999_999_999), "Number of the first sheet in the run, which `omr` counts from 1 to 7 again and again.", "1"),
        attribute("inserts", FEEDERS, "Feeders whose insert belongs to the set.", ""),
        attribute("width", v.length(low=mm(2)), "Width of the lines of `omr`, or of a bar code.", "8mm"),
        attribute("height", v.length(low=mm(2)), "Height of a bar code of bars.", "8mm"),
        attribute("pitch", v.length(low=mm(1.5)), "Distance between the lines of `omr`.", "4mm"),
        attribute("clear", v.LENGTH, "Clear zone on each side.", "3mm"),
        expression("if", "Omits the marks unless this is true."),
    ),
    element(
        "watermark", "A watermark on every page that is not blank, or on those of the `page` that contains it.", ContentModel.EMPTY,
        attribute("on", v.choice("content", "all", "first", "last", "odd", "even", "rest", "not-last", "blank"), "Pages that have it; content are all but blank ones.", "content"),
        attribute("text", v.TEXT, "Text of the watermark; either this or `src`."),
        attribute("src", v.IMAGE, "Image to draw, scaled to fit 70 % of the page."),
        attribute("layer", v.choice("over", "under"), "Above or below the content.", "over"),
        attribute("opacity", v.OPACITY, "Opacity.", "0.15"),
        attribute("rotate", v.ANGLE, "Counter-clockwise rotation.", "45deg"),
        attribute("font-size", v.length(low=0.5, high=2000), "Font size; fits the diagonal unless given."),
        attribute("color", v.COLOR, "Colour.", "grey"),
        expression("if", "Omits the watermark unless this is true."),
    ),
)  # fmt: skip
