"""Prints the waiting times of renders at 10 to 10,000 workers: `python -m tests.bench.simulation`."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Final

from tests.bench.simulation.farm import (
    INTERACTIVE,
    FarmModel,
    SimulatedPool,
    find_share,
    lognormal,
    send_singles,
)
from tests.bench.simulation.scenarios import ScenarioResult, run_scenarios

SLOTS: Final = (10, 100, 1_000, 10_000)
BUSY: Final = (0.5, 0.7, 0.8, 0.9, 0.95)
# An invoice takes some 15 ms, a long statement 300: measured means, see CAPACITY.md.
SERVICE_MS: Final = 25.0
VARIATION: Final = 2.0
# Total CPU time of Redis for one request (tests/bench/cost.py), and its permitted load.
REDIS_SECONDS: Final = 800e-6
REDIS_BUSY: Final = 0.6


def main() -> None:
    """Simulate each size at each load and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.simulation", description=__doc__)
    parser.add_argument(
        "--service-ms", type=float, default=SERVICE_MS, help="mean time of a render"
    )
    parser.add_argument("--variation", type=float, default=VARIATION, help="deviation by the mean")
    parser.add_argument("--jobs", type=int, default=100_000, help="renders of each run (100000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    mean = arguments.service_ms / 1000
    service = lognormal(mean, variation=arguments.variation)
    _print_line(
        f"Renders of {arguments.service_ms:g} ms, deviation {arguments.variation:g} times the mean.\n"
    )
    _print_line("| slots | busy | renders/h | mean wait ms | median | 99 % | Redis |")
    _print_line("|--:|--:|--:|--:|--:|--:|--:|")
    for slots in SLOTS:
        for busy in BUSY:
            rate = slots * busy / mean
            # Enough jobs for every slot, of which the first find an empty queue.
            jobs = max(arguments.jobs, 30 * slots)
            singles = send_singles(rate, service, jobs=jobs, seed=arguments.seed)
            model = FarmModel([SimulatedPool(slots, (INTERACTIVE,))])
            waits = sorted(model.run(singles).waits[jobs // 5 :])
            figures = (sum(waits) / len(waits), find_share(waits, 0.5), find_share(waits, 0.99))
            shown = " | ".join(f"{1000 * seconds:,.1f}" for seconds in figures)
            _print_line(
                f"| {slots:,} | {busy:.0%} | {rate * 3600:,.0f} | {shown} | {_servers(rate):,} |"
            )
    _print_line(
        "\nA farm with half of its slots for batches, through several scenarios; waits of those clients wait for.\n"
    )
    _print_line(
        "| scenario | slots | wait ms, median | 95 % | 99 % | renders/s | batch documents/s | busy | small batch s |"
    )
    _print_line("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for slots in SLOTS:
        for row in run_scenarios(slots, service, mean, renders=arguments.jobs, seed=arguments.seed):
            _print_line(_write_row(row))


def _write_row(row: ScenarioResult) -> str:
    waits = " | ".join(f"{1000 * seconds:,.1f}" for seconds in (row.p50, row.p95, row.p99))
    busy = ", ".join(f"{share:.0%}" for share in row.busy)
    small = "" if row.small_batch_seconds is None else f"{row.small_batch_seconds:,.1f}"
    throughput = f"{row.renders_a_second:,.0f} | {row.documents_a_second:,.0f}"
    return f"| {row.scenario} | {row.slots:,} | {waits} | {throughput} | {busy} | {small} |"


def _servers(rate: float) -> int:
    """Return the number of Redis servers, which are single-threaded, for a rate of jobs per second."""
    return math.ceil(rate * REDIS_SECONDS / REDIS_BUSY)


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
