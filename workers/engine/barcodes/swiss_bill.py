"""The printed values of a Swiss QR-bill, read from the content of its code: both say the same.

SIX, Implementation Guidelines QR-bill, version 2.3: formats in 3.5, headings in annex D.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from workers.engine.barcodes.swiss_qr import write_swiss_payment
from workers.engine.data_tables import read_groups


class BillTexts(NamedTuple):
    """The headings of a payment part in one language."""

    payment_part: str
    receipt: str
    account: str
    reference: str
    information: str
    currency: str
    amount: str
    acceptance_point: str
    separate: str
    debtor: str
    blank_debtor: str
    code: str  # the alternative text of the code, which is not printed


BILL_TEXTS: Final = {
    language: BillTexts(**texts)
    for language, texts in read_groups(__package__, "bill_texts.txt").items()
}


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


def read_swiss_bill(payment: Mapping[str, Any]) -> SwissBill:
    """Return the printed values of a bill.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    lines = write_swiss_payment(payment, "qr-bill").decode().split("\n")
    further = (lines[_MESSAGE], *lines[_BILLING : _BILLING + 1])
    return SwissBill(
        iban=_group_from_left(lines[_IBAN]),
        creditor=_address(lines[_CREDITOR : _CREDITOR + _ADDRESS_LINES]),
        currency=lines[_CURRENCY],
        amount=_group_amount(lines[_AMOUNT]),
        debtor=_address(lines[_DEBTOR : _DEBTOR + _ADDRESS_LINES]),
        reference=_group_reference(lines[_REFERENCE_TYPE], lines[_REFERENCE]),
        information=tuple(filter(None, further)),
        procedures=tuple(filter(None, lines[_PROCEDURES:])),
    )


def _address(lines: list[str]) -> tuple[str, ...]:
    """Return the printed lines of a structured address; the country is left out at home (3.5.4)."""
    kind, name, street, number, postal_code, town, country = lines
    if not kind:
        return ()
    place = f"{postal_code} {town}" if country == "CH" else f"{country}-{postal_code} {town}"
    return tuple(filter(None, (name, f"{street} {number}".strip(), place)))


def _group_from_left(code: str) -> str:
    return " ".join(code[at : at + 4] for at in range(0, len(code), 4))


def _group_reference(kind: str, reference: str) -> str:
    if kind != "QRR":
        return _group_from_left(reference)
    fives = (reference[at : at + 5] for at in range(2, len(reference), 5))
    return " ".join((reference[:2], *fives))


def _group_amount(amount: str) -> str:
    return f"{_decimal_groups(amount[:-3])}{amount[-3:]}" if amount else ""


def _decimal_groups(digits: str) -> str:
    return f"{int(digits):,}".replace(",", " ")
