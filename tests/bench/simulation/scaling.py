"""Simulation of KEDA and the horizontal pod autoscaler for the batch pool."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.bench.simulation.farm import BATCH, BatchArrival, FarmModel, SimulatedPool

# The autoscaler of Kubernetes evaluates every 15 s, and tolerates 10 % around its target.
SYNC_SECONDS: Final = 15
TOLERANCE: Final = 0.1
# A scrape may be 15 s old when it is read, and its values 10 s, the interval of the usage counter's statistics.
_LOOKS_LATE: Final = 2
_PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class Policy:
    """The largest change of a pool within a period, in pods or in percent."""

    kind: str
    value: int
    period_seconds: int


@dataclass(frozen=True, slots=True)
class ScalingRules:
    """The scaling rules of a ScaledObject; `thresholds` are those of its triggers, for each pod."""

    thresholds: tuple[float, ...]
    fewest: int
    most: int
    cooldown_seconds: int
    up: tuple[Policy, ...]
    down: tuple[Policy, ...]
    down_window_seconds: int


@dataclass(frozen=True, slots=True)
class ScalingSample:
    """One sample: the number of pods and of remaining documents."""

    at: float
    pods: int
    documents: int


def read_rules(scaled: Mapping[str, Any]) -> ScalingRules:
    """Read the rules from a ScaledObject."""
    spec = scaled["spec"]
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    return ScalingRules(
        thresholds=tuple(float(each["metadata"]["threshold"]) for each in spec["triggers"]),
        fewest=spec["minReplicaCount"],
        most=spec["maxReplicaCount"],
        cooldown_seconds=spec["cooldownPeriod"],
        up=_read_policies(behavior["scaleUp"]),
        down=_read_policies(behavior["scaleDown"]),
        down_window_seconds=behavior["scaleDown"]["stabilizationWindowSeconds"],
    )


@dataclass(slots=True)
class Autoscaler:
    """The algorithm of the horizontal pod autoscaler, with KEDA's activation between 0 and 1."""

    rules: ScalingRules
    _pods: list[tuple[float, int]] = field(default_factory=list)
    _wanted: deque[tuple[float, int]] = field(default_factory=deque)
    _active_at: float = -math.inf

    def decide(self, at: float, pods: int, values: Sequence[float]) -> int:
        """Return the desired number of pods; `values` are those of the triggers."""
        rules = self.rules
        self._pods.append((at, pods))
        if any(value > 0 for value in values):
            self._active_at = at
        if pods == 0:
            return max(rules.fewest, int(self._active_at == at))
        if rules.fewest == 0 and at - self._active_at > rules.cooldown_seconds:
            return 0
        wanted = max(
            _aim(value, threshold, pods)
            for value, threshold in zip(values, rules.thresholds, strict=True)
        )
        self._wanted.append((at, wanted))
        while self._wanted[0][0] < at - rules.down_window_seconds:
            self._wanted.popleft()
        if wanted > pods:
            chosen = min(wanted, max(self._limit(policy, at, 1) for policy in rules.up))
        else:
            # The maximum of the stabilisation window.
            stable = min(pods, max(wanted for _, wanted in self._wanted))
            chosen = max(stable, min(self._limit(policy, at, -1) for policy in rules.down))
        return min(max(chosen, rules.fewest, 1), rules.most)

    def _limit(self, policy: Policy, at: float, direction: int) -> int:
        begun = [pods for when, pods in self._pods if when > at - policy.period_seconds]
        before = begun[0]
        if policy.kind == "Pods":
            return before + direction * policy.value
        changed = before * (1 + direction * policy.value / _PERCENT)
        return math.ceil(changed) if direction > 0 else math.floor(changed)


def simulate_scaling(
    batches: Iterable[BatchArrival],
    rules: ScalingRules,
    *,
    seconds: float,
    slots_per_pod: int = 2,
    start_seconds: float = 20.0,
    seed: int = 1,
) -> list[ScalingSample]:
    """Simulate batches on a farm with an autoscaled pool; return a sample for every 15 s."""
    farm = FarmModel([SimulatedPool(0, (BATCH,))], seed=seed)
    farm.schedule_batches(batches)
    scaler = Autoscaler(rules)
    moments: list[ScalingSample] = []
    seen: deque[tuple[float, float]] = deque(maxlen=_LOOKS_LATE)
    pods = 0

    def look(at: float) -> None:
        nonlocal pods
        moments.append(ScalingSample(at, pods, farm.documents_left))
        values = seen[0] if seen else (0.0, 0.0)
        seen.append((farm.waiting + farm.running, farm.documents_left))
        wanted = scaler.decide(at, pods, values[: len(rules.thresholds)])
        # A pod starts after some seconds; a removed one first finishes its slice.
        farm.resize_later(0, (wanted - pods) * slots_per_pod, after=start_seconds * (wanted > pods))
        pods = wanted

    farm.call_every(SYNC_SECONDS, look, until=seconds)
    farm.run([])
    return moments


def _read_policies(behavior: Mapping[str, Any]) -> tuple[Policy, ...]:
    return tuple(
        Policy(each["type"], each["value"], each["periodSeconds"]) for each in behavior["policies"]
    )


def _aim(value: float, threshold: float, pods: int) -> int:
    if abs(value / (threshold * pods) - 1) <= TOLERANCE:
        return pods
    return math.ceil(value / threshold)
