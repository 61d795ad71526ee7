"""Ticks of dates and times: at whole minutes, hours, days, weeks, months and years.

The interval is the one of the nearest length, as a ratio (d3-time 3, `ticks.js`); years have the
ticks of numbers. Dates are in days as `date.toordinal` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from math import ceil, floor
from typing import Final, NamedTuple

from workers.engine.layout.charts.scales import find_step

_MINUTE: Final = 1 / 1440
_MONTH: Final = 30.0
_YEAR: Final = 365.0
_MAX_TICKS: Final = 60
_SLACK: Final = 1e-6  # of an interval, for rounding errors
_EPOCH: Final = datetime(1, 1, 1)  # noqa: DTZ001  (of no zone); its ordinal is 1
_MONDAY: Final = 1.0  # the first of January of the year 1

WriteDate = Callable[[datetime, str], str]


class Interval(NamedTuple):
    """An interval of ticks: a multiple of a unit, and its approximate length in days."""

    unit: str
    multiple: int
    days: float


_INTERVALS: Final = (
    *(Interval("minute", count, count * _MINUTE) for count in (1, 5, 15, 30)),
    *(Interval("hour", count, count / 24) for count in (1, 3, 6, 12)),
    *(Interval("day", count, float(count)) for count in (1, 2, 7)),
    *(Interval("month", count, count * _MONTH) for count in (1, 3, 6)),
)


class TimeTick(NamedTuple):
    """A tick: position in days, label, and the larger unit below it where that changes."""

    at: float
    label: str
    context: str


def to_days(moment: datetime) -> float:
    """Return a date and time in days."""
    return moment.toordinal() + (moment.hour * 60 + moment.minute + moment.second / 60) * _MINUTE


def from_days(days: float) -> datetime:
    """Return the date and time of a number of days, to the minute."""
    return _EPOCH + timedelta(minutes=round((days - 1) * 1440))


def find_time_ticks(low: float, high: float, count: int, write: WriteDate) -> list[TimeTick]:
    """Return about `count` labelled ticks from `low` to `high`."""
    interval = find_interval(low, high, count)
    moments = [at for at in _moments(low, high, interval) if low <= to_days(at) <= high]
    labels = label_moments(moments, interval.unit, write)
    return [
        TimeTick(to_days(at), label, context)
        for at, (label, context) in zip(moments, labels, strict=True)
    ]


def find_interval(low: float, high: float, count: int) -> Interval:
    """Return the interval for about `count` ticks."""
    target = max((high - low) / max(count, 1), _MINUTE)
    if target > _YEAR / 1.4:
        years = max(int(find_step(low / _YEAR, high / _YEAR, count)), 1)
        return Interval("year", years, years * _YEAR)
    return min(_INTERVALS, key=lambda each: max(each.days / target, target / each.days))


def _moments(low: float, high: float, interval: Interval) -> Iterator[datetime]:
    """Yield the times of an interval; the first may be before and the last after the extent."""
    match interval.unit:
        case "year" | "month":
            months = interval.multiple * (12 if interval.unit == "year" else 1)
            first = from_days(low)
            begin = (first.year * 12 + first.month - 1) // months * months
            for at in range(begin, begin + months * _MAX_TICKS, months):
                year, month = divmod(at, 12)
                if MINYEAR <= year <= MAXYEAR:
                    moment = datetime(year, month + 1, 1)  # noqa: DTZ001
                    if to_days(moment) > high:
                        return
                    yield moment
        case _:
            size = interval.days
            first_at = ceil((low - _MONDAY) / size - _SLACK)
            last_at = floor((high - _MONDAY) / size + _SLACK)
            for at in range(first_at, min(last_at, first_at + _MAX_TICKS) + 1):
                yield from_days(_MONDAY + at * size)


def label_moments(
    moments: Sequence[datetime], unit: str, write: WriteDate
) -> list[tuple[str, str]]:
    """Return labels by a unit, each with the year or day below it where that changes."""
    larger = {"month": "year", "day": "year", "hour": "day", "minute": "day"}.get(unit)
    found: list[tuple[str, str]] = []
    last = ""
    for moment in moments:
        context = write(moment, larger) if larger else ""
        label = write(moment, unit)
        # With a format of the author's own there is no second line.
        found.append((label, context if context not in (last, label) else ""))
        last = context
    return found


def find_unit(moments: Sequence[datetime]) -> str:
    """Return the largest unit in which times differ, for their labels as categories."""
    if all(at.month == at.day == 1 and not (at.hour or at.minute) for at in moments):
        return "year"
    if all(at.day == 1 and not (at.hour or at.minute) for at in moments):
        return "month"
    return "minute" if any(at.hour or at.minute for at in moments) else "day"
