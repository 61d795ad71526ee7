"""The attributes that many elements share: of all elements, of text, boxes, breaks and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.values import Kind
from workers.engine.syntax.vocabulary.specs import AttributeSpec, Group


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
    AttributeSpec("lang", v.LANG, "Language of the text; formats follow it, and are those of English where there are none for it.", group=Group.COMMON, is_inherited=True),
)  # fmt: skip

TEXT_PROPERTIES: Final = (
    _inherited("font-family", v.FAMILIES, "Noto Sans", "Font families; each character takes the first that has it."),
    _inherited("font-size", v.FONT_SIZE, "10pt", "Size of the font; per cent and em are of the parent's."),
    _inherited("font-weight", v.FONT_WEIGHT, "normal", "Weight of the font. Families of the house have 400 and 700, bold from 600 on; of declared fonts the nearest is used, as in CSS."),
    _inherited("font-stretch", v.FONT_STRETCH, "normal", "Width of the font, where its family has several; the nearest is used."),
    _inherited("font-style", v.choice("normal", "italic"), "normal", "Upright or italic."),
    _inherited("color", v.COLOR, "black", "Colour of the text."),
    _inherited("line-height", v.LINE_HEIGHT, "1.35", "Height of a line; a number counts in font sizes."),
    _inherited("letter-spacing", v.SIGNED_LENGTH, "0", "Space added between characters."),
    _inherited("text-align", v.choice("start", "end", "left", "right", "center", "justify", "decimal"), "start", "Where lines stand; decimal lines up the decimal signs of a table's column, with whole numbers before them, and sets text to the right."),
    _inherited("direction", v.choice("ltr", "rtl"), None, "Which way lines and tables read; that of the language unless given."),
    _inherited("text-indent", v.SIGNED_LENGTH, "0", "Indent of a paragraph's first line."),
    _inherited("text-transform", v.choice("none", "uppercase", "lowercase", "capitalize"), "none", "Change of case."),
    _property(Group.TEXT, "text-decoration", v.choice("none", "underline", "line-through"), "none", "Line under or through the text."),
    _inherited("white-space", v.choice("normal", "nowrap", "pre-line", "pre-wrap", "pre"), "normal", "How spaces and line ends are kept: pre keeps both and never wraps, pre-wrap keeps both and wraps, pre-line keeps line ends."),
    _inherited("hyphens", v.choice("none", "manual", "auto"), "manual", "Where words may be broken: nowhere, at soft hyphens, or as the language does."),
    _inherited("text-wrap", v.choice("auto", "stable", "pretty", "balance"), "auto", "How line breaks are chosen: stable fills line after line, pretty chooses all breaks of a paragraph together, balance makes up to 10 lines about equally long; auto is pretty for justified text, stable for other text and in tables."),
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
    _property(Group.BREAK, "counter-reset", n.COUNTER_RESET, None, "Counts anew from here, with 1 or the number given: page begins a page, other counters go on with the next number."),
    _property(Group.BREAK, "counter-set", n.COUNTER_SET, None, "Gives counters their value here; the number of this element if it has one, else the next is one higher."),
)  # fmt: skip

NUMBER_PROPERTIES: Final = (
    _property(Group.NUMBER, "number", n.NUMBER_FORMAT, "none", "Number in front of the text: 1, a, A, i or I with text around, the numbers of higher headings before it, as in 1.1; or counters by name, as in {h2}.{clause}."),
    _property(Group.NUMBER, "counter", v.NAME, None, "What it counts by; the name of the style or element that has the number unless given."),
    _property(Group.NUMBER, "number-width", v.LENGTH, None, "Room for the number, beside which all lines of the text stand; without it the text follows the number."),
)  # fmt: skip

POSITIONS: Final = tuple(
    AttributeSpec(side, v.OFFSET, f"Takes the box out of the flow: distance from the {edge} of the nearest box, cell or paper.", group=Group.POSITION)
    for side, edge in (("left", "left edge"), ("top", "upper edge"), ("right", "right edge"), ("bottom", "lower edge"))
)  # fmt: skip

PROPERTIES: Final[Mapping[str, AttributeSpec]] = MappingProxyType(
    {
        spec.name: spec
        for spec in (*TEXT_PROPERTIES, *BOX_PROPERTIES, *BREAK_PROPERTIES, *NUMBER_PROPERTIES)
    }
)
