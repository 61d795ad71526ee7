"""Payment codes of single countries: Czech SPAYD, Hungarian HCT, Indian UPI, Brazilian Pix, Polish ZBP, Slovenian UPN."""

from __future__ import annotations

import re
import unicodedata
from binascii import crc_hqx
from collections.abc import Mapping
from decimal import Decimal
from typing import Final
from urllib.parse import quote

from stdnum.br import cnpj, cpf
from stdnum.pl import nip

from workers.engine.barcodes.payments import (
    BIC,
    InvalidPaymentError,
    PaymentRecord,
    is_moment,
    passes_mod_97,
)

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_NIP: Final = re.compile(r"[0-9]{10}")
_PURPOSE: Final = re.compile(r"[A-Z]{4}")


def write_spayd(payment: Mapping[str, object]) -> bytes:
    """Return a Czech Short Payment Descriptor, version 1.0.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("spayd-qr", payment)
    symbols = ("variable_symbol", "specific_symbol", "constant_symbol")
    members.check_members(("iban", "bic", "name", "amount", "currency", "message", "due", *symbols))
    bic = members.matching("bic", BIC, "a BIC of 8 or 11 letters and digits")
    values = {
        "ACC": members.iban() + (f"+{bic}" if bic else ""),
        "AM": members.amount_text(Decimal("9999999.99")),
        "CC": members.matching("currency", _CURRENCY, "a code of three letters") or "CZK",
        "DT": members.date("due", "{}{}{}"),
        "MSG": quote(members.text("message", 60), " :/,+$"),
        "RN": quote(members.text("name", 35), " :/,+$"),
        **{
            key: members.matching(name, re.compile(r"[0-9]{1,10}"), "1 to 10 digits")
            for key, name in zip(("X-VS", "X-SS", "X-KS"), symbols, strict=True)
        },
    }
    filled = (f"{key}:{value}" for key, value in values.items() if value)
    return "*".join(("SPD", "1.0", *filled)).encode()


def write_hct(payment: Mapping[str, object]) -> bytes:
    """Return a Hungarian code of the central bank (MNB) for a credit transfer, version 001.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("hct-qr", payment)
    identifiers = ("shop", "device", "invoice", "customer", "transaction", "loyalty", "tax")
    members.check_members(
        ("bic", "name", "iban", "amount", "valid_until", "purpose", "message", *identifiers)
    )
    if not members.text("bic", 11):
        raise InvalidPaymentError('"hct-qr" needs the member "bic"')
    iban = members.iban()
    if not re.fullmatch(r"HU[0-9]{26}", iban):
        raise members.error("iban", f'is of "{iban[:2]}"; only accounts of HU can be paid')
    until = members.text("valid_until", 25, is_required=True)
    moment = re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\+0([0-9]):00", until
    )
    if moment is None or not is_moment(until):
        raise members.error(
            "valid_until", f'is "{until}", not a time such as 2026-12-31T23:59:59+01:00'
        )
    amount = members.amount(least=Decimal(1))
    if amount is not None and amount != amount.to_integral_value():
        raise members.error("amount", f"is {amount}; forints have no decimals")
    lines = (
        *("HCT", "001", "1"),
        members.matching("bic", BIC, "a BIC of 8 or 11 letters and digits"),
        members.text("name", 70, is_required=True),
        iban,
        "" if amount is None else f"HUF{int(amount)}",
        "".join(moment.groups()[:6]) + f"+{moment[7]}",
        members.matching("purpose", _PURPOSE, "four letters"),
        members.text("message", 70),
        *(members.text(name, 35) for name in identifiers),
    )
    return members.bounded(("\n".join(lines) + "\n").encode(), 345, "message")


def write_upi(payment: Mapping[str, object]) -> bytes:
    """Return an Indian UPI address (NPCI, UPI Linking Specification 1.6).

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("upi-qr", payment)
    members.check_members(("address", "name", "amount", "currency", "reference", "message"))
    address = members.text("address", 255, is_required=True)
    if not re.fullmatch(r"[A-Za-z0-9._-]{2,190}@[A-Za-z][A-Za-z0-9]{1,63}", address):
        raise members.error("address", f'is "{address[:30]}", not one such as name@bank')
    if members.text("currency", 3) not in ("", "INR"):
        raise members.error("currency", "is not INR, the only one that UPI pays")
    values = {
        "pa": address,
        "pn": quote(members.text("name", 99, is_required=True), ""),
        "tr": quote(members.text("reference", 35), ""),
        "tn": quote(members.text("message", 80), ""),
        "am": members.amount_text(),
        "cu": "INR",
    }
    return ("upi://pay?" + "&".join(f"{key}={v}" for key, v in values.items() if v)).encode()


def write_pix(payment: Mapping[str, object]) -> bytes:
    """Return a static Brazilian Pix code (BR Code: EMV QRCPS-MPM with the template br.gov.bcb.pix).

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("pix-qr", payment)
    members.check_members(("key", "name", "city", "amount", "reference", "message"))
    key = _pix_key(members)
    message = _fold(members.text("message", 72))
    account = _field("00", "br.gov.bcb.pix") + _field("01", key) + _field("02", message)
    if len(account) > 99:
        raise members.error(
            "message", f"is too long beside the key; shorten it by {len(account) - 99}"
        )
    reference = members.text("reference", 25)
    if reference and not re.fullmatch(r"[A-Za-z0-9]+", reference):
        raise members.error("reference", f'is "{reference}"; it takes letters and digits')
    content = "".join(
        (
            _field("00", "01"),
            _field("26", account),
            _field("52", "0000"),
            _field("53", "986"),
            _field("54", members.amount_text()),
            _field("58", "BR"),
            _field("59", _fold(members.text("name", 25, is_required=True))),
            _field("60", _fold(members.text("city", 15, is_required=True))),
            _field("62", _field("05", reference or "***")),
            "6304",
        )
    )
    if not content.isascii():
        raise InvalidPaymentError('"pix-qr" takes letters of the Latin alphabet')
    return f"{content}{crc_hqx(content.encode(), 0xFFFF):04X}".encode()


def write_zbp(payment: Mapping[str, object]) -> bytes:
    """Return a Polish code of the banks' association (ZBP, recommendation on 2D codes).

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("zbp-qr", payment)
    members.check_members(("iban", "name", "amount", "message", "tax_number"))
    iban = members.iban()
    if not re.fullmatch(r"PL[0-9]{26}", iban):
        raise members.error("iban", f'is of "{iban[:2]}"; only accounts of PL can be paid')
    amount = members.amount(most=Decimal("9999.99"))
    tax_number = read_nip(members, "tax_number")
    name, message = members.text("name", 20, is_required=True), members.text("message", 32)
    for member, text in (("name", name), ("message", message)):
        if "|" in text:
            raise members.error(member, 'holds "|", which separates values')
    grosze = "000000" if amount is None else f"{int(amount * 100):06}"
    return "|".join((tax_number, "PL", iban[2:], grosze, name, message, "", "", "")).encode()


def _pix_key(members: PaymentRecord) -> str:
    key = members.text("key", 77, is_required=True)
    uuid = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    if re.fullmatch(rf"\+55[0-9]{{10,11}}|{uuid}|[a-z0-9._+-]+@[a-z0-9.-]+\.[a-z]+", key):
        return key
    if re.fullmatch(r"[0-9]{11}", key) and len(set(key)) > 1 and cpf.is_valid(key):
        return key
    if re.fullmatch(r"[0-9]{14}", key) and len(set(key)) > 1 and cnpj.is_valid(key):
        return key
    raise members.error(
        "key",
        f'is "{key[:4]}…", not an e-mail address, a phone number such as +5511999998888, a CPF or '
        "CNPJ with its check digits, or a random key",
    )


def _field(name: str, value: str) -> str:
    return f"{name}{len(value):02}{value}" if value else ""


def _fold(text: str) -> str:
    """Return a text without accents, as the fields of a BR Code hold it."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


def read_nip(members: PaymentRecord, member: str, *, is_required: bool = False) -> str:
    """Return a Polish tax number after checking its check digit, empty if it is missing.

    Raises:
        InvalidPaymentError: it is not a tax number.
    """
    number = members.matching(member, _NIP, "10 digits", is_required=is_required)
    if number and not nip.is_valid(number):
        raise members.error(member, f'has a wrong check digit: "{number}"')
    return number


# --- Slovenian UPN QR (ZBS) -------------------------------------------------------------------

CHARSET: Final = "ISO-8859-2"
VERSION: Final = 15  # of the QR code, whatever its content
_ADDRESS: Final = 33  # characters of a name, a street or a town
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


def write_upn(payment: Mapping[str, object]) -> bytes:
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
        members.date("date", "{2}.{1}.{0}"),
        "X" if members.flag("urgent", default=False) else "",
        members.matching("purpose", _PURPOSE, "a code of four letters such as OTHR") or "OTHR",
        members.text("message", 42, is_required=True),
        members.date("due", "{2}.{1}.{0}"),
        members.iban(),
        _read_reference(members, _NO_REFERENCE),
        members.text("name", _ADDRESS, is_required=True),
        members.text("street", _ADDRESS),
        members.text("town", _ADDRESS, is_required=True),
    )
    content = "\n".join(lines) + "\n"
    return f"{content}{len(content):03}\n".encode(CHARSET)


def _read_payer(value: object) -> PaymentRecord:
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
        raise payer.error("iban", f'is of "{iban[:2]}"; a payer has an account of SI')
    return iban


def _read_reference(members: PaymentRecord, default: str) -> str:
    reference = members.compact("reference")
    if reference in ("", _NO_REFERENCE):
        return reference or default
    is_creditor_reference = reference.startswith("RF")
    pattern = _CREDITOR_REFERENCE if is_creditor_reference else _MODEL_REFERENCE
    if not pattern.fullmatch(reference) or len(reference) > _LONGEST_REFERENCE:
        raise members.error(
            "reference",
            f'is "{reference[:30]}", not one such as SI00 12-3456, RF18 5390 0754 7034 or SI99',
        )
    if is_creditor_reference and not passes_mod_97(reference):
        raise members.error("reference", f'has wrong check digits: "{reference}"')
    return reference


def _find_wrong(text: str) -> str | None:
    try:
        text.encode(CHARSET)
    except UnicodeEncodeError as wrong:
        return text[wrong.start]
    return None
