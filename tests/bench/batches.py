"""Measure batches: `python -m tests.bench.batches [--documents 10000] [--huge 100000]`."""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.demo.show import LaunchedFarm
from tests.bench.beside import INVOICE, SAMPLE_EVERY_SECONDS, engine_beside, invoices
from tests.bench.cost import cpu_seconds, find_processes
from tests.bench.demands import HEAD, at_least, at_most, fact, not_measured, show
from tests.bench.farm import Client, farm_of

DOCUMENTS = Path(__file__).with_name("documents")
NOTE = """\
One-page invoices in a batch on a farm of this machine. The engine's CPU is that of a loop over the same
documents, run beside the batch, so that both have the same machine: what else runs slows both. A second's
documents are of wall time, as a share of what as many engines make as there are slots, by samples of twenty
documents every three seconds of the batch. Memory is the most that any process of its kind held while a
batch was received, rendered and read."""
SINGLES = 300
_NICE = 10  # of the pool of batches
MERGED = 1000
NOTE_TEMPLATE = b"""<document><data><json>{"number": ""}</json></data>
<flow><p>Number {{ number }}</p></flow></document>"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--huge", type=int, default=0)
    asked = parser.parse_args()
    show(measure(asked.documents, huge=asked.huge))


def measure(documents: int, *, huge: int) -> Iterator[str]:
    """Yield the table, each line as soon as it is measured."""
    yield from (NOTE, "", HEAD)
    name = f"{documents:,} documents"
    with farm_of(1) as farm:
        client = Client(farm)
        template = client.store(INVOICE)
        idle = time_singles(client, template, SINGLES)
        yield from report_throughput(client, template, documents, slots=1)
        with engine_beside(rest=0, nice=_NICE) as measured:
            run = measure_batch(client, template, documents, output="zip")
        yield from report_share(name, run, measured[0])
        yield from report_times(name, run)
        busy: list[Singles] = []
        measure_batch(
            client,
            template,
            documents,
            output="zip",
            meanwhile=lambda: busy.append(time_singles(client, template, SINGLES)),
        )
        yield from report_singles(name, idle, busy[0])
        merged = measure_batch(client, template, MERGED, output="merged")
        of_all = merged.bytes / (run.bytes / documents * MERGED)
        yield at_most(f"{MERGED:,} invoices merged, of the sum of their sizes", of_all, 0.15, "%")
        if huge:
            name = f"{huge:,} documents of a line"
            run = measure_batch(client, client.store(NOTE_TEMPLATE), huge, output="zip")
            yield from report_times(name, run)
            yield from report_memory(name, run)
        else:
            yield not_measured("100,000 documents: memory", "≤ 300 MB", "`--huge 100000`, minutes")
    with farm_of(2) as farm:
        client = Client(farm)
        yield from report_throughput(client, client.store(INVOICE), documents, slots=2)


def report_throughput(
    client: Client, template: str, documents: int, *, slots: int
) -> Iterator[str]:
    """Yield the pool's throughput as a share of the rate of as many engines."""
    measure_batch(
        client, template, 200 * slots, output="files"
    )  # each child has its templates and fonts
    with engine_beside(rest=SAMPLE_EVERY_SECONDS, nice=_NICE) as measured:
        run = measure_batch(client, template, documents, output="files")
    (own,) = measured
    rate = documents / run.render
    what = f"batch throughput, {slots} slot{'s' * (slots > 1)}, of {slots} × the engine's rate"
    yield at_least(what, rate * own / slots, 0.9, "%")
    yield fact("the same, documents a second", f"{rate:.0f}, {slots} × {1 / own:.0f}")


def report_share(name: str, run: Run, own: float) -> Iterator[str]:
    """Yield the engine's share of the pool's CPU."""
    spent = run.cpu / run.documents
    yield at_least(f"{name}: the engine's share of the pool's CPU", own / spent, 0.9, "%")
    yield fact(
        f"{name}: CPU of the engine, of the pool each", f"{own * 1e3:.2f}, {spent * 1e3:.2f} ms"
    )


def report_singles(name: str, idle: Singles, busy: Singles) -> Iterator[str]:
    """Yield the effect of a batch on single renders."""
    yield at_most(
        f"single renders beside {name}: p95, of an idle farm's", busy.p95 / idle.p95, 3, "×"
    )
    yield fact("the same, idle and beside the batch", f"{idle.p95:.1f} and {busy.p95:.1f} ms")
    # A render waits for one slot at most, so the limit of its queue time is the time of one render.
    yield at_most(
        f"single renders beside {name}: queue wait p99, one render",
        busy.wait_p99,
        busy.render,
        "ms",
    )
    waits = f"{idle.wait_p50:.1f} and {idle.wait_p99:.1f}, {busy.wait_p50:.1f} and {busy.wait_p99:.1f} ms"
    yield fact("the same, median and p99 idle, beside the batch", waits)


def report_times(name: str, run: Run) -> Iterator[str]:
    """Yield the time of a batch."""
    yield fact(
        f"{name}: accepted, rendered, sent", f"{run.accept:.1f}, {run.render:.1f}, {run.send:.1f} s"
    )


def report_memory(name: str, run: Run) -> Iterator[str]:
    """Yield the memory of the processes."""
    for kind, megabytes in sorted(run.memory.items()):
        yield at_most(f"{name}: memory of {kind}", megabytes, 300, "MB")


@dataclass(frozen=True, slots=True)
class Singles:
    """Single renders, one after the other: their time, their wait and their rendering, in ms."""

    p95: float
    wait_p50: float
    wait_p99: float
    render: float


def time_singles(client: Client, template: str, number: int) -> Singles:
    """Render invoices one after the other."""
    data = next(invoices(1))
    path = f"/v2/pdf?template={template}"
    times, waits, renders = [], [], []
    for _ in range(number):
        begun = time.perf_counter()
        answer, body = client.ask("POST", path, data)
        times.append((time.perf_counter() - begun) * 1000)
        assert answer.status == 200, body
        stages = dict(part.split(";dur=") for part in answer.headers["Server-Timing"].split(", "))
        waits.append(float(stages.pop("queue")))
        renders.append(sum(map(float, stages.values())))
    cuts = statistics.quantiles(waits, n=100)
    return Singles(
        statistics.quantiles(times, n=20)[-1], cuts[49], cuts[98], statistics.median(renders)
    )


@dataclass(frozen=True, slots=True)
class Run:
    """A batch from its acceptance to the last byte of its result; seconds, bytes, megabytes."""

    documents: int
    accept: float
    render: float
    send: float
    cpu: float
    bytes: int
    memory: dict[str, float]


def measure_batch(
    client: Client,
    template: str,
    documents: int,
    *,
    output: str,
    body: bytes | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Run:
    """Send a batch, of invoices by default, do something meanwhile, wait for it, read its result."""
    processes = Processes(client.farm)
    processes.start()
    cpu = processes.cpu("batch")
    begun = time.perf_counter()
    path = f"/v2/batches?template={template}&output={output}"
    batch = client.json("POST", path, body or invoices(documents), "application/x-ndjson")
    accepted = time.perf_counter()
    meanwhile()
    while batch["status"] not in ("finished", "cancelled"):
        batch = client.json("GET", f"/v2/batches/{batch['id']}?wait=60")
    rendered = time.perf_counter()
    assert batch["succeeded"] == documents, batch
    cpu = processes.cpu("batch") - cpu
    size = 0
    if output != "files":
        answer = client.send("GET", f"/v2/batches/{batch['id']}/result")
        while piece := answer.read(1 << 20):
            size += len(piece)
    sent = time.perf_counter()
    memory = processes.stop()
    return Run(documents, accepted - begun, rendered - accepted, sent - rendered, cpu, size, memory)


class Processes:
    """The processes of a farm, watched for the most memory that one of each kind holds."""

    def __init__(self, farm: LaunchedFarm) -> None:
        self._roots = farm.record.processes
        self._most: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def start(self) -> None:
        """Start watching."""
        self._thread.start()

    def stop(self) -> dict[str, float]:
        """Stop watching and return the peak megabytes by kind of process."""
        self._over.set()
        self._thread.join()
        return {kind: self._most[kind] for kind in ("front", "batch", "background")}

    def cpu(self, kind: str) -> float:
        """Return the CPU seconds used by the processes of a kind, their dead children included."""
        return sum(map(cpu_seconds, find_processes(self._roots[kind])))

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for kind, root in self._roots.items():
                for pid in find_processes(root):
                    self._most[kind] = max(self._most.get(kind, 0.0), resident(pid))


def resident(pid: int) -> float:
    """Return the resident megabytes of a process, 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    sizes = [int(line.split()[1]) for line in lines if line.startswith("VmRSS")]
    return sizes[0] / 1024 if sizes else 0.0


if __name__ == "__main__":
    main()
