"""The elements of charts."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.attribute_sets import (
    MONOLITHIC_BREAKS,
    PICTURE_BOX,
    only,
    without,
)
from workers.engine.syntax.vocabulary.properties import COMMON
from workers.engine.syntax.vocabulary.specs import (
    AttributeSpec,
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    required,
)

CHART_TYPES: Final = (
    *("column", "bar", "line", "area", "scatter"),
    *("pie", "donut", "sparkline", "gauge"),
)

CHART_ELEMENTS: Final = (
    element(
        "chart", "A chart: columns, bars, lines, areas or points on axes, or a pie or donut. A sparkline and a gauge are small, for lines of text and table cells. Screen readers find the data of the others as a table, of up to 2,000 cells.", ContentModel.LISTED,
        *fixed(required("type", v.choice(*CHART_TYPES), "Type of chart.")),
        AttributeSpec("data", v.LOOP, "The records, and the name of each in x and y; required for all types except gauge.", is_expression=True),
        expression("x", "Category of a record: a text, number or date on the axis, or the name of a slice. Optional for a sparkline."),
        expression("y", "Value of a record, in a chart of one series; `series` elements declare several."),
        expression("value", "Value of a gauge."),
        expression("max", "Value of a full gauge; 1 unless given."),
        required("alt", v.TEXT, "Alternative text: what the chart shows; empty for decoration."),
        attribute("title", v.TEXT, "Title, above the chart."),
        attribute("stack", v.choice("none", "sum", "share"), "Whether columns, bars and areas of several series are side by side, stacked, or stacked to 100 %; unless given, sum for areas and none for others."),
        attribute("legend", v.choice("auto", "none", "top", "bottom"), "Position of the names of series or slices; auto is at the ends of lines and beside slices if there is room, else above.", "auto"),
        attribute("colors", v.COLORS, "Colours of series, or slices, in rotation; by default six that stay distinct for colour-blind readers and in black and white. The default of a sparkline and a gauge is the text colour."),
        attribute("hatch", v.BOOLEAN, "Whether areas are hatched too, with one pattern per series.", "false"),
        attribute("values", v.BOOLEAN, "Whether columns, bars and points are labelled with values, and slices and stacks to 100 % with percentages.", "false"),
        COMMON, only("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color", "letter-spacing", "direction"),
        PICTURE_BOX, MONOLITHIC_BREAKS,
        children=("series", "axis"),
    ),
    element(
        "series", "One series of a chart.", ContentModel.EMPTY,
        expression("y", "Value of a record; null and an empty text are a gap.", is_required=True),
        attribute("label", v.TEXT, "Name in the legend."),
        attribute("color", v.COLOR, "Colour of the series."),
        without(COMMON, "id", "class", "lang"),
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
