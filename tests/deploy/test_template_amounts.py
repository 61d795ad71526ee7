"""In each currency of CLDR, the amounts that a public template prints add up to the totals it prints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pypdfium2
import pytest
from babel.numbers import get_currency_precision, list_currencies

from deploy.tools.gallery import OPTIONS
from shared.templates.public import FOLDER
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import PreparedTemplate, prepare_template, render
from workers.engine.ports import Payload, PayloadKind

# Three of each digit count suffice for layout; the others are drawn by the long test.
SHOWN = ("EUR", "GBP", "CHF", "JPY", "KRW", "ISK", "KWD", "BHD", "TND", "CLF", "HUF", "IRR", "MRU")
TAXED = [
    {"text": "A", "qty": 3, "price": 1.235, "rate": 0.05},
    {"text": "B", "qty": 7, "price": 10.1245, "rate": 0.19},
    {"text": "C", "qty": 1, "price": 1000.125, "rate": 0},
]


def _draw(template: PreparedTemplate, payload: Mapping[str, Any]) -> str:
    body = Payload(PayloadKind.JSON, json.dumps(payload).encode())
    pdf = render(template, body, options=OPTIONS).pdf
    with pypdfium2.PdfDocument(pdf) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def _amounts(text: str, digits: int) -> list[Decimal]:
    """Return the numbers of a text that have exactly the digits of a currency."""
    fraction = rf"\.\d{{{digits}}}" if digits else ""
    found = re.findall(
        rf"(?<!\d)(?<!\d[.,])[-\u2212]?\d{{1,3}}(?:,\d{{3}})*{fraction}(?![\d.,])", text
    )
    return [Decimal(each.replace(",", "").replace("\u2212", "-")) for each in found]


def _round(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def _price_of(line: Mapping[str, Any]) -> Decimal:
    return Decimal(str(line["price"])) * line["qty"]


def _taxed(digits: int) -> list[Decimal]:
    """Return the line amounts, net, taxes and total of the lines, rounded as an invoice is."""
    lines = [_round(_price_of(line), digits) for line in TAXED]
    taxes = [
        _round(amount * Decimal(str(line["rate"])), digits)
        for amount, line in zip(lines, TAXED, strict=True)
    ]
    return [*lines, sum(lines), *(tax for tax in taxes if tax), sum(lines) + sum(taxes)]


def _check(name: str, currencies: list[str]) -> None:
    template = prepare_template((FOLDER / f"{name}.xml").read_bytes(), LinkedFiles(FOLDER))
    for code in currencies:
        digits = get_currency_precision(code)
        payload, expected = CASES[name](digits)
        printed = _amounts(_draw(template, {"currency": code, "lang": "en", **payload}), digits)
        missing = [amount for amount in expected if amount not in printed]
        assert missing == [], f"{name} in {code} prints {printed}"


def _invoice(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
    return {"lines": TAXED, "einvoice": None}, _taxed(digits)


def _bank_statement(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
    moved = [Decimal("1000.5555"), Decimal("-2.6665")]
    rows = [{"date": "2026-03-05", "text": "D", "amount": str(each)} for each in moved]
    opening = _round(Decimal("2000.7775"), digits)
    booked = [_round(each, digits) for each in moved]
    payload = {"opening": "2000.7775", "movements": rows}
    return payload, [opening, *booked, opening + booked[0], opening + sum(booked)]


def _summed(dataset: str, lines: list[dict[str, Any]], tax_rate: str = "", /, **more: Any) -> Any:
    """Return the case of a template that adds amounts up, and a tax of one rate for all of them."""

    def make(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
        amounts = [_round(_price_of(line), digits) for line in TAXED]
        net = sum(amounts, Decimal())
        tax = _round(net * Decimal(tax_rate), digits) if tax_rate else None
        return {dataset: lines, **more}, [*amounts, net] + ([] if tax is None else [tax, net + tax])

    return make


def _reminder(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
    amounts = [_round(_price_of(line), digits) for line in TAXED]
    invoices = [
        {"number": str(n), "due": "2026-01-31", "amount": str(_price_of(line))}
        for n, line in enumerate(TAXED)
    ]
    extra = _round(Decimal("7.5555"), digits)
    payload = {"invoices": invoices, "fee": "5", "interest": "2.5555"}
    return payload, [*amounts, extra, sum(amounts) + extra]


def _one(dataset: str, member: str, code: str) -> Any:
    """Return the case of a template that prints one amount of each record."""
    return lambda digits: (
        {dataset: [{"code": code, member: "1234.5678"}]},
        [_round(Decimal("1234.5678"), digits)],
    )


def _statement(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
    amounts = [Decimal("0.1245"), Decimal("1000.5555"), Decimal("2.6665")]
    rows = [{"date": "2026-01-05", "details": "D", "debit": str(each)} for each in amounts]
    opening = Decimal("2000.7775")
    balances = [_round(opening, digits)]
    for each in amounts:
        balances.append(balances[-1] - _round(each, digits))
    out = sum(_round(each, digits) for each in amounts)
    payload = {"opening": str(opening), "transactions": rows}
    return payload, [*(_round(each, digits) for each in amounts), *balances, Decimal(out)]


def _payslip(digits: int) -> tuple[dict[str, Any], list[Decimal]]:
    worked = _round(Decimal("6.5") * Decimal("24.6135"), digits)
    fixed, tax = _round(Decimal("2850.5555"), digits), _round(Decimal("410.4445"), digits)
    payload = {
        "earnings": [
            {"text": "P", "amount": "2850.5555"},
            {"text": "O", "qty": "6.5", "unit": "h", "rate": "24.6135"},
        ],
        "deductions": [{"text": "T", "amount": "410.4445"}],
        "employer_costs": [],
    }
    return payload, [worked, fixed, tax, worked + fixed, worked + fixed - tax]


SOLD = [{name: line[name] for name in ("text", "qty", "price")} for line in TAXED]
CASES = {
    "service-simple-invoice": _summed("lines", [{**line, "rate": None} for line in TAXED], "0.19", tax_rate="0.19"),
    "service-invoice": _invoice,
    "service-quote": lambda digits: ({"lines": TAXED}, _taxed(digits)),
    "service-purchase-order": _summed("lines", SOLD),
    "service-dunning-letter": _reminder,
    "service-receipt": _summed("lines", SOLD),
    "service-tax-certificate": _summed("rows", [{"text": "A", "income": str(_price_of(line))} for line in TAXED]),
    "service-insurance-policy": _summed(
        "covers", [{"text": "A", "premium": str(_price_of(line))} for line in TAXED], "0.19", tax_rate="0.19"),
    "service-account-statement": _bank_statement,
    "service-utility-bill": _summed("charges", SOLD, "0.19", rate="0.19", paid=None),
    "service-us-invoice": _summed("lines", SOLD, "0.19", taxes=[{"name": "T", "rate": "0.19"}], shipping=None),
    "service-event-ticket": _one("tickets", "price", "T88121-0001"),
    "service-voucher": _one("vouchers", "value", "NW26-7KQ4"),
    "service-credit-note": _invoice,
    "service-statement": _statement,
    "service-payslip": _payslip,
    "service-qr-bill": _summed("lines", TAXED, "0.081", rate="0.081"),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CASES if name != "service-qr-bill"])
def test_what_is_printed_adds_up(name):
    _check(name, list(SHOWN))


def test_what_a_qr_bill_prints_adds_up_in_both_its_currencies():
    _check("service-qr-bill", ["CHF", "EUR"])


# Templates round by the same filters: each has an eighth of the currencies, and each currency two templates.
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in CASES if name != "service-qr-bill"])
def test_what_is_printed_adds_up_in_every_currency(name):
    first = list(CASES).index(name) % 8
    _check(name, sorted(list_currencies())[first::8])


def test_every_template_with_a_currency_is_added_up():
    with_currency = {
        path.stem for path in FOLDER.glob("*.xml") if ' name="currency"' in path.read_text()
    }
    # A received invoice is shown as it is and judged by rules; a catalogue adds nothing up.
    without = {"service-brand-parts", "service-catalogue-page", "service-received-invoice"}
    assert with_currency - without == CASES.keys()


def test_a_unit_price_keeps_more_decimals_than_its_currency():
    template = prepare_template((FOLDER / "service-invoice.xml").read_bytes(), LinkedFiles(FOLDER))
    text = _draw(template, {"lines": [{"text": "A", "qty": 1000, "price": 0.0125}], "lang": "en"})
    assert "0.0125" in text
    assert "12.50" in text
