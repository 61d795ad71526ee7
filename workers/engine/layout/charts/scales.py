"""Scales of numbers: extent, ticks at nice numbers, and separation of labels.

Ticks are those of D3 (d3-array 3, `ticks.js`; d3-scale 4, `linear.js`): the step is 1, 2 or 5 times
a power of ten, the nearest on a logarithmic scale, and the extent is rounded to multiples of it.
Steps and ends are calculated as decimals, so that labels are exact on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import ceil, floor, isfinite
from typing import Final

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
    low: float | None = None,
    high: float | None = None,
) -> tuple[float, float]:
    """Return the extent of some numbers, with `low` and `high` as fixed ends; it is never empty.

    Zero is included where marks start at it (columns), and for lines whose values come near it.
    """
    known = [value for value in values if value is not None and isfinite(value)]
    minimum, maximum = min(known, default=0.0), max(known, default=0.0)
    if has_zero or 0 <= minimum <= maximum * _NEAR_ZERO:
        minimum = min(minimum, 0.0)
    if has_zero or minimum * _NEAR_ZERO <= maximum <= 0:
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
