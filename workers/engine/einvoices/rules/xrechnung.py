"""Rules of XRechnung 3.0 in addition to EN 16931 (BR-DE)."""

from __future__ import annotations

import re
from typing import Final

from stdnum.iso7064 import mod_97_10

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import (
    BusinessRule,
    Condition,
    InvoiceRecord,
    find_member,
    require_member,
)

_TYPES: Final = frozenset({"326", "380", "384", "389", "381", "875", "876", "877"})
_DETAILS: Final = {  # of a payment, by its means code; others have any
    **dict.fromkeys(("30", "58"), "accounts"),
    **dict.fromkeys(("48", "54", "55"), "card"),
    "59": "directDebit",
}
_SEPA_TRANSFER, _DEBIT, _CORRECTION = "58", "59", "384"
_TAXED: Final = frozenset({"S", "Z", "E", "AE", "K", "G", "L", "M"})
_IBAN: Final = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
_EMAIL: Final = re.compile(r"[^@\s.][^@\s]*@[^@\s]*[^@\s.]")
_DIGIT: Final = re.compile(r"\d", re.ASCII)
# Terms with cash discounts: a line each. After the last one there is a line break, which is written.
_DISCOUNT: Final = re.compile(
    r"#SKONTO#TAGE=\d+#PROZENT=\d+\.\d{2}(#BASISBETRAG=-?\d+\.\d{2})?#", re.ASCII
)
_LINE_END: Final = re.compile(r"\s*(\n|$)")
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]+:.*", re.ASCII | re.IGNORECASE | re.DOTALL)


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN with valid check digits (ISO 13616)."""
    compact = "".join(text.split())
    return bool(_IBAN.fullmatch(compact) and mod_97_10.is_valid(compact[4:] + compact[:4]))


def _accounts_are_ibans(entry: Record, _: InvoiceRecord) -> bool:
    if entry.get("meansCode") != _SEPA_TRANSFER:
        return True
    return all(is_iban(one.get("iban", "")) for one in entry.get("accounts", ()))


def _has_valid_debit_iban(entry: Record, _: InvoiceRecord) -> bool:
    iban = find_member(entry, "directDebit.iban")
    return entry.get("meansCode") != _DEBIT or iban is None or is_iban(iban)


def _has_details_of_means(entry: Record, _: InvoiceRecord) -> bool:
    """Return whether a transfer, card payment or debit has its own details and no others."""
    wanted = _DETAILS.get(entry.get("meansCode", ""))
    return wanted is None or all(
        bool(entry.get(name)) == (name == wanted) for name in _DETAILS.values()
    )


def _has_debit_member(name: str) -> Condition:
    return lambda entry, _: not entry.get("directDebit") or name in entry["directDebit"]


def _has_discounts(entry: Record, _: InvoiceRecord) -> bool:
    terms = entry.get("paymentTerms", "")
    discounts = [line for one in terms.splitlines() if (line := one.strip()).startswith("#")]
    return not discounts or (
        all(map(_DISCOUNT.fullmatch, discounts)) and bool(_LINE_END.match(terms.rpartition("#")[2]))
    )


def _names_differ(_: Record, invoice: InvoiceRecord) -> bool:
    names = [one["fileName"] for one in invoice.entries("documents") if "fileName" in one]
    return len(names) == len(set(names))


def _has_tax_identity(_: Record, invoice: InvoiceRecord) -> bool:
    if not invoice.categories & _TAXED:
        return True
    return invoice.has("seller", "vatId", "taxNumber") or bool(invoice.group("taxRepresentative"))


def _has_valid_phone(entry: Record, _: InvoiceRecord) -> bool:
    phone = find_member(entry, "contact.phone")
    return phone is None or len(_DIGIT.findall(phone)) >= 3


def _has_valid_email(entry: Record, _: InvoiceRecord) -> bool:
    email = find_member(entry, "contact.email")
    return email is None or _EMAIL.fullmatch(email) is not None


XRECHNUNG: Final = (
    BusinessRule("BR-DE-1", "", "payment", "XRechnung requires payment instructions (BG-16)", lambda _, invoice: invoice.has("payment", "meansCode")),
    require_member("seller", "contact", "BR-DE-2", "XRechnung requires a contact of the seller (BG-6)"),
    require_member("seller", "address.city", "BR-DE-3", "XRechnung requires the seller's city (BT-37)"),
    require_member("seller", "address.postCode", "BR-DE-4", "XRechnung requires the seller's post code (BT-38)"),
    require_member("seller", "contact.name", "BR-DE-5", "XRechnung requires the name of the seller's contact (BT-41)"),
    require_member("seller", "contact.phone", "BR-DE-6", "XRechnung requires the telephone number of the seller's contact (BT-42)"),
    require_member("seller", "contact.email", "BR-DE-7", "XRechnung requires the e-mail address of the seller's contact (BT-43)"),
    require_member("buyer", "address.city", "BR-DE-8", "XRechnung requires the buyer's city (BT-52)"),
    require_member("buyer", "address.postCode", "BR-DE-9", "XRechnung requires the buyer's post code (BT-53)"),
    require_member("delivery.address", "city", "BR-DE-10", "XRechnung requires the city of a delivery address (BT-77)"),
    require_member("delivery.address", "postCode", "BR-DE-11", "XRechnung requires the post code of a delivery address (BT-78)"),
    require_member("vatBreakdown", "rate", "BR-DE-14", "XRechnung requires the rate of every VAT breakdown (BT-119)"),
    require_member("", "buyerReference", "BR-DE-15", "XRechnung requires the buyer's reference, such as the Leitweg-ID (BT-10)"),
    BusinessRule("BR-DE-16", "", "seller.vatId", "XRechnung requires the seller's VAT identifier (BT-31) or tax number (BT-32), or a tax representative (BG-11)", _has_tax_identity),
    BusinessRule("BR-DE-17", "", "typeCode", f"XRechnung accepts the type codes (BT-3) {', '.join(sorted(_TYPES))}", lambda one, _: one.get("typeCode") in _TYPES, severity="warning"),
    BusinessRule("BR-DE-18", "", "paymentTerms", "A cash discount in the terms of payment (BT-20) must be a line such as #SKONTO#TAGE=14#PROZENT=2.00#, with nothing after it", _has_discounts),
    BusinessRule("BR-DE-19", "payment", "accounts", "A SEPA transfer requires IBANs with valid check digits (BT-84)", _accounts_are_ibans, severity="warning"),
    BusinessRule("BR-DE-20", "payment", "directDebit.iban", "A SEPA direct debit requires an IBAN with valid check digits (BT-91)", _has_valid_debit_iban, severity="warning"),
    BusinessRule("BR-DE-22", "", "documents", "The names of attached files (BT-125) must differ", _names_differ),
    BusinessRule("BR-DE-23", "payment", "meansCode", "XRechnung requires accounts (BG-17) with a transfer, a card (BG-18) with a card payment, a mandate (BG-19) with a direct debit, and nothing else", _has_details_of_means),
    BusinessRule("BR-DE-26", "", "precedingInvoices", "A correction (384) must name the invoice that it corrects (BG-3)", lambda one, invoice: one.get("typeCode") != _CORRECTION or bool(invoice.entries("precedingInvoices")), severity="warning"),
    BusinessRule("BR-DE-30", "payment", "directDebit.creditorId", "A direct debit (BG-19) requires the identifier of the creditor (BT-90)", _has_debit_member("creditorId")),
    BusinessRule("BR-DE-31", "payment", "directDebit.iban", "A direct debit (BG-19) requires the account that is debited (BT-91)", _has_debit_member("iban")),
    BusinessRule("BR-TMP-2", "documents", "url", "The location of a document (BT-124) must be an absolute URL", lambda one, _: "url" not in one or _URL.fullmatch(one["url"]) is not None),
    BusinessRule("BR-DE-27", "seller", "contact.phone", "A telephone number (BT-42) must have at least three digits", _has_valid_phone, severity="warning"),
    BusinessRule("BR-DE-28", "seller", "contact.email", "An e-mail address (BT-43) must have one @ with a name before and a domain after it", _has_valid_email, severity="warning"),
)  # fmt: skip
