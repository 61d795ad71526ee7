"""Rules of required terms and of dependencies between them (BR-1 to BR-65, BR-CO-3 to BR-CO-26)."""

from __future__ import annotations

from typing import Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import BusinessRule, InvoiceRecord, require_member
from workers.engine.einvoices.terms import Level

_TRANSFERS: Final = ("30", "58")
_MAX_CARD: Final = 10  # digits of a card that may be printed (PCI DSS)
_LINE: Final = Level.BASIC


def _ends_after_start(entry: Record, _: InvoiceRecord) -> bool:
    start, end = entry.get("start"), entry.get("end")
    return start is None or end is None or end >= start


def _has_a_day(entry: Record, _: InvoiceRecord) -> bool:
    return "start" in entry or "end" in entry


def _has_reason(entry: Record, _: InvoiceRecord) -> bool:
    return "reason" in entry or "reasonCode" in entry


def _has_account(entry: Record, _: InvoiceRecord) -> bool:
    if entry.get("meansCode") not in _TRANSFERS:
        return True
    accounts = entry.get("accounts") or [{}]
    return all(("iban" in one) != ("accountId" in one) for one in accounts)


def _has_means_code(entry: Record, _: InvoiceRecord) -> bool:
    """Return whether a payment instruction has its code.

    Cross Industry Invoice states a remittance information, mandate and creditor outside of it.
    """
    instruction = ("meansText", "accounts", "card")
    has_one = any(entry.get(name) for name in instruction) or "iban" in entry.get("directDebit", {})
    return "meansCode" in entry or not has_one


def _has_vat_in_tax_currency(entry: Record, invoice: InvoiceRecord) -> bool:
    own = "vat" if entry.get("taxCurrency") == entry.get("currency") else "vatInTaxCurrency"
    return "taxCurrency" not in entry or invoice.has("totals", own)


def _require_scheme(
    identifier: str, scope: str, value: str, scheme: str, what: str
) -> BusinessRule:
    """Return the rule that requires a scheme of an identifier."""

    def holds(entry: Record, _: InvoiceRecord) -> bool:
        return value not in entry or scheme in entry

    return BusinessRule(identifier, scope, scheme, f"{what} must have a scheme identifier", holds)


def _require_country(identifier: str, scope: str, what: str) -> BusinessRule:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        return not entry.get("address") or "country" in entry["address"]

    return BusinessRule(identifier, scope, "address.country", f"{what} must have a country", holds)


PRESENCE: Final = (
    require_member("", "number", "BR-02", "An invoice must have a number (BT-1)"),
    require_member("", "issueDate", "BR-03", "An invoice must have an issue date (BT-2)"),
    require_member("", "typeCode", "BR-04", "An invoice must have a type code (BT-3)"),
    require_member("", "currency", "BR-05", "An invoice must have a currency (BT-5)"),
    require_member("", "seller.name", "BR-06", "An invoice must have the seller's name (BT-27)"),
    require_member("", "buyer.name", "BR-07", "An invoice must have the buyer's name (BT-44)"),
    require_member("", "seller.address", "BR-08", "An invoice must have the seller's address (BG-5)"),
    require_member("", "seller.address.country", "BR-09", "The seller's address must have a country (BT-40)"),
    require_member("", "buyer.address", "BR-10", "An invoice must have the buyer's address (BG-8)", level=Level.BASIC_WL),
    require_member("", "buyer.address.country", "BR-11", "The buyer's address must have a country (BT-55)", level=Level.BASIC_WL),
    require_member("", "totals.lines", "BR-12", "An invoice must have the sum of its lines (BT-106)", level=Level.BASIC_WL),
    require_member("", "totals.withoutVat", "BR-13", "An invoice must have a total without VAT (BT-109)"),
    require_member("", "totals.withVat", "BR-14", "An invoice must have a total with VAT (BT-112)"),
    require_member("", "totals.due", "BR-15", "An invoice must have an amount due (BT-115)"),
    BusinessRule("BR-16", "", "lines", "An invoice must have a line (BG-25)", lambda _, invoice: bool(invoice.entries("lines")), level=_LINE),
    require_member("notes", "text", "BT-22", "A note must have a text (BT-22)"),
    require_member("payee", "name", "BR-17", "The payee (BG-10) must have a name (BT-59)"),
    require_member("taxRepresentative", "name", "BR-18", "The tax representative must have a name (BT-62)"),
    require_member("taxRepresentative", "address", "BR-19", "The tax representative must have an address (BG-12)"),
    require_member("taxRepresentative", "address.country", "BR-20", "The address of the tax representative must have a country (BT-69)"),
    require_member("taxRepresentative", "vatId", "BR-56", "The tax representative must have a VAT identifier (BT-63)"),
    require_member("lines", "id", "BR-21", "A line must have a number (BT-126)"),
    require_member("lines", "quantity", "BR-22", "A line must have a quantity (BT-129)", is_in_extended=False),
    require_member("lines", "unit", "BR-23", "A line must have a unit (BT-130)", is_in_extended=False),
    require_member("lines", "netAmount", "BR-24", "A line must have a net amount (BT-131)", is_in_extended=False),
    require_member("lines", "name", "BR-25", "A line must have the name of the item (BT-153)"),
    require_member("lines", "price.net", "BR-26", "A line must have the net price of the item (BT-146)", is_in_extended=False),
    BusinessRule("BR-27", "lines", "price.net", "The net price of an item (BT-146) must not be negative", lambda line, _: line.get("price", {}).get("net", 0) >= 0, is_in_extended=False),
    BusinessRule("BR-28", "lines", "price.gross", "The gross price of an item (BT-148) must not be negative", lambda line, _: line.get("price", {}).get("gross", 0) >= 0, is_in_extended=False),
    BusinessRule("BR-29", "period", "end", "The invoicing period must end (BT-74) no earlier than it starts (BT-73)", _ends_after_start),
    BusinessRule("BR-30", "lines.period", "end", "The period of a line must end (BT-135) no earlier than it starts (BT-134)", _ends_after_start),
    require_member("allowances", "amount", "BR-31", "An allowance must have an amount (BT-92)"),
    require_member("allowances", "vatCategory", "BR-32", "An allowance must have a VAT category (BT-95)"),
    BusinessRule("BR-33", "allowances", "reason", "An allowance must have a reason (BT-97) or its code (BT-98)", _has_reason),
    require_member("charges", "amount", "BR-36", "A charge must have an amount (BT-99)"),
    require_member("charges", "vatCategory", "BR-37", "A charge must have a VAT category (BT-102)"),
    BusinessRule("BR-38", "charges", "reason", "A charge must have a reason (BT-104) or its code (BT-105)", _has_reason),
    require_member("lines.allowances", "amount", "BR-41", "An allowance on a line must have an amount (BT-136)"),
    BusinessRule("BR-42", "lines.allowances", "reason", "An allowance on a line must have a reason (BT-139) or its code (BT-140)", _has_reason),
    require_member("lines.charges", "amount", "BR-43", "A charge on a line must have an amount (BT-141)"),
    BusinessRule("BR-44", "lines.charges", "reason", "A charge on a line must have a reason (BT-144) or its code (BT-145)", _has_reason),
    require_member("vatBreakdown", "taxable", "BR-45", "A VAT breakdown must have the taxable amount (BT-116)"),
    require_member("vatBreakdown", "vat", "BR-46", "A VAT breakdown must have the VAT (BT-117)"),
    require_member("vatBreakdown", "category", "BR-47", "A VAT breakdown must have a category (BT-118)"),
    BusinessRule("BR-48", "vatBreakdown", "rate", "A VAT breakdown must have a rate (BT-119), unless it is not subject to VAT", lambda one, _: "rate" in one or one.get("category") == "O"),
    BusinessRule("BR-49", "payment", "meansCode", "A payment must have a means code (BT-81)", _has_means_code),
    BusinessRule("BR-51", "payment", "card.number", "The number of a card (BT-87) must have at most 10 digits", lambda one, _: len(one.get("card", {}).get("number", "")) <= _MAX_CARD),
    BusinessRule("UBL-DT-06", "documents", "mediaType", "A file (BT-125) must have a media type", lambda one, _: "content" not in one or "mediaType" in one),
    BusinessRule("UBL-DT-07", "documents", "fileName", "A file (BT-125) must have a name", lambda one, _: "content" not in one or "fileName" in one),
    require_member("documents", "id", "BR-52", "A supporting document must have a reference (BT-122)"),
    BusinessRule("BR-53", "", "totals.vatInTaxCurrency", "With a tax currency (BT-6) the VAT in that currency (BT-111) must be given", _has_vat_in_tax_currency),
    BusinessRule("BR-53", "", "taxCurrency", "VAT in a tax currency (BT-111) needs that currency (BT-6)", lambda one, invoice: "taxCurrency" in one or not invoice.has("totals", "vatInTaxCurrency")),
    BusinessRule("BR-54", "lines.attributes", "value", "An attribute of an item must have a name (BT-160) and a value (BT-161)", lambda one, _: "name" in one and "value" in one),
    require_member("precedingInvoices", "number", "BR-55", "A preceding invoice must have a number (BT-25)"),
    _require_country("BR-57", "delivery", "The address of a delivery (BG-15)"),
    BusinessRule("BR-61", "payment", "accounts", "A transfer must have the account to pay to, by its IBAN or its own number (BT-84)", _has_account),
    _require_scheme("BR-62", "seller", "electronicAddress", "electronicAddressScheme", "The seller's electronic address (BT-34)"),
    _require_scheme("BR-63", "buyer", "electronicAddress", "electronicAddressScheme", "The buyer's electronic address (BT-49)"),
    _require_scheme("BR-64", "lines", "standardId", "standardScheme", "The standard number of an item (BT-157)"),
    _require_scheme("BR-65", "lines.classifications", "code", "scheme", "The class of an item (BT-158)"),
    BusinessRule("BR-CO-03", "", "taxPointDate", "Only one of the VAT due date (BT-7) and its code (BT-8) can be given", lambda one, _: not ("taxPointDate" in one and "taxPointDateCode" in one)),
    require_member("lines", "vatCategory", "BR-CO-04", "A line must have a VAT category (BT-151)", is_in_extended=False),
    BusinessRule("BR-CO-18", "", "vatBreakdown", "An invoice must have a VAT breakdown (BG-23)", lambda _, invoice: bool(invoice.entries("vatBreakdown")), level=Level.BASIC_WL),
    BusinessRule("BR-CO-19", "period", "start", "An invoicing period must have its start (BT-73) or its end (BT-74)", _has_a_day),
    BusinessRule("BR-CO-20", "lines.period", "start", "The period of a line must have its start (BT-134) or its end (BT-135)", _has_a_day),
    BusinessRule("BR-CO-26", "seller", "vatId", "The seller must have an identifier (BT-29), a registration (BT-30) or a VAT identifier (BT-31)", lambda one, _: bool(one.get("ids")) or "registrationId" in one or "vatId" in one),
)  # fmt: skip
# Of EXTENDED's lines, those that are subtotals or information are not in the record.
EXTENDED_PRESENCE: Final = (
    require_member("lines", "quantity", "BR-FXEXT-BR-22", "A line must have a quantity (BT-129)"),
    require_member("lines", "unit", "BR-FXEXT-BR-23", "A line must have a unit (BT-130)"),
    require_member("lines", "netAmount", "BR-FXEXT-BR-24", "A line must have a net amount (BT-131)"),
    require_member("lines", "price.net", "BR-FXEXT-BR-26", "A line must have the net price of the item (BT-146)"),
    require_member("lines", "vatCategory", "BR-FXEXT-CO-04", "A line must have a VAT category (BT-151)"),
)  # fmt: skip
