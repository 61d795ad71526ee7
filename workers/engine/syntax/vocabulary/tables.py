"""The table elements."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.attribute_sets import (
    CELL_BOX,
    CELL_PADDING,
    CELL_TEXT,
    COMMON_WITHOUT_ID,
    ROW_BOX,
    ROW_BREAKS,
    ROWS_BOX,
    STRIPE,
    TABLE_FRAGMENTS,
    TERM,
    TEXT,
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
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    required,
)

TABLE_ELEMENTS: Final = (
    element(
        "table", "A table; by default as wide as its container.", ContentModel.LISTED,
        STRIPE, CELL_PADDING, COMMON, TEXT, BOX_PROPERTIES, BREAK_PROPERTIES,
        children=("caption", "col", "total", "thead", "tbody", "tfoot", "tr", "group", "let"),
    ),
    element(
        "caption", "The caption of a table or a [figure](#figure), above a table.", ContentModel.INLINE,
        *fixed(attribute("on", TABLE_FRAGMENTS, "Fragments of a broken table that have it; not in a figure.", "first")),
        COMMON, TEXT, NUMBER_PROPERTIES, without(BOX_PROPERTIES, "margin", "margin-top", "margin-left", "margin-right", "width", "height", "min-width", "max-width", "max-height", "overflow", "min-font-size", "rotate"),
    ),
    element(
        "col", "A column: its width and the default properties of its cells.", ContentModel.EMPTY,
        attribute("width", v.TRACK, "Width; auto is by content.", "auto"),
        attribute("span", v.count(1, 200), "Number of columns that it declares.", "1"),
        only("min-width", "max-width"), without(COMMON, "id", "lang"), CELL_TEXT, CELL_BOX,
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
        *fixed(attribute("on", TABLE_FRAGMENTS, "Fragments of a broken table that have them.", "all")),
        COMMON_WITHOUT_ID, TEXT, ROWS_BOX, children=ROWS,
    ),
    element(
        "tbody", "Body rows.", ContentModel.LISTED, COMMON_WITHOUT_ID, TEXT, ROWS_BOX, without(BREAK_PROPERTIES, "page", "counter-reset", "counter-set"), children=ROWS,
    ),
    element(
        "tfoot", "Footer rows; if several match a fragment, all are drawn in order.", ContentModel.LISTED,
        *fixed(attribute("on", TABLE_FRAGMENTS, "Fragments of a broken table that have them.", "last")),
        COMMON_WITHOUT_ID, TEXT, ROWS_BOX, children=ROWS,
    ),
    element(
        "tr", "A row; it breaks only if it is taller than a page.", ContentModel.LISTED,
        *fixed(
            attribute("repeat", v.BOOLEAN, "Whether it is a header row of its tbody, repeated on each fragment that continues it.", "false"),
            attribute("count", v.BOOLEAN, "Whether totals count it; rows with `for` are counted by default."),
        ),
        COMMON, TEXT, ROW_BOX, ROW_BREAKS, children=("th", "td", "group"),
    ),
    *(
        element(
            name, doc, ContentModel.BLOCKS,
            attribute("colspan", v.count(1, 200), "Number of columns that it spans.", "1"),
            attribute("rowspan", v.count(1, 1000), "Number of rows that it spans; they are kept on one page if they fit on one.", "1"),
            *scope,
            TERM, COMMON, CELL_TEXT, CELL_BOX,
        )
        for name, doc, scope in (
            ("td", "A cell.", ()),
            ("th", "A header cell.", (fixed(attribute("scope", v.choice("row", "column", "both"), "The cells that it is a header of, in tagged files; unless given, those of its column in a `thead` or a row of `th` only, otherwise those of its row.")),)),
        )
    ),
)  # fmt: skip
