"""Axes: values as fractions of a length, ticks, and labels without overlap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from workers.engine.layout.charts.pen import MAX_LABEL, LabelStyle
from workers.engine.layout.charts.scales import find_extent, find_step, find_ticks, nice_extent
from workers.engine.layout.charts.times import find_time_ticks, find_unit, label_moments
from workers.engine.layout.context import EPSILON
from workers.engine.tree.chart_values import CategoryKind, ChartAxis

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
    """An axis of numbers."""

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
            values, has_zero=has_zero, low=spec.low, high=spec.high
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
        return [
            Tick(self.fraction(tick.at), tuple(filter(None, (tick.label, tick.context))))
            for tick in found
        ]


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
        remaining = self._relabel(stride)
        omitted = len(ticks) - len(remaining) if self._kind is CategoryKind.TEXT else 0
        return AxisLabels(remaining, _height_of(remaining, label_style), omitted=omitted)

    def _relabel(self, stride: int) -> list[Tick]:
        """Return every `stride`-th tick."""
        return [Tick(self.fraction(at), self._labels[at]) for at in range(0, self.count, stride)]

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
    return [tuple(filter(None, next(labels))) if isinstance(x, datetime) else ("",) for x in xs]


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
