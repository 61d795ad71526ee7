"""Print how long renders wait at 10 to 10,000 workers: `python -m deploy.simulate`."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Final

from deploy.simulate.model import Load, lognormal, simulate
from deploy.simulate.scenes import Row, play

SLOTS: Final = (10, 100, 1_000, 10_000)
BUSY: Final = (0.5, 0.7, 0.8, 0.9, 0.95)
# An invoice takes a slot some 15 ms, a long statement 300: measured means, see CAPACITY.md.
SERVICE_MS: Final = 25.0
VARIATION: Final = 2.0
# CPU of the Redis server for one request, all of it, as tests/bench/cost.py measures; and how busy it may be.
REDIS_SECONDS: Final = 800e-6
REDIS_BUSY: Final = 0.6


def main() -> None:
    """Simulate each size at each load and print a table."""
    parser = argparse.ArgumentParser(prog="python -m deploy.simulate", description=__doc__)
    parser.add_argument(
        "--service-ms", type=float, default=SERVICE_MS, help="mean time of a render"
    )
    parser.add_argument("--variation", type=float, default=VARIATION, help="deviation by the mean")
    parser.add_argument("--jobs", type=int, default=100_000, help="renders of each run (100000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    mean = arguments.service_ms / 1000
    service = lognormal(mean, variation=arguments.variation)
    _say(
        f"Renders of {arguments.service_ms:g} ms, deviation {arguments.variation:g} times the mean.\n"
    )
    _say("| slots | busy | renders/h | mean wait ms | median | 99 % | Redis |")
    _say("|--:|--:|--:|--:|--:|--:|--:|")
    for slots in SLOTS:
        for busy in BUSY:
            load = Load(slots, busy, service, mean)
            # Enough for the last slot to have seen some dozens.
            waits = simulate(load, jobs=max(arguments.jobs, 30 * slots), seed=arguments.seed)
            figures = (waits.mean, waits.p50, waits.p99)
            shown = " | ".join(f"{1000 * seconds:,.1f}" for seconds in figures)
            _say(
                f"| {slots:,} | {busy:.0%} | {load.rate * 3600:,.0f} | {shown} | {_servers(load.rate):,} |"
            )
    _say(
        "\nA farm with half of its slots for batches, through some scenes; waits of those clients wait for.\n"
    )
    _say(
        "| scene | slots | wait ms, median | 95 % | 99 % | renders/s | batch documents/s | busy | small batch s |"
    )
    _say("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for slots in SLOTS:
        for row in play(slots, service, mean, renders=arguments.jobs, seed=arguments.seed):
            _say(_write_row(row))


def _write_row(row: Row) -> str:
    waits = " | ".join(f"{1000 * seconds:,.1f}" for seconds in (row.p50, row.p95, row.p99))
    busy = ", ".join(f"{share:.0%}" for share in row.busy)
    small = "" if row.small_batch_seconds is None else f"{row.small_batch_seconds:,.1f}"
    throughput = f"{row.renders_a_second:,.0f} | {row.documents_a_second:,.0f}"
    return f"| {row.scene} | {row.slots:,} | {waits} | {throughput} | {busy} | {small} |"


def _servers(rate: float) -> int:
    """Count the Redis servers that so many jobs a second need: a server has one thread for them."""
    return math.ceil(rate * REDIS_SECONDS / REDIS_BUSY)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
