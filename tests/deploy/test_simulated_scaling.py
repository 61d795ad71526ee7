"""The pool for batches grows with what is left of them and shrinks to nothing, by the rules that are deployed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.bench.simulation.farm import BatchArrival, lognormal
from tests.bench.simulation.scaling import (
    Autoscaler,
    Policy,
    ScalingRules,
    read_rules,
    simulate_scaling,
)
from tests.deploy.deployment import documents

BATCH = documents("ScaledObject")["batch"]
RULES = read_rules(BATCH)
QUEUE_ALONE = replace(RULES, thresholds=RULES.thresholds[:1])


def steady(seconds):
    return lambda chance: seconds


def night(count=15_000, takes=0.1):
    return [BatchArrival(60.0, "a", count, steady(takes))]


def directions(moments):
    """Return the changes of the pool's size, growth and decline, repeated ones left out."""
    changes = [after.pods - before.pods for before, after in pairwise(moments)]
    signs = ["up" if change > 0 else "down" for change in changes if change]
    return [sign for number, sign in enumerate(signs) if number == 0 or signs[number - 1] != sign]


def test_a_backlog_of_15000_documents_gets_many_pods_and_then_none():
    moments = simulate_scaling(night(), RULES, seconds=3600)
    assert max(each.pods for each in moments) >= 12
    assert directions(moments) == ["up", "down"]
    assert moments[-1].pods == RULES.fewest == 0
    ended = next(each.at for each in moments if each.at > 75 and not each.documents)
    assert ended < 300  # 1,500 s of work, 12.5 min on one pod


def test_queued_jobs_alone_never_request_more_than_four_pods():
    moments = simulate_scaling(night(), QUEUE_ALONE, seconds=3600)
    assert max(each.pods for each in moments) <= 4


def test_slow_documents_get_every_pod_until_they_end():
    moments = simulate_scaling(night(takes=1.5), RULES, seconds=3 * 3600)
    assert max(each.pods for each in moments) >= 15
    assert directions(moments) == ["up", "down"]
    assert moments[-1].pods == 0


def test_a_small_batch_starts_a_pod_or_two_and_no_more():
    moments = simulate_scaling(night(count=300, takes=0.05), RULES, seconds=1800)
    assert 1 <= max(each.pods for each in moments) <= 2
    assert moments[-1].pods == 0


@pytest.mark.parametrize("every", [20, 45, 120, 240])
def test_batches_that_come_again_and_again_do_not_have_the_pool_swing(every):
    service = lognormal(0.1, variation=2)
    coming = [
        BatchArrival(float(at), f"account {at % 7}", 2_000, service)
        for at in range(60, 3600, every)
    ]
    moments = simulate_scaling(coming, RULES, seconds=6000)
    assert directions(moments) == ["up", "down"]
    assert moments[-1].pods == 0


def test_batches_are_worked_off_as_fast_as_they_come():
    coming = [BatchArrival(float(at), "a", 3_000, steady(0.1)) for at in range(0, 3600, 30)]
    moments = simulate_scaling(coming, RULES, seconds=3600)
    backlog = [each.documents for each in moments if each.at > 600]
    assert max(backlog) < 15_000


PLAIN = ScalingRules(
    thresholds=(10.0,),
    fewest=0,
    most=100,
    cooldown_seconds=60,
    up=(Policy("Percent", 100, 15), Policy("Pods", 4, 15)),
    down=(Policy("Percent", 20, 60),),
    down_window_seconds=30,
)


def sizes(values, *, pods=0, rules=PLAIN):
    scaler, seen = Autoscaler(rules), []
    for look, value in enumerate(values):
        pods = scaler.decide(15.0 * look, pods, [value])
        seen.append(pods)
    return seen


def test_a_pool_grows_as_its_policies_allow():
    assert sizes([1000] * 6) == [1, 5, 10, 20, 40, 80]


def test_a_pool_within_a_tenth_of_its_target_stays():
    assert sizes([109, 91, 105], pods=10) == [10, 10, 10]


def test_a_pool_shrinks_after_its_window_by_a_fifth_a_minute():
    shrinking = sizes([100] + [10] * 20, pods=10)
    assert shrinking[:3] == [10, 10, 10]
    assert shrinking[3:8] == [8, 8, 8, 8, 6]


def test_a_pool_without_anything_to_do_goes_after_the_cooldown():
    assert sizes([10, 0, 0, 0, 0, 0], pods=1) == [1, 1, 1, 1, 1, 0]
