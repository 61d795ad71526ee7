"""Measure the front alone: `python -m tests.bench.front`."""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import insert

from deploy.embedded.demo.show import LaunchedFarm
from shared.clock import now
from shared.db.session import open_database
from shared.db.tables import images
from tests.bench.cost import cpu_seconds, find_processes
from tests.bench.demands import HEAD, at_least, at_most, fact, show
from tests.bench.farm import farm_of
from tests.bench.rates import measure_rate
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


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    with (
        running_postgresql() as postgresql,
        farm_of(PRESSROOM_DATABASE_URL=(url := make_database(postgresql, "bench"))) as farm,
    ):
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        key = made["api_key"]
        request = (
            f"GET /v2/authcheck HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
        )
        yield from measure_rates(
            "authcheck, answers a second", MIN_AUTHCHECKS, farm, request.encode()
        )
        store_records(url, made, count=1000)
        quickest, middle, cpu = measure_listing(farm, key)
        yield at_most("list of 1,000 images, quickest", quickest, MAX_LISTING_MS, "ms")
        yield fact("the same, median and CPU of the front", f"{middle:.1f} ms, {cpu:.1f} ms")
        for part, name in SCRAPED.items():
            yield at_most(
                f"scrape of {name}, quickest", measure_scrape(farm, part), MAX_SCRAPE_MS, "ms"
            )


def measure_rates(
    what: str, least: int, farm: LaunchedFarm, request: bytes
) -> Generator[str, None, int]:
    """Yield the rows of the best of several runs, with its CPU per answer for front and client.

    Returns the number of answers of all runs.
    """
    port = farm.record.ports["front"]
    answers = measure_rate(port, request, connections=CONNECTIONS, seconds=1).answers
    runs = []
    for _ in range(RUNS):
        with spent(farm) as cpu:
            rate = measure_rate(port, request, connections=CONNECTIONS, seconds=SECONDS)
        answers += rate.answers
        runs.append((rate, *(seconds / rate.answers * 1e6 for seconds in cpu)))
    best, front_us, client_us = max(runs, key=lambda run: run[0].per_second)
    assert not best.failures
    yield at_least(what, best.per_second, least, "")
    yield fact("the same, median and p99", f"{best.median_ms:.1f} ms, {best.slow_ms:.1f} ms")
    yield fact(
        "the same, CPU of the front, of the client", f"{front_us:.0f} µs, {client_us:.0f} µs"
    )
    yield fact("the same, on a core of its own", f"{1e6 / front_us:,.0f}")
    return answers


@contextmanager
def spent(farm: LaunchedFarm) -> Iterator[list[float]]:
    """Yield a list that receives the CPU seconds of the front and of this process within the block."""
    children = find_processes(farm.record.processes["front"])
    front, client = sum(map(cpu_seconds, children)), time.process_time()
    cpu: list[float] = []
    yield cpu
    cpu += [sum(map(cpu_seconds, children)) - front, time.process_time() - client]


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


if __name__ == "__main__":
    show(measure())
