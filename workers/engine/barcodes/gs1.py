"""GS1 element strings, written `(01)…(10)…`: application identifiers, lengths, check digits, dates.

The identifiers and the formats of their data are those of the GS1 General Specifications, 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MAX_GS1: Final = 2000  # characters of an element string; no symbol holds more


class InvalidValueError(Exception):
    """A value that its symbology does not accept; the message states the error and what is
    accepted.
    """


# GS1 General Specifications, figure 7.11-1, without the brackets of this notation.
_SET_82: Final = r"[!\"%&'*+,\-./0-9:;<=>?A-Z_a-z]"
_ELEMENT: Final = re.compile(r"\((\d{2,4})\)([^()]+)")

# Identifier as a pattern, and format of the data: n6 six digits, n..8 up to eight, x..20 up to
# twenty characters, d6 a date, c14 fourteen digits of which the last is a check digit.
_FORMS: Final = (
    ("00", "c18"), ("0[12]", "c14"), ("10", "x..20"), ("1[1-35-7]", "d6"), ("20", "n2"),
    ("2[12]", "x..20"), ("235", "x..28"), ("24[01]", "x..30"), ("242", "n..6"), ("243", "x..20"),
    ("25[01]", "x..30"), ("253", "c13 x..17"), ("254", "x..20"), ("255", "c13 n..12"), ("30", "n..8"),
    ("3[1-6]\\d[0-9]", "n6"), ("37", "n..8"), ("39[02]\\d", "n..15"), ("39[13]\\d", "n3 n..15"),
    ("394\\d", "n4"), ("395\\d", "n6"), ("40[013]", "x..30"), ("402", "c17"), ("41[0-7]", "c13"),
    ("420", "x..20"), ("421", "n3 x..9"), ("42[246]", "n3"), ("42[35]", "n3 n..12"), ("427", "x..3"),
    ("7001", "n13"), ("7002", "x..30"), ("7003", "n10"), ("7004", "n..4"), ("7005", "x..12"),
    ("7006", "d6"), ("7007", "d6 n..6"), ("7008", "x..3"), ("7009", "x..10"), ("7010", "x..2"),
    ("702[0-2]", "x..20"), ("7023", "x..30"), ("703\\d", "n3 x..27"), ("71[0-6]", "x..20"),
    ("8001", "n14"), ("8002", "x..20"), ("8003", "c14 x..16"), ("8004", "x..30"), ("8005", "n6"),
    ("8006", "c14 n4"), ("8007", "x..34"), ("8008", "n8 n..4"), ("801[03]", "x..30"), ("8011", "n..12"),
    ("8012", "x..20"), ("801[78]", "c18"), ("8019", "n..10"), ("8020", "x..25"), ("8026", "c14 n4"),
    ("8110", "x..70"), ("8111", "n4"), ("8112", "x..70"), ("8200", "x..70"),
    ("90", "x..30"), ("9[1-9]", "x..90"),
)  # fmt: skip
_COMPILED: Final = tuple((re.compile(identifier), form) for identifier, form in _FORMS)


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
    return "".join(f"({number}){_read_data(number, data)}" for number, data in elements)


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
        return digits + (check or check_digit)(digits)
    if len(digits) != length:
        raise InvalidValueError(
            f'"{_cut(digits)}" has {len(digits)} digits, accepted are {length}, or {length - 1} '
            "and the check digit is added"
        )
    right = (check or check_digit)(digits[:-1])
    if digits[-1] != right:
        raise InvalidValueError(f'"{digits}" ends in {digits[-1]}, but its check digit is {right}')
    return digits


def check_digit(digits: str) -> str:
    """Return the check digit (GS1 General Specifications, 7.9.1): weights 3 and 1 from the right."""
    weighted = (
        int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits))
    )
    return str(-sum(weighted) % 10)


def _read_data(number: str, data: str) -> str:
    form = next((form for pattern, form in _COMPILED if pattern.fullmatch(number)), None)
    if form is None:
        raise InvalidValueError(f"({number}) is not a GS1 application identifier")
    first, *rest = form.split()
    try:
        if not rest:
            return _read_part(data, first)
        size = int(first[1:])
        return _read_part(data[:size], first) + (
            _read_part(data[size:], rest[0]) if data[size:] or ".." not in rest[0] else ""
        )
    except InvalidValueError as wrong:
        raise InvalidValueError(f"in ({number}) {wrong}") from None


def _read_part(data: str, form: str) -> str:
    kind, size = form[0], int(form.strip("ncdx."))
    if kind == "c":
        return complete_digits(data, size)
    if kind == "x":
        if len(data) > size or not re.fullmatch(f"{_SET_82}+", data):
            raise InvalidValueError(
                f'"{_cut(data)}" is not accepted; it takes up to {size} letters, digits and symbols '
                "of the GS1 character set"
            )
        return data
    is_open = ".." in form
    if (
        not data.isascii()
        or not data.isdigit()
        or (len(data) > size if is_open else len(data) != size)
    ):
        amount = f"up to {size}" if is_open else str(size)
        raise InvalidValueError(f'"{_cut(data)}" is not accepted; it takes {amount} digits')
    if kind == "d" and not (1 <= int(data[2:4]) <= 12 and int(data[4:6]) <= 31):
        raise InvalidValueError(f'"{data}" is not a date; use yyMMdd')
    return data


def _cut(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"
