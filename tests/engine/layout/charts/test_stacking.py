"""Stacks: parts meet, add up to their sums, and shares to one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.layout.charts.marks import stack

COLUMNS = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.none() | st.floats(-1e6, 1e6), min_size=size, max_size=size),
        min_size=1,
        max_size=5,
    )
)


@given(COLUMNS)
def test_columns_grow_away_from_zero(series):
    stacks = stack(series)
    for column, parts in zip(zip(*series, strict=True), zip(*stacks, strict=True), strict=True):
        for value, part in zip(column, parts, strict=True):
            assert (part is None) is (value is None)
        above = sum(value for value in column if value and value > 0)
        ends = [end for part in parts if part is not None for end in part]
        assert max([0.0, *ends]) == pytest.approx(above)


@given(COLUMNS)
def test_shares_of_a_column_are_one_together(series):
    for parts in zip(*stack(series, is_share=True), strict=True):
        sizes = [abs(part[1] - part[0]) for part in parts if part is not None]
        assert sum(sizes) == pytest.approx(1.0) or not any(sizes)


def test_a_gap_is_no_part_and_the_others_meet_without_it():
    assert stack([[3.0], [None], [2.0]]) == [[(0.0, 3.0)], [None], [(3.0, 5.0)]]


def test_negative_values_are_drawn_below_zero():
    assert stack([[3.0], [-1.0], [2.0], [-4.0]]) == [
        [(0.0, 3.0)],
        [(0.0, -1.0)],
        [(3.0, 5.0)],
        [(-1.0, -5.0)],
    ]
