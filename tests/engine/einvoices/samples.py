"""Invoices that keep every rule, and one way to break each rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

Record = dict[str, Any]
Change = Callable[[Record], object]

# Every term of EN 16931 but those that exclude each other.
_FULL: Final = """{
"number": "2026-0042", "issueDate": "2026-03-02", "typeCode": "380", "currency": "EUR", "taxCurrency": "GBP",
"taxPointDate": "2026-03-01", "dueDate": "2026-04-01", "buyerReference": "04011000-12345-03", "projectReference": "P-7",
"contractReference": "C-1", "orderReference": "PO-9", "salesOrderReference": "SO-1", "receivingAdviceReference": "RA-1",
"despatchAdviceReference": "DA-1", "tenderReference": "T-1", "objectReference": "M-1", "objectReferenceScheme": "AAB",
"buyerAccountingReference": "4711", "paymentTerms": "30 days net", "notes": [{"subjectCode": "AAI", "text": "Thank you & good bye"}],
"processType": "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0", "precedingInvoices": [{"number": "2026-0040", "issueDate": "2026-02-01"}],
"seller": {"name": "Example GmbH", "tradingName": "Example", "ids": [{"id": "S-1"}, {"id": "4000001123452", "scheme": "0088"}],
  "registrationId": "HRB 1", "registrationScheme": "0204", "vatId": "DE123456789", "taxNumber": "201/113/40209",
  "legalInformation": "Managing director A. Sample", "electronicAddress": "DE123456789", "electronicAddressScheme": "9930",
  "address": {"line1": "Street 1", "line2": "Yard", "line3": "Door 2", "city": "Berlin", "postCode": "10115", "subdivision": "BE", "country": "DE"},
  "contact": {"name": "A. Sample", "phone": "+49 30 123", "email": "a@example.com"}},
"buyer": {"name": "Buyer SA", "tradingName": "Buyer", "id": "B-1", "registrationId": "123", "registrationScheme": "0002",
  "vatId": "FR12345678901", "electronicAddress": "FR12345678901", "electronicAddressScheme": "9957",
  "address": {"line1": "Rue 1", "city": "Paris", "postCode": "75001", "country": "FR"},
  "contact": {"name": "B", "phone": "123", "email": "b@example.com"}},
"payee": {"name": "Factor AG", "id": "F-1", "registrationId": "9", "registrationScheme": "0204"},
"taxRepresentative": {"name": "Rep", "vatId": "FR99999999999", "address": {"line1": "R", "city": "Lyon", "postCode": "69001", "country": "FR"}},
"delivery": {"name": "Depot", "locationId": "4000001123452", "locationScheme": "0088", "date": "2026-03-01",
  "address": {"line1": "Dock 1", "city": "Paris", "postCode": "75002", "country": "FR"}},
"period": {"start": "2026-02-01", "end": "2026-02-28"},
"payment": {"meansCode": "58", "meansText": "Transfer", "remittanceInformation": "2026-0042",
  "accounts": [{"iban": "DE02120300000000202051", "name": "Example", "bic": "BYLADEM1001"}, {"iban": "DE75512108001245126199"}]},
"allowances": [{"amount": 10, "baseAmount": 100, "percent": 10, "vatCategory": "S", "vatRate": 19, "reason": "Rebate", "reasonCode": "95"}],
"charges": [{"amount": 5, "baseAmount": 50, "percent": 10, "vatCategory": "S", "vatRate": 19, "reason": "Freight", "reasonCode": "FC"}],
"totals": {"lines": 208.80, "allowances": 10, "charges": 5, "withoutVat": 203.80, "vat": 33.02, "vatInTaxCurrency": 28.10,
  "withVat": 236.82, "paid": 36.52, "rounding": 0.70, "due": 201.00},
"vatBreakdown": [{"taxable": 173.80, "vat": 33.02, "category": "S", "rate": 19}, {"taxable": 30, "vat": 0, "category": "Z", "rate": 0}],
"documents": [{"id": "D-1", "description": "Time sheet", "url": "https://example.com/d", "content": "aGVsbG8=", "mediaType": "text/csv", "fileName": "d.csv"}],
"lines": [
  {"id": "1", "note": "n", "objectReference": "O-1", "objectReferenceScheme": "AAB", "quantity": 2, "unit": "C62", "netAmount": 178.80,
   "orderLine": "3", "accountingReference": "77", "period": {"start": "2026-02-01", "end": "2026-02-28"},
   "allowances": [{"amount": 2, "baseAmount": 180, "percent": 1.1, "reason": "x", "reasonCode": "95"}],
   "charges": [{"amount": 1, "baseAmount": 10, "percent": 10, "reason": "y", "reasonCode": "FC"}],
   "price": {"net": 89.90, "discount": 10, "gross": 99.90, "baseQuantity": 1, "baseUnit": "C62"}, "vatCategory": "S", "vatRate": 19,
   "name": "Drill", "description": "A drill", "sellerId": "A1", "buyerId": "B1", "standardId": "4000001123452", "standardScheme": "0160",
   "classifications": [{"code": "65434568", "scheme": "STI", "version": "1"}], "origin": "CN", "attributes": [{"name": "Colour", "value": "red"}]},
  {"id": "2", "quantity": 1, "unit": "C62", "netAmount": 30, "price": {"net": 30}, "vatCategory": "Z", "vatRate": 0, "name": "Book"}]}"""

_PLAIN: Final = """{
"number": "1", "issueDate": "2026-03-02", "typeCode": "380", "currency": "EUR", "dueDate": "2026-04-01",
"seller": {"name": "Example GmbH", "vatId": "DE123456789", "address": {"country": "DE"}},
"buyer": {"name": "Buyer SA", "vatId": "FR12345678901", "address": {"country": "FR"}},
"totals": {"lines": 100, "withoutVat": 100, "vat": 0, "withVat": 100, "due": 100},
"vatBreakdown": [{"taxable": 100, "vat": 0, "category": "E", "rate": 0, "exemptionReason": "Because"}],
"lines": [{"id": "1", "quantity": 1, "unit": "C62", "netAmount": 110, "price": {"net": 110}, "vatCategory": "E", "vatRate": 0, "name": "Thing"}],
"allowances": [{"amount": 20, "vatCategory": "E", "vatRate": 0, "reason": "Rebate"}],
"charges": [{"amount": 10, "vatCategory": "E", "vatRate": 0, "reason": "Freight"}]}"""


def full() -> Record:
    """Return an invoice with every term."""
    record: Record = json.loads(_FULL, parse_float=Decimal)
    return record


def plain(category: str = "E", rate: int | None = 0) -> Record:
    """Return an invoice of one line, allowance and charge, all of one VAT category."""
    record: Record = json.loads(_PLAIN, parse_float=Decimal)
    record["totals"] |= {"lines": 110, "allowances": 20, "charges": 10}
    vat = Decimal(rate or 0)
    record["totals"] |= {"vat": vat, "withVat": 100 + vat, "due": 100 + vat}
    for name in ("lines", "allowances", "charges"):
        for entry in record[name]:
            entry["vatCategory"] = category
            _set(entry, "vatRate", rate)
    entry = record["vatBreakdown"][0]
    entry |= {"category": category, "vat": vat}
    _set(entry, "rate", rate)
    if category in "SZLM":
        del entry["exemptionReason"]
    if category == "K":
        record["delivery"] = {"date": "2026-03-01", "address": {"country": "FR"}}
    if category == "O":
        del record["buyer"]["vatId"], record["seller"]["vatId"]
        record["seller"]["registrationId"] = "HRB 1"
    return record


def _set(entry: Record, name: str, value: object) -> None:
    if value is None:
        entry.pop(name, None)
    else:
        entry[name] = value


RATES: Final = {"S": 19, "Z": 0, "E": 0, "AE": 0, "K": 0, "G": 0, "O": None, "L": 7, "M": 5}


def put(path: str, value: object) -> Change:
    """Return the change that sets a member, or takes it away where the value is None."""

    def change(record: Record) -> None:
        *steps, last = path.split(".")
        at: Any = record
        for step in steps:
            at = at[int(step)] if step.isdigit() else at.setdefault(step, {})
        _set(at, last, value)

    return change


def drop(*paths: str) -> Change:
    """Return the change that takes members away."""

    def change(record: Record) -> None:
        for path in paths:
            put(path, None)(record)

    return change


def all_of(*changes: Change) -> Change:
    """Return several changes as one."""

    def change(record: Record) -> None:
        for one in changes:
            one(record)

    return change


# What breaks a rule in the invoice with every term. Several changes may break one rule.
BROKEN: Final[tuple[tuple[str, Change], ...]] = (
    ("BR-02", drop("number")), ("BR-03", drop("issueDate")), ("BR-04", drop("typeCode")), ("BR-05", drop("currency")),
    ("BR-06", drop("seller.name")), ("BR-07", drop("buyer.name")), ("BR-08", drop("seller.address")),
    ("BR-09", drop("seller.address.country")), ("BR-10", drop("buyer.address")), ("BR-11", drop("buyer.address.country")),
    ("BR-12", drop("totals.lines")), ("BR-13", drop("totals.withoutVat")), ("BR-14", drop("totals.withVat")),
    ("BR-15", drop("totals.due")), ("BR-16", put("lines", [])), ("BR-17", drop("payee.name")),
    ("BT-22", drop("notes.0.text")), ("UBL-DT-06", drop("documents.0.mediaType")), ("UBL-DT-07", drop("documents.0.fileName")),
    ("BR-18", drop("taxRepresentative.name")), ("BR-19", drop("taxRepresentative.address")),
    ("BR-20", drop("taxRepresentative.address.country")), ("BR-56", drop("taxRepresentative.vatId")),
    ("BR-21", drop("lines.0.id")), ("BR-22", drop("lines.0.quantity")), ("BR-23", drop("lines.0.unit")),
    ("BR-24", drop("lines.0.netAmount")), ("BR-25", drop("lines.0.name")), ("BR-26", drop("lines.0.price.net")),
    ("BR-27", put("lines.0.price.net", -1)), ("BR-28", put("lines.0.price.gross", -1)),
    ("BR-29", put("period.end", "2026-01-31")), ("BR-30", put("lines.0.period.end", "2026-01-31")),
    ("BR-31", drop("allowances.0.amount")), ("BR-32", drop("allowances.0.vatCategory")),
    ("BR-33", drop("allowances.0.reason", "allowances.0.reasonCode")), ("BR-36", drop("charges.0.amount")),
    ("BR-37", drop("charges.0.vatCategory")), ("BR-38", drop("charges.0.reason", "charges.0.reasonCode")),
    ("BR-41", drop("lines.0.allowances.0.amount")),
    ("BR-42", drop("lines.0.allowances.0.reason", "lines.0.allowances.0.reasonCode")),
    ("BR-43", drop("lines.0.charges.0.amount")),
    ("BR-44", drop("lines.0.charges.0.reason", "lines.0.charges.0.reasonCode")),
    ("BR-45", drop("vatBreakdown.0.taxable")), ("BR-46", drop("vatBreakdown.0.vat")), ("BR-47", drop("vatBreakdown.0.category")),
    ("BR-48", drop("vatBreakdown.0.rate")), ("BR-49", drop("payment.meansCode")),
    ("BR-51", all_of(put("payment.card.number", "12345678901"), put("payment.meansCode", "48"))),
    ("BR-52", drop("documents.0.id")), ("BR-53", drop("totals.vatInTaxCurrency")), ("BR-54", drop("lines.0.attributes.0.value")),
    ("BR-54", drop("lines.0.attributes.0.name")), ("BR-55", drop("precedingInvoices.0.number")),
    ("BR-57", drop("delivery.address.country")), ("BR-61", drop("payment.accounts.0.iban")),
    ("BR-61", put("payment.accounts", [])), ("BR-62", drop("seller.electronicAddressScheme")),
    ("BR-63", drop("buyer.electronicAddressScheme")), ("BR-64", drop("lines.0.standardScheme")),
    ("BR-65", drop("lines.0.classifications.0.scheme")), ("BR-CO-03", put("taxPointDateCode", "5")),
    ("BR-CO-04", drop("lines.0.vatCategory")), ("BR-CO-09", put("seller.vatId", "123456789")),
    ("BR-CO-09", put("buyer.vatId", "xx1")), ("BR-CO-09", put("taxRepresentative.vatId", "77")),
    ("BR-CO-10", put("totals.lines", 208)), ("BR-CO-11", put("totals.allowances", 11)), ("BR-CO-11", drop("totals.allowances")),
    ("BR-CO-12", put("totals.charges", 6)), ("BR-CO-12", drop("totals.charges")), ("BR-CO-13", put("totals.withoutVat", 200)),
    ("BR-CO-14", put("totals.vat", 33)), ("BR-CO-15", put("totals.withVat", Decimal("236.83"))), ("BR-CO-16", put("totals.due", 200)),
    ("BR-CO-17", put("vatBreakdown.0.vat", 40)), ("BR-CO-17", put("vatBreakdown.1.vat", 1)), ("BR-CO-18", put("vatBreakdown", [])),
    ("BR-CO-19", put("period", {})), ("BR-CO-20", put("lines.0.period", {})),
    ("BR-CO-26", drop("seller.ids", "seller.registrationId", "seller.registrationScheme", "seller.vatId")),
    *(
        (f"BR-DEC-{number}", put(path, Decimal("1.005")))
        for number, path in (
            ("01", "allowances.0.amount"), ("02", "allowances.0.baseAmount"), ("05", "charges.0.amount"),
            ("06", "charges.0.baseAmount"), ("09", "totals.lines"), ("10", "totals.allowances"), ("11", "totals.charges"),
            ("12", "totals.withoutVat"), ("13", "totals.vat"), ("14", "totals.withVat"), ("15", "totals.vatInTaxCurrency"),
            ("16", "totals.paid"), ("17", "totals.rounding"), ("18", "totals.due"), ("19", "vatBreakdown.0.taxable"),
            ("20", "vatBreakdown.0.vat"), ("23", "lines.0.netAmount"), ("24", "lines.0.allowances.0.amount"),
            ("25", "lines.0.allowances.0.baseAmount"), ("27", "lines.0.charges.0.amount"),
            ("28", "lines.0.charges.0.baseAmount"),
        )
    ),
    *(
        (f"BR-CL-{number}", put(path, "XQX"))
        for number, path in (
            ("01", "typeCode"), ("04", "currency"), ("05", "taxCurrency"), ("07", "objectReferenceScheme"),
            ("07", "lines.0.objectReferenceScheme"), ("08", "notes.0.subjectCode"), ("10", "seller.ids.1.scheme"),
            ("11", "seller.registrationScheme"), ("11", "buyer.registrationScheme"), ("11", "payee.registrationScheme"),
            ("13", "lines.0.classifications.0.scheme"), ("14", "seller.address.country"), ("14", "buyer.address.country"),
            ("14", "taxRepresentative.address.country"), ("14", "delivery.address.country"), ("15", "lines.0.origin"),
            ("16", "payment.meansCode"), ("17", "vatBreakdown.0.category"), ("17", "allowances.0.vatCategory"),
            ("17", "charges.0.vatCategory"), ("18", "lines.0.vatCategory"), ("19", "allowances.0.reasonCode"),
            ("19", "lines.0.allowances.0.reasonCode"), ("20", "charges.0.reasonCode"), ("20", "lines.0.charges.0.reasonCode"),
            ("21", "lines.0.standardScheme"), ("23", "lines.0.unit"), ("23", "lines.0.price.baseUnit"),
            ("24", "documents.0.mediaType"), ("25", "seller.electronicAddressScheme"), ("25", "buyer.electronicAddressScheme"),
            ("26", "delivery.locationScheme"),
        )
    ),
    ("BR-CL-06", all_of(drop("taxPointDate"), put("taxPointDateCode", "1"))),
    ("BR-CL-10", put("buyer.idScheme", "XQX")), ("BR-CL-10", put("payee.idScheme", "XQX")),
    ("BR-CL-22", put("vatBreakdown.0.exemptionReasonCode", "XQX")),
)  # fmt: skip

_PREFIXES: Final = {"K": "IC", "L": "AF", "M": "AG"}


def of_categories() -> Iterator[tuple[str, str, Change]]:
    """Yield a rule, the VAT category of the invoice that it is broken in, and the change."""
    for category in RATES:
        prefix = f"BR-{_PREFIXES.get(category, category)}"
        other = all_of(
            put("vatBreakdown.0.category", "G" if category == "E" else "E"),
            put("vatBreakdown.0.exemptionReason", "x"),
        )
        yield f"{prefix}-01", category, other
        parties = drop("seller.vatId")
        if category == "O":
            parties = put("buyer.vatId", "FR1")
        for number, name in ((2, "lines"), (3, "allowances"), (4, "charges")):
            yield f"{prefix}-{number:02}", category, parties
            wrong = 5 if category in ("Z", "E", "AE", "K", "G") else 0
            if category not in "LM":
                yield f"{prefix}-{number + 3:02}", category, put(f"{name}.0.vatRate", wrong)
            else:
                yield f"{prefix}-{number + 3:02}", category, put(f"{name}.0.vatRate", -1)
        if category == "AE":
            yield f"{prefix}-02", category, drop("buyer.vatId")
        yield f"{prefix}-08", category, put("vatBreakdown.0.taxable", 98)
        yield f"{prefix}-09", category, put("vatBreakdown.0.vat", 17)
        if category in "SZLM":
            yield f"{prefix}-10", category, put("vatBreakdown.0.exemptionReason", "x")
        else:
            yield f"{prefix}-10", category, drop("vatBreakdown.0.exemptionReason")
    yield "BR-B-01", "S", put("lines.0.vatCategory", "B")
    yield "BR-B-02", "S", put("lines.0.vatCategory", "B")
    yield "BR-IC-11", "K", drop("delivery.date")
    yield "BR-IC-12", "K", drop("delivery.address.country")
    second = {"taxable": 0, "vat": 0, "category": "E", "rate": 0, "exemptionReason": "x"}
    yield "BR-O-11", "O", lambda record: record["vatBreakdown"].append(second)
    yield "BR-O-12", "O", put("lines.0.vatCategory", "E")
    yield "BR-O-13", "O", put("allowances.0.vatCategory", "E")
    yield "BR-O-14", "O", put("charges.0.vatCategory", "E")


def changed(record: Record, change: Change) -> Record:
    """Return a copy of a record with a change."""
    copied = copy.deepcopy(record)
    change(copied)
    return copied
