"""Measure how fast a farm works off renders it has accepted: `python -m tests.bench.backlog`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

from shared.db.jobs import count_unfinished
from shared.db.session import open_database
from tests.bench.beside import engine_beside
from tests.bench.demands import HEAD, at_least, fact
from tests.bench.farm import Client, farm_of
from tests.bench.rates import measure_rate

NOTE = """\
One-page invoices by `Prefer: respond-async`, accepted while the queue of batches is drained and then
rendered by that pool, with nothing else to do: until their ends are on record, from when nine in ten are
left until three in twenty are. A second's documents are of wall time, as a share of what as many engines as
there are slots make, by samples of twenty documents every two seconds. The farm is a minute old: jobs that
are accepted sooner are looked up in the database before they run."""
SECONDS, CONNECTIONS = 3.0, 16
_YOUNG_SECONDS = 62.0
_NICE = 10  # of the pool of batches
_LOOK_EVERY_SECONDS = 0.1


def main() -> None:
    """Print the table."""
    for line in measure():
        print(line, flush=True)


def measure() -> Iterator[str]:
    """Give the table, line by line."""
    yield from (NOTE, "", HEAD)
    for slots in (1, 2):
        name = f"{slots} slot{'s' * (slots > 1)}"
        per_second, own = measure_drain(slots)
        share = per_second * own / slots
        yield at_least(
            f"a backlog's throughput, {name}, of {slots} × the engine's rate", share, 0.9, "%"
        )
        yield fact("the same, a second, and one engine", f"{per_second:,.0f} and {1 / own:,.0f}")


def measure_drain(slots: int) -> tuple[float, float]:
    """Give how many accepted renders a second a farm ends, and the engine's CPU seconds for one."""
    with farm_of(slots) as farm, closing(open_database(farm.record.database_url)) as database:
        client = Client(farm)
        request = client.write_invoice("Prefer: respond-async")

        def left() -> int:
            with database.snapshot() as session:
                return count_unfinished(session)

        measure_rate(client.port, request, connections=CONNECTIONS, seconds=0.5)
        time.sleep(_YOUNG_SECONDS)
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
    main()
