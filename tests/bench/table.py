"""Measure everything that has a limit, and tell which are kept: `make bench`.

Figures are those of whatever machine this is; those of a part are side by side in one run. A limit
that is not kept does not fail. With `--write` they become RESULTS.md; with `--parts`, which measures
some parts only, the sections of the others stay as they are. Each part runs alone too, by its own file.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from deploy.embedded.demo.show import DOCUMENTS, statement_csv
from shared import clock
from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.demands import collect_limits, show
from tests.bench.farm import Client, farm_of
from tests.bench.results import merge_sections, read_sections, write_results
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

FARM_NOTE = """\
One client, one connection, one document after the other; milliseconds of wall time. The engine is
slower in a worker than in a loop of its own, for other processes take turns with it on the caches.
`farm` is what is left of an answer: HTTP, admission, queue, commit, reply."""
NOTE = b"""<document version="1"><data><json>{"name": ""}</json></data>
<flow><h1>Hello</h1><p>Dear {{ name }}, this is one page.</p></flow></document>"""
FAILED: list[str] = []  # files of the bench that ended in an error: the others are measured still
KINDS = {PayloadKind.JSON: "application/json", PayloadKind.CSV: "text/csv"}


class Part(NamedTuple):
    """A part of the bench: the title of its section, and whether it takes `--huge`."""

    title: str
    has_huge: bool = False


HTTP = "http"  # in this file; the other parts are the files of their names
PARTS = {
    "peers": Part("Beside what one would build instead"),
    "engine": Part("The engine alone"),
    "scripts": Part("Text in other scripts"),
    "text_costs": Part("Typography"),
    "tag_costs": Part("Tags"),
    "einvoices": Part("Electronic invoices"),
    "parts": Part("Charts, payment parts, forms and signatures"),
    HTTP: Part("The farm over HTTP"),
    "previews": Part("Previews"),
    "front": Part("The front alone"),
    "acceptance": Part("Renders accepted for later"),
    "farm": Part("The farm at work, and after kills"),
    "tenants": Part("A small account beside ten"),
    "backlog": Part("Accepted renders, worked off"),
    "batches": Part("Batches", has_huge=True),
    "runs": Part("Runs of letters"),
    "feeding": Part("The next slice among many batches"),
    "database": Part("A large database"),
    "overhead": Part("The queue beside stock Celery"),
    "cost": Part("What a document costs"),
}
LIMITS = "Every limit"


class Case:
    """A document to be rendered over and over."""

    def __init__(self, title, template, kind, body, *, repeats):
        self.title = title
        self.template = (
            template if isinstance(template, bytes) else (DOCUMENTS / template).read_bytes()
        )
        self.kind = kind
        self.body = body
        self.repeats = repeats


class DemoImages:
    """The demo's images, for the engine alone."""

    def find_image(self, name):
        file = DOCUMENTS / f"{name}.png"
        return file.read_bytes() if file.exists() else None


def cases():
    invoice = (DOCUMENTS / "invoice.json").read_bytes()
    yield Case("note, 1 page", NOTE, PayloadKind.JSON, b'{"name": "Ada"}', repeats=200)
    yield Case("invoice, 1 page", "invoice.xml", PayloadKind.JSON, invoice, repeats=200)
    yield Case(
        "statement, 5,000 rows", "statement.xml", PayloadKind.CSV, statement_csv(5000), repeats=5
    )


def measure_engine(case):
    template = prepare_template(case.template)
    payload = Payload(case.kind, case.body)
    options = RenderOptions(now=clock.now())
    pages = 0

    def run():
        nonlocal pages
        pages = render(template, payload, options=options, resources=DemoImages()).pages

    return median_ms(run, case.repeats), pages


def measure_http(case, client):
    path = f"/v2/pdf?template={client.store(case.template)}"
    stages, kept = [], client.connect()

    def run():
        response, body = client.ask("POST", path, case.body, KINDS[case.kind], on=kept)
        assert response.status == 200, body
        stages.append(response.headers["Server-Timing"])

    total = median_ms(run, case.repeats)
    return total, statistics.median(engine_ms(timing) for timing in stages), stages[-1]


def engine_ms(server_timing):
    """Return the engine's milliseconds of a response: all stages but the queue."""
    stages = dict(part.strip().split(";dur=") for part in server_timing.split(","))
    return sum(float(taken) for stage, taken in stages.items() if stage != "queue")


def median_ms(run, repeats):
    for _ in range(min(repeats, 10)):
        run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write tests/bench/RESULTS.md")
    parser.add_argument(
        "--parts", default=[*PARTS], type=parse_parts, help="names with commas; all by default"
    )
    parser.add_argument(
        "--huge", type=int, default=0, help="documents of a batch whose memory is measured: minutes"
    )
    arguments = parser.parse_args()
    begun = time.monotonic()
    measured = {}
    for name in arguments.parts:
        part = PARTS[name]
        printed = (
            show(measure_farm())
            if name == HTTP
            else run_script(f"{name}.py", *(["--huge", str(arguments.huge)] * part.has_huge))
        )
        measured[part.title] = f"Measured on {clock.now():%Y-%m-%d}.\n\n{printed.strip()}\n"
    sections = merge_sections(read_sections(), measured, [part.title for part in PARTS.values()])
    first = {title: text for title, text in sections.items() if title == PARTS["peers"].title}
    sections = {**first, LIMITS: show(report_limits(sections)), **sections}
    show(iter([f"{(time.monotonic() - begun) / 60:.0f} minutes in all."]))
    if arguments.write:
        write_results(sections)
    if FAILED:
        raise SystemExit(f"failed: {', '.join(FAILED)}")


def parse_parts(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: no such part; there are {', '.join(PARTS)}"
        )
    return names


def report_limits(parts: dict[str, str]) -> Iterator[str]:
    """Yield the limits of all parts in one table."""
    yield "| part | what | must | measured | kept |"
    yield "|---|---|---|--:|---|"
    for title, printed in parts.items():
        for row in collect_limits(printed):
            yield f"| {title} | {' | '.join(row)} |"
    for name in FAILED:
        yield f"| {name} | the part itself | runs | it failed | **no** |"


def run_script(name: str, *arguments: str) -> str:
    """Run another file of the bench, show what it prints and return it; one that fails is noted."""
    command = [sys.executable, str(Path(__file__).with_name(name)), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        printed = show(line.rstrip("\n") for line in process.stdout)
    if process.returncode:
        FAILED.append(name)
    return printed


def measure_farm() -> Iterator[str]:
    with farm_of() as farm:
        client = Client(farm)
        client.json("PUT", "/v2/images/logo", (DOCUMENTS / "logo.png").read_bytes(), "image/png")
        # What a name represents is not kept just after a change: a farm at work is measured.
        time.sleep(TOMBSTONE_SECONDS)
        yield from (FARM_NOTE, "")
        yield "| median ms of | engine in a loop | HTTP | engine | farm | last Server-Timing |"
        yield "|---|--:|--:|--:|--:|---|"
        for case in cases():
            alone, pages = measure_engine(case)
            over_http, engine, stages = measure_http(case, client)
            yield (
                f"| {case.title} ({pages} p.) | {alone:.1f} | {over_http:.1f} | {engine:.1f} "
                f"| {over_http - engine:.1f} | `{stages}` |"
            )


if __name__ == "__main__":
    main()
