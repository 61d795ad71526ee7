"""The pool for batches grows with what is left of them and shrinks to nothing, by the rules that are deployed."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from shared.batches.lifecycle import WINDOW
from shared.batches.records import MAX_DOCUMENTS, MIN_DOCUMENTS, TARGET_CHUNKS
from tests.deploy.deployment import documents

SCALED = documents("ScaledObject")["batch"]["spec"]
THRESHOLDS = tuple(float(each["metadata"]["threshold"]) for each in SCALED["triggers"])
SLOTS_PER_POD = 2
STEP_SECONDS, SYNC_SECONDS, START_SECONDS = 5, 15, 20
TOLERANCE = 0.1  # of the autoscaler of Kubernetes, around its target


@dataclass
class Autoscaler:
    """The algorithm of the horizontal pod autoscaler, with KEDA's activation between 0 and 1."""

    spec: dict
    thresholds: tuple[float, ...]
    _pods: list[tuple[float, int]] = field(default_factory=list)
    _wanted: deque[tuple[float, int]] = field(default_factory=deque)
    _active_at: float = -math.inf

    def decide(self, at, pods, values):
        """Return the desired number of pods; `values` are those of the triggers."""
        fewest, most = self.spec["minReplicaCount"], self.spec["maxReplicaCount"]
        behavior = self.spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        up, down = behavior["scaleUp"], behavior["scaleDown"]
        self._pods.append((at, pods))
        if any(values):
            self._active_at = at
        if pods == 0:
            return max(fewest, int(self._active_at == at))
        if fewest == 0 and at - self._active_at > self.spec["cooldownPeriod"]:
            return 0
        wanted = max(map(self._aim, values, self.thresholds, [pods] * len(values)))
        self._wanted.append((at, wanted))
        while self._wanted[0][0] < at - down["stabilizationWindowSeconds"]:
            self._wanted.popleft()
        if wanted > pods:
            chosen = min(wanted, max(self._limit(policy, at, 1) for policy in up["policies"]))
        else:
            stable = min(pods, max(wanted for _, wanted in self._wanted))
            chosen = max(stable, min(self._limit(policy, at, -1) for policy in down["policies"]))
        return min(max(chosen, fewest, 1), most)

    def _aim(self, value, threshold, pods):
        is_near = abs(value / (threshold * pods) - 1) <= TOLERANCE
        return pods if is_near else math.ceil(value / threshold)

    def _limit(self, policy, at, direction):
        before = next(pods for when, pods in self._pods if when > at - policy["periodSeconds"])
        if policy["type"] == "Pods":
            return before + direction * policy["value"]
        changed = before * (1 + direction * policy["value"] / 100)
        return math.ceil(changed) if direction > 0 else math.floor(changed)


@dataclass
class Farm:
    """What is left of batches, and how many slots a chunk each can be worked on by."""

    left: list[float] = field(default_factory=list)

    def chunks(self):
        """Return how many chunks are left of all batches."""
        return sum(
            math.ceil(left / min(max(left / TARGET_CHUNKS, MIN_DOCUMENTS), MAX_DOCUMENTS))
            for left in self.left
        )

    def work(self, slots, seconds, takes):
        """Render for some seconds, in each batch as many documents as in the others."""
        able = min(slots, self.chunks()) * seconds / takes
        for turn, left in enumerate(sorted(self.left)):
            done = min(left, able / (len(self.left) - turn))
            able -= done
            self.left[self.left.index(left)] = left - done
        self.left = [left for left in self.left if left > 1e-6]


def simulate(batches, *, seconds, takes=0.1, thresholds=THRESHOLDS):
    """Return the number of pods and of documents left, every 15 s, for batches by their second of arrival."""
    farm, scaler = Farm(), Autoscaler(SCALED, thresholds)
    samples, seen, started = [], deque([(0, 0)] * 2, maxlen=2), deque([0] * 4, maxlen=4)
    pods = 0
    for at in range(STEP_SECONDS, seconds, STEP_SECONDS):
        farm.left += [count for when, count in batches if at - STEP_SECONDS <= when < at]
        running = min(min(started[0], pods) * SLOTS_PER_POD, farm.chunks())
        if at % SYNC_SECONDS == 0:
            documents_left = sum(farm.left)
            samples.append((at, pods, documents_left))
            queued = min(WINDOW, farm.chunks() - running) + running
            # A scrape may be 15 s old when it is read, and its values 10 s.
            seen.append((queued, documents_left))
            pods = scaler.decide(at, pods, seen[0][: len(thresholds)])
        started.append(pods)  # a pod starts after 20 s, and one that ends takes nothing more
        farm.work(running, STEP_SECONDS, takes)
    return samples


def directions(samples):
    """Return the changes of the pool's size, growth and decline, repeated ones left out."""
    changes = [after[1] - before[1] for before, after in pairwise(samples)]
    signs = ["up" if change > 0 else "down" for change in changes if change]
    return [sign for number, sign in enumerate(signs) if number == 0 or signs[number - 1] != sign]


def most_pods(samples):
    return max(pods for _, pods, _ in samples)


def test_a_backlog_of_15000_documents_gets_many_pods_and_then_none():
    samples = simulate([(60, 15_000)], seconds=3600)
    assert most_pods(samples) >= 12
    assert directions(samples) == ["up", "down"]
    assert samples[-1][1] == SCALED["minReplicaCount"] == 0
    ended = next(at for at, _, left in samples if at > 75 and not left)
    assert ended < 300  # 1,500 s of work, 12.5 min on one pod


def test_queued_jobs_alone_never_request_more_than_four_pods():
    samples = simulate([(60, 15_000)], seconds=3600, thresholds=THRESHOLDS[:1])
    assert 1 <= most_pods(samples) <= 4


def test_slow_documents_get_every_pod_until_they_end():
    samples = simulate([(60, 15_000)], seconds=3 * 3600, takes=1.5)
    assert most_pods(samples) >= 15
    assert directions(samples) == ["up", "down"]
    assert samples[-1][1] == 0


def test_a_small_batch_starts_a_pod_or_two_and_no_more():
    samples = simulate([(60, 300)], seconds=1800, takes=0.05)
    assert 1 <= most_pods(samples) <= 2
    assert samples[-1][1] == 0


@pytest.mark.parametrize("every", [20, 45, 120, 240])
def test_batches_that_come_again_and_again_do_not_have_the_pool_swing(every):
    samples = simulate([(at, 2_000) for at in range(60, 3600, every)], seconds=6000)
    assert directions(samples) == ["up", "down"]
    assert samples[-1][1] == 0


def test_batches_are_worked_off_as_fast_as_they_come():
    samples = simulate([(at, 3_000) for at in range(0, 3600, 30)], seconds=3600)
    assert max(left for at, _, left in samples if at > 600) < 15_000


PLAIN = {
    "minReplicaCount": 0,
    "maxReplicaCount": 100,
    "cooldownPeriod": 60,
    "advanced": {
        "horizontalPodAutoscalerConfig": {
            "behavior": {
                "scaleUp": {
                    "policies": [
                        {"type": "Percent", "value": 100, "periodSeconds": 15},
                        {"type": "Pods", "value": 4, "periodSeconds": 15},
                    ]
                },
                "scaleDown": {
                    "stabilizationWindowSeconds": 30,
                    "policies": [{"type": "Percent", "value": 20, "periodSeconds": 60}],
                },
            }
        }
    },
}


@pytest.mark.parametrize(
    ("pods", "values", "sizes"),
    [
        (0, [1000] * 6, [1, 5, 10, 20, 40, 80]),  # as its policies allow
        (10, [109, 91, 105], [10, 10, 10]),  # within a tenth of its target
        (10, [100] + [10] * 7, [10, 10, 10, 8, 8, 8, 8, 6]),  # after its window, a fifth a minute
        (1, [10, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0]),  # after the cooldown
    ],
)
def test_the_simulated_autoscaler_keeps_the_rules_of_kubernetes(pods, values, sizes):
    scaler, seen = Autoscaler(PLAIN, (10.0,)), []
    for look, value in enumerate(values):
        pods = scaler.decide(15.0 * look, pods, [value])
        seen.append(pods)
    assert seen == sizes
