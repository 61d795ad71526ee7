"""The simulated farm keeps the rules of the real one."""

import random

import pytest

from shared.batches import lifecycle as batch_lifecycle
from shared.batches import records as chunks
from tests.bench.simulation import farm as rules
from tests.bench.simulation.farm import (
    BATCH,
    INTERACTIVE,
    SLICE_SECONDS,
    BatchArrival,
    FarmModel,
    SimulatedPool,
    WorkerFailure,
    lognormal,
    send_singles,
)
from tests.bench.simulation.scenarios import run_scenarios
from workers.batches import slices

POOLS = [SimulatedPool(2, (INTERACTIVE,)), SimulatedPool(2, (BATCH,))]


def steady(seconds):
    return lambda chance: seconds


def poisson(rate, takes, *, until, seed=5):
    chance, at, sent = random.Random(seed), 0.0, []
    while (at := at + chance.expovariate(rate)) < until:
        sent.append((at, chance.expovariate(1 / takes)))
    return sent


def test_its_rules_are_those_of_the_real_farm():
    assert rules.SLICE_SECONDS == slices.SLICE_SECONDS
    assert rules.WINDOW == batch_lifecycle.WINDOW
    assert rules.CHUNKS_AIMED_AT == chunks.TARGET_CHUNKS
    assert rules.CHUNK_SIZES == (chunks.MIN_DOCUMENTS, chunks.MAX_DOCUMENTS)


def test_the_scenes_show_a_burst_and_the_cost_of_a_single_pool():
    rows = {
        row.scenario: row
        for row in run_scenarios(10, lognormal(0.025, variation=2), 0.025, renders=20_000, seed=1)
    }
    assert rows["burst"].p99 > 10 * rows["even"].p99
    assert rows["night"].p99 == rows["even"].p99
    assert rows["night, one pool for all"].p99 > 3 * rows["night"].p99
    assert rows["night, workers killed"].renders_a_second == rows["night"].renders_a_second
    assert rows["night"].small_batch_seconds < 20
    assert rows["even"].busy[0] == pytest.approx(0.7, rel=0.1)


@pytest.mark.parametrize(("slots", "busy"), [(1, 0.8), (2, 0.7), (10, 0.8)])
def test_a_pool_of_singles_waits_as_queueing_theory_says(slots, busy):
    mean = 0.02
    singles = send_singles(
        slots * busy / mean, lambda chance: chance.expovariate(1 / mean), jobs=100_000, seed=7
    )
    waits = FarmModel([SimulatedPool(slots, (INTERACTIVE,))]).run(singles).waits
    blocked = 1.0  # Erlang B, by its recurrence, and from it Erlang C
    for slot in range(1, slots + 1):
        blocked = slots * busy * blocked / (slot + slots * busy * blocked)
    expected = blocked / (1 - busy * (1 - blocked)) * mean / (slots * (1 - busy))
    assert sum(waits) / len(waits) == pytest.approx(expected, rel=0.12)


def test_a_separate_pool_keeps_batches_from_delaying_waited_renders():
    singles = poisson(10, 0.05, until=60)
    alone = FarmModel(POOLS).run(singles)
    farm = FarmModel(POOLS)
    farm.schedule_batches([BatchArrival(0.0, "a", 5_000, steady(0.05))])
    beside = farm.run(singles)
    assert sorted(alone.waits) == sorted(beside.waits)
    assert beside.documents == 5_000
    shared = FarmModel([SimulatedPool(4, (INTERACTIVE, BATCH))])
    shared.schedule_batches([BatchArrival(0.0, "a", 5_000, steady(0.05))])
    assert max(shared.run(singles).waits) > SLICE_SECONDS / 4


def test_a_small_batch_waits_for_the_window_and_not_for_the_large_one_before_it():
    farm = FarmModel([SimulatedPool(1, (BATCH,))])
    farm.schedule_batches(
        [
            BatchArrival(0.0, "large", 4_000, steady(0.1)),
            BatchArrival(10.0, "small", 10, steady(0.1)),
        ]
    )
    seen = farm.run([])
    assert seen.batch_seconds[0] == pytest.approx(401, rel=0.01)
    # What runs, four slices that wait, and its own second.
    assert 1.0 <= seen.batch_seconds[1] <= 5 * SLICE_SECONDS + 1.5


def test_accounts_take_turns_whatever_they_sent():
    farm = FarmModel([SimulatedPool(2, (BATCH,))])
    farm.schedule_batches(
        [BatchArrival(0.0, "many", 1_000, steady(0.1)) for _ in range(5)]
        + [BatchArrival(0.0, "one", 1_000, steady(0.1))]
    )
    seen = farm.run([])
    assert seen.batch_seconds[5] == pytest.approx(100, rel=0.1)  # of 50 alone, half of the pool
    assert max(seen.batch_seconds.values()) == pytest.approx(300, rel=0.05)


def test_work_of_a_killed_worker_is_done_again_and_nothing_is_lost():
    singles = poisson(20, 0.05, until=120)
    farm = FarmModel(POOLS)
    farm.schedule_batches([BatchArrival(0.0, "a", 3_000, steady(0.05))])
    farm.schedule_failures(WorkerFailure(at, at // 10 % 2, 2, 3.0) for at in range(10, 100, 10))
    seen = farm.run(singles)
    assert len(seen.waits) == len(singles)
    assert seen.documents == 3_000
    assert seen.lost_runs >= 4
    assert 3 <= max(seen.waits) <= 30
