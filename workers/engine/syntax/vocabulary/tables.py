"""The elements of tables."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.choices import (
    ALL,
    CELL_BOX,
    CELL_PADDING,
    CELL_TEXT,
    PIECES,
    ROW_BOX,
    ROW_BREAKS,
    ROWS_BOX,
    STRIPE,
    TEXT,
    UNNAMED,
    only,
    without,
)
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NUMBER_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import (
    ROWS,
    Content,
    attribute,
    element,
    expression,
    fixed,
    required,
)

TABLE_ELEMENTS: Final = (
    element(
        "table", "A table, as wide as its place unless it says otherwise.", Content.LISTED,
        STRIPE, CELL_PADDING, *ALL,
        children=("caption", "col", "total", "thead", "tbody", "tfoot", "tr", "group", "let"),
    ),
    element(
        "caption", "The title of a table, above it.", Content.INLINE,
        *fixed(attribute("on", PIECES, "Pieces of a broken table that it stands on.", "first")),
        COMMON, TEXT, NUMBER_PROPERTIES, without(BOX_PROPERTIES, "margin", "margin-top", "margin-left", "margin-right", "width", "height", "min-width", "max-width", "max-height", "overflow", "min-font-size", "rotate"),
    ),
    element(
        "col", "A column: its width and the defaults of its cells.", Content.EMPTY,
        attribute("width", v.TRACK, "Width; auto is by content.", "auto"),
        attribute("span", v.count(1, 200), "How many columns this one stands for.", "1"),
        only("min-width", "max-width"), without(COMMON, "id", "lang"), CELL_TEXT, CELL_BOX,
    ),
    element(
        "total", "A value that body rows add up to, carried from piece to piece of the table.", Content.EMPTY,
        *fixed(
            required("name", v.VARIABLE, "Name of the total; totals.name.all is the whole table's."),
            attribute("mode", v.choice("sum", "last", "count", "min", "max"), "What becomes of the values; count counts the rows for which value holds.", "sum"),
        ),
        expression("value", "What a counted row adds: of rows that carry for, or count."),
        expression("start", "What is there before the first row; 0 for sums, nothing for last, min and max."),
    ),
    element(
        "thead", "Head rows; of several that match a piece each is printed, in order.", Content.LISTED,
        *fixed(attribute("on", PIECES, "Pieces of a broken table that they stand on.", "all")),
        UNNAMED, TEXT, ROWS_BOX, children=ROWS,
    ),
    element(
        "tbody", "Body rows.", Content.LISTED, UNNAMED, TEXT, ROWS_BOX, without(BREAK_PROPERTIES, "page", "counter-reset", "counter-set"), children=ROWS,
    ),
    element(
        "tfoot", "Foot rows; of several that match a piece each is printed, in order.", Content.LISTED,
        *fixed(attribute("on", PIECES, "Pieces of a broken table that they stand on.", "last")),
        UNNAMED, TEXT, ROWS_BOX, children=ROWS,
    ),
    element(
        "tr", "A row; it is split only if it is taller than a page.", Content.LISTED,
        *fixed(
            attribute("repeat", v.BOOLEAN, "Whether it heads its tbody, and is printed again on each piece where that goes on.", "false"),
            attribute("count", v.BOOLEAN, "Whether totals count it; rows that carry for are counted."),
        ),
        COMMON, TEXT, ROW_BOX, ROW_BREAKS, children=("th", "td", "group"),
    ),
    *(
        element(
            name, doc, Content.BLOCKS,
            attribute("colspan", v.count(1, 200), "How many columns it spans.", "1"),
            attribute("rowspan", v.count(1, 1000), "How many rows it spans; they stay on one page.", "1"),
            COMMON, CELL_TEXT, CELL_BOX,
        )
        for name, doc in (("td", "A cell."), ("th", "A head cell."))
    ),
)  # fmt: skip
