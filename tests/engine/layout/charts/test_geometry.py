"""Long lines are thinned to what is seen, hatches stay inside, and pieces of rings close."""

from __future__ import annotations

from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.layout.charts.drawing import COLUMN, downsample, hatch, ring_sector, split_gaps

SQUARE = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(-100, 100)), max_size=400))
def test_a_thinned_line_keeps_its_ends_and_reaches(points):
    points = sorted(points)
    thinned = downsample(points)
    assert len(thinned) <= 4 * (50 / COLUMN + 1)
    assert set(thinned) <= set(points)
    if points:
        assert (thinned[0], thinned[-1]) == (points[0], points[-1])
        for pick in (min, max):
            assert pick(y for _, y in thinned) == pick(y for _, y in points)


def test_ten_thousand_points_become_few():
    points = [(at / 100, (at * 7919) % 1000) for at in range(10_000)]
    assert len(downsample(points)) <= 800


@pytest.mark.parametrize("degrees", [45.0, -45.0, 0.0, 90.0, 20.0])
def test_a_hatch_stays_inside(degrees):
    lines = hatch(SQUARE, degrees, 2.8)
    assert 3 <= len(lines) <= 6
    for line in lines:
        for x, y in line:
            assert -1e-6 <= x <= 10 + 1e-6
            assert -1e-6 <= y <= 10 + 1e-6


def test_a_hatch_omits_the_notch_of_a_polygon():
    notched = [(0, 0), (10, 0), (10, 10), (6, 10), (6, 2), (4, 2), (4, 10), (0, 10)]
    (row,) = {line[0][1] for line in hatch(notched, 0.0, 5.0) if line[0][1] == 5.0}
    assert [line for line in hatch(notched, 0.0, 5.0) if line[0][1] == row] == [
        ((0.0, 5.0), (4.0, 5.0)),
        ((6.0, 5.0), (10.0, 5.0)),
    ]


def test_a_whole_circle_is_four_curves():
    path, polygon = ring_sector((0.0, 0.0), 0.0, 10.0, 0.0, 2 * pi)
    assert path[0] == pytest.approx((0.0, -10.0))
    assert [len(point) for point in path] == [2, 6, 6, 6, 6, 2]
    assert path[1][4:] == pytest.approx((10.0, 0.0))
    assert path[-1] == (0.0, 0.0)
    assert all(x * x + y * y <= 100.001 for x, y in polygon)


def test_a_piece_of_a_ring_goes_out_and_back():
    path, _ = ring_sector((0.0, 0.0), 5.0, 10.0, 0.0, pi / 2)
    assert path[0] == pytest.approx((0.0, -10.0))
    assert path[1][4:] == pytest.approx((10.0, 0.0))
    assert path[2] == pytest.approx((5.0, 0.0))
    assert path[3][4:] == pytest.approx((0.0, -5.0))


def test_gaps_part_runs():
    assert split_gaps([None, (1, 1), None, None, (2, 2), (3, 3)]) == [[(1, 1)], [(2, 2), (3, 3)]]
