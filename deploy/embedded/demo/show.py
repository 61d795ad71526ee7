"""Starts a temporary farm, renders one document of each kind over HTTP, prints the times, and stops the farm.

System tests and benchmarks start their farms here too.
"""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from deploy.embedded.data_folder import DataFolder, FarmRecord, open_folder
from deploy.embedded.plan import ROOT, operator_environment
from deploy.embedded.supervisor import is_ready
from pressroom_client import Document, Pressroom
from pressroom_client.records import RenderOptions
from shared import clock
from shared.parent_death import with_parent_death_signal

READY_SECONDS: Final = 90.0
STOP_SECONDS: Final = 90.0


class NotReady(Exception):
    """The farm did not start; the message has the output of `pressroom up`."""


@dataclass(frozen=True, slots=True)
class LaunchedFarm:
    """A farm run by `pressroom up`. `record` is its `farm.json` when it became ready."""

    folder: DataFolder
    record: FarmRecord
    supervisor: subprocess.Popen[bytes]

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run an operator command on this farm and return its JSON output.

        Raises:
            subprocess.CalledProcessError: the command failed.
        """
        command = [*pressroom(*arguments), "--data", str(self.folder.path), "--json"]
        ended = subprocess.run(command, stdout=subprocess.PIPE, env=_environment({}), check=True)
        result: dict[str, Any] = json.loads(ended.stdout)
        return result


@contextmanager
def launched_farm(
    path: Path,
    *,
    port: int = 0,
    environment: Mapping[str, str] | None = None,
    shards: int | None = None,
) -> Iterator[LaunchedFarm]:
    """Run `pressroom up` on the folder `path` and stop it at the end.

    Raises:
        NotReady: it ended, or was not ready after 90 s.
    """
    farm = launch_farm(path, port=port, environment=environment or {}, shards=shards)
    try:
        yield farm
    finally:
        stop_farm(farm)


def launch_farm(
    path: Path, *, port: int = 0, environment: Mapping[str, str], shards: int | None = None
) -> LaunchedFarm:
    """Start `pressroom up` on the folder `path` and wait until it is ready.

    Raises:
        NotReady: it ended, or was not ready after 90 s.
    """
    folder = open_folder(path)
    folder.create()
    said = folder.logs / "up.log"
    with said.open("ab") as log:
        supervisor = subprocess.Popen(
            _leashed_up(folder, port, shards),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(environment),
            start_new_session=True,
        )
    deadline = clock.ticks() + READY_SECONDS
    while supervisor.poll() is None and clock.ticks() < deadline:
        record = folder.find_running()
        if record is not None and record.pid == supervisor.pid and is_ready(record.ports["front"]):
            return LaunchedFarm(folder, record, supervisor)
        time.sleep(0.05)
    supervisor.terminate()
    supervisor.wait()
    raise NotReady(f"the farm did not start:\n{said.read_text(errors='replace')}")


def stop_farm(farm: LaunchedFarm) -> None:
    """Stop the farm by SIGTERM; it finishes running work first."""
    farm.supervisor.terminate()
    try:
        farm.supervisor.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        farm.supervisor.kill()
        farm.supervisor.wait()


def pressroom(*arguments: str) -> list[str]:
    """Return the command line that runs `pressroom` with this interpreter."""
    return [sys.executable, "-P", "-m", "deploy.cli.main", *arguments]


def _leashed_up(folder: DataFolder, port: int, shards: int | None) -> list[str]:
    command = pressroom("up", "--data", str(folder.path), "--port", str(port))
    if shards is not None:
        command += ["--shards", str(shards)]
    return with_parent_death_signal(command, death_signal=signal.SIGTERM)


def _environment(chosen: Mapping[str, str]) -> dict[str, str]:
    return operator_environment() | {"PYTHONPATH": str(ROOT)} | dict(chosen)


FIRST_DAY: Final = date(2026, 7, 1)
DAYS: Final = 92

_PURCHASES: Final = (
    ("Card payment, Leeds Timber Yard", 8640),
    ("Direct debit, Northern Electric", 21375),
    ("Card payment, Canal Street Café", 1285),
    ("Standing order, workshop rent", 61500),
    ("Card payment, Abrasives Direct", 4419),
    ("Card payment, Aire Valley Fuels", 7238),
    ("Direct debit, vehicle insurance", 5890),
    ("Card payment, Brass & Fittings Co", 2365),
)
_SALES: Final = (
    ("Transfer received, Hartley Homes", 95850),
    ("Card takings, shop", 32640),
    ("Transfer received, Moor View School", 64275),
)


def statement_csv(count: int) -> bytes:
    """Return the CSV body of the statement: `count` transactions of one quarter."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Booked on", "reference", "details", "debit", "credit"])
    for index in range(count):
        day = FIRST_DAY + timedelta(days=index * DAYS // count)
        is_sale = index % 5 == 3
        kinds = _SALES if is_sale else _PURCHASES
        details, pence = kinds[(index * 7 + index // 11) % len(kinds)]
        amount = Decimal(pence + (index * 7919) % 4999) / 100
        debit, credit = ("", amount) if is_sale else (amount, "")
        writer.writerow([day, f"NW{700000 + index * 13}", details, debit, credit])
    return out.getvalue().encode()


DOCUMENTS: Final = Path(__file__).parent / "documents"
STATEMENT_ROWS: Final = 5_000
COUNTED_SECONDS: Final = 20.0


class DemoFailed(Exception):
    """The usage report differs from the rendered pages."""


def show_demo(output: Path, *, report: Callable[[str], None]) -> None:
    """Render the demo's documents into the folder `output` on a temporary farm.

    Raises:
        NotReady: the farm did not start.
        PressroomError: a request was refused.
        DemoFailed: the usage report differs from the rendered pages.
    """
    output.mkdir(parents=True, exist_ok=True)
    began = clock.ticks()
    with tempfile.TemporaryDirectory(prefix="pressroom-demo-") as folder:
        report("starting a farm: redis, front, workers, usage counter")
        with launched_farm(Path(folder)) as farm:
            report(f"ready at {farm.record.url} after {clock.ticks() - began:.1f} s")
            client = _open_account(farm)
            report("account created")
            pages, seconds = _render_all(client, output, report=report)
            usage = _await_usage(client, pages=pages)
            report(f"{pages} pages in {seconds:.2f} s, written to {output.resolve()}")
            report("usage report of GET /v2/account/usage:")
            for name, value in usage.items():
                report(f"  {name:20}{value}")
        report("all processes stopped")


def _open_account(farm: LaunchedFarm) -> Pressroom:
    made = farm.command("account", "create", "--email", "demo@northwind.example")
    return Pressroom(farm.record.url, made["api_key"])


def _render_all(
    client: Pressroom, output: Path, *, report: Callable[[str], None]
) -> tuple[int, float]:
    pages, seconds = 0, 0.0
    for title, file, document, options in _prepare(client, report=report):
        began = clock.ticks()
        rendered = client.render(document, **options)
        took = clock.ticks() - began
        rendered.save(output / file)
        report(
            f"  {title:28}{file:16}{rendered.pages:4} {_unit(rendered.pages)}"
            f"{took * 1000:8.0f} ms{len(rendered.pdf) / 1024:8.0f} KB"
        )
        pages += rendered.pages
        seconds += took
    return pages, seconds


def _prepare(
    client: Pressroom, *, report: Callable[[str], None]
) -> Iterator[tuple[str, str, Document, RenderOptions]]:
    """Yield the title, the name of the resulting file, and the request of each document."""
    client.images.store_file("logo", DOCUMENTS / "logo.png")
    ids = {
        name: client.templates.create(name, (DOCUMENTS / f"{name}.xml").read_bytes()).id
        for name in ("invoice", "statement", "letter")
    }
    report(f"logo and {len(ids)} templates stored; rendering:")
    report_xml, invoice, letter = (
        Document.read(DOCUMENTS / name) for name in ("report.xml", "invoice.json", "letter.md")
    )
    statement = Document(statement_csv(STATEMENT_ROWS), "text/csv")
    yield "XML, a complete document", "report.pdf", report_xml, {}
    yield "JSON over a template", "invoice.pdf", invoice, {"template": ids["invoice"]}
    rows = f"CSV, {STATEMENT_ROWS:,} rows"
    yield rows, "statement.pdf", statement, {"template": ids["statement"]}
    options: RenderOptions = {"template": ids["letter"], "flow": "body"}
    yield "Markdown into a flow", "letter.pdf", letter, options


def _await_usage(client: Pressroom, *, pages: int) -> Mapping[str, Any]:
    # The usage counter is a separate process, which records a render shortly after its response.
    deadline = clock.ticks() + COUNTED_SECONDS
    usage = client.usage()
    while usage["pagesGenerated"] != pages and clock.ticks() < deadline:
        time.sleep(0.1)
        usage = client.usage()
    if usage["pagesGenerated"] != pages:
        raise DemoFailed(f"{pages} pages were rendered, but the usage report is {usage}")
    return usage


def _unit(pages: int) -> str:
    return "page " if pages == 1 else "pages"
