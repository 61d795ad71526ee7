"""Check digits of the numbers of parties (ISO 6523) that Peppol verifies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final


def _digits(text: str, length: int) -> list[int] | None:
    """Return the digits of a number of a length, None for another text."""
    compact = text.strip()
    if len(compact) != length or not (compact.isascii() and compact.isdigit()):
        return None
    return [int(sign) for sign in compact]


def is_gln(text: str) -> bool:
    """Return whether a text is a number of GS1 with its check digit, of any length."""
    digits = _digits(text, len(text.strip()))
    if not digits or len(digits) < 2:
        return False
    weighted = sum(
        digit * (3 if index % 2 == 0 else 1) for index, digit in enumerate(digits[-2::-1])
    )
    return -weighted % 10 == digits[-1]


def is_norwegian(text: str) -> bool:
    """Return whether a text is a Norwegian organisation number, by its weighted sum modulo 11."""
    digits = _digits(text, 9)
    if digits is None or not any(digits):
        return False
    weighted = sum(
        digit * weight for digit, weight in zip(digits, (3, 2, 7, 6, 5, 4, 3, 2), strict=False)
    )
    return -weighted % 11 == digits[-1]


def is_danish(text: str) -> bool:
    """Return whether a text is eight digits, with or without DK before them."""
    return _digits(text.removeprefix("DK"), 8) is not None


def is_belgian(text: str) -> bool:
    """Return whether a text is a Belgian enterprise number, by its check digits modulo 97."""
    if _digits(text, 10) is None:
        return False
    number = text.strip()
    return int(number[8:]) == 97 - int(number[:8]) % 97


def is_swedish(text: str) -> bool:
    """Return whether a text is a Swedish organisation number, by the Luhn algorithm."""
    digits = _digits(text, 10)
    if digits is None:
        return False
    doubled = [digit * (2 - index % 2) for index, digit in enumerate(digits)]
    return sum(digit // 10 + digit % 10 for digit in doubled) % 10 == 0


def is_australian(text: str) -> bool:
    """Return whether a text is an Australian business number, by its weighted sum modulo 89."""
    digits = _digits(text, 11)
    if digits is None:
        return False
    weights = (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
    digits[0] -= 1
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 89 == 0


# By scheme of ISO 6523: the rule, what a number must be, and the check.
NUMBER_CHECKS: Final[dict[str, tuple[str, str, Callable[[str], bool]]]] = {
    "0088": ("PEPPOL-COMMON-R040", "a GLN with its check digit", is_gln),
    "0192": ("PEPPOL-COMMON-R041", "a Norwegian organisation number", is_norwegian),
    "0184": ("PEPPOL-COMMON-R042", "eight digits, with or without DK", is_danish),
    "0208": ("PEPPOL-COMMON-R043", "a Belgian enterprise number", is_belgian),
    "0007": ("PEPPOL-COMMON-R049", "a Swedish organisation number", is_swedish),
    "0151": ("PEPPOL-COMMON-R050", "an Australian business number", is_australian),
}
