"""Measure what each chart, payment part, form and signature adds: `python -m tests.bench.parts`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from tests.bench.demands import HEAD, at_most, show
from tests.certificates import make_pkcs12
from workers.engine.pdf_pages.form_fields import read_form
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.signer.signing import SignatureOptions, open_certificate, sign_pdf

NOW = datetime(2026, 3, 2, tzinfo=UTC)
OPTIONS = RenderOptions(NOW)
WARM = 5
NOTE = """\
A page of one paragraph, rendered by turns without and with the part; milliseconds of CPU time added,
median. The template is prepared, as in a worker that has rendered it. Charts have twelve records, a
line of a year 365. Signing and reading are calls of their own."""
SERIES = '<series y="r.a" label="A"/><series y="r.b" label="B"/>'
CHART = '<chart type="{}" data="r in {}" {} height="50mm" alt="a">{}</chart>'
SLIP = "{'name': 'Nordwind GmbH', 'iban': 'DE02120300000000202051', 'amount': 1308.66, 'text': 'Rechnung 7'}"
PARTY = "'postal_code': '8000', 'town': 'Seldwyla', 'country': 'CH'"
BILL = (
    "{'iban': 'CH5604835012345678009', 'currency': 'CHF', 'amount': 99.95, 'reference': 'RF18539007547034', "
    f"'creditor': {{'name': 'Muster AG', {PARTY}}}, 'debtor': {{'name': 'Beispiel', {PARTY}}}}}"
)
FIELDS = "".join(
    f'<p><input type="text" name="t{at}" label="T" value="v"/> <input type="checkbox" name="c{at}" label="C"/></p>'
    for at in range(12)
)


@dataclass(frozen=True)
class Part:
    """A part of a document, and the most milliseconds that it may add."""

    name: str
    markup: str
    limit: float


PARTS = (
    Part("chart: columns", CHART.format("column", "months", 'x="r.x"', SERIES), 4),
    Part("chart: bars", CHART.format("bar", "months", 'x="r.x"', SERIES), 4),
    Part("chart: line", CHART.format("line", "months", 'x="r.x"', SERIES), 4),
    Part("chart: line of a year", CHART.format("line", "days", 'x="r.x" y="r.a"', ""), 10),
    Part("chart: area", CHART.format("area", "months", 'x="r.x"', SERIES), 4),
    Part("chart: points", CHART.format("scatter", "months", 'x="r.a" y="r.b"', ""), 4),
    Part("chart: pie", CHART.format("pie", "months", 'x="r.x" y="r.a"', ""), 4),
    Part("chart: donut", CHART.format("donut", "months", 'x="r.x" y="r.a"', ""), 4),
    Part("chart: sparkline", '<p><chart type="sparkline" data="r in months" y="r.a" alt="a"/></p>', 2),
    Part("chart: gauge", '<p><chart type="gauge" value="0.4" alt="a"/></p>', 2),
    Part("payment slip", f'<payment-slip value="{SLIP}"/>', 8),
    Part("QR-bill", f'<qr-bill value="{BILL}"/>', 12),
    Part("form of 24 fields", FIELDS, 10),
    Part("the same, printed", FIELDS.replace("<input", '<input interactive="false"'), 10),
)  # fmt: skip


def measure(repeats: int = 40) -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE, "", HEAD)
    for part in PARTS:
        yield at_most(part.name, time_part(part.markup, repeats), part.limit, "ms")
    form = make_renderer(FIELDS)()
    yield at_most("fields of this form read", time_call(lambda: read_form(form), repeats), 10, "ms")
    signer = open_certificate(make_pkcs12(NOW), None).signer
    signed = time_call(
        lambda: sign_pdf(form, signer, SignatureOptions(), now=NOW), max(repeats // 4, 1)
    )
    yield at_most("the form signed, elliptic curve", signed, 100, "ms")


def time_part(markup: str, repeats: int) -> float:
    """Return the CPU milliseconds that a part adds to a page."""
    plain, full = make_renderer(""), make_renderer(markup)
    times: list[float] = []
    for number in range(-WARM, repeats):
        without, with_part = time_once(plain), time_once(full)
        if number >= 0:
            times.append(with_part - without)
    return median(times)


def time_call(call: Callable[[], object], repeats: int) -> float:
    """Return the CPU milliseconds of a call."""
    return median(time_once(call) for _ in range(repeats + 1))


def time_once(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1000


def make_renderer(markup: str) -> Callable[[], bytes]:
    """Return a function that renders a page with a part."""
    source = f'<document title="t" lang="en"><page size="A4" margin="15mm"/><flow><p>Text</p>{markup}</flow></document>'
    template = prepare_template(source.encode())
    months = [{"x": f"Month {at}", "a": 10 + at * 7 % 13, "b": 5 + at * 5 % 11} for at in range(12)]
    days = [{"x": at, "a": at * 7919 % 1000} for at in range(365)]
    payload = Payload(PayloadKind.JSON, json.dumps({"months": months, "days": days}).encode())
    return lambda: render(template, payload, options=OPTIONS).pdf


if __name__ == "__main__":
    show(measure())
