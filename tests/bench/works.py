"""The works of the bench: documents, data of their own for every render, and what each must."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

LETTERHEAD = Path(__file__).parents[1] / "golden" / "images" / "letterhead.pdf"
WORDS = """the of and a to in is you that it he was for on are as with his they at be this have from or one
had by word but not what all were we when your can said there use an each which she do how their
typography measure paragraph industrial considerable through settlement remarkable"""


@dataclass(frozen=True)
class Must:
    """The limits of a work: CPU ms, factor over Typst, peak MB; None for no limit."""

    ms: float
    times_typst: float | None = None
    peak_mb: int | None = None

    def __str__(self) -> str:
        parts = [f"≤ {self.ms:,.0f} ms"]
        if self.times_typst:
            parts.append(f"≥ {self.times_typst:g} × Typst" if self.times_typst > 1 else "< Typst")
        if self.peak_mb:
            parts.append(f"≤ {self.peak_mb} MB")
        return ", ".join(parts)


@dataclass(frozen=True)
class Work:
    """A document, its data, and how often each engine renders it for the median.

    `running_content` is the text that pages repeat, as a pattern: engines break pages at other places.
    """

    name: str
    title: str
    make_data: Callable[[int], dict[str, Any]]
    repeats: dict[str, int]
    running_content: str
    must: Must | None = None
    times_book: float | None = None  # limit of the CPU, as a multiple of the plain book's

    def write_data(self, seed: int) -> str:
        """Write the data of one document as JSON; what they were made from is not kept next to it."""
        return json.dumps(self.make_data(seed))


class Logo:
    """The stored images of the bench: a logo, and a letterhead."""

    def __init__(self) -> None:
        image = Image.new("RGB", (400, 140), "white")
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 0, 139, 139), fill=(0, 83, 156))
        draw.ellipse((170, 30, 390, 110), fill=(156, 122, 47))
        file = io.BytesIO()
        image.save(file, "PNG", optimize=True)
        self.data = file.getvalue()
        self.letterhead = LETTERHEAD.read_bytes()

    def find_image(self, name: str) -> bytes:
        return self.letterhead if name == "letterhead" else self.data


def invoice_data(seed: int) -> dict[str, Any]:
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


def statement_data(seed: int, *, rows: int) -> dict[str, Any]:
    chance = random.Random(seed)
    return {
        "number": "2026-Q1",
        "rows": [
            {
                "date": f"2026-{1 + n % 3:02}-{1 + n % 28:02}",
                "value": f"2026-{1 + n % 3:02}-{1 + (n + 1) % 28:02}",
                "ref": f"TX{chance.randrange(10**8):08}",  # new in each document, as in life
                "kind": chance.choice(["Card", "Transfer", "Direct debit"]),
                "details": chance.choice(["Example Shop, London", "Salary", "Rent March"]),
                "debit": chance.randint(100, 99999) / 100,
                "credit": chance.randint(100, 999999) / 100,
                "balance": chance.randint(100, 9999999) / 100,
            }
            for n in range(rows)
        ],
    }


def book_data(seed: int, *, chapters: int = 9) -> dict[str, Any]:
    chance = random.Random(seed)
    vocabulary = WORDS.split()

    def words(least: int, most: int) -> str:
        return " ".join(chance.choice(vocabulary) for _ in range(chance.randint(least, most)))

    def paragraph() -> dict[str, str]:
        return {
            "a": words(20, 40),
            "b": words(2, 5),
            "c": words(15, 30),
            "d": words(2, 4),
            "e": words(20, 40),
        }

    def section() -> dict[str, Any]:
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
            for _ in range(chapters)
        ],
    }


def report_data(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    vocabulary = WORDS.split()

    def sentence() -> str:
        return " ".join(chance.choice(vocabulary) for _ in range(chance.randint(8, 28)))

    def paragraph() -> str:
        return " ".join(f"{sentence().capitalize()}." for _ in range(chance.randint(3, 7)))

    return {
        "title": "A report of thirty pages",
        "chapters": [
            {"title": sentence()[:40].capitalize(), "paragraphs": [paragraph() for _ in range(18)]}
            for _ in range(10)
        ],
    }


def charts_data(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    names = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return {
        "title": f"A year of energy, {seed}",
        "months": [
            {"name": name, "power": chance.randint(50, 400), "gas": chance.randint(0, 90_000) / 100}
            for name in names
        ],
        "days": [{"n": n, "use": chance.randint(0, 5000) / 100} for n in range(1, 366)],
    }


def form_data(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    labels = ("Name", "Street", "Town", "Telephone", "Born on", "Employer", "Since", "Remarks")
    return {
        "title": f"Application {seed}",
        "fields": [
            {"name": f"f{n}", "label": labels[n % 8], "value": str(chance.randint(1, 99_999))}
            for n in range(24)
        ],
    }


def qr_bill_data(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    town = {"postal_code": "8000", "town": "Seldwyla", "country": "CH"}
    return {
        "title": f"Rechnung {seed}",
        "lines": [{"text": f"Leistung {n}", "price": chance.randint(1, 90)} for n in range(5)],
        "creditor": {"name": "Muster & Söhne AG", "street": "Musterstrasse", "number": "1", **town},
        "debtor": {"name": "Simone Beispiel", "street": "Gasse", "number": str(seed), **town},
    }


STATEMENT_RUNNING_CONTENT = (
    r"Statement 2026-Q1 Page \d+ of \d+"
    r"|Date Value Reference Kind Details Paid out Paid in Balance"
    r"|(Brought|Carried) forward( -?[\d,.]+){3}"
)

INVOICE = Work(
    "invoice",
    "invoice, 1 page",
    invoice_data,
    {"ours": 200, "typst": 40, "weasyprint": 5},
    running_content=r"Page \d+ of \d+",
    must=Must(5, 5),
)
LETTERHEAD_INVOICE = Work(
    "letterhead",
    "invoice on a letterhead from a PDF",
    invoice_data,
    {"ours": 200},
    running_content=r"Page \d+ of \d+",
    must=Must(7),
)
BOOK = Work(
    "book",
    "book, 60 pages",
    book_data,
    {"ours": 7, "typst": 5, "weasyprint": 1},
    running_content=r"A book of sixty pages|Name First Second|(?m:^\d+$)",
    must=Must(250, 4),
)
REFERENCES = Work(
    "references",
    "book with contents, numbers, references, index",
    book_data,
    {"ours": 7, "typst": 5},
    running_content=r"A book of sixty pages|Name First Second|(?m:^\d+$)",
    times_book=1.8,
)
NOTES = Work(
    "notes",
    "book with contents, numbers, references, index, 200 notes",
    book_data,
    {"ours": 7, "typst": 5},
    running_content=r"A book of sixty pages|Name First Second|(?m:^\d+$)",
    times_book=1.8,
)
LONG_BOOK = Work(
    "book",
    "book, 500 pages",
    partial(book_data, chapters=72),
    {"ours": 3},
    running_content=BOOK.running_content,
    times_book=8.5,
)
CHARTS = Work(
    "charts",
    "a page with four charts",
    charts_data,
    {"ours": 60},
    running_content=r"(?!)",
    must=Must(12),
)
FORM = Work(
    "form", "a form with 50 fields", form_data, {"ours": 60}, running_content=r"(?!)", must=Must(15)
)
QR_BILL = Work(
    "qr-bill",
    "an invoice with a QR-bill",
    qr_bill_data,
    {"ours": 100},
    running_content=r"(?!)",
    must=Must(10),
)
STATEMENT = Work(
    "statement",
    "statement, 5,000 × 8",
    partial(statement_data, rows=5_000),
    {"ours": 5, "typst": 3, "weasyprint": 1},
    running_content=STATEMENT_RUNNING_CONTENT,
    must=Must(600, 15, 150),
)
LONG_STATEMENT = Work(
    "statement",
    "statement, 50,000 × 8",
    partial(statement_data, rows=50_000),
    {"ours": 3},
    running_content=STATEMENT_RUNNING_CONTENT,
)
LEDGER = Work(
    "ledger",
    "ledger, 5,000 × 8, a border on each cell",
    partial(statement_data, rows=5_000),
    {"ours": 5, "typst": 3},
    running_content=r"Ledger 2026-Q1 Page \d+ of \d+"
    r"|Date Value Reference Kind Details Paid out Paid in Balance",
    must=Must(600, 9),
)
REPORT = Work(
    "report",
    "report, 27 pages, justified and hyphenated",
    report_data,
    {"ours": 7, "typst": 5},
    running_content=r"A report of thirty pages|(?m:^\d+$)",
    must=Must(250, 2),
)
WORKS = {
    "invoice": INVOICE,
    "letterhead": LETTERHEAD_INVOICE,
    "book": BOOK,
    "references": REFERENCES,
    "notes": NOTES,
    "charts": CHARTS,
    "form": FORM,
    "qr-bill": QR_BILL,
    "report": REPORT,
    "statement": STATEMENT,
    "ledger": LEDGER,
    "long": LONG_STATEMENT,
    "long-book": LONG_BOOK,
}
