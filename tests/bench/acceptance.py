"""Measure how many renders a second one front process accepts: `python -m tests.bench.acceptance`."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded.launch import LaunchedFarm, launched_farm
from shared.db.session import open_database
from shared.jobs.repository import count_unfinished_jobs
from tests.bench.front import spent
from tests.bench.rates import Rate, measure_rate
from tests.postgresql import make_database, running_postgresql

MIN_ACCEPTED = 2000
RUNS, SECONDS, CONNECTIONS = 5, 2.0, 32
BODY = b"<document><flow><h1>Hello</h1><p>From Pressroom.</p></flow></document>"
NOTE = """\
`Prefer: respond-async` to a front of one process, so on one core, with those who would take the jobs,
or maintain them, stopped; client, Redis and database share the machine. The best of five runs of
two seconds on 32 kept connections. What is accepted is in the database, and is counted there. A core
that the front has for itself would accept as many as its CPU time for one goes into a second."""


def main() -> None:
    """Print the table."""
    print(f"{NOTE}\n")
    print("| what | must | measured | kept |\n|---|---|--:|---|")
    with running_postgresql() as postgresql:
        for name, url in (("SQLite", None), ("PostgreSQL", make_database(postgresql, "accept"))):
            print_rows(name, url)


def print_rows(name: str, database_url: str | None) -> None:
    chosen = {"PRESSROOM_API_PROCESSES": "1", "PRESSROOM_LOG_LEVEL": "INFO"}
    if database_url is not None:
        chosen["PRESSROOM_DATABASE_URL"] = database_url
    with (
        tempfile.TemporaryDirectory() as folder,
        launched_farm(Path(folder), environment=chosen) as farm,
        held_still(farm),
    ):
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        rate, front_us, client_us, answers = measure_acceptance(farm, made["api_key"])
        kept = count_kept(farm)
    is_kept = rate.per_second >= MIN_ACCEPTED and not rate.failures and kept >= answers
    print(
        f"| 202 a second, {name} | ≥ {MIN_ACCEPTED:,} | {rate.per_second:,.0f} "
        f"| {'yes' if is_kept else 'no'} |"
    )
    print(f"| the same, median and p99 | | {rate.median_ms:.1f} ms, {rate.slow_ms:.1f} ms | |")
    print(
        f"| the same, CPU of the front, of the client | | {front_us:.0f} µs, {client_us:.0f} µs | |"
    )
    print(f"| the same, on a core of its own | | {1e6 / front_us:,.0f} | |")
    print(f"| the same, answered 202 and on record | | {answers:,} and {kept:,} | |")


def measure_acceptance(farm: LaunchedFarm, key: str) -> tuple[Rate, float, float, int]:
    """Return the best run, its CPU per answer for front and client, and the answers of all runs."""
    head = (
        f"POST /v2/pdf HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: text/xml\r\nPrefer: respond-async\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    request = head.encode() + BODY
    port = farm.record.ports["front"]
    answers = measure_rate(port, request, connections=CONNECTIONS, seconds=1).answers
    runs = []
    for _ in range(RUNS):
        with spent(farm) as cpu:
            rate = measure_rate(port, request, connections=CONNECTIONS, seconds=SECONDS)
        answers += rate.answers
        runs.append((rate, *(seconds / rate.answers * 1e6 for seconds in cpu)))
    return (*max(runs, key=lambda run: run[0].per_second), answers)


@contextmanager
def held_still(farm: LaunchedFarm) -> Iterator[None]:
    """Stop the batch pool, and the maintenance process, who would queue its jobs again, for the block's length."""
    groups = [farm.record.processes[name] for name in ("batch", "maintenance")]
    for group in groups:
        os.killpg(group, signal.SIGSTOP)
    try:
        yield
    finally:
        for group in groups:
            os.killpg(group, signal.SIGKILL)


def count_kept(farm: LaunchedFarm) -> int:
    database = open_database(farm.record.database_url)
    with database.snapshot() as session:
        count = count_unfinished_jobs(session)
    database.close()
    return count


if __name__ == "__main__":
    main()
