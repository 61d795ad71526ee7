"""Rules of Peppol BIS Billing 3.0 in addition to EN 16931, without those of single countries.

XRechnung has taken over some of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Final

from stdnum import ean, luhn
from stdnum.au import abn
from stdnum.be import vat as belgian
from stdnum.no import orgnr as norwegian

from workers.engine.einvoices.codes import load_codes
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import (
    ZERO,
    BusinessRule,
    Condition,
    InvoiceRecord,
    find_member,
    require_member,
    to_cents,
)
from workers.engine.einvoices.syntaxes import CREDIT_TYPES


def _is(pattern: str, is_valid: Callable[[str], bool] = lambda _: True) -> Callable[[str], bool]:
    """Return the check of a form in ASCII, and of the check digits."""
    form = re.compile(pattern, re.ASCII)
    return lambda text: form.fullmatch(text.strip()) is not None and is_valid(text.strip())


# By scheme of ISO 6523: the rule, what a number must be, and the check.
NUMBER_CHECKS: Final[dict[str, tuple[str, str, Callable[[str], bool]]]] = {
    "0088": ("PEPPOL-COMMON-R040", "a GLN with its check digit", _is(r"\d+", lambda text: ean.calc_check_digit(text[:-1]) == text[-1])),
    "0192": ("PEPPOL-COMMON-R041", "a Norwegian organisation number", _is(r"\d{9}", norwegian.is_valid)),
    "0184": ("PEPPOL-COMMON-R042", "eight digits, with or without DK", _is(r"(?:DK)?\d{8}")),
    "0208": ("PEPPOL-COMMON-R043", "a Belgian enterprise number", _is(r"\d{10}", belgian.is_valid)),
    "0007": ("PEPPOL-COMMON-R049", "a Swedish organisation number", _is(r"\d{10}", luhn.is_valid)),
    "0151": ("PEPPOL-COMMON-R050", "an Australian business number", _is(r"\d{11}", abn.is_valid)),
}  # fmt: skip


_SLACK: Final = Decimal("0.02")
_HUNDRED: Final = Decimal(100)
_ONE: Final = Decimal(1)
_DEBITS: Final = ("49", "59")
_PROCESS: Final = re.compile(r"urn:fdc:peppol\.eu:2017:poacc:billing:\d\d:1\.0", re.ASCII)
_GERMAN_TYPES: Final = frozenset({"326", "384"})
_REASONS_OF: Final = {  # the only category of a reason for an exemption
    "VATEX-EU-G": ("G", "P0104"),
    "VATEX-EU-O": ("O", "P0105"),
    "VATEX-EU-IC": ("K", "P0106"),
    "VATEX-EU-AE": ("AE", "P0107"),
    "VATEX-EU-D": ("E", "P0108"),
    "VATEX-EU-F": ("E", "P0109"),
    "VATEX-EU-I": ("E", "P0110"),
    "VATEX-EU-J": ("E", "P0111"),
}
# Where parties are identified: the scope, the number, and its scheme.
_PARTY_NUMBERS: Final = (
    ("seller", "electronicAddress", "electronicAddressScheme"),
    ("seller", "registrationId", "registrationScheme"),
    ("buyer", "electronicAddress", "electronicAddressScheme"),
    ("buyer", "registrationId", "registrationScheme"),
    ("seller.ids", "id", "scheme"),
    ("buyer", "id", "idScheme"),
    ("payee", "id", "idScheme"),
    ("payee", "registrationId", "registrationScheme"),
)


def _is_percentage(entry: Record, _: InvoiceRecord) -> bool:
    if "baseAmount" not in entry or "percent" not in entry:
        return True
    expected = entry["baseAmount"] * entry["percent"] / _HUNDRED
    return bool(abs(entry.get("amount", ZERO) - expected) <= _SLACK)


def _is_product(line: Record, _: InvoiceRecord) -> bool:
    """Return whether the amount of a line is quantity times price, with its adjustments."""
    price = line.get("price", {})
    base = price.get("baseQuantity") or _ONE
    adjusted = _sum_of(line, "charges") - _sum_of(line, "allowances")
    expected = line.get("quantity", _ONE) * price.get("net", ZERO) / base + adjusted
    return bool(abs(line.get("netAmount", ZERO) - expected) <= _SLACK)


def _sum_of(line: Record, name: str) -> Decimal:
    return to_cents(sum((one.get("amount", ZERO) for one in line.get(name, ())), ZERO))


def _is_gross_less_discount(line: Record, _: InvoiceRecord) -> bool:
    price = line.get("price", {})
    if "gross" not in price:
        return True
    return bool(price.get("net") == price["gross"] - price.get("discount", ZERO))


def _has_positive_base(line: Record, _: InvoiceRecord) -> bool:
    return bool(line.get("price", {}).get("baseQuantity", _ONE) > 0)


def _has_one_unit(line: Record, _: InvoiceRecord) -> bool:
    unit = line.get("price", {}).get("baseUnit")
    return unit is None or "quantity" not in line or unit == line.get("unit")


def _signs_agree(_: Record, invoice: InvoiceRecord) -> bool:
    vat = find_member(invoice.record, "totals.vat")
    other = find_member(invoice.record, "totals.vatInTaxCurrency")
    return vat is None or other is None or vat * other >= 0


def _starts_within(period: Record, invoice: InvoiceRecord) -> bool:
    whole = invoice.group("period").get("start")
    return whole is None or "start" not in period or period["start"] >= whole


def _ends_within(period: Record, invoice: InvoiceRecord) -> bool:
    whole = invoice.group("period").get("end")
    return whole is None or "end" not in period or period["end"] <= whole


def _has_mandate(entry: Record, _: InvoiceRecord) -> bool:
    return (
        entry.get("meansCode") not in _DEBITS
        or find_member(entry, "directDebit.mandate") is not None
    )


def _are_german(invoice: InvoiceRecord) -> bool:
    countries = (
        invoice.group(one).get("address", {}).get("country") for one in ("seller", "buyer")
    )
    return all(country == "DE" for country in countries)


def _has_one_note(_: Record, invoice: InvoiceRecord) -> bool:
    return len(invoice.entries("notes")) <= 1 or _are_german(invoice)


def _has_type(entry: Record, invoice: InvoiceRecord) -> bool:
    code = entry.get("typeCode")
    if code in CREDIT_TYPES:
        return code in load_codes()["peppol-credit-note-types"]
    return code in load_codes()["peppol-invoice-types"] or (
        code in _GERMAN_TYPES and _are_german(invoice)
    )


def _has_number_scheme(entry: Record, _: InvoiceRecord) -> bool:
    return str(entry.get("electronicAddressScheme", "0088")).isdecimal()


def _has_currency_of_its_own(entry: Record, _: InvoiceRecord) -> bool:
    return "taxCurrency" not in entry or entry["taxCurrency"] != entry.get("currency")


def _has_category_of(reason: str, category: str) -> Condition:
    return lambda entry, _: (
        entry.get("exemptionReasonCode", "").upper() != reason or entry.get("category") == category
    )


def _has_number(name: str, scheme_name: str, scheme: str) -> Condition:
    is_valid = NUMBER_CHECKS[scheme][2]
    return lambda entry, _: (
        entry.get(scheme_name) != scheme or name not in entry or is_valid(entry[name])
    )


def _adjustment_rules() -> Iterator[BusinessRule]:
    for scope in ("allowances", "charges", "lines.allowances", "lines.charges"):
        yield BusinessRule("PEPPOL-EN16931-R040", scope, "amount", "An allowance or charge with a base and a percentage must be their product", _is_percentage)  # fmt: skip
        yield BusinessRule("PEPPOL-EN16931-R041", scope, "baseAmount", "An allowance or charge with a percentage must have a base amount", lambda one, _: "percent" not in one or "baseAmount" in one)  # fmt: skip
        yield BusinessRule("PEPPOL-EN16931-R042", scope, "percent", "An allowance or charge with a base amount must have a percentage", lambda one, _: "baseAmount" not in one or "percent" in one)  # fmt: skip


# XRechnung has this rule in UBL alone.
LINE_AMOUNT: Final = BusinessRule("PEPPOL-EN16931-R120", "lines", "netAmount", "The net amount of a line (BT-131) must be its quantity (BT-129) times its price (BT-146 for each BT-149), less allowances, plus charges", _is_product)  # fmt: skip
PEPPOL: Final = (
    require_member("", "processType", "PEPPOL-EN16931-R001", "The business process (BT-23) is required, such as urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
    BusinessRule("PEPPOL-EN16931-R007", "", "processType", "The business process (BT-23) must be urn:fdc:peppol.eu:2017:poacc:billing:NN:1.0", lambda one, _: "processType" not in one or _PROCESS.fullmatch(one["processType"]) is not None),
    BusinessRule("PEPPOL-EN16931-R002", "", "notes", "There can be one note (BT-22), unless both parties are German", _has_one_note),
    BusinessRule("PEPPOL-EN16931-R003", "", "buyerReference", "A reference of the buyer (BT-10) or a purchase order (BT-13) is required", lambda one, _: "buyerReference" in one or "orderReference" in one),
    BusinessRule("PEPPOL-EN16931-R005", "", "taxCurrency", "The tax currency (BT-6) must be another than that of the invoice (BT-5)", _has_currency_of_its_own),
    require_member("", "buyer.electronicAddress", "PEPPOL-EN16931-R010", "The buyer's electronic address (BT-49) is required"),
    require_member("", "seller.electronicAddress", "PEPPOL-EN16931-R020", "The seller's electronic address (BT-34) is required"),
    *(
        BusinessRule("PEPPOL-EN16931-CL008", party, "electronicAddressScheme", f"The scheme of an electronic address ({term}) must be one of Peppol's, which have four digits, such as 0088 or 9930", _has_number_scheme)
        for party, term in (("seller", "BT-34"), ("buyer", "BT-49"))
    ),
    *_adjustment_rules(),
    BusinessRule("PEPPOL-EN16931-R046", "lines", "price.net", "The net price of an item (BT-146) must be the gross price (BT-148) less the discount (BT-147)", _is_gross_less_discount),
    BusinessRule("PEPPOL-EN16931-R055", "", "totals.vatInTaxCurrency", "The VAT (BT-110) and that in the tax currency (BT-111) must have the same sign", _signs_agree),
    BusinessRule("PEPPOL-EN16931-R061", "payment", "directDebit.mandate", "A direct debit must have a mandate (BT-89)", _has_mandate),
    BusinessRule("PEPPOL-EN16931-R110", "lines.period", "start", "The period of a line must start (BT-134) within that of the invoice (BT-73)", _starts_within),
    BusinessRule("PEPPOL-EN16931-R111", "lines.period", "end", "The period of a line must end (BT-135) within that of the invoice (BT-74)", _ends_within),
    BusinessRule("PEPPOL-EN16931-R121", "lines", "price.baseQuantity", "The quantity of a price (BT-149) must be above 0", _has_positive_base),
    BusinessRule("PEPPOL-EN16931-R130", "lines", "price.baseUnit", "The unit of a price (BT-150) must be that of the quantity (BT-130)", _has_one_unit),
    BusinessRule("PEPPOL-EN16931-P0100", "", "typeCode", "The type code (BT-3) is none of Peppol; 384 and 326 are for two German parties", _has_type),
    *(
        BusinessRule(f"PEPPOL-EN16931-{number}", "vatBreakdown", "category", f"The reason {reason} (BT-121) is one of the category {category} (BT-118)", _has_category_of(reason, category))
        for reason, (category, number) in _REASONS_OF.items()
    ),
    *(
        BusinessRule(identifier, scope, name, f"A number of scheme {scheme} must be {what}", _has_number(name, scheme_name, scheme))
        for scheme, (identifier, what, _) in NUMBER_CHECKS.items()
        for scope, name, scheme_name in _PARTY_NUMBERS
    ),
)  # fmt: skip
# The rules of Peppol that XRechnung 3.0 has in both syntaxes.
IN_XRECHNUNG: Final = frozenset(
    f"PEPPOL-EN16931-R{number:03}"
    for number in (1, 5, 10, 20, 40, 41, 42, 46, 55, 61, 110, 111, 121, 130)
)
