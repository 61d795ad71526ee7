"""GS1 element strings, written `(01)…(10)…`: application identifiers, their data and combinations.

The identifiers and the formats of their data are those of the package biip, which has them of GS1. What
a format does not state is here: check digits, codes of other lists, and which identifiers need or
exclude each other (GS1 General Specifications, 3 and 4.14).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Final

from stdnum import ean

from workers.engine.barcodes.payments import list_countries, passes_mod_97
from workers.engine.data_tables import read_groups

if TYPE_CHECKING:
    from biip.gs1_application_identifiers import GS1ApplicationIdentifier

MAX_GS1: Final = 2000  # characters of an element string; no symbol holds more


class InvalidValueError(Exception):
    """A value that its symbology does not accept; the message states the error and what is accepted."""


def match_value(pattern: str, value: str, accepted: str) -> re.Match[str]:
    """Return the match of a whole value.

    Raises:
        InvalidValueError: It does not match; the message says what is accepted.
    """
    found = re.fullmatch(pattern, value)
    if found is None:
        raise InvalidValueError(f'"{value[:40]}" is not accepted; it takes {accepted}')
    return found


_ELEMENT: Final = re.compile(r"\((\d{2,4})\)([^()]+)")
_TABLE: Final = read_groups(__package__, "gs1.txt")
_REQUIRED: Final = tuple(
    (whose, wanted) for whose, groups in _TABLE["requires"].items() for wanted in groups.split("; ")
)
_CHECKED_LENGTHS: Final = {"00": 18, "402": 17, "253": 13, "255": 13, "41": 13, "801": 18}
_AMOUNT: Final = re.compile(r"3[1-69]\d\d", re.ASCII)  # whose last digit is the number of decimals
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_PAIR_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_SET_82: Final = (
    "!\"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
)
_PRIMES: Final = (
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83
)  # fmt: skip


def read_element_string(value: str) -> str:
    """Check an element string and return it with missing check digits added.

    Raises:
        InvalidValueError: It has no brackets, an unknown identifier, or invalid data.
    """
    if len(value) > MAX_GS1:
        raise InvalidValueError(f"it has {len(value):,} characters, at most {MAX_GS1:,} are read")
    elements = _ELEMENT.findall(value)
    if not elements or "".join(f"({number}){data}" for number, data in elements) != value:
        raise InvalidValueError(
            f'"{_cut(value)}" is not a GS1 element string; write each identifier in brackets before '
            "its data: (01)09506000134352(10)AB-123"
        )
    numbers = [number for number, _ in elements]
    for number in numbers:
        if numbers.count(number) > 1:
            raise InvalidValueError(f"the identifier ({number}) is used twice")
    checked = "".join(f"({number}){_read_data(number, data)}" for number, data in elements)
    _check_combination(numbers)
    return checked


def complete_digits(digits: str, length: int, *, check: Callable[[str], str] | None = None) -> str:
    """Return a number of `length` digits whose last is its check digit, which is added if missing.

    `check` computes the digit from those before it, by default with the weights of GS1.

    Raises:
        InvalidValueError: It has other characters than digits, another length, or a wrong check
            digit.
    """
    if not digits.isascii() or not digits.isdigit():
        raise InvalidValueError(f'"{_cut(digits)}" contains characters other than digits')
    if len(digits) == length - 1:
        return digits + (check or ean.calc_check_digit)(digits)
    if len(digits) != length:
        raise InvalidValueError(
            f'"{_cut(digits)}" has {len(digits)} digits, accepted are {length}, or {length - 1} '
            "and the check digit is added"
        )
    right = (check or ean.calc_check_digit)(digits[:-1])
    if digits[-1] != right:
        raise InvalidValueError(f'"{digits}" ends in {digits[-1]}, but its check digit is {right}')
    return digits


def find_doubtful(value: str, completed: str) -> str | None:
    """Return a number to which a check digit was added though it ends in its own.

    Mostly it is an article number of 12 or 13 digits where one of 13 or 14 is asked for.
    """
    numbers: list[str] = re.findall(r"[0-9]+", value)
    completions = re.findall(r"[0-9]+", completed.replace(" ", ""))
    for given, made in zip(numbers, completions, strict=False):
        if made[:-1] == given and ean.calc_check_digit(given[:-1]) == given[-1]:
            return given
    return None


def _read_data(number: str, data: str) -> str:
    kinds = [kind for kind, numbers in _TABLE["kind"].items() if _is_one_of(number, numbers)]
    identifier = _find_identifier(number)
    if identifier is None:
        raise InvalidValueError(f"({number}) is not a GS1 application identifier")
    try:
        if "check digit" in kinds or "asset" in kinds:
            data = _complete(number, data)
        has_format = re.fullmatch(identifier.pattern, f"{number}{data}", re.ASCII) is not None
        for check, wanted in (_CHECKS[kind] for kind in kinds if kind in _CHECKS):
            if not has_format or not check(data):
                raise InvalidValueError(f'"{_cut(data)}" {wanted}')
        if not has_format:
            form = identifier.format.partition("+")[2]
            raise InvalidValueError(
                f'"{_cut(data)}" is not accepted; its format is {form}: N digits, X characters of the '
                "GS1 character set"
            )
        if _AMOUNT.fullmatch(number) and len(data) < int(number[-1]):
            raise InvalidValueError(f'"{data}" has fewer digits than its {number[-1]} decimals')
    except InvalidValueError as wrong:
        raise InvalidValueError(f"in ({number}) {wrong}") from None
    return data


@cache
def _find_identifier(number: str) -> GS1ApplicationIdentifier | None:
    # Loads the prefixes of all firms, 0.1 s, which nothing but GS1 codes needs.
    from biip import ParseError
    from biip.gs1_application_identifiers import GS1ApplicationIdentifier

    try:
        found = GS1ApplicationIdentifier.extract(number)
    except ParseError:
        return None
    return found if found.ai == number else None


def _complete(number: str, data: str) -> str:
    """Return data with the check digit of the number that they begin with; it is added if nothing follows."""
    start = 1 if number == "8003" else 0
    lengths = (size for prefix, size in _CHECKED_LENGTHS.items() if number.startswith(prefix))
    size = 13 if start else next(lengths, 14)
    has_rest = number in ("253", "255", "8003", "8006", "8026") and len(data) > start + size
    rest = data[start + size :] if has_rest else ""
    return (
        data[:start]
        + complete_digits(data[start : start + size] if rest else data[start:], size)
        + rest
    )


def _is_one_of(number: str, numbers: str) -> bool:
    return re.fullmatch(numbers.replace("N", "[0-9]").replace(" ", "|"), number) is not None


def _check_combination(numbers: list[str]) -> None:
    groups = [number[:3] for number in numbers if _AMOUNT.fullmatch(number)]
    if len(set(groups)) < len(groups):
        raise InvalidValueError("it states a measure or an amount twice, with other decimals")
    for whose, wanted in _REQUIRED:
        number = _find_one(numbers, whose)
        if number is not None and _find_one(numbers, wanted) is None:
            raise InvalidValueError(
                f"({number}) must have one of these beside it: {wanted.replace('N', 'n')}"
            )
    for whose, excluded in _TABLE["excludes"].items():
        number, other = _find_one(numbers, whose), _find_one(numbers, excluded)
        if number is not None and other is not None:
            raise InvalidValueError(f"({number}) and ({other}) exclude each other")


def _find_one(numbers: list[str], of: str) -> str | None:
    return next((number for number in numbers if _is_one_of(number, of)), None)


# --- data that a format does not describe ----------------------------------------------------------------


def _is_date(text: str, *, or_month: bool = False) -> bool:
    """Return whether a text is one or two dates of six digits, each maybe with a time of four."""
    for at in (0, 6) if len(text) == 12 else (0,):
        year, month, day = (int(text[at + n : at + n + 2]) for n in (0, 2, 4))
        try:
            date(2000 + year, month, day or (1 if or_month else 0))
        except ValueError:
            return False
    return len(text) != 10 or (text[6:8] < "24" and text[8:] < "60")


def _is_currency(text: str) -> bool:
    from iso4217 import Currency  # reads its list

    return int(text[:3]) in {one.number for one in Currency}


def _are_countries(text: str) -> bool:
    return all(text[at : at + 3] in list_countries() for at in range(0, len(text), 3))


def _has_check_pair(text: str) -> bool:
    """Return whether a global model number ends in its check characters (7.9.5)."""
    body = text[:-2]
    weighted = (
        _SET_82.index(sign) * prime for sign, prime in zip(reversed(body), _PRIMES, strict=False)
    )
    total = sum(weighted) % 1021
    return text[-2:] == _PAIR_LETTERS[total >> 5] + _PAIR_LETTERS[total & 31]


def _is_roll(text: str) -> bool:
    sizes = (text[:4], text[4:9], text[9:12])
    return all(size.strip("0") for size in sizes) and text[12] in "019"


# The check of each kind of data, and what the message says of data that fail it.
_CHECKS: Final[dict[str, tuple[Callable[[str], bool], str]]] = {
    "date, or month": (lambda text: _is_date(text, or_month=True), "is not a date; use yyMMdd, with dd 00 for a whole month"),
    "date": (_is_date, "is not a date; use yyMMdd"),
    "day and hour": (lambda text: _is_date(text[:6]), "is not a date with an hour; use yyMMddHH"),
    "currency": (_is_currency, "does not begin with the number of a currency (ISO 4217)"),
    "countries": (_are_countries, "are not numbers of countries (ISO 3166-1)"),
    "country": (lambda text: _are_countries(text[:3]) or text[:3] == "999", "does not begin with the number of a country (ISO 3166-1)"),
    "letters of a country": (lambda text: text in list_countries(), "is not the code of a country (ISO 3166-1)"),
    "position": (lambda text: int(text[:10]) <= 1_800_000_000 and int(text[10:]) <= 3_600_000_000, "is not a latitude of at most 180 and a longitude of at most 360 degrees"),
    "sex": (lambda text: text in "0129", "is not a code of ISO 5218: 0, 1, 2 or 9"),
    "roll": (_is_roll, "has a size of 0, or a direction of winding other than 0, 1 and 9"),
    "asset": (lambda text: text[0] == "0", "does not begin with 0"),
    "piece": (lambda text: 0 < int(text[14:16]) <= int(text[16:]), "is not a piece of its total, such as 0102"),
    "IBAN": (lambda text: _IBAN.fullmatch(text) is not None and passes_mod_97(text), "is not an IBAN, or has wrong check digits"),
    "number": (lambda text: text == "0" or text[0] != "0", "begins with 0"),
    "check pair": (_has_check_pair, "has wrong check characters"),
    "medium": (lambda text: 1 <= int(text) <= 10 or int(text) >= 80, "is not a medium: 01 to 10, or 80 to 99"),
    "escapes": (lambda text: re.fullmatch(r"(?:[^%]|%[0-9A-Fa-f]{2})+", text) is not None, "has a % without two hexadecimal digits"),
}  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"
