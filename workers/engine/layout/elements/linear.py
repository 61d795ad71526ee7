"""Bar codes beside QR: which values each type takes, and what is encoded and shown for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import zxingcpp

from workers.engine.layout.elements.gs1 import (
    WrongValue,
    complete_digits,
    read_element_string,
)

MAX_LINEAR: Final = 80  # characters; a longer line of bars is read by no hand scanner
MAX_GS1_128: Final = 48  # GS1 General Specifications, 5.4.4.3: data characters in one symbol
MAX_DATA_MATRIX: Final = 2335  # letters and digits in the largest symbol (ISO/IEC 16022, table 7)


class Encodable(NamedTuple):
    """A checked value: what goes into the symbol, and the lines that people read below it."""

    content: str
    shown: str


class CodeType(NamedTuple):
    """One type of bar code. Bars are `height` modules high; 0 says that it is a matrix."""

    format: zxingcpp.BarcodeFormat
    read: Callable[[str], Encodable]
    height: int
    quiet: int  # modules on each side
    is_gs1: bool = False


def _read_text(value: str) -> Encodable:
    if not re.fullmatch(r"[ -~]+", value):
        wrong = next(char for char in value if not " " <= char <= "~")
        raise WrongValue(
            f'it has the sign "{wrong}" (U+{ord(wrong):04X}); accepted are the letters, digits and '
            "signs of ASCII"
        )
    return Encodable(_bounded(value, MAX_LINEAR), value)


def _read_code39(value: str) -> Encodable:
    if not re.fullmatch(r"[0-9A-Z .$/+%-]+", value):
        raise WrongValue(
            f'"{value[:20]}" is not accepted; it takes digits, capital letters, space and - . $ / + %'
        )
    return Encodable(_bounded(value, MAX_LINEAR), value)


def _read_codabar(value: str) -> Encodable:
    if re.fullmatch(r"[0-9$:/.+-]+", value):
        return Encodable(f"A{_bounded(value, MAX_LINEAR)}A", value)
    if not re.fullmatch(r"[A-D][0-9$:/.+-]+[A-D]", value):
        raise WrongValue(
            f'"{value[:20]}" is not accepted; it takes digits and - $ : / . +, alone or between two '
            "letters from A to D"
        )
    return Encodable(_bounded(value, MAX_LINEAR), value[1:-1])


def _read_ean13(value: str) -> Encodable:
    digits = complete_digits(value, 13)
    return Encodable(digits, f"{digits[0]} {digits[1:7]} {digits[7:]}")


def _read_ean8(value: str) -> Encodable:
    digits = complete_digits(value, 8)
    return Encodable(digits, f"{digits[:4]} {digits[4:]}")


def _read_upca(value: str) -> Encodable:
    digits = complete_digits(value, 12)
    return Encodable(digits, f"{digits[0]} {digits[1:6]} {digits[6:11]} {digits[11]}")


def _read_itf14(value: str) -> Encodable:
    digits = complete_digits(value, 14)
    return Encodable(digits, f"{digits[0]} {digits[1:3]} {digits[3:8]} {digits[8:13]} {digits[13]}")


def _read_gs1_128(value: str) -> Encodable:
    elements = read_element_string(value)
    size = len(elements.replace("(", "").replace(")", ""))
    if size > MAX_GS1_128:
        raise WrongValue(f"it has {size} characters, at most {MAX_GS1_128} fit")
    return Encodable(elements, elements)


def _read_gs1_matrix(value: str) -> Encodable:
    elements = read_element_string(value)
    return Encodable(elements, elements.replace("(", "\n(").lstrip())  # an element a line


def _read_matrix(value: str) -> Encodable:
    return Encodable(_bounded(value, MAX_DATA_MATRIX), value)


def _bounded(value: str, most: int) -> str:
    if len(value) > most:
        raise WrongValue(f"it has {len(value):,} characters, at most {most:,} are accepted")
    return value


_Format = zxingcpp.BarcodeFormat
# Heights are of usual symbols at 0.33 mm a module: 22.85 mm for EAN-13, about 15 mm for others.
CODE_TYPES: Final[Mapping[str, CodeType]] = MappingProxyType(
    {
        "datamatrix": CodeType(_Format.DataMatrix, _read_matrix, 0, 1),
        "gs1-datamatrix": CodeType(_Format.DataMatrix, _read_gs1_matrix, 0, 1, is_gs1=True),
        "code128": CodeType(_Format.Code128, _read_text, 45, 10),
        "gs1-128": CodeType(_Format.Code128, _read_gs1_128, 45, 10, is_gs1=True),
        "code39": CodeType(_Format.Code39, _read_code39, 45, 10),
        "codabar": CodeType(_Format.Codabar, _read_codabar, 45, 10),
        "ean13": CodeType(_Format.EAN13, _read_ean13, 69, 11),
        "ean8": CodeType(_Format.EAN8, _read_ean8, 55, 7),
        "upca": CodeType(_Format.UPCA, _read_upca, 69, 9),
        "itf14": CodeType(_Format.ITF, _read_itf14, 45, 10),
    }
)
