"""Attributes that many elements share: common ones, and properties of text, boxes, breaks and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from workers.engine.syntax import numbers as n
from workers.engine.syntax import typography as f
from workers.engine.syntax import values as v
from workers.engine.syntax.names import BUSINESS_TERM
from workers.engine.syntax.typography import (
    HANGING_KIND,
    INITIAL_LETTER_KIND,
    LIMIT_CHARS_KIND,
    LIMIT_LINES_KIND,
    LINE_GRID_KIND,
    VARIANT_PROPERTIES,
)
from workers.engine.syntax.values import ValueType
from workers.engine.syntax.vocabulary.specs import AttributeGroup, AttributeSpec, attribute


def _property(
    group: AttributeGroup, name: str, kind: ValueType[Any], default: str | None, doc: str
) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, default, group)


def _inherited(name: str, kind: ValueType[Any], default: str | None, doc: str) -> AttributeSpec:
    return AttributeSpec(name, kind, doc, default, AttributeGroup.TEXT, is_inherited=True)


_BREAK: Final = v.choice("auto", "page", "column", "left", "right", "avoid")

COMMON: Final = (
    AttributeSpec("id", v.NAME, "Unique name of this element, the target of links and of the outline.", group=AttributeGroup.COMMON),
    AttributeSpec("class", v.NAMES, "Named styles to apply, in order; later ones override earlier ones.", group=AttributeGroup.COMMON),
    AttributeSpec("if", v.EXPRESSION, "Omits the element unless this is true.", group=AttributeGroup.COMMON, is_expression=True),
    AttributeSpec("for", v.LOOP, "Repeats the element for each item of a list.", group=AttributeGroup.COMMON, is_expression=True),
    AttributeSpec("lang", v.LANG, "Language of the text and of formats; languages without formats use those of English. Dates and numbers have its calendar and digits: `th-u-ca-gregory` and `fa-u-nu-latn` choose others.", group=AttributeGroup.COMMON, is_inherited=True),
)  # fmt: skip

TEXT_PROPERTIES: Final = (
    _inherited("font-family", v.FAMILIES, "Noto Sans", "Font families; each character is set in the first that has it."),
    _inherited("font-size", v.FONT_SIZE, "10pt", "Font size; per cent and em are relative to the parent's."),
    _inherited("font-weight", v.FONT_WEIGHT, "normal", "Font weight. Bundled families have 400 and 700, used from 600 on; of declared fonts the nearest is used, as in CSS."),
    _inherited("font-stretch", v.FONT_STRETCH, "normal", "Font width; the nearest width of the family is used."),
    _inherited("font-style", v.choice("normal", "italic"), "normal", "Upright or italic."),
    _inherited("font-variant-caps", v.choice(*f.CAPS), "normal", "Alternate capitals: small-caps for lower-case letters, all-small-caps for all letters."),
    _inherited("font-variant-numeric", f.NUMERIC_KIND, "normal", "Figure styles; in tables figures are tabular unless proportional-nums is given."),
    _inherited("font-variant-position", v.choice(*f.POSITIONS), "normal", "Subscript and superscript glyphs of the font; the line height does not change."),
    _inherited("font-variant-ligatures", f.LIGATURES_KIND, "normal", "Ligatures, such as fi; copied text has the separate letters. Normal are the common ones of the font, but none in tables, in spaced text and in Turkish, and in German none across parts of a word."),
    _inherited("font-features", f.FEATURES_KIND, "normal", "Other OpenType features by tag, as in CSS font-feature-settings; they override font-variant-*."),
    _inherited("color", v.COLOR, "black", "Colour of the text."),
    _inherited("line-height", v.LINE_HEIGHT, "1.35", "Line height; a number is a multiple of the font size."),
    _inherited("letter-spacing", v.SIGNED_LENGTH, "0", "Space added between characters."),
    _inherited("text-align", v.choice("start", "end", "left", "right", "center", "justify", "decimal"), "start", "Alignment of lines; decimal aligns the decimal signs in a table column, with whole numbers before them and text to the right."),
    _inherited("direction", v.choice("ltr", "rtl", "auto"), None, "Direction of lines and tables; that of the language unless given. `auto` is, in each paragraph, that of its first letter."),
    _inherited("text-indent", v.SIGNED_LENGTH, "0", "Indentation of the first line of a paragraph."),
    _inherited("text-transform", v.choice("none", "uppercase", "lowercase", "capitalize"), "none", "Case conversion."),
    _property(AttributeGroup.TEXT, "text-decoration", v.choice("none", "underline", "line-through"), "none", "Line below or through the text."),
    _inherited("white-space", v.choice("normal", "nowrap", "pre-line", "pre-wrap", "pre"), "normal", "Treatment of white space: pre keeps spaces and line ends and does not wrap, pre-wrap keeps both and wraps, pre-line keeps line ends, nowrap does not wrap."),
    _inherited("hyphens", v.choice("none", "manual", "auto"), "manual", "Where words may be hyphenated: nowhere, at soft hyphens, or by the rules of the language."),
    _inherited("hyphenate-limit-chars", LIMIT_CHARS_KIND, "auto", "Letters of a word, before and after a hyphen that `hyphens=\"auto\"` puts, at least: auto is 5 in a word, 3 on both sides in German, else those of the patterns of the language, mostly 2 before and 2 or 3 after. A last line is never a piece of a word of less than 4 letters."),
    _inherited("hyphenate-limit-lines", LIMIT_LINES_KIND, "2", "Lines below one another that end in a hyphen, at most; more where nothing else fits."),
    _inherited("hyphenate-limit-last", v.choice("none", "column", "always"), "column", "Lines without a hyphen where possible: column is the last line before the end of a column or page, always the last full line of a paragraph as well."),
    _inherited("hyphenate-limit-zone", v.length(percent=True), "0", "Space that a line may leave free before a word is hyphenated, of its width in per cent."),
    _inherited("text-wrap", v.choice("auto", "stable", "pretty", "balance"), "auto", "Choice of line breaks: stable fills line after line, pretty optimises all breaks of a paragraph, balance makes up to 10 lines about equally long; auto is pretty for justified text, stable for other text and in tables."),
    _inherited("hanging-punctuation", HANGING_KIND, "none", "Punctuation in the margins: a quote or bracket at the start of a paragraph (first) or at its end (last), stops and commas at the ends of lines, always (force-end) or where they do not fit (allow-end); optical sets hyphens and punctuation at both edges of all lines partly into the margin."),
    _inherited("overflow-wrap", v.choice("normal", "anywhere"), "anywhere", "Whether an overlong word may break at any character."),
    _property(AttributeGroup.TEXT, "vertical-align", v.VERTICAL_ALIGN, "top", "In cells, vertical alignment; in lines, subscript, superscript or a shift of the baseline."),
)  # fmt: skip

# Of blocks in the flow of an area.
FLOW_PROPERTIES: Final = (
    _inherited("line-grid", LINE_GRID_KIND, "none", "Distance of the lines of a grid for all baselines of an area, the same in all its columns; tables, rows and grids, floats, notes, headers and footers are not on it."),
)  # fmt: skip

# Of elements whose content comes from elsewhere, such as a Markdown payload.
IMAGE_PROPERTIES: Final = (
    _inherited("optional-images", v.BOOLEAN, "false", "Whether an image inside that is missing or damaged is a warning, with its alternative text in its place."),
)  # fmt: skip

# Of paragraphs alone, and not inherited.
PARAGRAPH_PROPERTIES: Final = (
    _property(AttributeGroup.TEXT, "initial-letter", INITIAL_LETTER_KIND, "normal", "First letter several lines high: its height in lines, and the line that it stands on (3 2), which is that of its height unless given; drop is the last line, raise the first."),
)  # fmt: skip

BOX_PROPERTIES: Final = (
    _property(AttributeGroup.BOX, "width", v.TRACK, "auto", "Outer width; fr is a share of the space left in a row or table."),
    _property(AttributeGroup.BOX, "height", v.AUTO_LENGTH, "auto", "Outer height; taller content is an error."),
    _property(AttributeGroup.BOX, "min-width", v.LENGTH, "0", "Minimum outer width."),
    _property(AttributeGroup.BOX, "max-width", v.OPTIONAL_LENGTH, "none", "Maximum outer width."),
    _property(AttributeGroup.BOX, "min-height", v.LENGTH, "0", "Minimum outer height."),
    _property(AttributeGroup.BOX, "max-height", v.OPTIONAL_LENGTH, "none", "Maximum outer height; taller content is an error."),
    _property(AttributeGroup.BOX, "margin", v.sides(v.AUTO_LENGTH), None, "Space around, for one to four sides."),
    _property(AttributeGroup.BOX, "margin-top", v.AUTO_LENGTH, "0", "Space above; auto moves the element to the bottom of the page."),
    _property(AttributeGroup.BOX, "margin-right", v.AUTO_LENGTH, "0", "Space to the right."),
    _property(AttributeGroup.BOX, "margin-bottom", v.LENGTH, "0", "Space below."),
    _property(AttributeGroup.BOX, "margin-left", v.AUTO_LENGTH, "0", "Space to the left."),
    _property(AttributeGroup.BOX, "padding", v.sides(v.LENGTH), None, "Space inside the border, for one to four sides."),
    _property(AttributeGroup.BOX, "padding-top", v.LENGTH, "0", "Space inside the upper border."),
    _property(AttributeGroup.BOX, "padding-right", v.LENGTH, "0", "Space inside the right border."),
    _property(AttributeGroup.BOX, "padding-bottom", v.LENGTH, "0", "Space inside the lower border."),
    _property(AttributeGroup.BOX, "padding-left", v.LENGTH, "0", "Space inside the left border."),
    _property(AttributeGroup.BOX, "border", v.BORDER, "none", "Border on all four sides."),
    _property(AttributeGroup.BOX, "border-top", v.BORDER, "none", "Upper border."),
    _property(AttributeGroup.BOX, "border-right", v.BORDER, "none", "Right border."),
    _property(AttributeGroup.BOX, "border-bottom", v.BORDER, "none", "Lower border."),
    _property(AttributeGroup.BOX, "border-left", v.BORDER, "none", "Left border."),
    _property(AttributeGroup.BOX, "border-radius", v.LENGTH, "0", "Radius of rounded corners."),
    _property(AttributeGroup.BOX, "background", v.BACKGROUND, "transparent", "Colour behind the content."),
    _property(AttributeGroup.BOX, "background-image", v.IMAGE, None, "Image behind the content, filling the box."),
    _property(AttributeGroup.BOX, "opacity", v.OPACITY, "1", "Opacity of the element."),
    _property(AttributeGroup.BOX, "overflow", v.choice("error", "shrink", "hidden", "ellipsis", "visible"), "error", "Treatment of content that does not fit: an error, smaller text, clipped, truncated with an ellipsis, or drawn outside."),
    _property(AttributeGroup.BOX, "min-font-size", v.LEAST_FONT_SIZE, None, "Minimum size of shrunk text; 70% of its size unless given."),
    _property(AttributeGroup.BOX, "rotate", v.ANGLE, "0deg", "Clockwise rotation; odd multiples of 90deg swap width and height."),
)  # fmt: skip

BREAK_PROPERTIES: Final = (
    _property(AttributeGroup.BREAK, "break-before", _BREAK, "auto", "Forces a page or column break before the element, or avoids one; left and right start a page on that side of a spread."),
    _property(AttributeGroup.BREAK, "break-after", _BREAK, "auto", "Forces a page or column break after the element, or avoids one."),
    _property(AttributeGroup.BREAK, "break-inside", v.choice("auto", "avoid"), "auto", "Whether to avoid breaks inside the element."),
    replace(_inherited("orphans", v.count(1, 100), "2", "Minimum number of lines, or rows of a tbody, before a break."), group=AttributeGroup.BREAK),
    replace(_inherited("widows", v.count(1, 100), "2", "Minimum number of lines, or rows of a tbody, after a break."), group=AttributeGroup.BREAK),
    replace(_inherited("page", v.NAME, None, "Family of its pages; a change starts a new page."), group=AttributeGroup.BREAK),
    _property(AttributeGroup.BREAK, "counter-reset", n.COUNTER_RESET, None, "Resets counters to 1 or the number given: page starts a new page, other counters continue with the next number."),
    _property(AttributeGroup.BREAK, "counter-set", n.COUNTER_SET, None, "Sets counters: to the number of this element if it has one, otherwise the next number is one higher."),
)  # fmt: skip

NUMBER_PROPERTIES: Final = (
    _property(AttributeGroup.NUMBER, "number", n.NUMBER_FORMAT, "none", "Number before the text: 1, a, A, i, I or * (for symbols: * † ‡ § ¶ ‖) with text around it, after the numbers of higher headings, as in 1.1; or counters by name, as in {h2}.{clause}."),
    _property(AttributeGroup.NUMBER, "counter", v.NAME, None, "Counter of the number; its default name is that of the style or element."),
    _property(AttributeGroup.NUMBER, "number-width", v.LENGTH, None, "Width of the number, with all lines of the text beside it; without it the text follows the number."),
)  # fmt: skip

NOTE_PROPERTIES: Final = (
    _property(AttributeGroup.NUMBER, "count-per", v.choice("document", "flow", "page"), "document", "Scope of the numbers of notes: the document, each flow, or each page; endnotes are not numbered by page."),
)  # fmt: skip

_EDGES: Final = {
    "left": "left edge",
    "top": "upper edge",
    "right": "right edge",
    "bottom": "lower edge",
}


def _positions(doc: str) -> tuple[AttributeSpec, ...]:
    return tuple(
        AttributeSpec(side, v.OFFSET, doc.format(edge), group=AttributeGroup.POSITION)
        for side, edge in _EDGES.items()
    )


POSITIONS: Final = _positions(
    "Takes the box out of the flow: distance from the {} of the nearest enclosing box, cell or paper."
)
AREA_POSITIONS: Final = _positions("Distance from the {} of the region between header and footer.")

ALL_PROPERTIES: Final = (
    *(*TEXT_PROPERTIES, *FLOW_PROPERTIES, *IMAGE_PROPERTIES, *PARAGRAPH_PROPERTIES),
    *(*BOX_PROPERTIES, *BREAK_PROPERTIES, *NUMBER_PROPERTIES, *NOTE_PROPERTIES),
)
PROPERTIES: Final[Mapping[str, AttributeSpec]] = {spec.name: spec for spec in ALL_PROPERTIES}


def without(specs: tuple[AttributeSpec, ...], *names: str) -> tuple[AttributeSpec, ...]:
    """Return the attributes except those named."""
    return tuple(spec for spec in specs if spec.name not in names)


def only(*names: str) -> tuple[AttributeSpec, ...]:
    """Return the shared properties of these names."""
    return tuple(PROPERTIES[name] for name in names)


# A property without effect on an element is not declared for it, so that a margin on a cell is
# reported instead of ignored.
TEXT: Final = without(TEXT_PROPERTIES, "vertical-align")
INLINE_TEXT: Final = (
    *only(
        "font-family",
        "font-size",
        "font-weight",
        "font-stretch",
        "font-style",
        *sorted(VARIANT_PROPERTIES),
        "color",
        "letter-spacing",
        "direction",
    ),
    *only("text-transform", "text-decoration"),
    replace(
        PROPERTIES["vertical-align"],
        value_type=v.RISE,
        default="0",
        doc="Subscript, superscript, or a shift of the baseline.",
    ),
)
# Of text that the engine writes line by line: what concerns longer paragraphs has no effect.
SLIP_TEXT: Final = only(
    *("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color"),
    *("line-height", "letter-spacing"),
)
# Inherited by the styles of their levels.
ENTRIES: Final = without(TEXT, "text-align", "text-indent", "white-space")
CELL_TEXT: Final = (
    *TEXT,
    replace(
        PROPERTIES["vertical-align"],
        value_type=v.CELL_ALIGN,
        doc="Vertical alignment of the content.",
    ),
)
_BORDERS: Final = only("border", "border-top", "border-right", "border-bottom", "border-left")
_PADDINGS: Final = only("padding", "padding-top", "padding-right", "padding-bottom", "padding-left")
CELL_BOX: Final = (*only("height", "min-height", "background"), *_PADDINGS, *_BORDERS)
ROW_BOX: Final = (*only("height", "min-height", "background"), *_BORDERS)
ROWS_BOX: Final = only("background", "border", "border-top", "border-bottom")
PICTURE_BOX: Final = without(BOX_PROPERTIES, "min-width", "min-height", "overflow", "min-font-size")
RULE_BOX: Final = without(BOX_PROPERTIES, "max-height", "overflow", "min-font-size")
MONOLITHIC_BREAKS: Final = only(
    "break-before", "break-after", "page", "counter-reset", "counter-set"
)
ROW_BREAKS: Final = only("break-before", "break-after", "orphans", "widows")
BLOCK_ATTRIBUTES: Final = (
    *(*COMMON, *TEXT, *FLOW_PROPERTIES),
    *(*BOX_PROPERTIES, *BREAK_PROPERTIES),
)
# Repeated content is no link target; bar codes and images have no text, and so no language.
COMMON_WITHOUT_ID: Final = without(COMMON, "id")
COMMON_WITHOUT_LANG: Final = without(COMMON, "lang")
RUNNING_BOX: Final = (*COMMON_WITHOUT_ID, *TEXT, *BOX_PROPERTIES)
FIELD_BOX: Final = (
    *only("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color"),
    *only("direction"),
    *without(PICTURE_BOX, "rotate", "opacity", "background-image"),
    *MONOLITHIC_BREAKS,
)

COLUMNS: Final = (
    attribute("columns", v.count(1, 12), "Number of columns of the content.", "1"),
    attribute("column-gap", v.LENGTH, "Space between columns.", "5mm"),
)
FINAL: Final = replace(
    attribute("final", v.BOOLEAN, "Whether a payload may not replace it.", "false"), is_fixed=True
)
# For elements that show a term of an electronic invoice.
TERM: Final = replace(
    attribute(
        "term",
        BUSINESS_TERM,
        "Business term of EN 16931 that the text shows, such as BT-112; it must match the `einvoice`.",
    ),
    is_fixed=True,
)
LIST_STYLE: Final = v.choice("disc", "circle", "square", "dash", "none")
NUMBER_STYLE: Final = v.choice(
    "decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman"
)
TABLE_FRAGMENTS: Final = v.choice("all", "first", "rest", "last", "not-last")
STRIPE: Final = attribute("stripe", v.BACKGROUNDS, "Background colours of body rows, in rotation.")
CELL_PADDING: Final = attribute(
    "cell-padding", v.sides(v.LENGTH), "Padding of all cells.", "1mm 1.5mm"
)
