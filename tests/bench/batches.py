"""Measure batches: `python -m tests.bench.batches [--documents 10000] [--huge 100000]`."""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deploy.embedded.launch import LaunchedFarm, launched_farm
from shared.clock import now
from tests.bench.works import WORKS, Logo
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

DOCUMENTS = Path(__file__).with_name("documents")
NOTE = """\
One-page invoices in one batch on a farm of this machine; CPU beside wall time, since other processes
share the cores. The engine's own rate is that of a loop over the same documents in one process. Memory
is the most that any process of its kind held at once while the batch was received, rendered and read."""
SINGLES = 60
NOTE_TEMPLATE = b"""<document><data><json>{"number": ""}</json></data>
<flow><p>Number {{ number }}</p></flow></document>"""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--huge", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    print(f"{NOTE}\n")
    own = measure_engine()
    with (
        tempfile.TemporaryDirectory() as folder,
        launched_farm(
            Path(folder), environment={"PRESSROOM_WORKER_CONCURRENCY": str(asked.workers)}
        ) as farm,
    ):
        client = Client(farm)
        idle = client.time_singles(SINGLES)
        run = measure_batch(client, asked.documents, output="zip", with_singles=True)
        own = statistics.mean((own, measure_engine()))
        merged = measure_batch(client, min(asked.documents, 1000), output="merged")
        client.template = client.store(NOTE_TEMPLATE)
        huge = measure_batch(client, asked.huge, output="zip") if asked.huge else None
    print("| what | must | measured |\n|---|---|--:|")
    print(f"| engine alone, CPU a document | | {own * 1000:.2f} ms |")
    tell_run(run, own, asked.workers)
    ratio = run["busy_p95"] / idle
    print(f"| single renders, p95 idle | | {idle * 1000:.0f} ms |")
    print(f"| single renders, p95 beside the batch | ≤ 3 × idle | {ratio:.1f} × |")
    print(
        f"| {merged['documents']:,} invoices merged, of the sum of their sizes | < 15 % "
        f"| {merged['bytes'] / (run['bytes'] / run['documents'] * merged['documents']):.1%} |"
    )
    if huge:
        tell_times(huge)


def tell_run(run: dict[str, Any], own: float, workers: int) -> None:
    """Print the rows of a batch of invoices."""
    tell_times(run)
    name = f"{run['documents']:,} documents"
    rate, spent = run["documents"] / run["render"], run["cpu"] / run["documents"]
    print(
        f"| {name}: a second, of {workers} × the engine | | {rate:.0f}, {rate * own / workers:.0%} |"
    )
    print(f"| {name}: CPU of the pool each | | {spent * 1000:.2f} ms |")
    print(f"| {name}: the engine's CPU of that | ≥ 90 % | {own / spent:.0%} |")


def tell_times(run: dict[str, Any]) -> None:
    """Print how long a batch took, and what it held."""
    name = f"{run['documents']:,} documents"
    times = ", ".join(f"{run[step]:.1f}" for step in ("accept", "render", "send"))
    print(f"| {name}: accepted, rendered, sent | | {times} s |")
    for kind, megabytes in sorted(run["memory"].items()):
        print(f"| {name}: memory of {kind} | ≤ 300 MB | {megabytes:.0f} MB |")


def invoices(count: int) -> Iterator[bytes]:
    """Give the data of invoices, a line each."""
    work = WORKS["invoice"]
    lines = [work.write_data(seed).encode() + b"\n" for seed in range(200)]
    for number in range(count):
        yield lines[number % len(lines)]


def measure_engine() -> float:
    """Give the CPU seconds of a document in a loop of one process, the median of seven rounds."""
    template = prepare_template((DOCUMENTS / "invoice.xml").read_bytes())
    options, logo = RenderOptions(now()), Logo()
    payloads = [Payload(PayloadKind.JSON, line) for line in invoices(200)]
    rounds = []
    for _ in range(7):
        begun = time.process_time()
        for payload in payloads:
            render(template, payload, options=options, resources=logo)
        rounds.append((time.process_time() - begun) / len(payloads))
    return statistics.median(rounds)


class Client:
    """A client of the farm, and a look at its processes."""

    def __init__(self, farm: LaunchedFarm) -> None:
        self.farm = farm
        made = farm.command("account", "create", "--email", "bench@example.org", "--plan", "paid")
        self.headers = {"Authorization": f"Bearer {made['api_key']}"}
        source = (DOCUMENTS / "invoice.xml").read_bytes()
        xml = {"Content-Type": "text/xml"}
        self.template = self.json("POST", "/v2/templates?name=invoice", source, xml)["id"]
        self.json(
            "PUT", "/v2/images/logo", Logo().find_image("logo"), {"Content-Type": "image/png"}
        )

    def store(self, source: bytes) -> str:
        """Store a template and give its id."""
        made = self.json("POST", "/v2/templates?name=bench", source, {"Content-Type": "text/xml"})
        return str(made["id"])

    def send(self, method: str, path: str, body: Any = None, headers: Any = None) -> Any:
        """Give an answer that is not read yet."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.farm.record.ports["front"], timeout=300
        )
        connection.request(method, path, body, {**self.headers, **(headers or {})})
        answer = connection.getresponse()
        assert answer.status < 300, answer.read()
        return answer

    def json(self, *args: Any) -> Any:
        """Give the JSON of an answer."""
        return json.loads(self.send(*args).read())

    def time_singles(self, count: int) -> float:
        """Give the p95 of single renders, one after the other."""
        data = next(invoices(1))
        path = f"/v2/pdf?template={self.template}"
        times = []
        for _ in range(count):
            begun = time.perf_counter()
            self.send("POST", path, data, {"Content-Type": "application/json"}).read()
            times.append(time.perf_counter() - begun)
        return statistics.quantiles(times, n=20)[-1]


def measure_batch(
    client: Client, count: int, *, output: str, with_singles: bool = False
) -> dict[str, Any]:
    """Send a batch, wait for it, read its result."""
    processes = Processes(client.farm)
    processes.start()
    cpu = processes.cpu("batch")
    begun = time.perf_counter()
    path = f"/v2/batches?template={client.template}&output={output}"
    batch = client.json("POST", path, invoices(count), {"Content-Type": "application/x-ndjson"})
    accepted = time.perf_counter()
    busy = client.time_singles(SINGLES) if with_singles else 0.0
    while batch["status"] not in ("finished", "cancelled"):
        batch = client.json("GET", f"/v2/batches/{batch['id']}?wait=60")
    rendered = time.perf_counter()
    assert batch["succeeded"] == count, batch
    cpu = processes.cpu("batch") - cpu
    answer, size = client.send("GET", f"/v2/batches/{batch['id']}/result"), 0
    while piece := answer.read(1 << 20):
        size += len(piece)
    sent = time.perf_counter()
    return {
        "documents": count,
        "accept": accepted - begun,
        "render": rendered - accepted,
        "send": sent - rendered,
        "cpu": cpu,
        "bytes": size,
        "busy_p95": busy,
        "memory": processes.stop(),
    }


class Processes:
    """The processes of a farm, watched for the most memory that one of each kind holds."""

    def __init__(self, farm: LaunchedFarm) -> None:
        self._roots = farm.record.processes
        self._most: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> dict[str, float]:
        """Give the most megabytes by kind of process."""
        self._over.set()
        self._thread.join()
        return {kind: self._most[kind] for kind in ("front", "batch", "keeper")}

    def cpu(self, kind: str) -> float:
        """Give the CPU seconds that the processes of a kind have used, their dead children's too."""
        ticks = 0
        for pid in family(self._roots[kind]):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(
                int(field) for field in fields[11 : 15 if pid == self._roots[kind] else 13]
            )
        return ticks / 100

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for kind, root in self._roots.items():
                for pid in family(root):
                    self._most[kind] = max(self._most.get(kind, 0.0), resident(pid))


def family(root: int) -> list[int]:
    """Give a process and its descendants."""
    found = [root]
    for pid in found:
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            continue
        found += [int(child) for child in children]
    return found


def resident(pid: int) -> float:
    """Give the megabytes of a process that are in memory, 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    sizes = [int(line.split()[1]) for line in lines if line.startswith("VmRSS")]
    return sizes[0] / 1024 if sizes else 0.0


if __name__ == "__main__":
    main()
