"""Payment codes: records of payment data are checked and written as the standards of banks say.

What SEPA (EPC069-12) and Switzerland (swiss.py) share is here: members, accounts, references, amounts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

MAX_AMOUNT: Final = Decimal("999999999.99")
MAX_EPC_BYTES: Final = 331

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC: Final = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_PURPOSE: Final = re.compile(r"[A-Z0-9]{1,4}")
_CREDITOR_REFERENCE: Final = re.compile(r"RF[0-9]{2}[A-Z0-9]{1,21}")
_EPC_MEMBERS: Final = (
    *("name", "iban", "bic", "amount", "currency"),
    *("purpose", "reference", "text", "information"),
)


class WrongPaymentError(Exception):
    """A member of the payment is missing or wrong; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a record of payment data, read with checks; `path` leads to the record."""

    symbology: str
    record: Mapping[str, Any]
    path: str = ""
    find_wrong: Callable[[str], str | None] = lambda _: None  # the first sign that is not accepted

    def accept(self, names: Sequence[str]) -> None:
        """Refuse members of other names."""
        for member in self.record:
            if member not in names:
                what = f'"{self.path.rstrip(".")}" of ' if self.path else ""
                raise WrongPaymentError(
                    f'{what}"{self.symbology}" has no member "{member}"; it takes {", ".join(names)}'
                )

    def text(self, member: str, limit: int, *, is_required: bool = False) -> str:
        """Give a text with its white space collapsed; empty when it is not given."""
        value = self.record.get(member)
        if value is None or value == "":
            if is_required:
                raise WrongPaymentError(
                    f'"{self.symbology}" needs the member "{self.path}{member}"'
                )
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise self.wrong(member, "must be a text")
        text = " ".join(str(value).split())
        if len(text) > limit:
            raise self.wrong(member, f"has {len(text)} characters, at most {limit} are allowed")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.wrong(member, "holds half a character (a lone surrogate)")
        sign = self.find_wrong(text)
        if sign is not None:
            raise self.wrong(member, f'holds "{sign}" (U+{ord(sign):04X}), which is not accepted')
        return text

    def compact(self, member: str, *, is_required: bool = False) -> str:
        """Give a text in capitals without spaces."""
        return self.text(member, 70, is_required=is_required).replace(" ", "").upper()

    def matching(self, member: str, pattern: re.Pattern[str], wanted: str) -> str:
        """Give a compact text of a form, or an empty one."""
        value = self.compact(member)
        if value and not pattern.fullmatch(value):
            raise self.wrong(member, f'is "{value[:20]}", not {wanted}')
        return value

    def iban(self) -> str:
        """Give the account, whose check digits are right."""
        iban = self.compact("iban", is_required=True)
        if not _IBAN.fullmatch(iban):
            raise self.wrong("iban", f'is not an IBAN: "{_masked(iban)}"')
        if not passes_mod_97(iban):
            raise self.wrong("iban", f'has wrong check digits: "{_masked(iban)}"')
        return iban

    def creditor_reference(self) -> str:
        """Give a reference of ISO 11649, or an empty one."""
        wanted = "a creditor reference that starts with RF (ISO 11649)"
        reference = self.matching("reference", _CREDITOR_REFERENCE, wanted)
        if reference and not passes_mod_97(reference):
            raise self.wrong("reference", f'has wrong check digits: "{reference}"')
        return reference

    def amount(self, *, least: Decimal = Decimal("0.01")) -> Decimal | None:
        """Give the amount with two decimals, None when the payer is to fill it in."""
        text = self.text("amount", 40)
        if not text:
            return None
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise self.wrong("amount", f'is "{text[:20]}", not a number') from None
        if not amount.is_finite() or not least <= amount <= MAX_AMOUNT:
            raise self.wrong("amount", f"is {text}, it must be from 0.01 to {MAX_AMOUNT:f}")
        if amount != round(amount, 2):
            raise self.wrong("amount", f"is {text}, it may have two decimals; use round(2)")
        return amount

    def wrong(self, member: str, what: str) -> WrongPaymentError:
        """Give the error that says what is wrong with a member."""
        return WrongPaymentError(f'"{self.path}{member}" of "{self.symbology}" {what}')


def write_sepa_payment(payment: Mapping[str, Any]) -> bytes:
    """Write the content of an epc-qr code (EPC069-12, version 2.1).

    Its 331 bytes fit version 13 at level M, the largest the guideline allows.

    Raises:
        WrongPaymentError: a member is missing or wrong.
    """
    members = Members("epc-qr", payment)
    members.accept(_EPC_MEMBERS)
    reference, text = members.creditor_reference(), members.text("text", 140)
    if reference and text:
        raise WrongPaymentError('"epc-qr" takes either "reference" or "text", not both')
    lines = [
        *("BCD", "002", "1", "SCT"),
        members.matching("bic", _BIC, "a BIC of 8 or 11 letters and digits"),
        members.text("name", 70, is_required=True),
        members.iban(),
        _amount_in_euros(members),
        members.matching("purpose", _PURPOSE, "1 to 4 capital letters or digits"),
        reference,
        text,
        members.text("information", 70),
    ]
    content = "\n".join(lines).rstrip("\n").encode()
    if len(content) > MAX_EPC_BYTES:
        raise WrongPaymentError(
            f'"epc-qr" holds {MAX_EPC_BYTES} bytes, these values need {len(content)}; shorten "text"'
        )
    return content


def passes_mod_97(code: str) -> bool:
    """Check the digits of an IBAN or creditor reference (ISO 7064, mod 97-10)."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


def _amount_in_euros(members: Members) -> str:
    currency = members.text("currency", 70)
    if currency not in ("", "EUR"):
        raise members.wrong("currency", f'is "{currency[:20]}"; only EUR can be paid')
    amount = members.amount()
    return "" if amount is None else f"EUR{amount:.2f}"  # version 2.1 makes the amount optional


def _masked(iban: str) -> str:
    return f"{iban[:4]}…{iban[-2:]}"
