"""Compare the simulations with real workers of 1 and 2 slots: `make simulate`.

Redis, message, worker and reply are the product's; the work is sleep. Renders are sent at random times. A
simulation is given when each came and how long it held its slot, and has to say how long each waited; and
of batches, how many documents they have and how long one takes, and has to say when they ended.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Iterator

from shared.telemetry.log import set_up_logging
from tests.bench.pools import RealPools, Stay, running
from tests.bench.simulation.__main__ import main as print_table
from tests.bench.simulation.farm import BATCH, INTERACTIVE, BatchArrival, FarmModel, SimulatedPool
from tests.bench.simulation.model import queue_up, summarise

SERVICE = 0.08
BUSY = 0.7
JOBS = 400
SEED = 3
TOLERANCE = 0.2  # of the mean wait, and 10 ms

# Of the farms with batches: renders take half of their pool for as long as the large batch takes its own.
SECONDS, BUSY_BESIDE = 12.0, 0.5
DOCUMENT, SMALL, AFTER = (
    0.15,
    10,
    0.2,
)  # seconds each; documents of the small batch, behind the large
SLACK = 0.15  # seconds: a message and a slice cost what sleep does not


def main() -> int:
    """Print the tables and the comparisons; 1 when they differ by more than chance does."""
    print_table()
    set_up_logging(
        level="WARNING", log_format="text"
    )  # the front of the batches is in this process
    print(
        f"\nMeasured {JOBS} sleeps of {SERVICE * 1000:g} ms (exponential), sent for slots {BUSY:.0%} busy:\n"
    )
    print("| slots | mean wait ms, measured | simulated | 99 % measured | simulated |")
    print("|--:|--:|--:|--:|--:|")
    differences = [compare(slots) for slots in (1, 2)]
    print(
        f"\nA batch of {SECONDS:g} s for its pool, documents of {DOCUMENT * 1000:g} ms, one of {SMALL} behind "
        f"it, and renders as above for slots {BUSY_BESIDE:.0%} busy; measured, simulated:\n"
    )
    print("| slots | mean wait ms | 95 % wait ms | large batch s | small batch s |")
    print("|---|--:|--:|--:|--:|")
    differences += [compare_farm(name, pools) for name, pools in list_farms()]
    return max(differences)


def list_farms() -> Iterator[tuple[str, list[SimulatedPool]]]:
    for slots in (1, 2):
        apart = [SimulatedPool(slots, (INTERACTIVE,)), SimulatedPool(slots, (BATCH,))]
        yield f"{slots} for renders, {slots} for batches", apart
    for slots in (1, 2):
        yield f"{slots} for both", [SimulatedPool(slots, (INTERACTIVE, BATCH))]


def compare(slots: int) -> int:
    with running([SimulatedPool(slots, (INTERACTIVE,))]) as real:
        between = _between(real)
        rate = slots * BUSY / SERVICE
        sent = real.send_renders(JOBS, rate=rate, service=SERVICE, seed=SEED)
    measured = [max(stay.waited - between, 0.0) for stay in sent]
    simulated = queue_up(slots, [(stay.at, stay.took + between) for stay in sent])
    ours, theirs = summarise(measured), summarise(simulated)
    row = (ours.mean, theirs.mean, ours.p99, theirs.p99)
    print(f"| {slots} | " + " | ".join(f"{1000 * value:,.0f}" for value in row) + " |", flush=True)
    return int(abs(ours.mean - theirs.mean) > TOLERANCE * theirs.mean + 0.01)


def compare_farm(name: str, pools: list[SimulatedPool]) -> int:
    slots = pools[-1].slots
    asked = [
        BatchArrival(0.0, "large", round(SECONDS * slots / DOCUMENT), lambda _: DOCUMENT),
        BatchArrival(AFTER, "small", SMALL, lambda _: DOCUMENT),
    ]
    with running(pools) as real:
        between = _between(real)
        sent, ends = _send_beside(real, asked, slots)
    model = FarmModel(pools, seed=SEED)
    model.schedule_batches(asked)
    seen = model.run([(stay.at, stay.took + between) for stay in sent])
    waits = sorted(max(stay.waited - between, 0.0) for stay in sent), sorted(seen.waits)
    pairs = [
        tuple(map(statistics.mean, waits)),
        tuple(each[int(len(each) * 0.95)] for each in waits),
        *((ends[number], seen.batch_seconds[number]) for number in (0, 1)),
    ]
    shown = [f"{1000 * one:,.0f}, {1000 * other:,.0f}" for one, other in pairs[:2]]
    shown += [f"{one:.1f}, {other:.1f}" for one, other in pairs[2:]]
    print(f"| {name} | {' | '.join(shown)} |", flush=True)
    compared = (pairs[0], pairs[2], pairs[3])
    return int(any(abs(one - other) > TOLERANCE * other + SLACK for one, other in compared))


def _send_beside(
    real: RealPools, asked: list[BatchArrival], slots: int
) -> tuple[list[Stay], dict[int, float]]:
    """Send batches, and renders meanwhile; return the renders from the first batch on, and how long each
    batch took.
    """
    accounts = [real.open_account(each.account) for each in asked]
    accounts[0].run_batch(slots, 0.0)  # the workers are up, and have met a batch
    ends: dict[int, float] = {}
    begun = time.monotonic()

    def run_batch(number: int) -> None:
        time.sleep(max(begun + asked[number].at - time.monotonic(), 0))
        accounts[number].run_batch(asked[number].documents, DOCUMENT)
        ends[number] = time.monotonic() - begun - asked[number].at

    threads = [threading.Thread(target=run_batch, args=(each,)) for each in range(len(asked))]
    for thread in threads:
        thread.start()
    rate = slots * BUSY_BESIDE / SERVICE
    sent = real.send_renders(round(rate * SECONDS), rate=rate, service=SERVICE, seed=SEED)
    for thread in threads:
        thread.join()
    return [Stay(stay.at - begun, stay.waited, stay.took) for stay in sent], ends


def _between(real: RealPools) -> float:
    """Return the time from one job's end to the next one's start: the reply, the acknowledgement, the
    next message.
    """
    real.warm_up()
    return statistics.median(real.time_render(0.0).waited for _ in range(40))


if __name__ == "__main__":
    sys.exit(main())
