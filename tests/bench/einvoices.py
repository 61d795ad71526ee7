"""Measure what an electronic invoice adds to a render: `python -m tests.bench.einvoices`.

A record is read, checked by all rules of its profile, compared with the page and written as XML, and the
PDF becomes a PDF/A-3 with the file inside.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.demands import HEAD, at_most, fact, show
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources

TEMPLATES = Path(__file__).parents[2] / "shared/templates/public_templates"
OPTIONS = RenderOptions(datetime(2026, 3, 2, tzinfo=UTC), with_sample=True)
PAIRS = (("en16931", "cii"), ("xrechnung", "cii"), ("xrechnung", "ubl"), ("peppol", "ubl"))
FEW, MANY = 8, 200
WARM = 5
PROCESS = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
NOTE = """\
The public template `service-invoice`, rendered by turns without and with the record of the same invoice;
milliseconds of CPU time added, median. The template is prepared, as in a worker that has rendered it."""


def measure(repeats: int = 60) -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    for profile, syntax in PAIRS:
        _, added = time_in_turns(FEW, profile, syntax, repeats)
        yield at_most(f"{profile} as {syntax}, one page, all rules", added, 25, "ms")
    plain, added = time_in_turns(MANY, *PAIRS[0], max(repeats // 6, 1))
    for name, content in make_received():
        checked = time_check(content, repeats)
        yield at_most(f"{name} received: read and checked", checked, 25, "ms")
    yield fact(f"the first with {MANY} lines, beside a render of {plain:.1f} ms", f"{added:.1f} ms")


def time_in_turns(lines: int, profile: str, syntax: str, repeats: int) -> tuple[float, float]:
    """Return the CPU milliseconds of a render without an electronic invoice, and those that it adds."""
    template = prepare_template(
        (TEMPLATES / "service-invoice.xml").read_bytes(), LinkedFiles(TEMPLATES)
    )
    data = make_data(lines)
    choice = {"einvoice_profile": profile, "einvoice_syntax": syntax}
    payloads = [
        Payload(PayloadKind.JSON, json.dumps(each).encode())
        for each in (data, {**data, **choice, "einvoice": make_record(data)})
    ]
    times: list[list[float]] = [[], []]
    for _ in range(WARM + repeats):
        for taken, payload in zip(times, payloads, strict=True):
            began = time.process_time()
            render(template, payload, options=OPTIONS, resources=Resources())
            taken.append((time.process_time() - began) * 1000)
    plain, electronic = (median(taken[WARM:]) for taken in times)
    return plain, electronic - plain


def make_received() -> Iterator[tuple[str, bytes]]:
    """Yield a name and the content of each file that an invoice can be received as."""
    record, _ = read_record(make_record(make_data(FEW)))
    for profile, syntax in (("en16931", "cii"), ("peppol", "ubl")):
        yield f"{profile} as {syntax}", write_invoice(record, PROFILES[profile], syntax)
    data = make_data(FEW)
    payload = Payload(
        PayloadKind.JSON, json.dumps({**data, "einvoice": make_record(data)}).encode()
    )
    template = prepare_template(
        (TEMPLATES / "service-invoice.xml").read_bytes(), LinkedFiles(TEMPLATES)
    )
    yield "PDF", render(template, payload, options=OPTIONS, resources=Resources()).pdf


def time_check(content: bytes, repeats: int) -> float:
    """Return the CPU milliseconds of reading and checking a received invoice."""
    taken: list[float] = []
    for _ in range(WARM + repeats):
        began = time.process_time()
        report = check_external_invoice(content)
        taken.append((time.process_time() - began) * 1000)
        assert not report.reason, report
    return median(taken[WARM:])


def make_data(lines: int) -> dict[str, Any]:
    """Return the data of an invoice with a number of lines and one tax rate."""
    return {
        "number": "2026-0042",
        "lines": [
            {"text": f"Item {n}", "qty": n % 7 + 1, "price": 10 + n % 5, "rate": 0.19}
            for n in range(lines)
        ],
    }


def make_record(data: dict[str, Any]) -> dict[str, Any]:
    """Return what the page of an invoice says, with what all profiles require."""
    amounts = [line["qty"] * line["price"] for line in data["lines"]]
    net = Decimal(sum(amounts))
    vat = (net * 19 / 100).quantize(Decimal("0.01"))
    address = {"line1": "4 Quayside", "city": "Newcastle", "postCode": "NE1 3DX", "country": "GB"}
    seller = {
        "name": "Northwind Tools Ltd",
        "vatId": "GB000000000",
        "address": address,
        "electronicAddress": "DE123456789",
        "electronicAddressScheme": "9930",
        "contact": {"name": "Office", "phone": "+44 191 0000", "email": "office@example.com"},
    }
    buyer = {
        "name": "Harbour Joinery GmbH",
        "address": {**address, "country": "DE"},
        "electronicAddress": "DE987654321",
        "electronicAddressScheme": "9930",
    }
    return {
        "number": data["number"],
        "issueDate": "2026-03-02",
        "dueDate": "2026-03-16",
        "typeCode": "380",
        "currency": "EUR",
        "buyerReference": "PO 4711",
        "processType": PROCESS,
        "seller": seller,
        "buyer": buyer,
        "payment": {"meansCode": "58", "accounts": [{"iban": "GB33BUKB20201555555555"}]},
        "lines": [
            {
                "id": str(number),
                "name": line["text"],
                "quantity": line["qty"],
                "unit": "C62",
                "price": {"net": line["price"]},
                "netAmount": amount,
                "vatCategory": "S",
                "vatRate": 19,
            }
            for number, (line, amount) in enumerate(zip(data["lines"], amounts, strict=True), 1)
        ],
        "vatBreakdown": [{"category": "S", "rate": 19, "taxable": str(net), "vat": str(vat)}],
        "totals": {
            "lines": str(net),
            "withoutVat": str(net),
            "vat": str(vat),
            "withVat": str(net + vat),
            "due": str(net + vat),
        },
    }


if __name__ == "__main__":
    show(measure())
