"""Ticks of time are at whole units, in order and few."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.layout.charts.axes import (
    find_interval,
    find_time_ticks,
    find_unit,
    from_days,
    label_moments,
    to_days,
)


def at(*parts: int) -> datetime:
    return datetime(*parts)  # noqa: DTZ001  (charts show clocks of no zone)


MOMENTS = st.datetimes(at(1, 1, 1), at(9999, 12, 31))
PATTERNS = {"year": "%Y", "month": "%b", "day": "%d %b", "hour": "%H:%M", "minute": "%H:%M"}


def write(moment: datetime, unit: str) -> str:
    return moment.strftime(PATTERNS[unit])


def ticks(low: str, high: str, count: int = 5) -> list[str]:
    ends = (to_days(datetime.fromisoformat(end)) for end in (low, high))
    return [" ".join(lines) for _, lines in find_time_ticks(*ends, count, write)]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        ("2020-03-01", "2026-02-01", "2021,2022,2023,2024,2025,2026"),
        ("2025-11-15", "2026-04-10", "Dec 2025,Jan 2026,Feb,Mar,Apr"),
        ("2026-01-01", "2026-12-31", "Jan 2026,Apr,Jul,Oct"),
        ("2026-03-02", "2026-03-06", "02 Mar 2026,03 Mar,04 Mar,05 Mar,06 Mar"),
        ("2026-03-02 08:00", "2026-03-02 13:00", "08:00 02 Mar,09:00,10:00,11:00,12:00,13:00"),
        ("1700-01-01", "2026-01-01", "1700,1750,1800,1850,1900,1950,2000"),
    ],
)
def test_ticks_stand_at_whole_units(low, high, labels):
    assert ticks(low, high) == labels.split(",")


@given(MOMENTS, MOMENTS, st.integers(1, 12))
def test_ticks_are_few_in_order_and_inside(one, other, count):
    low, high = sorted((to_days(one), to_days(other)))
    if high - low < 1 / 1440:
        return
    found = find_time_ticks(low, high, count, lambda moment, _unit: moment.isoformat())
    places = [place for place, _ in found]
    assert len(places) <= 61
    assert all(low <= place <= high for place in places)
    assert all(before < after for before, after in pairwise(places))


@given(st.floats(0.001, 100_000), st.integers(2, 12))
def test_an_interval_is_near_the_requested_one(extent, count):
    interval = find_interval(700_000, 700_000 + extent, count)
    wanted = max(extent / count, 1 / 1440)
    assert 0.35 < interval.days / wanted < 3


@given(MOMENTS.map(lambda moment: moment.replace(second=0, microsecond=0)))
def test_days_lead_back_to_their_moment(moment):
    assert abs(from_days(to_days(moment)) - moment) <= timedelta(minutes=1)


def test_the_year_stands_where_it_changes():
    moments = [at(2025, 12, 1), at(2026, 1, 1), at(2026, 2, 1)]
    assert label_moments(moments, "month", write) == [("Dec", "2025"), ("Jan", "2026"), ("Feb",)]


def test_a_format_of_the_author_is_all_that_is_written():
    assert label_moments([at(2025, 12, 1)], "month", lambda *_: "x") == [("x",)]


@pytest.mark.parametrize(
    ("moments", "unit"),
    [
        ([at(2025, 1, 1), at(2026, 1, 1)], "year"),
        ([at(2025, 1, 1), at(2025, 2, 1)], "month"),
        ([at(2025, 1, 1), at(2025, 1, 2)], "day"),
        ([at(2025, 1, 1, 6)], "minute"),
    ],
)
def test_the_unit_of_labels_distinguishes_the_categories(moments, unit):
    assert find_unit(moments) == unit
