"""Measure what careful typography adds to a render: `python -m tests.bench.text_costs`.

Each row compares two documents that differ in one property, rendered by turns.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.typography import ENGLISH, JUSTIFIED, TYPEFACES, vary
from tests.bench.works import BOOK
from tests.golden.case import OPTIONS
from workers.engine.local_files import FolderResources
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

NOTE: Final = """\
The book of this bench, and 60 paragraphs of text, with and without a property, by turns; the least CPU time of all
rounds, as a multiple of that without."""
ORDINARY: Final = (
    "Every figure of the ledger had its column, and every column its total; a clerk who found that the sums did not agree "
    "was expected to stay until they did. We reflect on this today, when a statement of ten thousand lines is printed in "
    "less time than it takes to sharpen a pencil, and ask ourselves whether anything of value was lost. The answer, as so "
    "often, depends on whom you ask and how long they have to wait for it."
)
PARAGRAPHS: Final = 60
BOOK_FILE: Final = Path(__file__).parent / "documents" / "book.xml"
BALANCED: Final = '<area columns="2" column-fill="{}"/>'


def measure(repeats: int = 12) -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    book = BOOK_FILE.read_bytes()
    greedy = book.replace(b'text-align="justify"', b'text-align="justify" text-wrap="stable"')
    payload = Payload(PayloadKind.JSON, BOOK.write_data(1).encode())
    share = compare((greedy, book), repeats, payload=payload)
    yield at_most("the book, breaks of a paragraph chosen together", share, 1.5, "×")
    stable, pretty = text(), text('text-wrap="pretty"')
    yield fact(
        'the same in ragged text: `text-wrap="pretty"`',
        f"{compare((stable, pretty), repeats):.2f} ×",
    )
    serif = 'font-family="serif"'
    plain = text(f'{JUSTIFIED} font-variant-ligatures="none"', serif)
    dense = compare((plain, text(JUSTIFIED, serif)), repeats) - 1
    plain = text(f'{JUSTIFIED} font-variant-ligatures="none"', serif, words=ORDINARY)
    added = compare((plain, text(JUSTIFIED, serif, words=ORDINARY)), repeats) - 1
    yield at_most("ligatures of ordinary text, added", max(added, 0), 0.05, "%")
    yield fact("the same where every sixth word has one", f"{100 * dense:.0f} %")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TYPEFACES / "LiberationSans-Regular.ttf", Path(folder) / "own-sans.ttf")
        fonts = FolderResources(None, Path(folder))
        house = text(JUSTIFIED, 'font-family="Liberation Sans"')
        own = text(JUSTIFIED, 'font-family="Own"', head='<font family="Own" src="own-sans"/>')
        added = compare((house, own), repeats, fonts) - 1
        yield at_most("a font of the account, warm, added", max(added, 0), 0.05, "%")
    for name, more in (
        ("hanging punctuation", 'hanging-punctuation="optical"'),
        ("an initial letter in every paragraph", 'initial-letter="3"'),
    ):
        share = compare((text(JUSTIFIED), text(f"{JUSTIFIED} {more}")), repeats)
        yield fact(name, f"{share:.2f} ×")
    grid = compare((text(JUSTIFIED), text(JUSTIFIED, 'line-grid="13pt"')), repeats)
    yield fact("a line grid", f"{grid:.2f} ×")
    for name, note in (
        ("balanced columns", ""),
        ("the same with footnotes", "<footnote>Note.</footnote>"),
    ):
        filled, balanced = (
            text(JUSTIFIED, area=BALANCED.format(fill), end=note) for fill in ("auto", "balance")
        )
        yield fact(name, f"{compare((filled, balanced), repeats):.2f} ×")


def text(
    paragraph: str = "",
    document: str = "",
    *,
    head: str = "",
    area: str = "",
    end: str = "",
    words: str = ENGLISH,
) -> bytes:
    """Return a document of justified or ragged paragraphs; `paragraph` and `document` are attributes."""
    body = "".join(
        f"<p {paragraph}>{escape(vary(words, number))}{end if number % 10 == 0 else ''}</p>"
        for number in range(PARAGRAPHS)
    )
    return (
        f'<document lang="en">{head}<page size="A4" margin="25mm">{area}</page>'
        f'<style element="document" {document}/><flow>{body}</flow></document>'
    ).encode()


def compare(
    documents: tuple[bytes, bytes],
    repeats: int,
    fonts: FolderResources | None = None,
    *,
    payload: Payload | None = None,
) -> float:
    """Return the CPU time of the second document as a multiple of the first, rendered by turns."""
    resources = fonts or FolderResources(None, None)
    least = [float("inf")] * 2
    for _ in range(repeats + 1):
        for at, document in enumerate(documents):
            template = prepare_template(document)  # one that was used keeps lines of the same text
            began = time.process_time()
            render(template, payload, options=OPTIONS, resources=resources)
            least[at] = min(least[at], time.process_time() - began)
    return least[1] / least[0]


if __name__ == "__main__":
    show(measure())
