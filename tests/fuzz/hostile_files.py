"""Hostile fonts and electronic invoices: samples that are right, damaged, through their readers."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from random import Random

from lxml import etree

from tests.engine.einvoices import mutants, samples
from tests.fuzz.mutations import mutate
from tests.golden.case import FOLDER, FolderImages
from workers.engine.einvoices import PROFILES, read_invoice, read_record, write_invoice
from workers.engine.ports import FontFile
from workers.engine.xml_reader import UnreadableXmlError

FONT_DOCUMENT = (
    '<document><font family="Hostile" src="hostile"/><page size="A6"/>'
    '<flow font-family="Hostile"><p>Hamburg, fi ﬂ “Öl” 3,50 € \U0001f600</p></flow></document>'
)


class HostileFont(FolderImages):
    """The images of the golden cases, and for every name the same font."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def find_font(self, name: str) -> FontFile | None:
        return FontFile(sha256(self.data).hexdigest(), lambda: self.data)


def damage(sample: bytes, random: Random) -> bytes:
    """Return a file with some bytes changed, and perhaps a part missing or repeated."""
    data = bytearray(sample)
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] = random.choice((0, 1, 255, random.randrange(256)))
    if random.random() < 0.3:
        del data[random.randrange(len(data)) :]
    if random.random() < 0.2:
        start = random.randrange(len(data) or 1)
        data[start:start] = data[start : start + random.randint(1, 200)]
    return bytes(data)


def make_font(random: Random) -> bytes:
    """Return the bytes of a font of any format, damaged."""
    fonts = sorted(path for path in (FOLDER / "fonts").iterdir() if path.suffix != ".txt")
    return damage(random.choice(fonts).read_bytes(), random)


def make_invoice(random: Random) -> bytes:
    """Return an invoice of any profile and syntax with some elements, or its text, damaged."""
    invoices = _write_invoices()
    sample = random.choice(invoices)
    if random.random() < 0.3:
        others = [invoice.decode() for invoice in invoices]
        return mutate(sample.decode(), random, others).encode(errors="replace")
    root = etree.fromstring(sample)
    for _ in range(random.randint(1, 12)):
        inner = list(root.iter(etree.Element))[1:]
        if inner:
            mutants.MUTATIONS[random.choice(list(mutants.MUTATIONS))](random.choice(inner))
    return etree.tostring(root)


@cache
def _write_invoices() -> list[bytes]:
    records = [read_record(record)[0] for record in (samples.full(), samples.plain())]
    return [
        write_invoice(record, profile, syntax)
        for record in records
        for profile in PROFILES.values()
        for syntax in ("cii", "ubl")
    ]


def check(invoice: bytes) -> None:
    """Read and check an invoice as a worker does; return for every one that may be refused."""
    try:
        read_invoice(invoice)
    except UnreadableXmlError:
        return
