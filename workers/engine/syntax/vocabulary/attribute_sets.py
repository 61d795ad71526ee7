"""Sets of shared attributes for groups of elements."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.font_variants import VARIANT_PROPERTIES
from workers.engine.syntax.names import BUSINESS_TERM
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    FLOW_PROPERTIES,
    PROPERTIES,
    TEXT_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import AttributeSpec, attribute


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
ENTRIES: Final = without(
    TEXT, "text-align", "text-indent", "white-space"
)  # inherited by the styles of their levels
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
BLOCK_ATTRIBUTES: Final = (COMMON, TEXT, FLOW_PROPERTIES, BOX_PROPERTIES, BREAK_PROPERTIES)
# Repeated content is no link target; bar codes and images have no text, and so no language.
COMMON_WITHOUT_ID: Final = without(COMMON, "id")
COMMON_WITHOUT_LANG: Final = without(COMMON, "lang")
RUNNING_BOX: Final = (COMMON_WITHOUT_ID, TEXT, BOX_PROPERTIES)

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
