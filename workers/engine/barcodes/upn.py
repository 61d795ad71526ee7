"""The code of the Slovenian payment order: UPN QR of the Bank Association of Slovenia (ZBS)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from workers.engine.barcodes.national_codes import read_iso_date
from workers.engine.barcodes.payments import (
    InvalidPaymentError,
    PaymentRecord,
    passes_mod_97,
)

CHARSET: Final = "ISO-8859-2"
VERSION: Final = 15  # of the QR code, whatever its content
_ADDRESS: Final = 33  # characters of a name, a street or a town
_PURPOSE: Final = re.compile(r"[A-Z]{4}")
_IBAN: Final = re.compile(r"SI56[0-9]{15}")
# SI with a model of two digits and up to three numbers, which hyphens separate.
_MODEL_REFERENCE: Final = re.compile(r"SI[0-9]{2}[0-9]+(?:-[0-9]+){0,2}")
_CREDITOR_REFERENCE: Final = re.compile(r"RF[0-9]{2}[A-Z0-9]{1,21}")
_NO_REFERENCE: Final = "SI99"
_LONGEST_REFERENCE: Final = 26
_MEMBERS: Final = (
    *("iban", "name", "street", "town", "reference", "amount", "purpose", "message", "due"),
    *("date", "urgent", "payer"),
)
_PAYER_MEMBERS: Final = ("name", "street", "town", "iban", "reference")


def write_upn(payment: Mapping[str, Any]) -> bytes:
    """Return the content of a UPN QR code, in ISO 8859-2.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("upn-qr", payment, find_wrong=_find_wrong)
    members.check_members(_MEMBERS)
    payer = _read_payer(payment.get("payer"))
    amount = members.amount() or Decimal(0)
    lines = (
        "UPNQR",
        _read_slovenian_iban(payer),
        *("", ""),  # a deposit or withdrawal of cash
        _read_reference(payer, ""),
        *(payer.text(name, _ADDRESS) for name in ("name", "street", "town")),
        f"{int(amount * 100):011}",
        _read_date(members, "date"),
        "X" if _is_urgent(members) else "",
        members.matching("purpose", _PURPOSE, "a code of four letters such as OTHR") or "OTHR",
        members.text("message", 42, is_required=True),
        _read_date(members, "due"),
        members.iban(),
        _read_reference(members, _NO_REFERENCE),
        members.text("name", _ADDRESS, is_required=True),
        members.text("street", _ADDRESS),
        members.text("town", _ADDRESS, is_required=True),
    )
    content = "\n".join(lines) + "\n"
    return f"{content}{len(content):03}\n".encode(CHARSET)


def _read_payer(value: Any) -> PaymentRecord:
    if value is not None and not isinstance(value, Mapping):
        raise InvalidPaymentError(
            f'"payer" of "upn-qr" must be an object with {", ".join(_PAYER_MEMBERS)}'
        )
    payer = PaymentRecord("upn-qr", value or {}, "payer.", _find_wrong)
    payer.check_members(_PAYER_MEMBERS)
    return payer


def _read_slovenian_iban(payer: PaymentRecord) -> str:
    if not payer.compact("iban"):
        return ""
    iban = payer.iban()
    if not _IBAN.fullmatch(iban):
        raise payer.make_error("iban", f'is of "{iban[:2]}"; a payer has an account of SI')
    return iban


def _read_reference(members: PaymentRecord, default: str) -> str:
    reference = members.compact("reference")
    if reference in ("", _NO_REFERENCE):
        return reference or default
    is_creditor_reference = reference.startswith("RF")
    pattern = _CREDITOR_REFERENCE if is_creditor_reference else _MODEL_REFERENCE
    if not pattern.fullmatch(reference) or len(reference) > _LONGEST_REFERENCE:
        raise members.make_error(
            "reference",
            f'is "{reference[:30]}", not one such as SI00 12-3456, RF18 5390 0754 7034 or SI99',
        )
    if is_creditor_reference and not passes_mod_97(reference):
        raise members.make_error("reference", f'has wrong check digits: "{reference}"')
    return reference


def _read_date(members: PaymentRecord, member: str) -> str:
    year, _, rest = read_iso_date(members, member).partition("-")
    month, _, day = rest.partition("-")
    return f"{day}.{month}.{year}" if year else ""


def _is_urgent(members: PaymentRecord) -> bool:
    value = members.record.get("urgent")
    if value is not None and not isinstance(value, bool):
        raise members.make_error("urgent", "must be true or false")
    return bool(value)


def _find_wrong(text: str) -> str | None:
    for char in text:
        try:
            char.encode(CHARSET)
        except UnicodeEncodeError:
            return char
    return None
