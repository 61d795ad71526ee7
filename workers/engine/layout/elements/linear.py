"""Bar codes beside QR: which values each type takes, and what is encoded and shown for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

import zxingcpp

from workers.engine.layout.elements.gs1 import (
    WrongValue,
    check_digit,
    complete_digits,
    read_element_string,
)

MAX_LINEAR: Final = 80  # characters; a longer line of bars is read by no hand scanner
MAX_GS1_128: Final = 48  # GS1 General Specifications, 5.4.4.3: data characters in one symbol
# Digits in the largest symbol; of other characters fewer fit, which is known when they are encoded.
MAX_DATA_MATRIX: Final = 3116  # ISO/IEC 16022, table 7
MAX_PDF417: Final = 2710  # ISO/IEC 15438, annex F
MAX_AZTEC: Final = 3832  # ISO/IEC 24778, table 1
MAX_MICRO_QR: Final = 35  # ISO/IEC 18004, table 7
MAX_MAXICODE: Final = 138  # ISO/IEC 16023, 4.1


class Encodable(NamedTuple):
    """A checked value: what goes into the symbol, and the lines that people read below it."""

    content: str
    shown: str


class Shape(Enum):
    """How the modules of a symbol lie."""

    BARS = "bars of any height"
    STACK = "rows of bars, each of a fixed height"
    MATRIX = "square modules"
    HEXAGONS = "hexagons around a bull's eye"


class CodeType(NamedTuple):
    """One type of bar code. Bars are `height` modules high; `quiet` is in modules on each side.

    `options` are the attributes of the element that the type takes beside its value.
    """

    format: zxingcpp.BarcodeFormat
    read: Callable[[str], Encodable]
    shape: Shape
    quiet: int
    height: int = 0
    is_gs1: bool = False
    is_latin: bool = False  # writes Latin-1 by itself, without a declared character set
    options: frozenset[str] = frozenset()


def _read_code128(value: str) -> Encodable:
    wrong = next((char for char in value if char > "\xff"), None)
    if wrong is not None:
        raise WrongValue(
            f'it has the sign "{wrong}" (U+{ord(wrong):04X}); accepted are the characters of ASCII '
            "and Latin-1, control characters too"
        )
    return Encodable(_bounded(value, MAX_LINEAR), _without_controls(value))


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


def _read_upce(value: str) -> Encodable:
    """Read the 8 digits of UPC-E, or the GTIN of 12 digits that they stand for."""
    if value.isascii() and value.isdigit() and len(value) in (11, 12):
        whole = complete_digits(value, 12)
        short = _suppress_zeros(whole)
        if short is None:
            raise WrongValue(
                f'"{whole}" has too few zeros for UPC-E; use a bar code of type "upca"'
            )
    else:
        short = complete_digits(value, 8, check=lambda digits: check_digit(_expand_zeros(digits)))
    if short[0] not in "01":
        raise WrongValue(f'"{short}" begins with {short[0]}; UPC-E begins with 0 or 1')
    return Encodable(short, f"{short[0]} {short[1:7]} {short[7]}")


def _expand_zeros(short: str) -> str:
    """Return the first 11 digits of UPC-A for the first 7 of UPC-E (GS1 General Specifications, 7.10)."""
    system, body, last = short[0], short[1:6], short[6]
    if last in "012":
        return f"{system}{body[:2]}{last}0000{body[2:]}"
    if last == "3":
        return f"{system}{body[:3]}00000{body[3:]}"
    if last == "4":
        return f"{system}{body[:4]}00000{body[4]}"
    return f"{system}{body}0000{last}"


def _suppress_zeros(whole: str) -> str | None:
    """Return UPC-E for UPC-A, None where its zeros are too few."""
    makers = (
        whole[1:3] + whole[8:11] + whole[3],
        whole[1:4] + whole[9:11] + "3",
        whole[1:5] + whole[10] + "4",
        whole[1:6] + whole[10],
    )
    return next(
        (
            whole[0] + short + whole[11]
            for short in makers
            if _expand_zeros(whole[0] + short) == whole[:11]
        ),
        None,
    )


def _read_itf14(value: str) -> Encodable:
    digits = complete_digits(value, 14)
    return Encodable(digits, f"{digits[0]} {digits[1:3]} {digits[3:8]} {digits[8:13]} {digits[13]}")


def _read_gs1_128(value: str) -> Encodable:
    elements = read_element_string(value)
    size = len(elements.replace("(", "").replace(")", ""))
    if size > MAX_GS1_128:
        raise WrongValue(f"it has {size} characters, at most {MAX_GS1_128} fit")
    return Encodable(elements, elements)


def _read_gs1_line(value: str) -> Encodable:
    elements = read_element_string(value)
    return Encodable(elements, elements)


def _read_gs1_matrix(value: str) -> Encodable:
    elements = read_element_string(value)
    return Encodable(elements, elements.replace("(", "\n(").lstrip())  # an element a line


def _read_databar(value: str) -> Encodable:
    digits = complete_digits(value.removeprefix("(01)"), 14)
    return Encodable(digits[:13], f"(01){digits}")


def _read_limited(value: str) -> Encodable:
    encodable = _read_databar(value)
    if encodable.content[0] not in "01":
        raise WrongValue(
            f'"{encodable.shown[4:]}" begins with {encodable.content[0]}; it takes a GTIN that begins with 0 or 1'
        )
    return encodable


def _read_micro_qr(value: str) -> Encodable:
    wrong = next((char for char in value if char > "\x7f"), None)
    if wrong is not None:
        raise WrongValue(
            f'it has the sign "{wrong}" (U+{ord(wrong):04X}); a Micro QR code declares no character set, '
            'use one of type "qr"'
        )
    return Encodable(_bounded(value, MAX_MICRO_QR), as_lines(value))


def _text_of(most: int) -> Callable[[str], Encodable]:
    return lambda value: Encodable(_bounded(value, most), as_lines(value))


def read_add_on(value: str) -> str:
    """Return the 2 or 5 digits of an add-on symbol.

    Raises:
        WrongValue: other characters, or another number of digits.
    """
    if not re.fullmatch(r"[0-9]{2}|[0-9]{5}", value):
        raise WrongValue(f'its add-on is "{value[:20]}"; it takes 2 or 5 digits')
    return value


_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(\\)|(.?))", re.DOTALL)


def read_escapes(value: str) -> str:
    r"""Return a value with each \xHH replaced by the character of that number, and \\ by a backslash.

    Raises:
        WrongValue: a backslash begins something else.
    """

    def read(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2]:
            return "\\"
        raise WrongValue(
            f'"{match[0]}" is not an escape; write \\x1D for a character by its number, \\\\ for a backslash'
        )

    return _ESCAPE.sub(read, value)


_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _without_controls(text: str) -> str:
    return _CONTROLS.sub(" ", text)


def as_lines(text: str) -> str:
    """Return a value as people read it: lines, without control characters."""
    return "\n".join(map(_without_controls, text.replace("\r\n", "\n").split("\n")))


def _bounded(value: str, most: int) -> str:
    if len(value) > most:
        raise WrongValue(f"it has {len(value):,} characters, at most {most:,} are accepted")
    return value


_Format = zxingcpp.BarcodeFormat
_ADD_ON: Final = frozenset({"add-on"})
# Heights are of usual symbols at 0.33 mm a module: 22.85 mm for EAN-13, about 15 mm for others; of
# GS1 DataBar those of GS1 General Specifications, 5.5.
CODE_TYPES: Final[Mapping[str, CodeType]] = MappingProxyType(
    {
        "micro-qr": CodeType(
            _Format.MicroQRCode, _read_micro_qr, Shape.MATRIX, 2, options=frozenset({"level"})
        ),
        "datamatrix": CodeType(_Format.DataMatrix, _text_of(MAX_DATA_MATRIX), Shape.MATRIX, 1),
        "gs1-datamatrix": CodeType(
            _Format.DataMatrix, _read_gs1_matrix, Shape.MATRIX, 1, is_gs1=True
        ),
        "aztec": CodeType(
            _Format.Aztec, _text_of(MAX_AZTEC), Shape.MATRIX, 0, options=frozenset({"correction"})
        ),
        "pdf417": CodeType(
            *(_Format.PDF417, _text_of(MAX_PDF417), Shape.STACK, 2),
            options=frozenset({"correction", "columns"}),
        ),
        "maxicode": CodeType(
            _Format.MaxiCode, _text_of(MAX_MAXICODE), Shape.HEXAGONS, 1, is_latin=True
        ),
        "code128": CodeType(_Format.Code128, _read_code128, Shape.BARS, 10, 45, is_latin=True),
        "gs1-128": CodeType(_Format.Code128, _read_gs1_128, Shape.BARS, 10, 45, is_gs1=True),
        "code39": CodeType(_Format.Code39, _read_code39, Shape.BARS, 10, 45),
        "codabar": CodeType(_Format.Codabar, _read_codabar, Shape.BARS, 10, 45),
        "ean13": CodeType(_Format.EAN13, _read_ean13, Shape.BARS, 11, 69, options=_ADD_ON),
        "ean8": CodeType(_Format.EAN8, _read_ean8, Shape.BARS, 7, 55),
        "upca": CodeType(_Format.UPCA, _read_upca, Shape.BARS, 9, 69, options=_ADD_ON),
        "upce": CodeType(_Format.UPCE, _read_upce, Shape.BARS, 9, 69, options=_ADD_ON),
        "itf14": CodeType(_Format.ITF, _read_itf14, Shape.BARS, 10, 45),
        "gs1-databar": CodeType(_Format.DataBarOmni, _read_databar, Shape.BARS, 1, 33),
        "gs1-databar-stacked": CodeType(_Format.DataBarStk, _read_databar, Shape.STACK, 1),
        "gs1-databar-stacked-omni": CodeType(_Format.DataBarStkOmni, _read_databar, Shape.STACK, 1),
        "gs1-databar-limited": CodeType(_Format.DataBarLtd, _read_limited, Shape.BARS, 1, 10),
        "gs1-databar-expanded": CodeType(
            _Format.DataBarExp, _read_gs1_line, Shape.BARS, 1, 34, is_gs1=True
        ),
        "gs1-databar-expanded-stacked": CodeType(
            *(_Format.DataBarExpStk, _read_gs1_matrix, Shape.STACK, 1),
            is_gs1=True,
            options=frozenset({"columns"}),
        ),
    }
)
