"""Measure the front alone: `python -m tests.bench.front`."""

from __future__ import annotations

import http.client
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from deploy.embedded.launch import LaunchedFarm, launched_farm
from shared.clock import now
from shared.db.session import open_database
from shared.db.tables import images
from tests.bench.demands import at_most
from tests.bench.rates import Rate, measure_rate
from tests.postgresql import make_database, running_postgresql

MIN_AUTHCHECKS = 1500
MAX_LISTING_MS = 30
MAX_SCRAPE_MS = 20
SCRAPED = {"front": "a front", "worker_metrics": "a worker", "counter_metrics": "the counter"}
RUNS, SECONDS, CONNECTIONS = 5, 2.0, 32
LISTINGS = SCRAPES = 50
NOTE = """\
gunicorn as `pressroom up` runs it, two processes on the machine's cores, which the client shares: its
own part is next to it. The best of five runs of two seconds on 32 kept connections; the list is read
fifty times, from PostgreSQL. That a render asks the database nothing is a test:
`tests/farm/test_queries.py`."""


def main() -> None:
    """Print the table."""
    with (
        running_postgresql() as postgresql,
        tempfile.TemporaryDirectory() as folder,
        launched_farm(
            Path(folder),
            environment={"PRESSROOM_DATABASE_URL": (url := make_database(postgresql, "bench"))},
        ) as farm,
    ):
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        rate, front_us, client_us = measure_authcheck(farm, made["api_key"])
        store_records(url, made, count=1000)
        listing = measure_listing(farm, made["api_key"])
        scrapes = {name: measure_scrape(farm, part) for part, name in SCRAPED.items()}
    print(f"{NOTE}\n")
    print("| what | must | measured | kept |\n|---|---|--:|---|")
    is_kept = rate.per_second >= MIN_AUTHCHECKS and not rate.failures
    print(
        f"| authcheck, answers a second | ≥ {MIN_AUTHCHECKS:,} | {rate.per_second:,.0f} | {tell(is_kept)} |"
    )
    print(f"| authcheck, median and p99 | | {rate.median_ms:.1f} ms, {rate.slow_ms:.1f} ms | |")
    print(
        f"| authcheck, CPU of the front, of the client | | {front_us:.0f} µs, {client_us:.0f} µs | |"
    )
    quickest, middle, cpu = listing
    is_kept = quickest <= MAX_LISTING_MS
    print(
        f"| list of 1,000 images, quickest | ≤ {MAX_LISTING_MS} ms | {quickest:.1f} ms | {tell(is_kept)} |"
    )
    print(f"| the same, median and CPU of the front | | {middle:.1f} ms, {cpu:.1f} ms | |")
    for name, took in scrapes.items():
        print(at_most(f"scrape of {name}, quickest", took, MAX_SCRAPE_MS, "ms"))


def measure_authcheck(farm: LaunchedFarm, key: str) -> tuple[Rate, float, float]:
    """Return the best run, and its CPU per answer for front and client in µs."""
    request = (
        f"GET /v2/authcheck HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
    ).encode()
    port = farm.record.ports["front"]
    measure_rate(port, request, connections=CONNECTIONS, seconds=1)
    runs = []
    for _ in range(RUNS):
        with spent(farm) as cpu:
            rate = measure_rate(port, request, connections=CONNECTIONS, seconds=SECONDS)
        runs.append((rate, *(seconds / rate.answers * 1e6 for seconds in cpu)))
    return max(runs, key=lambda run: run[0].per_second)


@contextmanager
def spent(farm: LaunchedFarm) -> Iterator[list[float]]:
    """Yield a list that receives the CPU seconds of the front and of this process within the block."""
    first = farm.record.processes["front"]
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    front, client = sum(map(cpu_seconds, children)), time.process_time()
    cpu: list[float] = []
    yield cpu
    cpu += [sum(map(cpu_seconds, children)) - front, time.process_time() - client]


def cpu_seconds(process: str) -> float:
    """Return the CPU seconds of a process, its threads included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def store_records(database_url: str, made: dict[str, Any], *, count: int) -> None:
    """Insert records of images directly into the table."""
    at = now()
    row = {"content_type": "image/png", "bytes": 1000, "width": 100, "height": 50}
    row |= {"workspace_id": made["workspace_id"], "created_at": at, "updated_at": at}
    row |= {"created_by": made["user"]["id"], "updated_by": made["user"]["id"]}
    database = open_database(database_url)
    with database.session() as session:
        session.execute(
            insert(images),
            [row | {"name": f"image-{n:04}", "sha256": f"{n:064x}"} for n in range(count)],
        )
    database.close()


def measure_listing(farm: LaunchedFarm, key: str) -> tuple[float, float, float]:
    """Return the minimum and median time of a list of all images, and the front's CPU, in ms."""
    connection = http.client.HTTPConnection("127.0.0.1", farm.record.ports["front"])
    took = []
    with spent(farm) as cpu:
        for _ in range(LISTINGS):
            began = time.perf_counter()
            connection.request("GET", "/v2/images?limit=1000", headers={"x-api-key": key})
            answer = connection.getresponse()
            body = answer.read()
            took.append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, body
            assert body.count(b'"sha256"') == 1000
    connection.close()
    return min(took), statistics.median(took), cpu[0] * 1000 / LISTINGS


def measure_scrape(farm: LaunchedFarm, part: str) -> float:
    """Return the minimum time of a scrape of a part's metrics, in ms."""
    connection = http.client.HTTPConnection("127.0.0.1", farm.record.ports[part])
    took = []
    for _ in range(SCRAPES):
        began = time.perf_counter()
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        assert b"pressroom_" in answer.read()
        took.append((time.perf_counter() - began) * 1000)
    connection.close()
    return min(took)


def tell(is_kept: bool) -> str:
    """Write whether a demand is met, as the other tables do."""
    return "yes" if is_kept else "**no**"


if __name__ == "__main__":
    main()
