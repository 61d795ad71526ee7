"""Start a farm, render one document of each kind over HTTP, show what it took, stop the farm."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deploy.embedded.demo.client import Client, DemoFailed
from deploy.embedded.demo.rows import statement_csv
from deploy.embedded.launch import LaunchedFarm, launched_farm
from shared import clock

DOCUMENTS: Final = Path(__file__).parent / "documents"
STATEMENT_ROWS: Final = 5_000
COUNTED_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Piece:
    """One document of the demo: what is sent, and the file it becomes."""

    title: str
    file: str
    body: bytes
    content_type: str
    query: dict[str, str]


def show_demo(output: Path, *, say: Callable[[str], None]) -> None:
    """Render the demo's documents into the folder `output` on a farm that lives no longer than this.

    Raises:
        NotReady: the farm did not come up.
        DemoFailed: a call was refused, or the pages were not counted as rendered.
    """
    output.mkdir(parents=True, exist_ok=True)
    began = clock.ticks()
    with tempfile.TemporaryDirectory(prefix="pressroom-demo-") as folder:
        say("starting a farm: redis, front, workers, usage counter")
        with launched_farm(Path(folder)) as farm:
            say(f"ready at {farm.record.url} after {clock.ticks() - began:.1f} s")
            client = _open_account(farm)
            say("account made")
            pages, seconds = _render_all(client, output, say=say)
            report = _await_usage(client, pages=pages)
            say(f"{pages} pages in {seconds:.2f} s, written to {output.resolve()}")
            say("usage report of GET /v2/account/usage:")
            for name, value in report.items():
                say(f"  {name:20}{value}")
        say("stopped everything that was started")


def _open_account(farm: LaunchedFarm) -> Client:
    made = farm.command("account", "create", "--email", "demo@northwind.example")
    return Client(farm.record.url, made["api_key"])


def _render_all(client: Client, output: Path, *, say: Callable[[str], None]) -> tuple[int, float]:
    pages, seconds = 0, 0.0
    for piece in _prepare(client, say=say):
        began = clock.ticks()
        rendered = client.render(piece.body, piece.content_type, **piece.query)
        took = clock.ticks() - began
        (output / piece.file).write_bytes(rendered.pdf)
        say(
            f"  {piece.title:28}{piece.file:16}{rendered.pages:4} {_unit(rendered.pages)}"
            f"{took * 1000:8.0f} ms{len(rendered.pdf) / 1024:8.0f} KB"
        )
        pages += rendered.pages
        seconds += took
    return pages, seconds


def _prepare(client: Client, *, say: Callable[[str], None]) -> Iterator[Piece]:
    client.store_image("logo", _read("logo.png"))
    ids = {
        name: client.store_template(name, _read(f"{name}.xml"))
        for name in ("invoice", "statement", "letter")
    }
    say(f"logo and {len(ids)} templates stored; rendering:")
    yield Piece("XML, a complete document", "report.pdf", _read("report.xml"), "text/xml", {})
    yield Piece(
        "JSON over a template",
        "invoice.pdf",
        _read("invoice.json"),
        "application/json",
        {"template": ids["invoice"]},
    )
    yield Piece(
        f"CSV, {STATEMENT_ROWS:,} rows",
        "statement.pdf",
        statement_csv(STATEMENT_ROWS),
        "text/csv",
        {"template": ids["statement"]},
    )
    yield Piece(
        "Markdown into a flow",
        "letter.pdf",
        _read("letter.md"),
        "text/markdown",
        {"template": ids["letter"], "flow": "body"},
    )


def _await_usage(client: Client, *, pages: int) -> dict[str, Any]:
    # The counter is a process of its own and adds up a moment after the render was answered.
    deadline = clock.ticks() + COUNTED_SECONDS
    report = client.read_usage()
    while report["pagesGenerated"] != pages and clock.ticks() < deadline:
        time.sleep(0.1)
        report = client.read_usage()
    if report["pagesGenerated"] != pages:
        raise DemoFailed(f"{pages} pages were rendered, and the usage report says {report}")
    return report


def _unit(pages: int) -> str:
    return "page " if pages == 1 else "pages"


def _read(name: str) -> bytes:
    return (DOCUMENTS / name).read_bytes()
