"""Measure how fast a farm begins and works off renders it has accepted: `python -m tests.bench.backlog`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from statistics import median

from deploy.embedded.demo.show import LaunchedFarm
from shared.db.session import open_database
from shared.jobs.repository import count_unfinished_jobs
from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.beside import engine_beside
from tests.bench.demands import HEAD, at_least, at_most, fact, show
from tests.bench.farm import Client, farm_of
from tests.bench.rates import measure_rate

NOTE = """\
One-page invoices by `Prefer: respond-async`, accepted while the queue of batches is drained and then
rendered by that pool, with nothing else to do: until their ends are on record, from when nine in ten are
left until three in twenty are. A second's documents are of wall time, as a share of what as many engines as
there are slots make, by samples of twenty documents every two seconds. Before that, one at a time on the idle
farm: from acceptance until its render begins, as its record has it, and until a client that waits (`wait=5`)
has the PDF."""
SECONDS, CONNECTIONS = 8.0, 16
SINGLES = 40
_NICE = 10  # of the pool of batches
_LOOK_EVERY_SECONDS = 0.1
_REST_SECONDS = 0.1
NOTE_BODY = b"<document><flow><h1>Hello</h1><p>From Pressroom.</p></flow></document>"
WAITING = {"Prefer": "respond-async, wait=5"}


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    for slots in (1, 2):
        name = f"{slots} slot{'s' * (slots > 1)}"
        with farm_of(slots) as farm:
            begun, answered = measure_singles(Client(farm))
            per_second, own = measure_drain(farm)
        yield at_most(f"one accepted render on an idle farm, {name}: begins", begun, 50, "ms")
        yield fact("the same, a client that waits has its PDF", f"{answered:.1f} ms")
        share = per_second * own / slots
        yield at_least(
            f"a backlog's throughput, {name}, of {slots} × the engine's rate", share, 0.9, "%"
        )
        yield fact("the same, a second, and one engine", f"{per_second:,.0f} and {1 / own:,.0f}")


def measure_singles(client: Client) -> tuple[float, float]:
    """Return the median milliseconds until an accepted render begins, and until it is answered."""
    begun, answered = [], []
    for _ in range(SINGLES):
        sent = time.perf_counter()
        answer, _ = client.ask("POST", "/v2/pdf", NOTE_BODY, "text/xml", **WAITING)
        answered.append((time.perf_counter() - sent) * 1000)
        _, found = client.ask("GET", f"/v2/jobs/{answer.headers['X-Job-Id']}", b"", "text/xml")
        times = (
            datetime.fromisoformat(json.loads(found)[key]) for key in ("created_at", "started_at")
        )
        created_at, started_at = times
        begun.append((started_at - created_at).total_seconds() * 1000)
        time.sleep(_REST_SECONDS)
    return median(begun), median(answered)


def measure_drain(farm: LaunchedFarm) -> tuple[float, float]:
    """Return how many accepted renders a second a farm ends, and the engine's CPU seconds for one."""
    with closing(open_database(farm.record.database_url)) as database:
        client = Client(farm)
        request = client.write_invoice("Prefer: respond-async")

        def left() -> int:
            with database.snapshot() as session:
                return count_unfinished_jobs(session)

        # For this long after its upload each render looks the logo up in the database.
        time.sleep(TOMBSTONE_SECONDS + 1)
        measure_rate(client.port, request, connections=CONNECTIONS, seconds=0.5)
        wait_for(lambda: not left())
        farm.command("queue", "drain", "batch")
        measure_rate(client.port, request, connections=CONNECTIONS, seconds=SECONDS)
        accepted = left()
        farm.command("queue", "resume", "batch")
        wait_for(lambda: left() < 0.9 * accepted)
        with engine_beside(rest=2.0, nice=_NICE) as measured:
            begun, before = time.perf_counter(), left()
            wait_for(lambda: left() < 0.15 * accepted)
            per_second = (before - left()) / (time.perf_counter() - begun)
        return per_second, measured[0]


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    while not holds():
        time.sleep(_LOOK_EVERY_SECONDS)


if __name__ == "__main__":
    show(measure())
