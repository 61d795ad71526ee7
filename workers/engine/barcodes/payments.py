"""Payment codes: payment data checked and serialised by the standards of banks.

Members, accounts, references and amounts are common to SEPA (EPC069-12) and Switzerland
(swiss_qr.py). A SEPA payment slip is read from the content of its code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Final, NamedTuple

from babel.core import get_global

from workers.engine.data_tables import read_groups

MAX_AMOUNT: Final = Decimal("999999999.99")
MAX_EPC_BYTES: Final = 331

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
BIC: Final = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_PURPOSE: Final = re.compile(r"[A-Z0-9]{1,4}")
_CREDITOR_REFERENCE: Final = re.compile(r"RF[0-9]{2}[A-Z0-9]{1,21}")
_EPC_MEMBERS: Final = (
    *("name", "iban", "bic", "amount", "currency"),
    *("purpose", "reference", "text", "information"),
)


class InvalidPaymentError(Exception):
    """A missing or invalid member of a payment; the message names it and the reason."""


@dataclass(frozen=True, slots=True)
class PaymentRecord:
    """A record of payment data with checked access to its members; `path` is its place in the payment."""

    symbology: str
    record: Mapping[str, object]
    path: str = ""
    # Returns the first character that is not accepted.
    find_wrong: Callable[[str], str | None] = lambda _: None

    def check_members(self, names: Sequence[str]) -> None:
        """Raise an error for members of other names."""
        for member in self.record:
            if member not in names:
                what = f'"{self.path.rstrip(".")}" of ' if self.path else ""
                raise InvalidPaymentError(
                    f'{what}"{self.symbology}" has no member "{member}"; it takes {", ".join(names)}'
                )

    def text(self, member: str, limit: int, *, is_required: bool = False) -> str:
        """Return a text with collapsed white space, empty if it is missing."""
        value = self.record.get(member)
        if value is None or value == "":
            if is_required:
                raise InvalidPaymentError(
                    f'"{self.symbology}" needs the member "{self.path}{member}"'
                )
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise self.error(member, "must be a text")
        text = " ".join(str(value).split())
        if len(text) > limit:
            raise self.error(member, f"has {len(text)} characters, at most {limit} are allowed")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.error(member, "contains a lone surrogate, which is not a character")
        sign = self.find_wrong(text)
        if sign is not None:
            raise self.error(member, f'holds "{sign}" (U+{ord(sign):04X}), which is not accepted')
        return text

    def compact(self, member: str, *, is_required: bool = False) -> str:
        """Return a text in capitals without spaces."""
        return self.text(member, 70, is_required=is_required).replace(" ", "").upper()

    def matching(
        self, member: str, pattern: re.Pattern[str], wanted: str, *, is_required: bool = False
    ) -> str:
        """Return a compact text that matches a pattern, or an empty one."""
        value = self.compact(member, is_required=is_required)
        if value and not pattern.fullmatch(value):
            raise self.error(member, f'is "{value[:20]}", not {wanted}')
        return value

    def choice(self, member: str, choices: Iterable[str]) -> str:
        """Return one of some words, the first if it is missing."""
        value = self.text(member, 20) or next(iter(choices))
        if value not in choices:
            raise self.error(member, f"is not one of {', '.join(choices)}")
        return value

    def flag(self, member: str, *, default: bool) -> bool:
        """Return a truth value."""
        value = self.record.get(member)
        if value is not None and not isinstance(value, bool):
            raise self.error(member, "must be true or false")
        return default if value is None else value

    def date(self, member: str, form: str, *, is_required: bool = False) -> str:
        """Return a date in a form of its year, month and day, empty if it is missing."""
        text = self.text(member, 10, is_required=is_required)
        if text and not (_DATE.fullmatch(text) and is_moment(text)):
            raise self.error(member, f'is "{text}", not a date such as 2026-12-31')
        return text and form.format(*text.split("-"))

    def iban(self) -> str:
        """Return the IBAN after checking its check digits."""
        iban = self.compact("iban", is_required=True)
        if not _IBAN.fullmatch(iban):
            raise self.error("iban", f'is not an IBAN: "{_masked(iban)}"')
        if not passes_mod_97(iban):
            raise self.error("iban", f'has wrong check digits: "{_masked(iban)}"')
        return iban

    def creditor_reference(self) -> str:
        """Return a creditor reference (ISO 11649), or an empty text."""
        wanted = "a creditor reference that starts with RF (ISO 11649)"
        reference = self.matching("reference", _CREDITOR_REFERENCE, wanted)
        if reference and not passes_mod_97(reference):
            raise self.error("reference", f'has wrong check digits: "{reference}"')
        return reference

    def amount(
        self, *, least: Decimal = Decimal("0.01"), most: Decimal = MAX_AMOUNT
    ) -> Decimal | None:
        """Return the amount with at most two decimals, None when the payer is to fill it in."""
        text = self.text("amount", 40)
        if not text:
            return None
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise self.error("amount", f'is "{text[:20]}", not a number') from None
        if not amount.is_finite() or not least <= amount <= most:
            raise self.error("amount", f"is {text}, it must be from {least} to {most:f}")
        if amount != round(amount, 2):
            raise self.error("amount", f"is {text}, it may have two decimals; use round(2)")
        return amount

    def amount_text(self, most: Decimal = MAX_AMOUNT) -> str:
        """Return the amount with its two decimals, empty when the payer is to fill it in."""
        amount = self.amount(most=most)
        return "" if amount is None else f"{amount:.2f}"

    def bounded(self, content: bytes, most: int, member: str) -> bytes:
        """Return the content of a code after checking its size; `member` is one that can be shorter."""
        if len(content) > most:
            raise InvalidPaymentError(
                f'"{self.symbology}" holds {most} bytes, these values need {len(content)}; shorten "{member}"'
            )
        return content

    def error(self, member: str, what: str) -> InvalidPaymentError:
        """Return the error of a member."""
        return InvalidPaymentError(f'"{self.path}{member}" of "{self.symbology}" {what}')


def write_sepa_payment(payment: Mapping[str, object], user: str = "epc-qr") -> bytes:
    """Return the content of an epc-qr code (EPC069-12, version 2.1); messages name its user.

    Its 331 bytes fit version 13 at level M, the largest that the guideline allows.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord(user, payment)
    members.check_members(_EPC_MEMBERS)
    reference, text = members.creditor_reference(), members.text("text", 140)
    if reference and text:
        raise InvalidPaymentError(f'"{user}" takes either "reference" or "text", not both')
    lines = [
        *("BCD", "002", "1", "SCT"),
        members.matching("bic", BIC, "a BIC of 8 or 11 letters and digits"),
        members.text("name", 70, is_required=True),
        members.iban(),
        _amount_in_euros(members),
        members.matching("purpose", _PURPOSE, "1 to 4 capital letters or digits"),
        reference,
        text,
        members.text("information", 70),
    ]
    return members.bounded("\n".join(lines).rstrip("\n").encode(), MAX_EPC_BYTES, "text")


def is_moment(text: str) -> bool:
    """Return whether a date or time in ISO 8601 exists: 31 February does not."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def passes_mod_97(code: str) -> bool:
    """Return whether an IBAN or creditor reference has valid check digits (ISO 7064, mod 97-10)."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


@cache
def list_countries() -> frozenset[str]:
    """Return the codes of countries by ISO 3166-1 that the CLDR has: three digits, and two letters."""
    aliases = get_global("territory_aliases")
    own = {code: names for code, names in aliases.items() if code.isdigit() and code < "900"}
    return frozenset((*own, *(names[0] for names in own.values())))


def _amount_in_euros(members: PaymentRecord) -> str:
    currency = members.text("currency", 70)
    if currency not in ("", "EUR"):
        raise members.error("currency", f'is "{currency[:20]}"; only EUR can be paid')
    amount = members.amount_text()  # which version 2.1 makes optional
    return amount and f"EUR{amount}"


def _masked(iban: str) -> str:
    return f"{iban[:4]}…{iban[-2:]}"


# The words of a slip by language; `code` is the alternative text of the code, not printed.
SLIP_TEXTS: Final = read_groups(__package__, "slip_texts.txt")


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
_BIC_LINE, _NAME, _IBAN_LINE, _AMOUNT, _REFERENCE, _REMITTANCE = 4, 5, 6, 7, 9, 10
_CURRENCY: Final = "EUR"


def read_sepa_slip(payment: Mapping[str, object]) -> SepaSlip:
    """Return the printed values of a slip.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    lines = write_sepa_payment(payment, "payment-slip").decode().split("\n")
    lines += [""] * (_LINES - len(lines))
    amount = lines[_AMOUNT].removeprefix(_CURRENCY)
    return SepaSlip(
        name=lines[_NAME],
        iban=group_by_four(lines[_IBAN_LINE]),
        bic=lines[_BIC_LINE],
        amount=Decimal(amount) if amount else None,
        reference=group_by_four(lines[_REFERENCE]),
        remittance=lines[_REMITTANCE],
    )


def group_by_four(code: str) -> str:
    """Return an account or creditor reference in groups of four, as both are printed."""
    return " ".join(code[at : at + 4] for at in range(0, len(code), 4))
