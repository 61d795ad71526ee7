"""Scales hold their numbers, and their ticks are few, even and nice."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import isfinite

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workers.engine.layout.charts.axes import (
    find_extent,
    find_step,
    find_ticks,
    nice_extent,
    separate,
)

NUMBERS = st.floats(-1e60, 1e60, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "count", "ticks"),
    [  # as d3-array 3 gives them
        (0, 1, 10, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"),
        (0, 1, 5, "0.0 0.2 0.4 0.6 0.8 1.0"),
        (0, 1, 2, "0.0 0.5 1.0"),
        (-10, 10, 4, "-10 -5 0 5 10"),
        (0, 310, 4, "0 100 200 300"),
        (0, 23, 5, "0 5 10 15 20"),
        (1000, 1007, 4, "1000 1002 1004 1006"),
    ],
)
def test_ticks_are_those_of_d3(low, high, count, ticks):
    found = find_ticks(low, high, find_step(low, high, count))
    assert found == [Decimal(tick) for tick in ticks.split()]


@pytest.mark.long
@given(NUMBERS, NUMBERS, st.integers(1, 20))
def test_a_step_is_one_two_or_five_times_a_power_of_ten(low, high, count):
    assume(high - low > max(abs(low), abs(high)) * 1e-12)
    assume((high - low) / count > 0)  # the least number has no half
    step = find_step(low, high, count)
    assert step.as_tuple().digits in ((1,), (2,), (5,), (1, 0))
    # d3's factors are at most sqrt(2) or sqrt(2.5) away from the wanted step.
    assert 0.6 < float(step) / ((high - low) / count) < 1.6


@given(st.lists(NUMBERS | st.none(), max_size=8), st.integers(2, 10), st.booleans())
def test_a_widened_extent_holds_every_number_and_ends_at_ticks(values, count, has_zero):
    low, high = find_extent(values, has_zero=has_zero)
    assert low < high
    wide_low, wide_high, step = nice_extent(low, high, count)
    slack = (wide_high - wide_low) * 1e-6
    assert isfinite(wide_high - wide_low)
    assert all(wide_low - slack <= v <= wide_high + slack for v in values if v is not None)
    ticks = find_ticks(wide_low, wide_high, step)
    assert 2 <= len(ticks) <= 3 * count + 2
    assert abs(float(ticks[0]) - wide_low) <= slack
    assert abs(float(ticks[-1]) - wide_high) <= slack
    assert len({after - before for before, after in pairwise(ticks)}) == 1


@pytest.mark.parametrize(
    ("low", "high", "count", "nice"),
    [  # as d3-scale 4 rounds them
        (0, 1.435, 5, (0.0, 2.0, "0.5")),  # 0.2 widens it to 1.6, whose step is 0.5
        (-1.435, 0, 5, (-2.0, 0.0, "0.5")),
        (0, 14.35, 5, (0.0, 20.0, "5")),
        (0, 0.97, 5, (0.0, 1.0, "0.2")),
        (1.1, 10.9, 10, (1.0, 11.0, "1")),
        (-0.7, 12.2, 4, (-5.0, 15.0, "5")),
        (0, 0.3, 3, (0.0, 0.3, "0.1")),  # exact: three times the float 0.1 is more than 0.3
        (-1, 1, 1, (-1.0, 1.0, "2")),  # grows in every round, and stays as it is
    ],
)
def test_an_extent_is_rounded_as_in_d3(low, high, count, nice):
    start, stop, step = nice_extent(low, high, count)
    assert (start, stop, step) == (*nice[:2], Decimal(nice[2]))


@pytest.mark.parametrize(
    ("values", "has_zero", "extent"),
    [
        ([], True, (0, 1)),
        ([None], False, (0, 1)),
        ([0, 0], True, (0, 1)),
        ([5], True, (0, 5)),
        ([5], False, (4.5, 5.5)),
        ([-5], True, (-5, 0)),
        ([60, 100], False, (60, 100)),
        ([50, 100], False, (0, 100)),
        ([-100, -40], False, (-100, 0)),
        ([-100, -60], False, (-100, -60)),
        ([3, -4, None], False, (-4, 3)),
    ],
)
def test_zero_belongs_to_columns_and_to_lines_that_come_near_it(values, has_zero, extent):
    assert find_extent(values, has_zero=has_zero) == pytest.approx(extent)


def test_stated_ends_hold():
    assert find_extent([1, 5], has_zero=True, low=2, high=4) == (2, 4)
    assert find_extent([1, 5], has_zero=True, low=9) == (9, pytest.approx(9.9))
    assert find_extent([1, 5], has_zero=False, is_exact=True) == (1, 5)
    assert find_extent([1, 5], has_zero=False, is_exact=True, low=9) == (9, pytest.approx(9.9))
    assert nice_extent(-60, 97, 4, keeps_low=True)[:2] == (-60, 100)
    assert nice_extent(-63, 97, 4, keeps_high=True)[:2] == (-100, 97)


def test_too_many_ticks_are_none():
    assert find_ticks(0, 1e9, Decimal(1)) == []


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.1, 30))
def test_labels_spread_apart_stay_in_their_room_and_order(places, least):
    moved = separate(places, least, 0.0, 100.0)
    assert len(moved) == len(places)
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in moved)
    order = sorted(range(len(places)), key=lambda at: places[at])
    gap = min(least, 100 / max(len(places) - 1, 1))
    for before, after in pairwise(order):
        assert moved[after] - moved[before] >= gap - 1e-6


def test_labels_that_are_apart_stay():
    assert separate([10.0, 50.0, 90.0], 8, 0, 100) == [10.0, 50.0, 90.0]
    assert separate([50.0, 50.0], 10, 0, 100) == [45.0, 55.0]
