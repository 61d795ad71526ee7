"""Measure the whole farm at work, and how soon it is back after a kill: `python -m tests.bench.farm`."""

from __future__ import annotations

import http.client
import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

from PIL import Image

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.beside import INVOICE, SAMPLE_EVERY_SECONDS, engine_beside
from tests.bench.demands import HEAD, at_least, at_most, fact, show
from tests.bench.rates import Rate, measure_rate
from tests.bench.works import Logo, invoice_data
from tests.faults.farm import children_of

SECONDS, CONNECTIONS = 16.0, 8
MB = 1024 * 1024
ROUNDS = 5
NOTE = """\
Client, front, Redis and workers share the machine: with two slots on two cores the engine's own rate
cannot be reached, for everything else needs its share of the same cores. The engine's rate is that of a
core, by samples of twenty documents that a process beside takes every three seconds. The images were
stored some time ago: for 20 s after a change a name is looked up in the database, which takes a
millisecond."""


def measure() -> Iterator[str]:
    """Yield the tables, line by line."""
    yield from (NOTE, "")
    yield "| one-page invoices, waited for | a second | one engine's rate | share of slots × that | median ms | p99 ms |"
    yield "|---|--:|--:|--:|--:|--:|"
    shares = []
    for slots in (1, 2):
        with farm_of(slots) as farm:
            rate, own = throughput(farm)
        share = rate.per_second * own / slots
        what = f"waited throughput, {slots} slot{'s' * (slots > 1)}, of {slots} × the engine's rate"
        shares.append(at_least(what, share, 0.9, "%"))
        yield (
            f"| {slots} slot{'s' * (slots > 1)}, {CONNECTIONS} clients | {rate.per_second:,.0f} "
            f"| {1 / own:,.0f} | {share:.0%} | {rate.median_ms:.1f} | {rate.slow_ms:.1f} |"
        )
    yield from ("", HEAD, *shares)
    with farm_of(2) as farm:
        client = Client(farm)
        large = large_results(client)
        yield fact(
            "a result of 1 MB over HTTP, beside the engine: median, longest",
            f"{median(large) * 1000:.1f}, {max(large) * 1000:.1f} ms",
        )
        yield from middle("a body of 32 MB at a worker", large_bodies(client), 150)
        yield longest("a killed rendering process: its job has ended", dead(client, "child"), 6)
        yield longest("a killed worker: its job has ended", dead(client, "worker"), 6)
        yield longest("a killed Redis: a render is answered", dead_redis(client), 3.5)


def middle(what: str, seconds: list[float], limit_ms: float) -> Iterator[str]:
    """Yield the rows of a time whose median counts."""
    yield at_most(what, median(seconds) * 1000, limit_ms, "ms")
    yield fact("the same, longest", f"{max(seconds) * 1000:.1f} ms")


def longest(what: str, seconds: list[float], limit: float) -> str:
    """Return the row of a recovery time whose maximum counts."""
    return at_most(f"{what}, longest of {len(seconds)}", max(seconds), limit, "s")


@contextmanager
def farm_of(slots: int | None = None, **environment: str) -> Iterator[LaunchedFarm]:
    """Run a farm, with some slots in each pool if not as many as by default."""
    if slots is not None:
        environment["PRESSROOM_WORKER_CONCURRENCY"] = str(slots)
    with (
        tempfile.TemporaryDirectory() as folder,
        launched_farm(Path(folder), environment=environment) as farm,
    ):
        yield farm


class Client:
    """One connection for each request, with a key of its own account."""

    def __init__(self, farm: LaunchedFarm) -> None:
        self.farm = farm
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        self.key = made["api_key"]
        self.port = farm.record.ports["front"]
        self.json("PUT", "/v2/images/logo", Logo().data, "image/png")

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection, for requests one after the other."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        *,
        on: http.client.HTTPConnection | None = None,
        **more: str,
    ) -> http.client.HTTPResponse:
        """Send a request, on a connection of its own if none is given, and return the unread answer."""
        connection = on or self.connect()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": content_type} | more
        connection.request(method, path, body, headers)
        return connection.getresponse()

    def ask(
        self, method: str, path: str, body: Any = None, *args: str, **more: Any
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request and return the answer with its body; see `send`."""
        answer = self.send(method, path, body, *args, **more)
        return answer, answer.read()

    def json(self, *args: Any) -> Any:
        """Send a request that succeeds and return the JSON of its answer; see `send`."""
        answer, body = self.ask(*args)
        assert answer.status < 300, body
        return json.loads(body)

    def store(self, source: bytes) -> str:
        """Store a template and return its id."""
        return str(self.json("POST", "/v2/templates?name=bench", source, "text/xml")["id"])

    def write_invoice(self, *more: str) -> bytes:
        """Write the request for an invoice, by a template stored for it, with more header lines."""
        body = json.dumps(invoice_data(7)).encode()
        lines = (
            f"POST /v2/pdf?template={self.store(INVOICE)} HTTP/1.1",
            "Host: bench",
            f"Authorization: Bearer {self.key}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *more,
        )
        return "\r\n".join([*lines, "", ""]).encode() + body

    def render(
        self, document: bytes, on: http.client.HTTPConnection | None = None
    ) -> http.client.HTTPResponse:
        """Render a document that is alone."""
        return self.ask("POST", "/v2/pdf", document, "text/xml", on=on)[0]


def throughput(farm: LaunchedFarm) -> tuple[Rate, float]:
    """Measure invoices a second with as many clients as keep the slots busy, and return with them
    the CPU seconds that the engine takes for one.
    """
    client = Client(farm)
    request = client.write_invoice()
    warm_up = TOMBSTONE_SECONDS + 1
    measure_rate(client.port, request, connections=CONNECTIONS, seconds=warm_up)
    with engine_beside(rest=SAMPLE_EVERY_SECONDS) as measured:
        rate = measure_rate(client.port, request, connections=CONNECTIONS, seconds=SECONDS)
    return rate, measured[0]


def large_results(client: Client) -> list[float]:
    """Return the seconds of responses of 1 MB outside of the engine's stages."""
    file = BytesIO()
    Image.effect_noise((1000, 1000), 120).save(file, "PNG")
    client.ask("PUT", "/v2/images/noise", file.getvalue(), "image/png")
    time.sleep(TOMBSTONE_SECONDS + 1)
    document = b'<document><flow><img src="noise" alt="" width="60mm"/></flow></document>'
    with closing(client.connect()) as kept:
        times = [beside_engine(lambda: client.render(document, kept)) for _ in range(20 * ROUNDS)]
    return times[ROUNDS:]


def large_bodies(client: Client) -> list[float]:
    """Return the seconds until a body of 32 MB is at a worker: sent, stored, queued and fetched."""
    document = b"<document><flow><p>x</p></flow><!--%b--></document>"
    body = document % (b"x" * (32 * MB - len(document) + 2))
    return [beside_engine(lambda: client.render(body)) for _ in range(ROUNDS)]


def beside_engine(ask: Callable[[], http.client.HTTPResponse]) -> float:
    """Return the seconds of a response outside of the engine."""
    begun = time.perf_counter()
    answer = ask()
    seconds = time.perf_counter() - begun
    assert answer.status == 200, answer.status
    parts = (part.split(";dur=") for part in answer.headers["Server-Timing"].split(", "))
    return seconds - sum(float(taken) / 1000 for stage, taken in parts if stage != "queue")


def dead(client: Client, which: str) -> list[float]:
    """Kill what renders, and return how long after it the job had ended elsewhere."""
    document = b"<document><flow><p>%b</p></flow></document>" % (b"some words " * 150_000)
    begun = time.perf_counter()
    client.render(document)
    alone = time.perf_counter() - begun
    times: list[float] = []
    for _ in range(ROUNDS):
        ended: list[float] = []
        asking = threading.Thread(
            target=lambda into=ended: (client.render(document), into.append(time.perf_counter()))
        )
        asking.start()
        time.sleep(alone / 2)
        killed_at = time.perf_counter()
        kill(client, which)
        asking.join()
        times.append(max(ended[0] - killed_at - alone, 0.0))
        time.sleep(2)
    return times


def kill(client: Client, which: str) -> None:
    """Kill the worker, or all of its children."""
    record = client.farm.folder.read_record()
    assert record is not None
    worker = record.processes["worker"]
    for pid in [worker] if which == "worker" else children_of(worker):
        os.kill(pid, signal.SIGKILL)


def dead_redis(client: Client) -> list[float]:
    """Kill Redis, and return how long after it a render was answered."""
    times: list[float] = []
    for _ in range(ROUNDS):
        record = client.farm.folder.read_record()
        assert record is not None
        killed_at = time.perf_counter()
        os.kill(record.processes["redis"], signal.SIGKILL)
        while client.render(b"<document><flow><p>x</p></flow></document>").status != 200:
            time.sleep(0.05)
        times.append(time.perf_counter() - killed_at)
        time.sleep(3)
    return times


if __name__ == "__main__":
    show(measure())
