"""The simulation says what queueing theory says where theory knows."""

import pytest

from tests.bench.simulation.model import Load, erlang_wait, exponential, lognormal, simulate


@pytest.mark.parametrize(("slots", "busy"), [(1, 0.5), (1, 0.8), (2, 0.7), (10, 0.8), (50, 0.9)])
def test_waits_for_exponential_times_are_erlangs(slots, busy):
    load = Load(slots, busy, exponential(0.02), 0.02)
    waits = simulate(load, jobs=300_000, seed=7)
    assert waits.mean == pytest.approx(erlang_wait(slots, busy, 0.02), rel=0.12)


def test_waits_for_one_slot_are_those_of_pollaczek_and_khinchine():
    mean, variation, busy = 0.02, 1.0, 0.7
    load = Load(1, busy, lognormal(mean, variation=variation), mean)
    expected = busy * mean * (1 + variation**2) / (2 * (1 - busy))
    assert simulate(load, jobs=400_000, seed=7).mean == pytest.approx(expected, rel=0.1)


def test_the_same_seed_gives_the_same_waits_and_more_slots_wait_less():
    loads = [Load(slots, 0.9, lognormal(0.02, variation=2), 0.02) for slots in (2, 20, 200)]
    waits = [simulate(load, jobs=50_000) for load in loads]
    assert waits[0] == simulate(loads[0], jobs=50_000)
    assert waits[0].mean > waits[1].mean > waits[2].mean
