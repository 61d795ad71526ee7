"""Which of the shared attributes an element takes, and attributes that a few have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    PROPERTIES,
    TEXT_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import AttributeSpec, attribute


def without(specs: tuple[AttributeSpec, ...], *names: str) -> tuple[AttributeSpec, ...]:
    """Give the attributes but for those named."""
    return tuple(spec for spec in specs if spec.name not in names)


def only(*names: str) -> tuple[AttributeSpec, ...]:
    """Give the shared properties of these names."""
    return tuple(PROPERTIES[name] for name in names)


# Properties that have no effect on an element are not declared for it: a margin on a cell is a
# finding, not a margin that nobody sees.
TEXT: Final = without(TEXT_PROPERTIES, "vertical-align")
CHARACTERS: Final = (
    *only(
        "font-family",
        "font-size",
        "font-weight",
        "font-stretch",
        "font-style",
        "color",
        "letter-spacing",
        "direction",
    ),
    *only("text-transform", "text-decoration"),
    replace(PROPERTIES["vertical-align"], kind=v.RISE, default="0", doc="Sub, super, or a rise."),
)
ENTRIES: Final = without(TEXT, "text-align", "text-indent", "white-space")  # of their levels
CELL_TEXT: Final = (
    *TEXT,
    replace(PROPERTIES["vertical-align"], kind=v.CELL_ALIGN, doc="Where the content stands."),
)
_BORDERS: Final = only("border", "border-top", "border-right", "border-bottom", "border-left")
_PADDINGS: Final = only("padding", "padding-top", "padding-right", "padding-bottom", "padding-left")
CELL_BOX: Final = (*only("height", "min-height", "background"), *_PADDINGS, *_BORDERS)
ROW_BOX: Final = (*only("height", "min-height", "background"), *_BORDERS)
ROWS_BOX: Final = only("background", "border", "border-top", "border-bottom")
PICTURE_BOX: Final = without(BOX_PROPERTIES, "min-width", "min-height", "overflow", "min-font-size")
RULE_BOX: Final = without(BOX_PROPERTIES, "max-height", "overflow", "min-font-size")
SOLID_BREAKS: Final = only("break-before", "break-after", "page", "counter-reset", "counter-set")
ROW_BREAKS: Final = only("break-before", "break-after", "orphans", "widows")
ALL: Final = (COMMON, TEXT, BOX_PROPERTIES, BREAK_PROPERTIES)
# What is printed again and again is no place to lead to, and bar codes and pictures have no text.
UNNAMED: Final = without(COMMON, "id")
UNSPOKEN: Final = without(COMMON, "lang")
BOXED: Final = (UNNAMED, TEXT, BOX_PROPERTIES)

COLUMNS: Final = (
    attribute("columns", v.count(1, 12), "How many columns the content stands in.", "1"),
    attribute("column-gap", v.LENGTH, "Space between columns.", "5mm"),
)
FINAL: Final = replace(
    attribute("final", v.BOOLEAN, "Refuses to be replaced by a payload.", "false"), is_fixed=True
)
LIST_STYLE: Final = v.choice("disc", "circle", "square", "dash", "none")
NUMBER_STYLE: Final = v.choice(
    "decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman"
)
PIECES: Final = v.choice("all", "first", "rest", "last", "not-last")
STRIPE: Final = attribute("stripe", v.BACKGROUNDS, "Colours that body rows take in turn.")
CELL_PADDING: Final = attribute(
    "cell-padding", v.sides(v.LENGTH), "Padding of all cells.", "1mm 1.5mm"
)
