"""Measure what tags add to a document: `python -m tests.bench.tag_costs`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.works import BOOK, INVOICE, STATEMENT, Logo, Work
from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

NOTE: Final = """\
A work of this bench with tags and with `tagged="false"`, on the same data, other data in every round: the least CPU
time of all rounds and the bytes of the file, as multiples of those without tags. Each is first in every other round,
as the second finds its texts measured and encoded."""
DOCUMENTS: Final = Path(__file__).parent / "documents"
TIME, SIZE = 1.15, 1.25  # asked of the invoice's time, and of both of the statement
REPEATS: Final = (150, 8, 6)  # of invoice, book and statement


def measure(repeats: tuple[int, int, int] = REPEATS) -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    invoice, book, statement = map(compare, (INVOICE, BOOK, STATEMENT), repeats)
    yield at_most("invoice, 1 page: time", invoice[0], TIME, "×")
    yield fact("invoice, 1 page: bytes", f"{invoice[1]:.2f} ×")
    yield fact("book, 60 pages: time", f"{book[0]:.2f} ×")
    yield fact("book, 60 pages: bytes", f"{book[1]:.2f} ×")
    yield at_most("statement, 5,000 × 8: time", statement[0], TIME, "×")
    yield at_most("statement, 5,000 × 8: bytes", statement[1], SIZE, "×")


def compare(work: Work, repeats: int) -> tuple[float, float]:
    """Return the CPU time and the bytes of a tagged document as multiples of those of an untagged one."""
    source = (DOCUMENTS / f"{work.name}.xml").read_bytes()
    untagged = source.replace(b"<document ", b'<document tagged="false" ', 1)
    templates = [prepare_template(document) for document in (source, untagged)]
    least, sizes = [float("inf")] * 2, [0, 0]
    resources = Logo()
    for seed in range(repeats + 1):
        payload = Payload(PayloadKind.JSON, work.write_data(seed).encode())
        for at in (0, 1) if seed % 2 else (1, 0):
            began = time.process_time()
            rendered = render(templates[at], payload, options=OPTIONS, resources=resources)
            least[at] = min(least[at], time.process_time() - began)
            sizes[at] = len(rendered.pdf)
    return least[0] / least[1], sizes[0] / sizes[1]


if __name__ == "__main__":
    show(measure())
