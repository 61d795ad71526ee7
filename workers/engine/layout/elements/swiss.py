"""The Swiss QR code: its content and its cross (SIX, Implementation Guidelines QR-bill, version 2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from workers.engine.layout.elements.payments import Members, WrongPaymentError

MAX_BYTES: Final = 997  # version 25 at level M, the largest that is allowed (6.1)
SIDE: Final = 46  # millimetres, whatever it holds (6.4)
QUIET: Final = 5  # millimetres around it (3.5.2)
GRAIN: Final = 92  # parts of a module: of n modules on 46 mm, a millimetre is 2n of them

_SLIVER: Final = GRAIN // 3
_CROSS: Final = 7  # millimetres, with its white edge (6.4.2)

_MEMBERS: Final = (
    *("iban", "creditor", "amount", "currency", "debtor"),
    *("reference", "message", "billing", "procedures"),
)
_ADDRESS: Final = ("name", "street", "number", "postal_code", "town", "country")
_CURRENCIES: Final = ("CHF", "EUR")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
# Latin only, since 2.3 with Extended-A (4.1.1).
_WRONG_SIGN: Final = re.compile("[^\u0020-\u007e\u00a0-\u017f\u0218-\u021b\u20ac]")
_ACCOUNT_LENGTH: Final = 21
_NOTICES: Final = (  # what a bill of 0.00 must say (4.3.4)
    "NICHT ZUR ZAHLUNG VERWENDEN",
    "NE PAS UTILISER POUR LE PAIEMENT",
    "NON UTILIZZARE PER IL PAGAMENTO",
    "DO NOT USE FOR PAYMENT",
)

Rectangle = tuple[int, int, int, int]


def write_swiss_payment(payment: Mapping[str, Any]) -> bytes:
    """Write the content of a Swiss QR code: the data of a bill, line by line (4.2).

    Raises:
        WrongPaymentError: a member is missing or wrong.
    """
    members = Members("swiss-qr", payment, find_wrong=_find_wrong_sign)
    members.accept(_MEMBERS)
    account = _account(members)
    reference = _reference(members, account)
    message, billing = members.text("message", 140), members.text("billing", 140)
    if len(message) + len(billing) > 140:
        raise WrongPaymentError(
            f'"message" and "billing" of "swiss-qr" have {len(message) + len(billing)} characters '
            "together, at most 140 are allowed"
        )
    lines = [
        *("SPC", "0200", "1", account),
        *_address(members, "creditor", is_required=True),
        *("",) * 7,  # the ultimate creditor, which is not in use yet
        *_amount(members, message),
        *_address(members, "debtor"),
        *reference,
        message,
        "EPD",
        *_additions(members, billing),
    ]
    content = "\n".join(lines).encode()
    if len(content) > MAX_BYTES:
        raise WrongPaymentError(
            f'"swiss-qr" holds {MAX_BYTES} bytes, these values need {len(content)}; shorten "message"'
        )
    return content


def place_cross(rectangles: Iterable[Rectangle], modules: int) -> Iterator[Rectangle]:
    """Give the modules in parts of a module, with the Swiss cross in the middle instead of theirs."""
    half = GRAIN * modules // 2
    reach = _CROSS * modules  # half of it, in parts
    low, high = half - reach, half + reach
    for rectangle in rectangles:
        x, y, width, height = (GRAIN * value for value in rectangle)
        yield from _outside(x, y, x + width, y + height, low, high)
    for x1, y1, x2, y2 in _DRAWN_CROSS:
        left, top, right, bottom = (
            low + round(2 * reach * edge / _CROSS_SIDE) for edge in (x1, y1, x2, y2)
        )
        yield left, top, right - left, bottom - top


# The black of the cross as SIX publishes it, in a square of 19.8: the field around the white arms.
_CROSS_SIDE: Final = 19.8
_FIELD, _FIELD_END = 1.4, 18.4
_ARMS, _ARMS_END = 4.4, 15.4  # of the one across; the one down is as long
_ARM, _ARM_END = 8.25, 11.55
_DRAWN_CROSS: Final = (
    (_FIELD, _FIELD, _FIELD_END, _ARMS),
    (_FIELD, _ARMS_END, _FIELD_END, _FIELD_END),
    (_FIELD, _ARMS, _ARMS, _ARMS_END),
    (_ARMS_END, _ARMS, _FIELD_END, _ARMS_END),
    (_ARMS, _ARMS, _ARM, _ARM),
    (_ARM_END, _ARMS, _ARMS_END, _ARM),
    (_ARMS, _ARM_END, _ARM, _ARMS_END),
    (_ARM_END, _ARM_END, _ARMS_END, _ARMS_END),
)


def _outside(
    left: int, top: int, right: int, bottom: int, low: int, high: int
) -> Iterator[Rectangle]:
    """Cut a rectangle where the square from `low` to `high` lies over it; slivers are dropped."""
    if right <= low or left >= high or bottom <= low or top >= high:
        yield left, top, right - left, bottom - top
        return
    between = max(top, low), min(bottom, high)
    for x1, y1, x2, y2 in (
        (left, top, right, low),
        (left, high, right, bottom),
        (left, between[0], low, between[1]),
        (high, between[0], right, between[1]),
    ):
        if x2 - x1 >= _SLIVER and y2 - y1 >= _SLIVER:
            yield x1, y1, x2 - x1, y2 - y1


# --- members ----------------------------------------------------------------------------------------


def _find_wrong_sign(text: str) -> str | None:
    found = _WRONG_SIGN.search(text)
    return found[0] if found else None


def _account(members: Members) -> str:
    account = members.iban()
    if account[:2] not in ("CH", "LI") or len(account) != _ACCOUNT_LENGTH:
        raise members.wrong(
            "iban", f'is of "{account[:2]}"; only accounts of CH and LI can be paid'
        )
    return account


def _is_qr_account(account: str) -> bool:
    """Tell whether an account takes QR references only, by its institution (4.3.3)."""
    return account[4:9].isdigit() and 30000 <= int(account[4:9]) <= 31999


def _reference(members: Members, account: str) -> tuple[str, str]:
    """Give the type of the reference and itself, as the account demands."""
    written = members.compact("reference")
    if _is_qr_account(account):
        return "QRR", _qr_reference(members, written)
    if not written:
        return "NON", ""
    if written.isdigit():
        raise members.wrong(
            "reference",
            "is a QR reference, which only a QR-IBAN takes; this account takes one that starts with "
            "RF (ISO 11649), or none",
        )
    return "SCOR", members.creditor_reference()


def _qr_reference(members: Members, written: str) -> str:
    if not re.fullmatch(r"[0-9]{26,27}", written, re.ASCII) or not written.strip("0"):
        what = f'is "{written[:27]}"' if written else "is missing"
        raise members.wrong("reference", f"{what}; a QR-IBAN needs a QR reference of 27 digits")
    if len(written) == 26:
        return written + str(_check_digit(written))
    if _check_digit(written[:-1]) != int(written[-1]):
        raise members.wrong(
            "reference",
            f"ends in {written[-1]}, but its check digit is {_check_digit(written[:-1])}",
        )
    return written


def _check_digit(digits: str) -> int:
    """Give the check digit of a QR reference (modulo 10, recursive)."""
    carry = 0
    for digit in digits:
        carry = (0, 9, 4, 6, 8, 2, 7, 1, 3, 5)[(carry + int(digit)) % 10]
    return (10 - carry) % 10


def _amount(members: Members, message: str) -> tuple[str, str]:
    currency = members.text("currency", 3) or "CHF"
    if currency not in _CURRENCIES:
        raise members.wrong("currency", f'is "{currency}"; accepted are CHF and EUR')
    least = Decimal(0) if message in _NOTICES else Decimal("0.01")
    amount = members.amount(least=least)
    return "" if amount is None else f"{amount:.2f}", currency


def _address(members: Members, name: str, *, is_required: bool = False) -> tuple[str, ...]:
    """Give a structured address; combined ones are no longer accepted (4.2.2)."""
    record = members.record.get(name)
    if not record and not is_required:
        return ("",) * 7
    if not isinstance(record, Mapping):
        raise WrongPaymentError(
            f'"swiss-qr" needs the member "{name}" with {", ".join(_ADDRESS)}'
            if record is None
            else f'"{name}" of "swiss-qr" must be an object with {", ".join(_ADDRESS)}'
        )
    address = Members("swiss-qr", record, f"{name}.", _find_wrong_sign)
    address.accept(_ADDRESS)
    country = address.compact("country", is_required=True)
    if not _COUNTRY.fullmatch(country):
        raise address.wrong("country", f'is "{country[:20]}", not a code of two letters such as CH')
    return (
        "S",
        address.text("name", 70, is_required=True),
        address.text("street", 70),
        address.text("number", 16),
        address.text("postal_code", 16, is_required=True),
        address.text("town", 35, is_required=True),
        country,
    )


def _additions(members: Members, billing: str) -> list[str]:
    """Give what may follow the end of the payment data, as far as there is any."""
    given = members.record.get("procedures") or []
    if not isinstance(given, list | tuple) or len(given) > 2:
        raise members.wrong("procedures", "must be a list of at most two texts")
    numbered = {str(at): text for at, text in enumerate(given, start=1)}
    listed = Members("swiss-qr", numbered, "procedures.", _find_wrong_sign)
    procedures = [listed.text(at, 100, is_required=True) for at in numbered]
    lines = [billing, *procedures]
    return lines if any(lines) else []
