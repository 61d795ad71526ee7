"""Rules of code lists (BR-CL), and of the country prefix of VAT identifiers (BR-CO-9)."""

from __future__ import annotations

from typing import Final

from workers.engine.einvoices.codes import COUNTRIES, load_codes
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import BusinessRule, InvoiceRecord, find_member

_GREECE: Final = "EL"  # prefix of VAT identifiers (directive 2006/112/EC, article 215)
_EXEMPTIONS: Final = "exemption-reasons"
_ADDRESSES: Final = ("seller", "buyer", "taxRepresentative", "delivery")


def _require_code(identifier: str, scope: str, member: str, codes: str, what: str) -> BusinessRule:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        value = find_member(entry, member)
        if codes == _EXEMPTIONS and value is not None:
            value = value.upper()  # as the official rule compares it
        return value is None or value in load_codes()[codes]

    message = f"{what} must be one of the list of {codes.replace('-', ' ')}"
    return BusinessRule(identifier, scope, member, message, holds)


def _require_country_prefix(party: str, number: str) -> BusinessRule:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        prefix = entry.get("vatId", _GREECE)[:2]
        return prefix == _GREECE or prefix in load_codes()[COUNTRIES]

    message = f"A VAT identifier ({number}) must begin with the code of its country, such as DE"
    return BusinessRule("BR-CO-09", party, "vatId", message, holds)


CODES: Final = (
    _require_country_prefix("seller", "BT-31"),
    _require_country_prefix("taxRepresentative", "BT-63"),
    _require_country_prefix("buyer", "BT-48"),
    _require_code("BR-CL-01", "", "typeCode", "document-types", "The type code of an invoice (BT-3)"),
    _require_code("BR-CL-04", "", "currency", "currencies", "The currency (BT-5)"),
    _require_code("BR-CL-05", "", "taxCurrency", "currencies", "The tax currency (BT-6)"),
    _require_code("BR-CL-06", "", "taxPointDateCode", "tax-point-codes", "The code of the VAT due date (BT-8)"),
    _require_code("BR-CL-07", "", "objectReferenceScheme", "reference-types", "The scheme of the invoiced object (BT-18)"),
    _require_code("BR-CL-07", "lines", "objectReferenceScheme", "reference-types", "The scheme of the invoiced object (BT-128)"),
    _require_code("BR-CL-08", "notes", "subjectCode", "note-subjects", "The subject of a note (BT-21)"),
    _require_code("BR-CL-10", "seller.ids", "scheme", "identifier-schemes", "The scheme of an identifier of the seller (BT-29)"),
    *(
        _require_code("BR-CL-10", party, "idScheme", "identifier-schemes", f"The scheme of the identifier of the {party}")
        for party in ("buyer", "payee")
    ),
    *(
        _require_code("BR-CL-11", party, "registrationScheme", "identifier-schemes", f"The scheme of the registration of the {party}")
        for party in ("seller", "buyer", "payee")
    ),
    _require_code("BR-CL-13", "lines.classifications", "scheme", "item-classifications", "The scheme of the class of an item (BT-158)"),
    *(
        _require_code("BR-CL-14", party, "address.country", COUNTRIES, "The country of an address")
        for party in _ADDRESSES
    ),
    _require_code("BR-CL-15", "lines", "origin", COUNTRIES, "The country of origin (BT-159)"),
    _require_code("BR-CL-16", "payment", "meansCode", "payment-means", "The means of payment (BT-81)"),
    _require_code("BR-CL-17", "vatBreakdown", "category", "vat-categories", "The VAT category (BT-118)"),
    _require_code("BR-CL-18", "lines", "vatCategory", "vat-categories", "The VAT category of a line (BT-151)"),
    _require_code("BR-CL-17", "allowances", "vatCategory", "vat-categories", "The VAT category of an allowance (BT-95)"),
    _require_code("BR-CL-17", "charges", "vatCategory", "vat-categories", "The VAT category of a charge (BT-102)"),
    *(
        _require_code(rule, f"{above}{name}s", "reasonCode", f"{name}-reasons", f"The reason code of {what} {where}")
        for above, where in (("", "on the invoice"), ("lines.", "on a line"))
        for rule, name, what in (("BR-CL-19", "allowance", "an allowance"), ("BR-CL-20", "charge", "a charge"))
    ),
    _require_code("BR-CL-21", "lines", "standardScheme", "identifier-schemes", "The scheme of the number of an item (BT-157)"),
    _require_code("BR-CL-22", "vatBreakdown", "exemptionReasonCode", _EXEMPTIONS, "The code of an exemption (BT-121)"),
    _require_code("BR-CL-23", "lines", "unit", "units", "The unit of a quantity (BT-130)"),
    _require_code("BR-CL-23", "lines", "price.baseUnit", "units", "The unit of a price (BT-150)"),
    _require_code("BR-CL-24", "documents", "mediaType", "media-types", "The media type of a file (BT-125)"),
    _require_code("BR-CL-25", "seller", "electronicAddressScheme", "address-schemes", "The scheme of an electronic address (BT-34)"),
    _require_code("BR-CL-25", "buyer", "electronicAddressScheme", "address-schemes", "The scheme of an electronic address (BT-49)"),
    _require_code("BR-CL-26", "delivery", "locationScheme", "identifier-schemes", "The scheme of the place of delivery (BT-71)"),
)  # fmt: skip
