"""Load scenarios of a farm by size: steady load, a burst, nightly batches, worker failures."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.limits import MAX_BATCH_DOCUMENTS
from tests.bench.simulation.farm import (
    BATCH,
    INTERACTIVE,
    BatchArrival,
    FarmModel,
    Service,
    SimulatedPool,
    SimulationResult,
    WorkerFailure,
    find_share,
)

BUSY: Final = 0.7
BURST: Final = 1.4  # of the pool's capacity, for a tenth of the time
WORKER_SLOTS: Final = 2
RESTART_SECONDS: Final = 3.0
SMALL_BATCH: Final = 100
_SHORTEST_SECONDS: Final = 3.0
_LONGEST_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The result of one scenario at one size; waits are those of interactive renders."""

    scenario: str
    slots: int
    p50: float
    p95: float
    p99: float
    renders_a_second: float
    documents_a_second: float
    busy: tuple[float, ...]
    small_batch_seconds: float | None


def run_scenarios(
    slots: int, service: Service, service_mean: float, *, renders: int, seed: int
) -> Iterator[ScenarioResult]:
    """Simulate each scenario on a farm with half of its slots for batches."""
    half = slots // 2
    pools = [SimulatedPool(half, (INTERACTIVE,)), SimulatedPool(half, (BATCH,))]
    rate = half * BUSY / service_mean
    seconds = max(_SHORTEST_SECONDS, min(_LONGEST_SECONDS, renders / rate))

    def singles(times: float = 1.0) -> Iterator[tuple[float, float]]:
        rng, at = random.Random(seed), 0.0
        while at < seconds:
            is_burst = 0.4 <= at / seconds < 0.5
            at += rng.expovariate(rate * (times if is_burst else 1.0))
            yield at, service(rng)

    # Batches for half of the batch pool's capacity, and a small batch behind them.
    left, night = round(half * seconds / 2 / service_mean), []
    while left > 0:
        night.append(BatchArrival(seconds / 10, "large", min(left, MAX_BATCH_DOCUMENTS), service))
        left -= MAX_BATCH_DOCUMENTS
    night.append(BatchArrival(seconds / 10, "small", SMALL_BATCH, service))
    kills = [
        WorkerFailure(seconds * turn / 10, turn % 2, WORKER_SLOTS, RESTART_SECONDS)
        for turn in range(1, 9)
    ]
    one_pool = [SimulatedPool(slots, (INTERACTIVE, BATCH))]

    for name, chosen, times, batches, dying in (
        ("even", pools, 1.0, [], []),
        ("burst", pools, BURST / BUSY, [], []),
        ("night", pools, 1.0, night, []),
        ("night, one pool for all", one_pool, 1.0, night, []),
        ("night, workers killed", pools, 1.0, night, kills),
    ):
        farm = FarmModel(chosen, seed=seed)
        farm.schedule_batches(batches)
        farm.schedule_failures(dying)
        result = farm.run(singles(times))
        yield _row(name, chosen, result, seconds, small=len(batches) - 1)


def _row(
    scenario: str,
    pools: Sequence[SimulatedPool],
    result: SimulationResult,
    seconds: float,
    *,
    small: int,
) -> ScenarioResult:
    waits = sorted(result.waits)
    busy = zip(result.busy_seconds, pools, strict=True)
    return ScenarioResult(
        scenario=scenario,
        slots=sum(pool.slots for pool in pools),
        p50=find_share(waits, 0.5),
        p95=find_share(waits, 0.95),
        p99=find_share(waits, 0.99),
        renders_a_second=len(waits) / seconds,
        documents_a_second=result.documents / max(result.batch_seconds.values(), default=1.0),
        busy=tuple(spent / pool.slots / seconds for spent, pool in busy),
        small_batch_seconds=result.batch_seconds.get(small),
    )
