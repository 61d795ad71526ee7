"""The types of charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class ChartKind(NamedTuple):
    """A type of chart: what it has, and what can be done with it."""

    has_axes: bool = False
    has_x: bool = True  # a value of each record on the category axis, or the name of its slice
    is_round: bool = False  # its values are shares of a whole
    is_filled: bool = False  # with areas, which may be hatched
    can_stack: bool = False
    can_label: bool = True


CHART_KINDS: Final[Mapping[str, ChartKind]] = {
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
GAUGE: Final = ("gauge",)
OF_RECORDS: Final = tuple(name for name in CHART_KINDS if name not in GAUGE)
WITH_AXES: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_axes)
WITH_X: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.has_x)
STACKED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_stack)
FILLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.is_filled)
LABELLED: Final = tuple(name for name, kind in CHART_KINDS.items() if kind.can_label)
