"""Measure how long a small account waits beside ten that ask without pause: `python -m tests.bench.tenants`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from statistics import median, quantiles

from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.farm import Client, farm_of
from tests.bench.rates import measure_rate

ACCOUNTS, CONNECTIONS = 10, 4
ROUNDS, RENDERS, PAUSE_SECONDS = 4, 60, 0.2  # less than its share of the slot
NOTE = f"""\
A small account sends an invoice of one page every {PAUSE_SECONDS * 1000:.0f} ms and waits for it, by turns alone and beside {ACCOUNTS} accounts that ask
for the same on {CONNECTIONS} connections each without pause, on one slot: client, front and Redis take turns
with it on the cores. It asks for less than its share, an eleventh of the slot. The renders of the rounds are taken together."""


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    with farm_of(1) as farm:
        small = Client(farm)
        request = small.write_invoice()
        crowd = [(small.port, Client(farm).write_invoice()) for _ in range(ACCOUNTS)]
        time.sleep(TOMBSTONE_SECONDS + 1)
        measure_rate(small.port, request, connections=1, seconds=3)
        alone: list[float] = []
        beside: list[float] = []
        for _ in range(ROUNDS):
            alone += render_often(small, request)
            with busy(crowd):
                beside += render_often(small, request)
    for name, times in (("alone", alone), (f"beside {ACCOUNTS} accounts", beside)):
        yield fact(
            f"a small account {name}: median, p99", f"{median(times):.1f}, {slowest(times):.1f} ms"
        )
    yield at_most(
        "p99 of a small account beside ten, of that alone", slowest(beside) / slowest(alone), 2, "×"
    )


def slowest(times: list[float]) -> float:
    """Return the time that 99 of 100 renders do not exceed."""
    return quantiles(times, n=100)[98]


def render_often(small: Client, request: bytes) -> list[float]:
    """Return the milliseconds of renders, each some time after the one before."""
    head, _, body = request.partition(b"\r\n\r\n")
    path = head.split(b" ", 2)[1].decode()
    times = []
    with closing(small.connect()) as kept:
        for _ in range(RENDERS):
            time.sleep(PAUSE_SECONDS)
            begun = time.perf_counter()
            answer, _ = small.ask("POST", path, body, on=kept)
            times.append((time.perf_counter() - begun) * 1000)
            assert answer.status == 200
    return times


@contextmanager
def busy(crowd: list[tuple[int, bytes]]) -> Iterator[None]:
    """Keep the farm busy with the requests of several accounts, from a process of its own."""
    spawning = get_context("spawn")
    is_over = spawning.Event()
    process = spawning.Process(target=_ask_without_pause, args=(crowd, is_over))
    process.start()
    time.sleep(3)
    try:
        yield
    finally:
        is_over.set()
        process.join()
        assert process.exitcode == 0, "a busy account was answered too seldom"


def _ask_without_pause(crowd: list[tuple[int, bytes]], is_over: Event) -> None:
    def go_on(each: tuple[int, bytes]) -> None:
        while not is_over.is_set():
            rate = measure_rate(*each, connections=CONNECTIONS, seconds=2)
            assert not rate.failures

    with ThreadPoolExecutor(len(crowd)) as pool:
        list(pool.map(go_on, crowd))


if __name__ == "__main__":
    show(measure())
