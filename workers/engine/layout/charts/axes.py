"""Axes: values as fractions of a length, ticks, and labels without overlap.

Ticks of numbers are those of D3 (d3-array 3, `ticks.js`; d3-scale 4, `linear.js`): the step is 1, 2
or 5 times a power of ten, the nearest on a logarithmic scale, and the extent is rounded to multiples
of it. Steps and ends are calculated as decimals, so that labels are exact on every machine.

Ticks of dates and times are at whole minutes, hours, days, weeks, months and years: the interval is
the one of the nearest length, as a ratio (d3-time 3, `ticks.js`); years have the ticks of numbers.
Dates are in days as `date.toordinal` counts them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from decimal import Decimal
from math import ceil, floor, isfinite
from typing import Final, NamedTuple

from workers.engine.layout.charts.drawing import MAX_LABEL, LabelStyle
from workers.engine.layout.context import EPSILON
from workers.engine.tree.node_values import CategoryKind, ChartAxis

_MINUTE: Final = 1 / 1440
_MONTH: Final = 30.0
_YEAR: Final = 365.0
_TIME_SLACK: Final = 1e-6  # of an interval, for rounding errors
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


def to_days(moment: datetime) -> float:
    """Return a date and time in days."""
    return moment.toordinal() + (moment.hour * 60 + moment.minute + moment.second / 60) * _MINUTE


def from_days(days: float) -> datetime:
    """Return the date and time of a number of days, to the minute."""
    return _EPOCH + timedelta(minutes=round((days - 1) * 1440))


def find_time_ticks(
    low: float, high: float, count: int, write: WriteDate
) -> list[tuple[float, tuple[str, ...]]]:
    """Return about `count` ticks from `low` to `high`, each in days with the lines of its label."""
    interval = find_interval(low, high, count)
    moments = [at for at in _moments(low, high, interval) if low <= to_days(at) <= high]
    labels = label_moments(moments, interval.unit, write)
    return list(zip(map(to_days, moments), labels, strict=True))


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
            first_at = ceil((low - _MONDAY) / size - _TIME_SLACK)
            last_at = floor((high - _MONDAY) / size + _TIME_SLACK)
            for at in range(first_at, min(last_at, first_at + _MAX_TICKS) + 1):
                yield from_days(_MONDAY + at * size)


def label_moments(
    moments: Sequence[datetime], unit: str, write: WriteDate
) -> list[tuple[str, ...]]:
    """Return labels by a unit, each with the year or day below it where that changes."""
    larger = {"month": "year", "day": "year", "hour": "day", "minute": "day"}.get(unit)
    found: list[tuple[str, ...]] = []
    last = ""
    for moment in moments:
        context = write(moment, larger) if larger else ""
        label = write(moment, unit)
        # With a format of the author's own there is no second line.
        found.append((label,) if context in ("", last, label) else (label, context))
        last = context
    return found


def find_unit(moments: Sequence[datetime]) -> str:
    """Return the largest unit in which times differ, for their labels as categories."""
    if all(at.month == at.day == 1 and not (at.hour or at.minute) for at in moments):
        return "year"
    if all(at.day == 1 and not (at.hour or at.minute) for at in moments):
        return "month"
    return "minute" if any(at.hour or at.minute for at in moments) else "day"


_FACTORS: Final = ((50, 10), (10, 5), (2, 2), (0, 1))  # least squared mantissa, factor
_SLACK: Final = Decimal("1e-9")  # of a step, for rounding errors of the data
_MAX_TICKS: Final = 60
_ROUNDS: Final = 10  # as in d3-scale
_FLAT: Final = 1e-12  # a smaller extent, relative to its ends, is empty
_NEAR_ZERO: Final = 0.5  # lines start at zero if their least value is at most half of the greatest


def find_step(low: float, high: float, count: int) -> Decimal:
    """Return the step of about `count` ticks from `low` to `high`, which differ."""
    return _find_step(_exact(low), _exact(high), count)


def _find_step(low: Decimal, high: Decimal, count: int) -> Decimal:
    rough = (high - low) / max(count, 1)
    power = rough.adjusted()
    square = rough.scaleb(-power) ** 2
    factor = next(factor for minimum, factor in _FACTORS if square >= minimum)
    return Decimal(factor).scaleb(power)


def find_ticks(low: float, high: float, step: Decimal) -> list[Decimal]:
    """Return the multiples of a step from `low` to `high`, both included."""
    first = ceil(_exact(low) / step - _SLACK)
    last = floor(_exact(high) / step + _SLACK)
    if last - first >= _MAX_TICKS:
        return []
    return [step * at for at in range(first, last + 1)]


def nice_extent(
    low: float, high: float, count: int, *, keeps_low: bool = False, keeps_high: bool = False
) -> tuple[float, float, Decimal]:
    """Return an extent with its ends rounded to ticks, and the step (d3-scale `nice`); kept ends are exact."""
    start, stop = _exact(low), _exact(high)
    previous = None
    for _ in range(_ROUNDS):
        step = _find_step(start, stop, count)
        if step == previous:
            return float(start), float(stop), step
        if not keeps_low:
            start = floor(start / step + _SLACK) * step
        if not keeps_high:
            stop = ceil(stop / step - _SLACK) * step
        previous = step
    # As in d3-scale, an extent that grows in every round (one tick around zero) stays as it is.
    return low, high, find_step(low, high, count)


def _exact(number: float) -> Decimal:
    """Return the shortest decimal that reads as a number: 0.1 is a tenth."""
    return Decimal(repr(float(number)))


def find_extent(
    values: Iterable[float | None],
    *,
    has_zero: bool,
    is_exact: bool = False,
    low: float | None = None,
    high: float | None = None,
) -> tuple[float, float]:
    """Return the extent of some numbers, with `low` and `high` as fixed ends; it is never empty.

    Zero is included where marks start at it (columns), and for lines whose values come near it, unless
    the extent `is_exact`.
    """
    known = [value for value in values if value is not None and isfinite(value)]
    minimum, maximum = min(known, default=0.0), max(known, default=0.0)
    if has_zero or (not is_exact and 0 <= minimum <= maximum * _NEAR_ZERO):
        minimum = min(minimum, 0.0)
    if has_zero or (not is_exact and minimum * _NEAR_ZERO <= maximum <= 0):
        maximum = max(maximum, 0.0)
    minimum = minimum if low is None else low
    maximum = maximum if high is None else high
    return _open(minimum, maximum, holds_low=low is not None, holds_high=high is not None)


def _open(low: float, high: float, *, holds_low: bool, holds_high: bool) -> tuple[float, float]:
    """Return a non-empty extent where all numbers are equal, or a fixed end is beyond the others."""
    room = max(abs(low), abs(high)) * _FLAT
    if high - low > room:
        return low, high
    if low == high == 0 and not holds_high:
        return 0.0, 1.0
    margin = max(abs(low), abs(high)) * 0.1 or 1.0
    if holds_low:
        return low, low + margin
    if holds_high:
        return high - margin, high
    return low - margin, high + margin


def separate(places: Sequence[float], minimum: float, low: float, high: float) -> list[float]:
    """Move positions apart until neighbours are `minimum` apart, within `low` and `high`; all in points.

    Their order is kept; groups that touch move together by their mean (pool adjacent violators, the
    least squares solution). Where there is not enough space, they are evenly spaced.
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    if (len(order) - 1) * minimum > high - low:
        gap = (high - low) / max(len(order) - 1, 1)
        return [low + order.index(at) * gap for at in range(len(places))]
    groups: list[list[float]] = []  # sum of the wanted starts, and count
    for position, at in enumerate(order):
        groups.append([places[at] - position * minimum, 1.0])
        while len(groups) > 1 and _mean(groups[-2]) >= _mean(groups[-1]):
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    top = high - (len(order) - 1) * minimum
    starts = [min(max(_mean(group), low), top) for group in groups for _ in range(int(group[1]))]
    moved = [0.0] * len(places)
    for position, at in enumerate(order):
        moved[at] = starts[position] + position * minimum
    return moved


def _mean(group: Sequence[float]) -> float:
    return group[0] / group[1]


_LABEL_GAP: Final = 0.7  # em, between labels beside each other
_VERTICAL_PITCH: Final = 3.0  # em, between ticks of a vertical axis
_HORIZONTAL_PITCH: Final = 5.0  # em, between ticks of a horizontal axis
_FEWEST, _MOST = 2, 8
_WRAPPED: Final = 3  # lines of a label
_ROTATION: Final = -45.0
_DIAGONAL: Final = 0.7071
_MAX_ROTATED_FRACTION: Final = 0.35  # of the chart's height, for rotated labels
_STRIDES: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 50)


class Tick(NamedTuple):
    """A tick: its position as a fraction of the axis, and the lines of its label."""

    fraction: float
    lines: tuple[str, ...] = ()


class AxisLabels(NamedTuple):
    """The ticks of a horizontal axis with labels that do not overlap.

    `rotation` is in degrees clockwise, `height` the space for labels in points. `omitted` and
    `truncated` count labels that do not fit.
    """

    ticks: Sequence[Tick]
    height: float
    rotation: float = 0.0
    omitted: int = 0
    truncated: int = 0


class HorizontalSpace(NamedTuple):
    """The space of a horizontal axis in points: from `left` to `right`, its labels between 0 and `width`.

    `height` is that of the chart.
    """

    left: float
    right: float
    width: float
    height: float  # of the chart

    def place(self, fraction: float, width: float) -> float:
        """Return the centre of a label, moved so that the label stays inside the chart."""
        requested = self.left + fraction * (self.right - self.left)
        return max(min(requested, self.width - width / 2), width / 2)


class Axis(ABC):
    """An axis of any kind."""

    def __init__(self, spec: ChartAxis) -> None:
        self.spec = spec

    @abstractmethod
    def fraction(self, value: float) -> float:
        """Return the position of a value as a fraction of the axis."""

    @abstractmethod
    def vertical_ticks(self, length: float, label_style: LabelStyle, room: float) -> list[Tick]:
        """Return the ticks of a vertical axis; labels are at most `room` points wide."""

    @abstractmethod
    def horizontal_ticks(self, space: HorizontalSpace, label_style: LabelStyle) -> AxisLabels:
        """Return the ticks of a horizontal axis."""


class _Scale(Axis):
    """An axis between two ends, with about as many ticks as asked for."""

    low: float
    high: float

    def fraction(self, value: float) -> float:
        """Return the position of a value, clamped to the axis."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def vertical_ticks(self, length: float, label_style: LabelStyle, room: float) -> list[Tick]:
        """Return the ticks of a vertical axis."""
        return self._ticks(_count(length, label_style.size * _VERTICAL_PITCH, self.spec.ticks))

    def horizontal_ticks(self, space: HorizontalSpace, label_style: LabelStyle) -> AxisLabels:
        """Return the ticks of a horizontal axis: fewer where their labels would overlap."""
        count = self._count_horizontally(space.right - space.left, label_style.size)
        ticks = self._ticks(count)
        while count > 1 and not _do_not_overlap(ticks, space, label_style):
            count -= 1
            ticks = self._ticks(count)
        return AxisLabels(ticks, _height_of(ticks, label_style))

    def _count_horizontally(self, length: float, size: float) -> int:
        return _count(length, size * _HORIZONTAL_PITCH, self.spec.ticks)

    @abstractmethod
    def _ticks(self, count: int) -> list[Tick]:
        """Return about `count` ticks."""


class ValueAxis(_Scale):
    """An axis of numbers; its ends are rounded to ticks if it `is_nice`, else those of the numbers."""

    def __init__(
        self,
        spec: ChartAxis,
        values: Sequence[float | None],
        *,
        has_zero: bool,
        is_nice: bool = True,
    ) -> None:
        super().__init__(spec)
        self._least, self._most = find_extent(
            values, has_zero=has_zero, is_exact=not is_nice, low=spec.low, high=spec.high
        )
        self._is_nice = is_nice
        is_free = spec.low is None and spec.high is None
        self._is_blank = is_free and not any(values)  # nothing but zeros tells no scale
        self.low, self.high = self._least, self._most

    def _ticks(self, count: int) -> list[Tick]:
        spec = self.spec
        if self._is_blank:
            return [Tick(0.0, self._label(Decimal(0), Decimal(1)))]
        if self._is_nice:
            self.low, self.high, step = nice_extent(
                self._least,
                self._most,
                count,
                keeps_low=spec.low is not None,
                keeps_high=spec.high is not None,
            )
        else:
            step = find_step(self.low, self.high, count)
        found = find_ticks(self.low, self.high, step)
        return [Tick(self.fraction(float(at)), self._label(at, step)) for at in found]

    def _label(self, at: Decimal, step: Decimal) -> tuple[str, ...]:
        return (self.spec.format.write_number(at, step)[:MAX_LABEL],)


class TimeAxis(_Scale):
    """An axis of dates; values are in days."""

    def __init__(self, spec: ChartAxis, values: Sequence[float | None]) -> None:
        super().__init__(spec)
        known = [value for value in values if value is not None]
        low = min(known, default=1.0) if spec.low is None else spec.low
        high = max(known, default=1.0) if spec.high is None else spec.high
        self.low, self.high = (low, high) if low < high else (low - 0.5, low + 0.5)

    def _count_horizontally(self, length: float, size: float) -> int:
        return self.spec.ticks or max(int(length / (size * 4.5)), _FEWEST)

    def _ticks(self, count: int) -> list[Tick]:
        found = find_time_ticks(self.low, self.high, count, self.spec.format.write_date)
        return [Tick(self.fraction(at), lines) for at, lines in found]


class BandAxis(Axis):
    """An axis of categories; values are indexes from 0.

    Each category has a band; with `reaches_ends` the first and the last are at the ends of the
    axis.
    """

    def __init__(
        self,
        spec: ChartAxis,
        xs: Sequence[object],
        kind: CategoryKind,
        *,
        reaches_ends: bool = False,
    ) -> None:
        super().__init__(spec)
        self._reaches_ends = reaches_ends and len(xs) > 1
        self.count = len(xs)
        self._kind = kind
        self._labels = label_categories(spec, xs, kind)

    def fraction(self, value: float) -> float:
        """Return the centre of a category's band as a fraction of the axis."""
        if self._reaches_ends:
            return value / (self.count - 1)
        return (value + 0.5) / max(self.count, 1)

    def vertical_ticks(self, length: float, label_style: LabelStyle, room: float) -> list[Tick]:
        """Return the ticks of a vertical axis: categories from the top, labels wrapped or truncated."""
        band = length / max(self.count, 1)
        lines = max(min(int(band / label_style.line_height), _WRAPPED), 1)
        stride = next((e for e in _STRIDES if band * e >= label_style.line_height), _STRIDES[-1])
        return [
            Tick(self.fraction(at), _wrap_or_truncate(label, room, lines, label_style))
            for at, label in enumerate(self._labels)
            if at % stride == 0
        ]

    def horizontal_ticks(self, space: HorizontalSpace, label_style: LabelStyle) -> AxisLabels:
        """Return the ticks of a horizontal axis, with labels side by side, wrapped, rotated, or fewer."""
        ticks = [Tick(self.fraction(at), label) for at, label in enumerate(self._labels)]
        if _do_not_overlap(ticks, space, label_style):
            return AxisLabels(ticks, _height_of(ticks, label_style))
        band = (space.right - space.left) / max(self.count - self._reaches_ends, 1)
        if self._kind is CategoryKind.TEXT:
            wrapped = self._wrap(band - _LABEL_GAP * label_style.size, label_style)
            if wrapped is not None and _do_not_overlap(wrapped, space, label_style):
                return AxisLabels(wrapped, _height_of(wrapped, label_style))
            if self._reaches_ends:  # labels at the ends need the width of a band
                self._reaches_ends = False
                return self.horizontal_ticks(space, label_style)
            if band * _DIAGONAL >= label_style.size:
                return _rotate_labels(ticks, space, label_style)
        stride = next(
            (e for e in _STRIDES if _do_not_overlap(ticks[::e], space, label_style)),
            max(self.count, 1),
        )
        remaining = [
            Tick(self.fraction(at), self._labels[at]) for at in range(0, self.count, stride)
        ]
        omitted = len(ticks) - len(remaining) if self._kind is CategoryKind.TEXT else 0
        return AxisLabels(remaining, _height_of(remaining, label_style), omitted=omitted)

    def _wrap(self, room: float, label_style: LabelStyle) -> list[Tick] | None:
        ticks: list[Tick] = []
        for at, label in enumerate(self._labels):
            lines = label_style.wrap(label[0], room, _WRAPPED)
            if lines is None:
                return None
            ticks.append(Tick(self.fraction(at), lines))
        return ticks


def label_categories(
    spec: ChartAxis, xs: Sequence[object], kind: CategoryKind
) -> list[tuple[str, ...]]:
    """Return the labels of categories, in lines."""
    if kind is CategoryKind.TEXT:
        return [(" ".join(str(x)[:MAX_LABEL].split()),) for x in xs]
    if kind is CategoryKind.NUMBER:
        return [
            (spec.format.write_number(x, None)[:MAX_LABEL] if isinstance(x, Decimal) else "",)
            for x in xs
        ]
    moments = [x for x in xs if isinstance(x, datetime)]
    labels = iter(label_moments(moments, find_unit(moments), spec.format.write_date))
    return [next(labels) if isinstance(x, datetime) else ("",) for x in xs]


def _count(length: float, pitch: float, requested: int | None) -> int:
    return requested or max(min(int(length / pitch), _MOST), _FEWEST)


def _height_of(ticks: Sequence[Tick], label_style: LabelStyle) -> float:
    return label_style.line_height * max((len(tick.lines) for tick in ticks), default=1)


def _do_not_overlap(ticks: Sequence[Tick], space: HorizontalSpace, label_style: LabelStyle) -> bool:
    """Return whether adjacent labels keep a gap."""
    gap = _LABEL_GAP * label_style.size
    end = -gap
    for tick in ticks:
        width = label_style.widest(tick.lines)
        start = space.place(tick.fraction, width) - width / 2
        if width and start < end + gap:
            return False
        end = start + width
    return end <= space.width + EPSILON


def _rotate_labels(
    ticks: Sequence[Tick], space: HorizontalSpace, label_style: LabelStyle
) -> AxisLabels:
    room = space.height * _MAX_ROTATED_FRACTION / _DIAGONAL - label_style.size
    truncated = 0
    rotated: list[Tick] = []
    for tick in ticks:
        reach = (space.left + tick.fraction * (space.right - space.left)) / _DIAGONAL
        text = label_style.truncate(tick.lines[0], max(min(room, reach), 0.0))
        truncated += text != tick.lines[0]
        rotated.append(Tick(tick.fraction, (text,)))
    widest = label_style.widest(tick.lines[0] for tick in rotated)
    return AxisLabels(
        rotated, (widest + label_style.size) * _DIAGONAL, rotation=_ROTATION, truncated=truncated
    )


def _wrap_or_truncate(
    label: tuple[str, ...], room: float, lines: int, label_style: LabelStyle
) -> tuple[str, ...]:
    text = " ".join(label)
    return label_style.wrap(text, room, lines) or (label_style.truncate(text, room),)
