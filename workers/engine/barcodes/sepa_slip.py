"""The printed values and words of a SEPA payment slip, read from the content of its code (EPC069-12)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from workers.engine.barcodes.payments import write_sepa_payment
from workers.engine.data_tables import read_groups


class SlipTexts(NamedTuple):
    """The words of a slip in one language; `code` is the alternative text of the code, not printed."""

    title: str
    beneficiary: str
    amount: str
    reference: str
    remittance: str
    scan: str
    code: str


SLIP_TEXTS: Final = {
    language: SlipTexts(**texts)
    for language, texts in read_groups(__package__, "slip_texts.txt").items()
}


class SepaSlip(NamedTuple):
    """The printed values of a slip; empty if not given, `amount` None if the payer fills it in."""

    name: str
    iban: str
    bic: str
    amount: Decimal | None
    reference: str
    remittance: str


_LINES: Final = 12
# Lines of the content by position.
_BIC, _NAME, _IBAN, _AMOUNT, _REFERENCE, _REMITTANCE = 4, 5, 6, 7, 9, 10
_CURRENCY: Final = "EUR"


def read_sepa_slip(payment: Mapping[str, Any]) -> SepaSlip:
    """Return the printed values of a slip.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    lines = write_sepa_payment(payment, "payment-slip").decode().split("\n")
    lines += [""] * (_LINES - len(lines))
    amount = lines[_AMOUNT].removeprefix(_CURRENCY)
    return SepaSlip(
        name=lines[_NAME],
        iban=_group(lines[_IBAN]),
        bic=lines[_BIC],
        amount=Decimal(amount) if amount else None,
        reference=_group(lines[_REFERENCE]),
        remittance=lines[_REMITTANCE],
    )


def _group(code: str) -> str:
    """Return an account or creditor reference in groups of four, as both are printed."""
    return " ".join(code[at : at + 4] for at in range(0, len(code), 4))
