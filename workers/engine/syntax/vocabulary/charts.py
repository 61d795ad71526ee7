"""The elements of charts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

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
    of_types,
    required,
)


class ChartKind(NamedTuple):
    """A type of chart: what it has, and what can be done with it."""

    has_axes: bool = False
    has_x: bool = True  # a value of each record on the category axis, or the name of its slice
    is_round: bool = False  # its values are shares of a whole
    is_filled: bool = False  # with areas, which may be hatched
    can_stack: bool = False
    can_label: bool = True


CHART_KINDS: Final[Mapping[str, ChartKind]] = MappingProxyType(
    {
        "column": ChartKind(has_axes=True, is_filled=True, can_stack=True),
        "bar": ChartKind(has_axes=True, is_filled=True, can_stack=True),
        "line": ChartKind(has_axes=True),
        "area": ChartKind(has_axes=True, is_filled=True, can_stack=True),
        "scatter": ChartKind(has_axes=True, can_label=False),
        "pie": ChartKind(is_round=True, is_filled=True),
        "donut": ChartKind(is_round=True, is_filled=True),
        "sparkline": ChartKind(has_x=False, can_label=False),
        "gauge": ChartKind(has_x=False, can_label=False),
    }
)
GAUGE: Final = ("gauge",)
OF_RECORDS: Final = tuple(name for name in CHART_KINDS if name not in GAUGE)
WITH_AXES: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_axes)
_WITH_X: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_x)
_STACKED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_stack)
_FILLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.is_filled)
_LABELLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_label)

CHART_ELEMENTS: Final = (
    element(
        "chart", "A chart: columns, bars, lines, areas or points on axes, or a pie or donut. A sparkline and a gauge are small, for lines of text and table cells. Screen readers find the data of the others as a table, of up to 2,000 cells.", ContentModel.LISTED,
        *fixed(required("type", v.choice(*CHART_KINDS), "Type of chart.")),
        *of_types(OF_RECORDS, AttributeSpec("data", v.LOOP, "The records, and the name of each in x and y; required for all types except gauge.", is_expression=True), are_needed=True),
        *of_types(_WITH_X, expression("x", "Category of a record: a text, number or date on the axis, or the name of a slice. Optional for a sparkline."), are_needed=True),
        *of_types(OF_RECORDS, expression("y", "Value of a record, in a chart of one series; `series` elements declare several.")),
        *of_types(GAUGE, expression("value", "Value of a gauge."), are_needed=True),
        *of_types(GAUGE, expression("max", "Value of a full gauge; 1 unless given.")),
        required("alt", v.TEXT, "Alternative text: what the chart shows; empty for decoration."),
        *of_types(_WITH_X, attribute("title", v.TEXT, "Title, above the chart.")),
        *of_types(_STACKED, attribute("stack", v.choice("none", "sum", "share"), "Whether columns, bars and areas of several series are side by side, stacked, or stacked to 100 %; unless given, sum for areas and none for others.")),
        *of_types(_WITH_X, attribute("legend", v.choice("auto", "none", "top", "bottom"), "Position of the names of series or slices; auto is at the ends of lines and beside slices if there is room, else above.", "auto")),
        attribute("colors", v.COLORS, "Colours of series, or slices, in rotation; by default six that stay distinct for colour-blind readers and in black and white. The default of a sparkline and a gauge is the text colour."),
        *of_types(_FILLED, attribute("hatch", v.BOOLEAN, "Whether areas are hatched too, with one pattern per series.", "false")),
        *of_types(_LABELLED, attribute("values", v.BOOLEAN, "Whether columns, bars and points are labelled with values, and slices and stacks to 100 % with percentages.", "false")),
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
