"""The farm beside what somebody would build instead: the same documents, fonts, load and slots.

Each service has an environment of its own with what it needs, installed from PyPI. All run side by side and
take turns under load; CPU time is that of all processes of a service.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

from deploy.embedded.data_folder import open_folder
from deploy.embedded.loopback import free_port
from deploy.embedded.plan import find_server
from shared.parent_death import with_parent_death_signal
from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.cost import cpu_seconds, find_processes
from tests.bench.demands import HEAD, at_most
from tests.bench.results import time_additions
from tests.bench.works import INVOICE, Logo

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
CLIENTS, ROUNDS, WARM = 8, 3, 16
SEEDS = count()  # no document is asked for twice: Typst keeps those that it made
NOTE = b"""<document version="1" title="{{ name }}" lang="en"><data><json>{"name": ""}</json></data>
<flow><h1>Hello</h1><p>Dear {{ name }}, this is one page.</p></flow></document>"""
PEERS = {
    "dramatiq-typst": "Flask + dramatiq + Typst",
    "celery-typst": "Flask + Celery + Typst",
    "celery-platypus": "Flask + Celery + ReportLab's platypus",
    "celery-weasyprint": "Flask + Celery + WeasyPrint",
}
PACKAGES = {
    "celery": ["celery[redis]"],
    "dramatiq": ["dramatiq[redis]"],
    "typst": ["typst"],
    "platypus": ["reportlab", "rl_accel"],
    "weasyprint": ["weasyprint", "jinja2"],
}
OF_ALL = ["flask", "gunicorn", "redis", "hiredis", "zxing-cpp", "babel", "pillow"]
WORKERS = {
    "celery": "celery --quiet -A peer_service:celery worker --without-gossip --without-mingle --without-heartbeat",
    "dramatiq": "dramatiq peer_service --processes 1 --threads 1 --skip-logging",
}
NOTES = """\
One slot each, {clients} clients that wait for their PDFs, {rounds} rounds in turns of {seconds:g} s; CPU time of
all processes of a service, medians. MB is memory as the kernel divides it among those that share it (PSS), at rest
and after the load. The peers have no metering, limits, fairness, retries or storage, and a Redis without a log.
Other work on the machine distorts it: Python added a million numbers in {added:.0f} ms at the end."""


@dataclass
class Service:
    """A service under load: where documents are asked for, its processes, and what was measured."""

    title: str
    port: int
    paths: dict[str, str]
    pids: list[int]
    headers: dict[str, str] = field(default_factory=dict)
    at_rest: float = 0.0
    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)

    def processes(self) -> list[int]:
        return [each for pid in self.pids for each in find_processes(pid)]

    def megabytes(self) -> float:
        texts = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self.processes()]
        return sum(int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1]) for text in texts) / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    for line in measure(parser.parse_args().seconds):
        print(line, flush=True)


def measure(seconds: float) -> Iterator[str]:
    """Yield the tables, line by line."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        path = Path(folder)
        services = [running.enter_context(run_farm(path))]
        services += [running.enter_context(run_peer(name, path)) for name in PEERS]
        time.sleep(TOMBSTONE_SECONDS)  # the farm looks up the logo for so long after it was stored
        for service in services:
            service.at_rest = service.megabytes()
        for _ in range(ROUNDS):
            for service in services:
                for kind in service.paths:
                    load(service, kind, seconds if kind == "invoice" else seconds / 2)
        yield from (
            NOTES.format(clients=CLIENTS, rounds=ROUNDS, seconds=seconds, added=time_additions()),
            "",
        )
        yield "| waited documents | invoice, CPU ms | invoices a second | note, CPU ms | MB at rest → after | processes |"
        yield "|---|--:|--:|--:|--:|--:|"
        for service in services:
            cost = {kind: median(taken) for kind, taken in service.milliseconds.items()}
            yield (
                f"| {service.title} | {cost['invoice']:.1f} | {median(service.rates):.1f} | {cost['note']:.1f} "
                f"| {service.at_rest:.0f} → {service.megabytes():.0f} | {len(service.processes())} |"
            )
        ours, typst = services[0], services[2]
        share = median(ours.milliseconds["invoice"]) / median(typst.milliseconds["invoice"])
        yield from ("", HEAD)
        yield at_most("waited invoice: CPU of all, of Flask + Celery + Typst", share, 0.5, "×")
        note = median(ours.milliseconds["note"])
        yield at_most("note of one paragraph: CPU of all", note, 4.5, "ms")
        yield at_most("memory at rest for one slot", ours.at_rest, 350, "MB")
        yield at_most("processes for one slot", len(ours.processes()), 10, "")


def load(service: Service, kind: str, seconds: float) -> None:
    """Have the clients ask for some seconds, and note rate and CPU time."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        ask(service, kind, lambda made: made < WARM // CLIENTS, clients)
        begun, before = time.monotonic(), sum(map(cpu_seconds, service.processes()))
        until = begun + seconds
        made = ask(service, kind, lambda _: time.monotonic() < until, clients)
        taken = time.monotonic() - begun
        spent = sum(map(cpu_seconds, service.processes())) - before
    service.milliseconds.setdefault(kind, []).append(1000 * spent / made)
    if kind == "invoice":
        service.rates.append(made / taken)


def ask(
    service: Service, kind: str, goes_on: Callable[[int], bool], clients: ThreadPoolExecutor
) -> int:
    """Ask for documents over a kept connection of each client; return how many were made."""

    def run(_client: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
        made = 0
        while goes_on(made):
            seed = next(SEEDS)
            is_note = kind == "note"
            body = json.dumps({"name": f"Ada {seed}"}) if is_note else INVOICE.write_data(seed)
            connection.request("POST", service.paths[kind], body, service.headers)
            response = connection.getresponse()
            pdf = response.read()
            if response.status != 200 or not pdf.startswith(b"%PDF"):
                raise SystemExit(f"{service.title}, {kind}: {response.status} {pdf[:300]!r}")
            made += 1
        connection.close()
        return made

    return sum(clients.map(run, range(CLIENTS)))


def install(folder: Path, *packages: str) -> Path:
    """Make a virtual environment with packages, and return the folder of its programs."""
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
    programs = folder / "bin"
    install = [uv, "pip", "install", "-q", "--python", str(programs / "python")]
    subprocess.run([*install, *packages], check=True)
    return programs


@contextmanager
def run_peer(name: str, folder: Path) -> Iterator[Service]:
    """Run a peer: Redis, gunicorn with a thread for each client, and a worker with one slot."""
    queue, engine = name.split("-")
    programs = install(folder / name, *OF_ALL, *PACKAGES[queue], *PACKAGES[engine])
    documents = folder / f"{name}-documents"
    shutil.copytree(HERE / "documents", documents)
    (documents / "logo.png").write_bytes(Logo().data)
    port, redis_port = free_port(), free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "PEER": name,
        "PEER_DOCUMENTS": str(documents),
        "PEER_TYPEFACES": str(ROOT / "workers/engine/fonts/typefaces"),
        "PEER_REDIS": f"redis://127.0.0.1:{redis_port}/0",
    }
    front = f"gunicorn -b 127.0.0.1:{port} -k gthread --threads {CLIENTS} --keep-alive 60 peer_service:app"
    commands = [
        [find_server(), "--port", str(redis_port), "--save", "", "--bind", "127.0.0.1"],
        *([str(programs / part) if not at else part for at, part in enumerate(command.split())]
          for command in (front, WORKERS[queue])),
    ]  # fmt: skip
    with ExitStack() as running, (folder / f"{name}.log").open("wb") as log:
        pids = []
        for command in commands:
            process = subprocess.Popen(
                with_parent_death_signal(command),
                env=environment,
                cwd=documents,
                stdout=log,
                stderr=log,
            )
            running.callback(process.wait)
            running.callback(process.terminate)
            pids.append(process.pid)
        await_port(port)
        paths = {"invoice": "/invoice", "note": "/note"}
        yield Service(PEERS[name], port, paths, pids, {"Content-Type": "application/json"})


@contextmanager
def run_farm(folder: Path) -> Iterator[Service]:
    """Run the farm as `make setup` installs it, with one slot for waited renders."""
    python = install(folder / "pressroom", "-r", str(ROOT / "requirements.lock")) / "python"
    data, port = folder / "data", free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_WORKER_CONCURRENCY": "1",
        "PRESSROOM_API_PROCESSES": "1",
    }
    program = [str(python), "-P", "-m", "deploy.cli.main"]
    command = [*program, "up", "--data", str(data), "--port", str(port)]
    farm = subprocess.Popen(with_parent_death_signal(command), env=environment, stdout=sys.stderr)
    try:
        while not open_folder(data).find_running():
            time.sleep(0.2)
        await_port(port, "/readyz")
        create = [*program, "account", "create", "--email", "bench@example.org", "--plan", "paid"]
        made = subprocess.run(
            [*create, "--data", str(data), "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        key = {"Authorization": f"Bearer {json.loads(made.stdout)['api_key']}"}
        send(port, "PUT", "/v2/images/logo", Logo().data, key | {"Content-Type": "image/png"})
        sources = {"invoice": (HERE / "documents/invoice.xml").read_bytes(), "note": NOTE}
        text = key | {"Content-Type": "text/xml"}
        paths = {
            kind: f"/v2/pdf?template={send(port, 'POST', f'/v2/templates?name={kind}', source, text)['id']}"
            for kind, source in sources.items()
        }
        headers = key | {"Content-Type": "application/json"}
        yield Service("**Pressroom**", port, paths, [farm.pid], headers)
    finally:
        farm.terminate()
        farm.wait()


def send(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status >= 400:
        raise SystemExit(f"{method} {path}: {response.status} {answer[:300]!r}")
    return json.loads(answer)


def await_port(port: int, path: str = "/") -> None:
    """Wait until a server answers, or accepts a connection if no path counts."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
                if path == "/" or b" 200 " in connection.recv(64):
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"nothing answers on port {port}")


if __name__ == "__main__":
    main()
