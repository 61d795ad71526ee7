"""The values of bar codes: what each type accepts, encodes and shows below the symbol."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from workers.engine.barcodes.gs1 import (
    InvalidValueError,
    complete_digits,
    match_value,
    read_element_string,
)

MAX_LINEAR: Final = 80  # characters; hand scanners cannot read longer symbols
MAX_GS1_128: Final = 48  # GS1 General Specifications, 5.4.4.3: data characters in one symbol
# Digits in the largest symbol; fewer of other characters fit, which the encoder reports.
MAX_DATA_MATRIX: Final = 3116  # ISO/IEC 16022, table 7
MAX_PDF417: Final = 2710  # ISO/IEC 15438, annex F
MAX_AZTEC: Final = 3832  # ISO/IEC 24778, table 1
MAX_MICRO_QR: Final = 35  # ISO/IEC 18004, table 7
MAX_MAXICODE: Final = 138  # ISO/IEC 16023, 4.1


class BarcodeValue(NamedTuple):
    """A checked value: the encoded content, and the human-readable text below the symbol."""

    content: str
    text: str


def read_code128(value: str) -> BarcodeValue:
    """Read ASCII and Latin-1, control characters included."""
    accepted = "accepted are the characters of ASCII and Latin-1, control characters too"
    _refuse_above("\xff", value, accepted)
    return BarcodeValue(_check_length(value, MAX_LINEAR), _without_controls(value))


def read_code39(value: str) -> BarcodeValue:
    """Read the 43 characters of Code 39."""
    match_value(r"[0-9A-Z .$/+%-]+", value, "digits, capital letters, space and - . $ / + %")
    return BarcodeValue(_check_length(value, MAX_LINEAR), value)


def read_code93(value: str) -> BarcodeValue:
    """Read ASCII; Code 93 writes what is not one of its 43 characters as two."""
    _refuse_above("\x7f", value, "accepted are those of ASCII")
    return BarcodeValue(_check_length(value, MAX_LINEAR), _without_controls(value))


def read_codabar(value: str) -> BarcodeValue:
    """Read the digits and signs of Codabar, with or without start and stop letters."""
    if re.fullmatch(r"[0-9$:/.+-]+", value):
        return BarcodeValue(f"A{_check_length(value, MAX_LINEAR)}A", value)
    accepted = "digits and - $ : / . +, alone or between two letters from A to D"
    match_value(r"[A-D][0-9$:/.+-]+[A-D]", value, accepted)
    return BarcodeValue(_check_length(value, MAX_LINEAR), value[1:-1])


def digits_reader(*groups: int) -> Callable[[str], BarcodeValue]:
    """Return a reader of digits, with or without the check digit, shown in groups of these sizes."""

    def read(value: str) -> BarcodeValue:
        digits = complete_digits(value, sum(groups))
        places = pairwise(accumulate(groups, initial=0))
        return BarcodeValue(digits, " ".join(digits[start:end] for start, end in places))

    return read


def read_upce(value: str) -> BarcodeValue:
    """Read the 8 digits of UPC-E, or the GTIN-12 that they represent."""
    from biip import EncodeError, ParseError  # late, as in gs1.py
    from biip.upc import Upc

    if value.isascii() and value.isdigit() and len(value) in (11, 12):
        whole = complete_digits(value, 12)
        try:
            short = Upc.parse(whole).as_upc_e()
        except (EncodeError, ParseError):
            raise InvalidValueError(
                f'"{whole}" has too few zeros for UPC-E; use a bar code of type "upca"'
            ) from None
    else:
        short = complete_digits(value, 8, check=_check_digit_of_upce)
    return BarcodeValue(short, f"{short[0]} {short[1:7]} {short[7]}")


def _check_digit_of_upce(digits: str) -> str:
    from biip.upc import Upc

    if digits[0] not in "01":
        raise InvalidValueError(f'"{digits}" begins with {digits[0]}; UPC-E begins with 0 or 1')
    return str(Upc.parse(digits).check_digit)


def read_itf(value: str) -> BarcodeValue:
    """Read an even number of digits, which Interleaved 2 of 5 encodes in pairs."""
    accepted = "an even number of digits, put a 0 in front of others"
    match_value(r"(?:[0-9]{2})+", value, accepted)
    return BarcodeValue(_check_length(value, MAX_LINEAR), value)


def read_gs1_128(value: str) -> BarcodeValue:
    """Read a GS1 element string that fits into one GS1-128 symbol."""
    found = read_gs1(value)
    size = len(found.content.replace("(", "").replace(")", ""))
    if size > MAX_GS1_128:
        raise InvalidValueError(f"it has {size} characters, at most {MAX_GS1_128} fit")
    return found


def read_gs1(value: str) -> BarcodeValue:
    """Read a GS1 element string, shown on one line."""
    elements = read_element_string(value)
    return BarcodeValue(elements, elements)


def read_gs1_lines(value: str) -> BarcodeValue:
    """Read a GS1 element string, shown with one element a line."""
    elements = read_element_string(value)
    return BarcodeValue(elements, elements.replace("(", "\n(").lstrip())  # an element a line


def read_databar(value: str) -> BarcodeValue:
    """Read the GTIN of GS1 DataBar, with or without its identifier (01)."""
    digits = complete_digits(value.removeprefix("(01)"), 14)
    return BarcodeValue(digits[:13], f"(01){digits}")


def read_databar_limited(value: str) -> BarcodeValue:
    """Read a GTIN that begins with 0 or 1, as GS1 DataBar Limited takes it."""
    encodable = read_databar(value)
    if encodable.content[0] not in "01":
        raise InvalidValueError(
            f'"{encodable.text[4:]}" begins with {encodable.content[0]}; it takes a GTIN that begins with 0 or 1'
        )
    return encodable


def read_micro_qr(value: str) -> BarcodeValue:
    """Read ASCII text, since Micro QR declares no character set."""
    accepted = 'a Micro QR code declares no character set, use one of type "qr"'
    _refuse_above("\x7f", value, accepted)
    return BarcodeValue(_check_length(value, MAX_MICRO_QR), as_lines(value))


def read_qr(value: str) -> BarcodeValue:
    """Read a text, encoded as it is."""
    return BarcodeValue(value, as_lines(value))


def text_reader(most: int) -> Callable[[str], BarcodeValue]:
    """Return a reader of text of at most `most` characters."""
    return lambda value: BarcodeValue(_check_length(value, most), as_lines(value))


def read_add_on(value: str) -> str:
    """Return the 2 or 5 digits of an add-on symbol.

    Raises:
        InvalidValueError: It has other characters, or another number of digits.
    """
    if not re.fullmatch(r"[0-9]{2}|[0-9]{5}", value):
        raise InvalidValueError(f'its add-on is "{value[:20]}"; it takes 2 or 5 digits')
    return value


_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(\\)|(.?))", re.DOTALL)


def read_escapes(value: str) -> str:
    r"""Return a value with each \xHH replaced by the character of that number, and \\ by a
    backslash.

    Raises:
        InvalidValueError: A backslash starts something else.
    """

    def read(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2]:
            return "\\"
        raise InvalidValueError(
            f'"{match[0]}" is not an escape; write \\x1D for a character by its number, \\\\ for a backslash'
        )

    return _ESCAPE.sub(read, value)


_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _without_controls(text: str) -> str:
    return _CONTROLS.sub(" ", text)


def as_lines(text: str) -> str:
    """Return a value as human-readable lines, without control characters."""
    return "\n".join(map(_without_controls, text.replace("\r\n", "\n").split("\n")))


def _refuse_above(last: str, value: str, accepted: str) -> None:
    wrong = next((char for char in value if char > last), None)
    if wrong is not None:
        raise InvalidValueError(
            f'it contains the character "{wrong}" (U+{ord(wrong):04X}); {accepted}'
        )


def _check_length(value: str, most: int) -> str:
    if len(value) > most:
        raise InvalidValueError(f"it has {len(value):,} characters, at most {most:,} are accepted")
    return value
