"""The Swiss QR code and the printed values of its bill (SIX, Implementation Guidelines QR-bill, version 2.3).

The values of a bill are read from the content of its code, so that both say the same: formats in
3.5, headings in annex D.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from stdnum.ch import esr

from workers.engine.barcodes.payments import (
    InvalidPaymentError,
    PaymentRecord,
    group_by_four,
    list_countries,
)
from workers.engine.data_tables import read_groups

MAX_BYTES: Final = 997  # version 25 at level M, the largest allowed (6.1)
_MEMBERS: Final = (
    *("iban", "creditor", "amount", "currency", "debtor"),
    *("reference", "message", "billing", "procedures"),
)
_ADDRESS: Final = ("name", "street", "number", "postal_code", "town", "country")
_CURRENCIES: Final = ("CHF", "EUR")
_KOSOVO: Final = "XK"  # has no code of ISO 3166-1, but of banks
# Latin only, since 2.3 with Extended-A (4.1.1).
_WRONG_SIGN: Final = re.compile("[^\u0020-\u007e\u00a0-\u017f\u0218-\u021b\u20ac]")
_ACCOUNT_LENGTH: Final = 21
NOTICES: Final = {  # required on a bill of 0.00, by its language (4.3.4)
    "de": "NICHT ZUR ZAHLUNG VERWENDEN",
    "fr": "NE PAS UTILISER POUR LE PAIEMENT",
    "it": "NON UTILIZZARE PER IL PAGAMENTO",
    "en": "DO NOT USE FOR PAYMENT",
}
# Signs as people and word processors type them, and what stands for them in the accepted set.
_TYPED: Final = {
    **dict.fromkeys(
        "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u055a\ua78c\uff07", "'"
    ),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u02ba\uff02", '"'),
    **dict.fromkeys("\u2039", "<"),
    **dict.fromkeys("\u203a", ">"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2022\u2027\u22c5", "\u00b7"),
    **dict.fromkeys("\u2044\u2215", "/"),
    "\u1e9e": "SS",  # the only letter whose small one is accepted
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f", ""),
}
_MAX_ADAPTED: Final = 1000  # characters of a text; no member takes as many


def write_swiss_payment(payment: Mapping[str, object], name: str = "swiss-qr") -> bytes:
    """Return the content of a Swiss QR code: the data of a bill, line by line (4.2).

    `name` is what messages call the code.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    payment, _ = adapt_signs(payment)
    members = PaymentRecord(name, payment, find_wrong=_find_wrong_sign)
    members.check_members(_MEMBERS)
    account = _account(members)
    reference = _reference(members, account)
    message, billing = members.text("message", 140), members.text("billing", 140)
    if len(message) + len(billing) > 140:
        raise InvalidPaymentError(
            f'"message" and "billing" of "{name}" have {len(message) + len(billing)} characters '
            "together, at most 140 are allowed"
        )
    lines = [
        *("SPC", "0200", "1", account),
        *_address(members, "creditor", is_required=True),
        *("",) * 7,  # the ultimate creditor, reserved for future use
        *_amount(members, message),
        *_address(members, "debtor"),
        *reference,
        message,
        "EPD",
        *_additions(members, billing),
    ]
    return members.bounded("\n".join(lines).encode(), MAX_BYTES, "message")


def adapt_signs(payment: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """Return a bill with typed signs replaced by accepted ones, and those that were replaced.

    Letters and their accents are composed first, which is not counted: they look the same.
    """
    replaced: dict[str, None] = {}

    def adapt(value: object, depth: int) -> Any:
        if isinstance(value, Mapping) and depth < 2:
            return {name: adapt(one, depth + 1) for name, one in value.items()}
        if isinstance(value, list | tuple) and depth < 2 and len(value) <= 2:
            return [adapt(one, depth + 1) for one in value]
        if isinstance(value, str) and len(value) <= _MAX_ADAPTED and not value.isascii():
            return "".join(map(adapt_sign, unicodedata.normalize("NFC", value)))
        return value

    def adapt_sign(sign: str) -> str:
        if sign.isspace() or not _WRONG_SIGN.match(sign):
            return sign
        other = _TYPED.get(sign)
        if other is None:  # a ligature, or a letter with a mark that is not accepted
            plain = unicodedata.normalize("NFKD", sign)
            other = "".join(one for one in plain if not unicodedata.combining(one))
        if other == sign or _WRONG_SIGN.search(other):
            return sign
        replaced[sign] = None
        return other

    return adapt(payment, 0), "".join(replaced)


# --- members ----------------------------------------------------------------------------------------


def _find_wrong_sign(text: str) -> str | None:
    found = _WRONG_SIGN.search(text)
    return found[0] if found else None


def _account(members: PaymentRecord) -> str:
    account = members.iban()
    if account[:2] not in ("CH", "LI") or len(account) != _ACCOUNT_LENGTH:
        raise members.error(
            "iban", f'is of "{account[:2]}"; only accounts of CH and LI can be paid'
        )
    return account


def _is_qr_account(account: str) -> bool:
    """Return whether an account accepts QR references only, by its institution (4.3.3)."""
    return account[4:9].isdigit() and 30000 <= int(account[4:9]) <= 31999


def _reference(members: PaymentRecord, account: str) -> tuple[str, str]:
    """Return the type and value of the reference that the account requires."""
    written = members.compact("reference")
    if _is_qr_account(account):
        return "QRR", _qr_reference(members, written)
    if not written:
        return "NON", ""
    if written.isdigit():
        raise members.error(
            "reference",
            "is a QR reference, which only a QR-IBAN takes; this account takes one that starts with "
            "RF (ISO 11649), or none",
        )
    return "SCOR", members.creditor_reference()


def _qr_reference(members: PaymentRecord, written: str) -> str:
    if not re.fullmatch(r"[0-9]{26,27}", written, re.ASCII) or not written.strip("0"):
        what = f'is "{written[:27]}"' if written else "is missing"
        raise members.error("reference", f"{what}; a QR-IBAN needs a QR reference of 27 digits")
    if len(written) == 26:
        return written + esr.calc_check_digit(written)
    right = esr.calc_check_digit(written[:-1])
    if written[-1] != right:
        raise members.error("reference", f"ends in {written[-1]}, but its check digit is {right}")
    return written


def _amount(members: PaymentRecord, message: str) -> tuple[str, str]:
    currency = members.text("currency", 3) or "CHF"
    if currency not in _CURRENCIES:
        raise members.error("currency", f'is "{currency}"; accepted are CHF and EUR')
    amount = members.amount(least=Decimal(0))
    if amount == 0 and message not in NOTICES.values():
        raise members.error(
            "amount", f'is 0, which is accepted with the message "{NOTICES["en"]}", in any language'
        )
    return "" if amount is None else f"{amount:.2f}", currency


def _address(members: PaymentRecord, name: str, *, is_required: bool = False) -> tuple[str, ...]:
    """Return a structured address; combined ones are no longer accepted (4.2.2)."""
    record = members.record.get(name)
    if not record and not is_required:
        return ("",) * 7
    if not isinstance(record, Mapping):
        raise InvalidPaymentError(
            f'"{members.symbology}" needs the member "{name}" with {", ".join(_ADDRESS)}'
            if record is None
            else f'"{name}" of "{members.symbology}" must be an object with {", ".join(_ADDRESS)}'
        )
    address = PaymentRecord(members.symbology, record, f"{name}.", _find_wrong_sign)
    address.check_members(_ADDRESS)
    country = address.compact("country", is_required=True)
    if country != _KOSOVO and country not in list_countries():
        raise address.error("country", f'is "{country[:20]}", not a code of ISO 3166-1 such as CH')
    return (
        "S",
        address.text("name", 70, is_required=True),
        address.text("street", 70),
        address.text("number", 16),
        address.text("postal_code", 16, is_required=True),
        address.text("town", 35, is_required=True),
        country,
    )


def _additions(members: PaymentRecord, billing: str) -> list[str]:
    """Return the optional lines after the end of the payment data."""
    given = members.record.get("procedures") or []
    if not isinstance(given, list | tuple) or len(given) > 2:
        raise members.error("procedures", "must be a list of at most two texts")
    numbered = {str(at): text for at, text in enumerate(given, start=1)}
    listed = PaymentRecord(members.symbology, numbered, "procedures.", _find_wrong_sign)
    procedures = [listed.text(at, 100, is_required=True) for at in numbered]
    lines = [billing, *procedures]
    return lines if any(lines) else []


# The headings of a payment part by language; `code` is the alternative text of the code, not printed.
BILL_TEXTS: Final = read_groups(__package__, "bill_texts.txt")


class SwissBill(NamedTuple):
    """The printed values of a bill; `amount` and `debtor` are empty if the payer fills them in."""

    iban: str
    creditor: tuple[str, ...]
    currency: str
    amount: str
    debtor: tuple[str, ...]
    reference: str
    information: tuple[str, ...]
    procedures: tuple[str, ...]


_ADDRESS_LINES: Final = 7
# Lines of the content by position (4.2.2).
_IBAN, _CREDITOR, _AMOUNT, _CURRENCY, _DEBTOR = 3, 4, 18, 19, 20
_REFERENCE_TYPE, _REFERENCE, _MESSAGE, _BILLING, _PROCEDURES = 27, 28, 29, 31, 32


def read_swiss_bill(payment: Mapping[str, object]) -> SwissBill:
    """Return the printed values of a bill.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    lines = write_swiss_payment(payment, "qr-bill").decode().split("\n")
    further = (lines[_MESSAGE], *lines[_BILLING : _BILLING + 1])
    amount = lines[_AMOUNT]
    return SwissBill(
        iban=group_by_four(lines[_IBAN]),
        creditor=_print_address(lines[_CREDITOR : _CREDITOR + _ADDRESS_LINES]),
        currency=lines[_CURRENCY],
        amount=f"{Decimal(amount):,}".replace(",", " ") if amount else "",
        debtor=_print_address(lines[_DEBTOR : _DEBTOR + _ADDRESS_LINES]),
        reference=_group_reference(lines[_REFERENCE_TYPE], lines[_REFERENCE]),
        information=tuple(filter(None, further)),
        procedures=tuple(filter(None, lines[_PROCEDURES:])),
    )


def _print_address(lines: list[str]) -> tuple[str, ...]:
    """Return the printed lines of a structured address; the country is left out at home (3.5.4)."""
    kind, name, street, number, postal_code, town, country = lines
    if not kind:
        return ()
    place = f"{postal_code} {town}" if country == "CH" else f"{country}-{postal_code} {town}"
    return tuple(filter(None, (name, f"{street} {number}".strip(), place)))


def _group_reference(kind: str, reference: str) -> str:
    if kind != "QRR":
        return group_by_four(reference)
    fives = (reference[at : at + 5] for at in range(2, len(reference), 5))
    return " ".join((reference[:2], *fives))
