"""Rules of sums (BR-CO-10 to BR-CO-17)."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import (
    CENT,
    ZERO,
    BusinessRule,
    InvoiceRecord,
    Tolerance,
    to_cents,
)
from workers.engine.einvoices.terms import Level

_ONE: Final = Decimal(1)
_ROUNDS_TO_ONE: Final = Decimal("0.5")  # the official rule rounds rate and VAT to integers
_HUNDRED: Final = Decimal(100)


def _lines(_: Record, invoice: InvoiceRecord) -> Decimal:
    return to_cents(invoice.total("lines", "netAmount"))


def _sum_of(name: str, invoice: InvoiceRecord) -> Decimal | None:
    """Return the sum of allowances or charges, None if there are none and no sum is stated."""
    if not invoice.entries(name) and not invoice.has("totals", name):
        return None
    return to_cents(invoice.total(name, "amount"))


def _without_vat(_: Record, invoice: InvoiceRecord) -> Decimal | None:
    totals = invoice.group("totals")
    if "lines" not in totals:
        return None
    return to_cents(totals["lines"] - totals.get("allowances", ZERO) + totals.get("charges", ZERO))


def _vat(_: Record, invoice: InvoiceRecord) -> Decimal | None:
    """Return the sum of the breakdown, None if it is 0 and no total is stated."""
    summed = to_cents(invoice.total("vatBreakdown", "vat"))
    return None if not summed and not invoice.has("totals", "vat") else summed


def _with_vat(_: Record, invoice: InvoiceRecord) -> Decimal | None:
    totals = invoice.group("totals")
    if "withoutVat" not in totals or ("vat" not in totals and not invoice.entries("vatBreakdown")):
        return None
    return to_cents(totals["withoutVat"] + totals.get("vat", ZERO))


def _due(_: Record, invoice: InvoiceRecord) -> Decimal | None:
    totals = invoice.group("totals")
    if "withVat" not in totals:
        return None
    due: Decimal = totals["withVat"] - totals.get("paid", ZERO) + totals.get("rounding", ZERO)
    return due


def _without_vat_of_lines(_: Record, invoice: InvoiceRecord) -> Decimal:
    less = to_cents(invoice.total("allowances", "amount"))
    more = to_cents(invoice.total("charges", "amount"))
    return to_cents(invoice.total("lines", "netAmount")) - less + more


def _cents_for_each(*names: str) -> Tolerance:
    """Return the tolerance of one cent for each entry of some lists."""
    return lambda invoice: CENT * sum(len(invoice.entries(name)) for name in names)


def _is_payable(entry: Record, invoice: InvoiceRecord) -> bool:
    due = invoice.group("totals").get("due", ZERO)
    return due <= 0 or "dueDate" in entry or "paymentTerms" in entry


def _is_rate_of(entry: Record, invoice: InvoiceRecord) -> bool:
    """Return whether the VAT is the taxable amount times the rate, within one unit for rounding."""
    vat, taxable = entry.get("vat"), entry.get("taxable")
    if vat is None or taxable is None:
        return True  # reported by BR-45 and BR-46
    rate = entry.get("rate", ZERO)
    if abs(rate) < _ROUNDS_TO_ONE:
        return bool(abs(vat) < _ROUNDS_TO_ONE)
    difference = abs(abs(vat) - to_cents(abs(taxable) * rate / _HUNDRED))
    return bool(difference < _ONE or (difference == _ONE and invoice.syntax == "cii"))


SUMS: Final = (
    BusinessRule("BR-CO-10", "", "totals.lines", "The sum of the lines (BT-106) must be that of their net amounts (BT-131)", expected=_lines, level=Level.BASIC, is_in_extended=False),
    BusinessRule("BR-CO-11", "", "totals.allowances", "The sum of allowances (BT-107) must be that of their amounts (BT-92)", expected=lambda _, invoice: _sum_of("allowances", invoice), level=Level.BASIC_WL, is_in_extended=False),
    BusinessRule("BR-CO-12", "", "totals.charges", "The sum of charges (BT-108) must be that of their amounts (BT-99)", expected=lambda _, invoice: _sum_of("charges", invoice), level=Level.BASIC_WL, is_in_extended=False),
    BusinessRule("BR-CO-13", "", "totals.withoutVat", "The total without VAT (BT-109) must be the lines (BT-106) less allowances (BT-107) plus charges (BT-108)", expected=_without_vat, level=Level.BASIC_WL, is_in_extended=False),
    BusinessRule("BR-CO-14", "", "totals.vat", "The VAT (BT-110) must be the sum of the breakdown (BT-117)", expected=_vat, level=Level.BASIC_WL),
    BusinessRule("BR-CO-15", "", "totals.withVat", "The total with VAT (BT-112) must be that without (BT-109) plus the VAT (BT-110)", expected=_with_vat, level=Level.BASIC_WL, is_in_extended=False),
    BusinessRule("BR-CO-16", "", "totals.due", "The amount due (BT-115) must be the total (BT-112) less what is paid (BT-113) plus rounding (BT-114)", expected=_due, level=Level.BASIC_WL, is_in_extended=False),
    BusinessRule("BR-CO-17", "vatBreakdown", "vat", "The VAT (BT-117) must be its taxable amount (BT-116) times its rate (BT-119)", _is_rate_of, is_in_extended=False),
)  # fmt: skip
_ALL: Final = _cents_for_each("lines", "allowances", "charges")
# EXTENDED takes amounts that were rounded line by line (Factur-X 1.0, 7).
EXTENDED_SUMS: Final = (
    BusinessRule("BR-FXEXT-CO-10", "", "totals.lines", "The sum of the lines (BT-106) must be that of their net amounts (BT-131), but for a cent each", expected=_lines, tolerance=_cents_for_each("lines")),
    BusinessRule("BR-FXEXT-CO-11", "", "totals.allowances", "The sum of allowances (BT-107) must be that of their amounts (BT-92), but for a cent each", expected=lambda _, invoice: _sum_of("allowances", invoice), tolerance=_cents_for_each("allowances")),
    BusinessRule("BR-FXEXT-CO-12", "", "totals.charges", "The sum of charges (BT-108) must be that of their amounts (BT-99), but for a cent each", expected=lambda _, invoice: _sum_of("charges", invoice), tolerance=_cents_for_each("charges")),
    BusinessRule("BR-FXEXT-CO-13", "", "totals.withoutVat", "The total without VAT (BT-109) must be the lines (BT-131) less allowances (BT-92) plus charges (BT-99), but for a cent each", expected=_without_vat_of_lines, tolerance=_ALL),
    BusinessRule("BR-FXEXT-CO-15", "", "totals.withVat", "The total with VAT (BT-112) must be that without (BT-109) plus the VAT (BT-110), but for a cent for each amount", expected=_with_vat, tolerance=_ALL),
    BusinessRule("BR-FXEXT-CO-16", "", "totals.due", "The amount due (BT-115) must be the total (BT-112) less what is paid (BT-113) plus rounding (BT-114)", expected=_due),
    BusinessRule("BR-CO-25", "", "dueDate", "An amount that is due (BT-115) must have a due date (BT-9) or terms of payment (BT-20)", _is_payable),
)  # fmt: skip
