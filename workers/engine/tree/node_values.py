"""Values of nodes: series and axes of charts, kinds and options of form fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Protocol

from workers.engine.units import Color


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """One series of a chart: a value for each of its records, None for a gap.

    `exact` are the same values as decimals, for labels; `color` is None for one of the palette.
    """

    label: str
    values: tuple[float | None, ...]
    exact: tuple[Decimal | None, ...]
    color: Color | None = None


class ChartFormat(Protocol):
    """The formats of the numbers and dates on one axis."""

    def write_number(self, value: Decimal, step: Decimal | None) -> str:
        """Return a number as text.

        As a tick, with as many decimals as the distance of ticks has.
        """

    def write_date(self, moment: datetime, unit: str) -> str:
        """Return a date as a tick; units are `year`, `month`, `day`, `hour` and `minute`."""


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """One axis of a chart.

    `side` is `left`, `right` or `bottom`, with `start` and `end` resolved; empty for the default
    side. Bounds are numbers, of a time axis days as `date.toordinal` counts them.
    """

    format: ChartFormat
    side: str = ""
    title: str = ""
    low: float | None = None
    high: float | None = None
    ticks: int | None = None
    grid: bool | None = None
    has_labels: bool = True


class CategoryKind(StrEnum):
    """The type of the values on the category axis."""

    TEXT = "text"
    NUMBER = "number"
    TIME = "time"


class FieldKind(StrEnum):
    """The kinds of form fields."""

    TEXT = "text"
    MULTILINE = "multiline"
    CHECKBOX = "checkbox"
    RADIO = "radio"
    CHOICE = "choice"
    SIGNATURE = "signature"

    @property
    def is_button(self) -> bool:
        """Whether it is checked instead of filled with text."""
        return self is FieldKind.CHECKBOX or self is FieldKind.RADIO


class FieldOption(NamedTuple):
    """An option of a choice field: its value and the text shown."""

    value: str
    text: str
