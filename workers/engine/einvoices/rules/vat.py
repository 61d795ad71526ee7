"""The rules of each VAT category (BR-S, BR-Z, BR-E, BR-AE, BR-IC, BR-G, BR-O, BR-AF, BR-AG)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import (
    CENT,
    ZERO,
    BusinessRule,
    Condition,
    InvoiceRecord,
    to_cents,
)
from workers.engine.einvoices.terms import Level

_ONE: Final = Decimal(1)
_HUNDRED: Final = Decimal(100)
_B: Final = Level.BASIC


@dataclass(frozen=True, slots=True)
class _Category:
    """A VAT category: its code (UNTDID 5305), the prefix of its rules, and its requirements."""

    code: str
    prefix: str
    name: str
    rate: str  # positive, any, zero, none
    seller: str  # local: a VAT identifier or tax number; vat: a VAT identifier; none
    buyer: str = ""  # vat, registered (that or a registration), none
    is_exempt: bool = True  # a reason is required; otherwise none is allowed
    is_exact: bool = False  # the taxable amount is checked per rate


_CATEGORIES: Final = (
    _Category("S", "S", "standard rate", "positive", "local", is_exempt=False, is_exact=True),
    _Category("Z", "Z", "zero rate", "zero", "local", is_exempt=False),
    _Category("E", "E", "exempt", "zero", "local"),
    _Category("AE", "AE", "reverse charge", "zero", "local", "registered"),
    _Category("K", "IC", "intra-community supply", "zero", "vat", "vat"),
    _Category("G", "G", "export", "zero", "vat"),
    _Category("O", "O", "not subject to VAT", "none", "none", "none"),
    _Category("L", "AF", "IGIC of the Canary Islands", "any", "local", is_exempt=False, is_exact=True),
    _Category("M", "AG", "IPSI of Ceuta and Melilla", "any", "local", is_exempt=False, is_exact=True),
)  # fmt: skip
_WHERE: Final = (
    ("lines", "A line", "BT-152"),
    ("allowances", "An allowance", "BT-96"),
    ("charges", "A charge", "BT-103"),
)
_SELLERS: Final = {
    "local": "requires the seller's VAT identifier (BT-31) or tax number (BT-32), or the VAT identifier of the tax representative (BT-63)",
    "vat": "requires the VAT identifier of the seller (BT-31) or of the tax representative (BT-63)",
    "none": "allows no VAT identifier of the seller (BT-31), the tax representative (BT-63) or the buyer (BT-48)",
}  # fmt: skip
_BUYERS: Final = {
    "": "",
    "none": "",
    "vat": ", and the VAT identifier of the buyer (BT-48)",
    "registered": ", and the VAT identifier (BT-48) or registration (BT-47) of the buyer",
}
_RATES: Final[dict[str, tuple[str, Callable[[Decimal | None], bool]]]] = {
    "positive": ("must have a rate ({}) above 0", lambda rate: rate is not None and rate > 0),
    "any": ("must have a rate ({}) of 0 or above", lambda rate: rate is not None and rate >= 0),
    "zero": ("must have the rate ({}) 0", lambda rate: rate == 0),
    "none": ("must have no rate ({})", lambda rate: rate is None),
}


def _has_identifiers(category: _Category) -> Condition:
    """Return the condition that the parties have the identifiers that a category requires."""

    def holds(_: Record, invoice: InvoiceRecord) -> bool:
        has_seller = invoice.has("seller", "vatId") or invoice.has("taxRepresentative", "vatId")
        match category.seller:
            case "none":
                return not has_seller and not invoice.has("buyer", "vatId")
            case "local":
                has_seller = has_seller or invoice.has("seller", "taxNumber")
        match category.buyer:
            case "vat":
                return has_seller and invoice.has("buyer", "vatId")
            case "registered":
                return has_seller and invoice.has("buyer", "vatId", "registrationId")
        return has_seller

    return holds


def _when(member: str, code: str, holds: Condition) -> Condition:
    """Return a condition on the records of a VAT category."""
    return lambda entry, invoice: entry.get(member) != code or holds(entry, invoice)


def _is_in_breakdown(category: _Category) -> Condition:
    """Return the condition that the breakdown has a category if it is used: once, or once per rate."""

    def holds(_: Record, invoice: InvoiceRecord) -> bool:
        count = sum(one.get("category") == category.code for one in invoice.entries("vatBreakdown"))
        if category.code not in invoice.categories:
            return category.is_exact or not count
        return bool(count >= 1 if category.is_exact else count == 1)

    return holds


def _has_taxable_sum(category: _Category) -> Condition:
    def holds(entry: Record, invoice: InvoiceRecord) -> bool:
        taxable = entry.get("taxable")
        if taxable is None:
            return True  # reported by BR-45
        if category.is_exact:
            if "rate" not in entry:
                return True  # reported by BR-48
            summed = to_cents(invoice.taxable(category.code, entry["rate"]))
        else:
            summed = to_cents(invoice.taxable(category.code))
        # Which sums may differ by less than a unit is another in each syntax.
        is_rounded = category.code != "O" and category.is_exact == (invoice.syntax == "ubl")
        return bool(taxable - _ONE < summed < taxable + _ONE if is_rounded else taxable == summed)

    return holds


def _is_in_breakdown_once_at_least(code: str) -> Condition:
    def holds(_: Record, invoice: InvoiceRecord) -> bool:
        stated = any(one.get("category") == code for one in invoice.entries("vatBreakdown"))
        return stated == (code in invoice.categories)

    return holds


def _has_taxable_sum_but_for_cents(category: _Category) -> Condition:
    def holds(entry: Record, invoice: InvoiceRecord) -> bool:
        if "taxable" not in entry:
            return True  # reported by BR-45
        key = (category.code, entry.get("rate"))
        difference = abs(entry["taxable"] - to_cents(invoice.taxable(*key)))
        return bool(difference <= CENT * invoice.count_taxable(*key))

    return holds


def _has_tax_amount(category: _Category) -> Condition:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        vat = entry.get("vat", ZERO)
        if not category.is_exact:
            return bool(vat == 0)
        expected = to_cents(abs(entry.get("taxable", ZERO)) * entry.get("rate", ZERO) / _HUNDRED)
        return bool(abs(abs(vat) - expected) < _ONE)

    return holds


def _has_exemption_reason(category: _Category) -> Condition:
    names = {"exemptionReason", "exemptionReasonCode"}
    return lambda entry, _: names.isdisjoint(entry) != category.is_exempt


# fmt: off
def _rules_of(category: _Category) -> Iterator[BusinessRule]:
    code, prefix = category.code, f"BR-{category.prefix}"
    named = f"{category.name} ({code})"
    parties = f"{_SELLERS[category.seller]}{_BUYERS[category.buyer]}"
    rate, is_rate = _RATES[category.rate]
    sums = "of that rate " * category.is_exact
    taxed = "its taxable amount (BT-116) times its rate (BT-119)" if category.is_exact else "0"
    wanted = "a reason (BT-120) or its code (BT-121)" if category.is_exempt else "no reason for an exemption (BT-120, BT-121)"
    yield BusinessRule(f"{prefix}-01", "", "vatBreakdown", f"The VAT breakdown (BG-23) must list {named} if lines, allowances or charges have it, and only then", _is_in_breakdown(category), level=_B, is_in_extended=False)
    for index, (scope, what, _) in enumerate(_WHERE, 2):
        yield BusinessRule(f"{prefix}-{index:02}", scope, "vatCategory", f"{what} of {named} {parties}", _when("vatCategory", code, _has_identifiers(category)), is_in_extended=code != "O")
    for index, (scope, what, number) in enumerate(_WHERE, 5):
        yield BusinessRule(f"{prefix}-{index:02}", scope, "vatRate", f"{what} of {named} {rate.format(number)}", _when("vatCategory", code, lambda entry, _: is_rate(entry.get("vatRate"))))
    yield BusinessRule(f"{prefix}-08", "vatBreakdown", "taxable", f"The taxable amount (BT-116) of {named} must be the sum of its lines {sums}less allowances plus charges", _when("category", code, _has_taxable_sum(category)), level=_B, is_in_extended=False)
    yield BusinessRule(f"{prefix}-09", "vatBreakdown", "vat", f"The VAT (BT-117) of {named} must be {taxed}", _when("category", code, _has_tax_amount(category)))
    yield BusinessRule(f"{prefix}-10", "vatBreakdown", "exemptionReason", f"The VAT breakdown of {named} must have {wanted}", _when("category", code, _has_exemption_reason(category)), is_in_extended=category.is_exempt)
# fmt: on


def _excludes_other_categories(name: str) -> Condition:
    """Return the condition that the category O is not combined with others."""

    def holds(_: Record, invoice: InvoiceRecord) -> bool:
        if all(one.get("category") != "O" for one in invoice.entries("vatBreakdown")):
            return True
        member = "category" if name == "vatBreakdown" else "vatCategory"
        return all(one.get(member, "O") == "O" for one in invoice.entries(name))

    return holds


def _has_delivery_date(entry: Record, invoice: InvoiceRecord) -> bool:
    if entry.get("category") != "K":
        return True
    return invoice.has("delivery", "date") or invoice.has("period", "start", "end")


def _has_destination(entry: Record, invoice: InvoiceRecord) -> bool:
    address = invoice.group("delivery").get("address", {})
    return entry.get("category") != "K" or "country" in address


def _is_italian(_: Record, invoice: InvoiceRecord) -> bool:
    """Return whether every country that an invoice with the category B states is Italy."""
    if "B" not in invoice.categories:
        return True
    groups = (invoice.group(name) for name in ("seller", "buyer", "taxRepresentative", "delivery"))
    return all(one.get("address", {}).get("country", "IT") == "IT" for one in groups)


VAT: Final = (
    BusinessRule("BR-B-01", "", "vatBreakdown", "An invoice with the category split payment (B) must be of Italian parties", _is_italian),
    BusinessRule("BR-B-02", "", "vatBreakdown", "Split payment (B) cannot be combined with the standard rate (S)", lambda _, invoice: not {"B", "S"} <= invoice.categories),
    *(rule for category in _CATEGORIES for rule in _rules_of(category)),
    BusinessRule("BR-IC-11", "vatBreakdown", "category", "An intra-community supply (K) must have a date of delivery (BT-72) or an invoicing period (BG-14)", _has_delivery_date),
    BusinessRule("BR-IC-12", "vatBreakdown", "category", "An intra-community supply (K) must have the country of delivery (BT-80)", _has_destination),
    BusinessRule("BR-O-11", "", "vatBreakdown", "With the category not subject to VAT (O) there must be no other category in the breakdown", _excludes_other_categories("vatBreakdown"), is_in_extended=False),
    BusinessRule("BR-O-12", "", "lines", "With the category not subject to VAT (O) there must be no line of another category", _excludes_other_categories("lines"), is_in_extended=False),
    BusinessRule("BR-O-13", "", "allowances", "With the category not subject to VAT (O) there must be no allowance of another category", _excludes_other_categories("allowances"), is_in_extended=False),
    BusinessRule("BR-O-14", "", "charges", "With the category not subject to VAT (O) there must be no charge of another category", _excludes_other_categories("charges"), is_in_extended=False),
)  # fmt: skip


def _extended_rules_of(category: _Category) -> Iterator[BusinessRule]:
    named = f"{category.name} ({category.code})"
    yield BusinessRule(f"BR-FXEXT-{category.prefix}-01", "", "vatBreakdown", f"The VAT breakdown (BG-23) must list {named} if lines, allowances or charges have it, and only then", _is_in_breakdown_once_at_least(category.code))  # fmt: skip
    yield BusinessRule(f"BR-FXEXT-{category.prefix}-08", "vatBreakdown", "taxable", f"The taxable amount (BT-116) of {named} must be the sum of its lines less allowances plus charges, but for a cent each", _when("category", category.code, _has_taxable_sum_but_for_cents(category)))  # fmt: skip


EXTENDED_VAT: Final = tuple(rule for one in _CATEGORIES for rule in _extended_rules_of(one))
