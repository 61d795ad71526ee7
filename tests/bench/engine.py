"""Measure the engine alone, stage by stage, beside Typst on the same data: `python tests/bench/engine.py`.

CPU milliseconds per document, median, one process, warm; Typst's are of all its threads. Every
render gets data of its own, as in life: Typst would remember the layout of data it has seen.
Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import typst
import zxingcpp
from PIL import Image, ImageDraw

from workers.engine.diagnostics import Findings
from workers.engine.finish.finisher import FinishOptions, finish
from workers.engine.layout.pages import lay_out
from workers.engine.paint.press import print_pages
from workers.engine.pipeline import build_document, collector_paused, prepare_template
from workers.engine.ports import Metadata, Payload, PayloadKind, RenderOptions

DOCUMENTS = Path(__file__).with_name("documents")
TYPEFACES = Path(__file__).parents[2] / "workers/engine/layout/typefaces"
OPTIONS = RenderOptions(now=datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
STAGES = ("merge", "layout", "paint", "finish")
WORDS = """the of and a to in is you that it he was for on are as with his they at be this have from or one
had by word but not what all were we when your can said there use an each which she do how their
typography measure paragraph industrial considerable through settlement remarkable"""


@dataclass(frozen=True)
class Work:
    """A document, its data, and how often it is rendered for the median."""

    name: str
    title: str
    make_data: Callable[[int], dict]
    repeats: int


class Logo:
    """The one stored image of the bench."""

    def __init__(self):
        image = Image.new("RGB", (400, 140), "white")
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 0, 139, 139), fill=(0, 83, 156))
        draw.ellipse((170, 30, 390, 110), fill=(156, 122, 47))
        file = io.BytesIO()
        image.save(file, "PNG", optimize=True)
        self.data = file.getvalue()

    def find_image(self, name):
        return self.data


def invoice_data(seed):
    return {
        "number": f"2026-{seed:04}",
        "date": "2026-03-02",
        "seller": {"name": "Northwind Tools Ltd", "iban": "GB33BUKB20201555555555"},
        "buyer": {"name": "Example GmbH", "street": "Musterweg 5", "town": "10115 Berlin"},
        "lines": [
            {"text": f"Cordless drill, model {n}", "qty": n + 1, "price": 19.5 + 7.25 * n + seed}
            for n in range(12)
        ],
    }


def statement_data(seed, rows=5000):
    chance = random.Random(seed)
    return {
        "number": "2026-Q1",
        "rows": [
            {
                "date": f"2026-{1 + n % 3:02}-{1 + n % 28:02}",
                "value": f"2026-{1 + n % 3:02}-{1 + (n + 1) % 28:02}",
                "ref": f"TX{n:08}",
                "kind": chance.choice(["Card", "Transfer", "Direct debit"]),
                "details": chance.choice(["Example Shop, London", "Salary", "Rent March"]),
                "debit": chance.randint(100, 99999) / 100,
                "credit": chance.randint(100, 999999) / 100,
                "balance": chance.randint(100, 9999999) / 100,
            }
            for n in range(rows)
        ],
    }


def book_data(seed):
    chance = random.Random(seed)
    vocabulary = WORDS.split()

    def words(least, most):
        return " ".join(chance.choice(vocabulary) for _ in range(chance.randint(least, most)))

    def paragraph():
        return {
            "a": words(20, 40),
            "b": words(2, 5),
            "c": words(15, 30),
            "d": words(2, 4),
            "e": words(20, 40),
        }

    def section():
        return {
            "title": words(3, 6).capitalize(),
            "paragraphs": [paragraph() for _ in range(5)],
            "items": [words(5, 14) for _ in range(4)],
            "table": [
                {
                    "name": words(1, 2),
                    "first": chance.randint(1, 9999),
                    "second": chance.randint(1, 99999) / 100,
                }
                for _ in range(5)
            ],
        }

    return {
        "title": "A book of sixty pages",
        "chapters": [
            {"title": words(2, 4).capitalize(), "sections": [section() for _ in range(4)]}
            for _ in range(9)
        ],
    }


class OurEngine:
    """The stages of one work, each timed on its own."""

    def __init__(self, work, images):
        self.template = prepare_template((DOCUMENTS / f"{work.name}.xml").read_bytes())
        self.images = images
        self.pages = 0
        self.file = b""

    def render(self, data):
        with collector_paused():  # as pipeline.render does
            return self.measure_stages(data)

    def measure_stages(self, data):
        payload = Payload(PayloadKind.JSON, json.dumps(data).encode())
        ticks = [time.process_time()]
        findings = Findings()
        document, _ = build_document(self.template, payload, options=OPTIONS, findings=findings)
        ticks.append(time.process_time())
        laid_out = lay_out(document, resources=self.images, findings=findings)
        ticks.append(time.process_time())
        printed = print_pages(laid_out)
        ticks.append(time.process_time())
        metadata = Metadata(title=document.info.title, lang=document.info.lang)
        self.file = finish(printed, FinishOptions(metadata))
        ticks.append(time.process_time())
        self.pages = len(laid_out.pages)
        return [1000 * (after - before) for before, after in pairwise(ticks)]


class TypstEngine:
    """The same data through Typst, its compiler kept warm."""

    def __init__(self, work, images, folder):
        source = folder / f"{work.name}.typ"
        source.write_bytes((DOCUMENTS / f"{work.name}.typ").read_bytes())
        (folder / "logo.png").write_bytes(images.data)
        code = zxingcpp.create_barcode("https://example.com/" * 6, zxingcpp.BarcodeFormat.QRCode)
        Image.fromarray(code.to_image(scale=4)).save(folder / "code.png")
        self.compiler = typst.Compiler(
            input=str(source),
            root=str(folder),
            font_paths=[str(TYPEFACES)],
            ignore_system_fonts=True,
        )
        self.file = b""

    def render(self, data):
        inputs = {"data": json.dumps(data)}
        began = time.process_time()
        self.file = self.compiler.compile(format="pdf", sys_inputs=inputs)
        return 1000 * (time.process_time() - began)


def measured(engine, work, repeats):
    for seed in range(min(repeats, 5)):
        engine.render(work.make_data(seed))
    return [engine.render(work.make_data(seed)) for seed in range(100, 100 + repeats)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one of invoice, statement, book, long")
    parser.add_argument("--no-typst", action="store_true", help="measure our engine alone")
    arguments = parser.parse_args()
    works = [
        Work("invoice", "invoice, 1 page", invoice_data, 100),
        Work("book", "book, 60 pages", book_data, 5),
        Work("statement", "statement, 5,000 x 8", statement_data, 5),
    ]
    if arguments.only == "long":
        long_data = partial(statement_data, rows=50_000)
        works = [Work("statement", "statement, 50,000 x 8", long_data, 1)]
    elif arguments.only:
        works = [work for work in works if work.name == arguments.only]
    columns = "".join(f"{stage:>9}" for stage in STAGES)
    print(f"{'CPU ms':24}{columns}{'all':>9}{'pages':>7}{'KB':>7}{'peak MB':>9}")
    for work in works:
        print(measure_ours(work), flush=True)
    if not arguments.no_typst and arguments.only != "long":
        for work in works:
            print(measure_typst(work), flush=True)


def measure_ours(work):
    engine = OurEngine(work, Logo())
    runs = measured(engine, work, work.repeats)
    stages = [statistics.median(times) for times in zip(*runs, strict=True)]
    everything = statistics.median(sum(run) for run in runs)
    times = "".join(f"{one:9.2f}" for one in (*stages, everything))
    return f"{work.title:24}{times}{engine.pages:7}{len(engine.file) // 1024:7}{peak_megabytes():9}"


def measure_typst(work):
    with tempfile.TemporaryDirectory() as folder:
        engine = TypstEngine(work, Logo(), Path(folder))
        time_taken = statistics.median(measured(engine, work, max(3, work.repeats // 5)))
        size = len(engine.file) // 1024
    title = f"{work.title}, Typst"
    return f"{title:60}{time_taken:9.2f}{'':7}{size:7}{peak_megabytes():9}"


def peak_megabytes():
    """Give the most this process has held so far: of this line or of one above it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
