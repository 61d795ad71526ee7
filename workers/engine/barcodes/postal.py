"""Postal codes of bars in four states: what each accepts, and the states of its bars.

The content of such a value is a letter a bar: F is a full bar, A an ascender, D a descender, T a tracker
alone. That of an Intelligent Mail barcode is its digits, which ReportLab encodes. Tables that a standard prints are built here from the rule behind them, where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final, NamedTuple

from workers.engine.barcodes.gs1 import InvalidValueError, match_value
from workers.engine.barcodes.values import BarcodeValue


class StateBars(NamedTuple):
    """The size of the bars of a code, in parts of `part` millimetres.

    `reach` is how far a bar extends above and below a tracker; `beside` and `above` are the quiet zone.
    """

    part: float
    pitch: int
    width: int
    tracker: int
    reach: int
    beside: int
    above: int


# The middle of what each standard allows.
USPS_BARS: Final = StateBars(25.4 / 22 / 25, 25, 11, 27, 27, 69, 16)  # USPS-B-3200, 3.1
ROYAL_MAIL_BARS: Final = StateBars(25.4 / 22 / 25, 25, 11, 28, 41, 44, 44)
AUSTRALIA_BARS: Final = StateBars(25.4 / 23.5 / 25, 25, 11, 30, 43, 140, 47)
JAPAN_BARS: Final = StateBars(0.05, 24, 12, 24, 24, 40, 40)

_STATES: Final = "TADF"  # by the bits of an ascender (1) and a descender (2)
_LETTERS_OF_SUFFIX: Final = "ABDEFGHJLNPQRSTUWXYZ"  # those that no digit resembles


def read_intelligent_mail(value: str) -> BarcodeValue:
    """Read the tracking code of 20 digits and the ZIP code of 0, 5, 9 or 11 (USPS-B-3200, 2.1)."""
    number = re.sub(r"[ -]", "", value)
    match_value(
        r"[0-9][0-4][0-9]{18}(?:[0-9]{5}|[0-9]{9}|[0-9]{11})?",
        number,
        "a tracking code of 20 digits, the second of them 0 to 4, and a ZIP code of 5, 9 or 11, or none",
    )
    parts = (number[:2], number[2:5], number[5:11], number[11:20], number[20:])
    return BarcodeValue(number, " ".join(filter(None, parts)))


# --- Royal Mail 4-state customer code and KIX ---------------------------------------------------

_ROYAL_MAIL: Final = digits + ascii_uppercase
_TWO_OF_FOUR: Final = ("0011", "0101", "0110", "1001", "1010", "1100")


def read_royal_mail(value: str) -> BarcodeValue:
    """Read a British postcode with its delivery point suffix, or a postal code of Singapore; the check
    character is added.
    """
    text = value.replace(" ", "")
    british = rf"[A-Z]{{1,2}}[0-9][0-9A-Z]?[0-9][A-Z]{{2}}(?:[1-9][{_LETTERS_OF_SUFFIX}])?"
    match_value(
        rf"{british}|[0-9]{{6}}",
        text,
        'a postcode and a delivery point suffix such as "SN3 1SD 1A", or the six digits of a postal code of Singapore',
    )
    places = [divmod(_ROYAL_MAIL.index(char), 6) for char in text]
    row, column = (sum(place[axis] + 1 for place in places) - 1 for axis in (0, 1))
    check = _ROYAL_MAIL[row % 6 * 6 + column % 6]
    return BarcodeValue(f"A{_royal_mail_bars(text + check)}F", text)


def read_kix(value: str) -> BarcodeValue:
    """Read a Dutch postcode, a house number and, after X, the addition to it (PostNL, KIX code)."""
    text = value.replace(" ", "").upper()
    match_value(
        r"[0-9]{4}[A-Z]{2}[0-9]{1,5}(?:X[0-9A-Z]{1,6})?",
        text,
        'a postcode, a house number and, after X, an addition of up to six characters, such as "1231GF 156X2"',
    )
    return BarcodeValue(_royal_mail_bars(text), text)


def _royal_mail_bars(text: str) -> str:
    """Return four bars a character: two of them ascend by its row, two descend by its column."""
    bars = []
    for char in text:
        row, column = divmod(_ROYAL_MAIL.index(char), 6)
        halves = zip(_TWO_OF_FOUR[row], _TWO_OF_FOUR[column], strict=True)
        bars += [_STATES[int(up) + 2 * int(down)] for up, down in halves]
    return "".join(bars)


# --- Royal Mail Mailmark ------------------------------------------------------------------------

_POSTCODES: Final = ("ANANLLNLS", "AANNLLNLS", "AANNNLLNL", "AANANLLNL", "ANNLLNLSS", "ANNNLLNLS")
_POSTCODE_SETS: Final = {"A": ascii_uppercase, "L": _LETTERS_OF_SUFFIX, "N": digits, "S": " "}
_ABROAD: Final = "XY11     "
_ODD: Final = tuple(n for n in range(64) if n.bit_count() % 2)
_EVEN: Final = tuple(n for n in range(1, 63) if not n.bit_count() % 2)


class _MailmarkSize(NamedTuple):
    """A length of Mailmark: the digits of its supply chain, its even and odd symbols of data, the number
    of check symbols, and where each symbol stands.
    """

    chain: int
    even: int
    odd: int
    checks: int
    order: tuple[int, ...]


_SIZES: Final = {
    22: _MailmarkSize(2, 9, 7, 6,
        (3, 5, 7, 11, 13, 14, 16, 17, 19, 0, 1, 2, 4, 6, 8, 9, 10, 12, 15, 18, 20, 21)),
    26: _MailmarkSize(6, 11, 8, 7,
        (2, 5, 7, 8, 13, 14, 15, 16, 21, 22, 23, 0, 1, 3, 4, 6, 9, 10, 11, 12, 17, 18, 19, 20, 24, 25)),
}  # fmt: skip


def read_mailmark(value: str) -> BarcodeValue:
    """Read the 22 characters of Mailmark C or the 26 of Mailmark L; spaces at the end may be missing."""
    text = value.upper()
    size = _SIZES[22 if len(text.rstrip()) <= 22 and not _is_long(text) else 26]
    whole = text.ljust(20 + size.chain)
    match = match_value(
        rf"([0-4])([1-4])([0-9A-E])([0-9]{{{size.chain}}})([0-9]{{8}})(.{{9}})",
        whole,
        "a format (0 to 4), a version (1 to 4), a class (0 to 9, A to E), a supply chain of 2 or 6 digits, "
        "an item of 8, and a postcode with its suffix",
    )
    layout, version, mail_class, chain, item, postcode = match.groups()
    number = _number_postcode(postcode) * 10**8 + int(item)
    number = number * 10**size.chain + int(chain)
    number = ((number * 15 + int(mail_class, 16)) * 5 + int(layout)) * 4 + int(version) - 1
    symbols: list[int] = []
    for base, count in ((32, size.odd), (30, size.even)):
        for _ in range(count):
            number, symbol = divmod(number, base)
            symbols.insert(0, symbol)
    symbols += find_checks(symbols, size.checks, bits=5, polynomial=0x25)
    groups = [0] * len(symbols)
    for at, symbol in enumerate(symbols):
        groups[size.order[at]] = (_EVEN if at < size.even else _ODD)[symbol]
    return BarcodeValue("".join(map(_group_bars, range(len(groups)), groups)), whole.rstrip())


def _is_long(text: str) -> bool:
    """Return whether a supply chain of six digits is followed by an item of eight."""
    return re.match(r".{3}[0-9]{14}", text) is not None


def _group_bars(at: int, group: int) -> str:
    """Return three bars of six bits; in every other group ascenders and descenders change places."""
    halves = [(group >> 5 - bar & 1, group >> 2 - bar & 1) for bar in range(3)]
    return "".join(
        _STATES[(up + 2 * down) if at % 2 == 0 else (down + 2 * up)] for up, down in halves
    )


def _number_postcode(postcode: str) -> int:
    if postcode == _ABROAD:
        return 0
    start = 1
    for pattern in _POSTCODES:
        number, size = 0, 1
        sets = [_POSTCODE_SETS[kind] for kind in pattern]
        for char, accepted in zip(postcode, sets, strict=True):
            number = number * len(accepted) + max(accepted.find(char), 0)
            size *= len(accepted)
        if all(char in accepted for char, accepted in zip(postcode, sets, strict=True)):
            return start + number
        start += size
    raise InvalidValueError(
        f'"{postcode}" is not a postcode with its delivery point suffix, such as "EF61AH8T", or XY11 for abroad'
    )


def read_mailmark_2d(value: str) -> BarcodeValue:
    """Read the fields of a 2D Mailmark; missing spaces and the prefix "JGB " are added."""
    text = value.upper() if len(value) <= _LONGEST_FIELDS else value
    text = (text if text.startswith("JGB ") else f"JGB {text}").ljust(45)
    postcode = r"(?:[A-Z]{1,2}[0-9][0-9A-Z]?[0-9][A-Z]{2}(?:[0-9][A-Z])?)?"
    fields = re.fullmatch(
        r"JGB ([0-9A-Z])1([0-9A-Z])([0-9]{7})([0-9]{8})(.{9})([0-6])(.{7}) {6}([\x20-\x7e]{0,45})",
        text,
    )
    if fields is None or not all(re.fullmatch(postcode, fields[at].rstrip()) for at in (5, 7)):
        raise InvalidValueError(
            f'"{value[:40]}" is not accepted; it takes a type, the version 1, a class, a supply chain of 7 '
            "digits, an item of 8, a postcode with its suffix in 9 characters, a service of 0 to 6, and "
            "optionally a postcode for returns in 7, 6 spaces, and at most 45 characters of the sender"
        )
    return BarcodeValue(text, text.rstrip())


_LONGEST_FIELDS: Final = 45


# --- Australia Post -----------------------------------------------------------------------------


def _rank_of_bars(bars: Sequence[int]) -> int:
    """Return the rank of three bars in the table of characters: letters have no tracker (3), digits
    begin with one, and other characters have one elsewhere.
    """
    if _TRACKER in bars[1:]:
        return 2
    return int(bars[0] == _TRACKER)


_TRACKER: Final = 3
_AUSTRALIA: Final = dict(
    zip(
        f"{ascii_uppercase}0123456789 #{ascii_lowercase}",
        sorted(product(*[range(4)] * 3), key=lambda bars: (_rank_of_bars(bars), bars)),
        strict=True,
    )
)
# Characters, or digits alone.
_CUSTOMER_SIZES: Final[Mapping[str, tuple[int, ...]]] = {"59": (5, 8), "62": (10, 15)}


def read_australia(value: str) -> BarcodeValue:
    """Read a format code, a delivery point of eight digits, and information of the customer."""
    match = re.fullmatch(r"(11|45|59|62|87|92) ?([0-9]{8}) ?([0-9A-Za-z #]*)", value)
    sizes = _CUSTOMER_SIZES.get(match[1], (0,)) if match else ()
    if match is None or not (match[3] == "" or len(match[3]) in sizes):
        raise InvalidValueError(
            f'"{value[:30]}" is not accepted; it takes a format code (11, 45, 87, 92; 59 or 62 before customer '
            "information), a delivery point of 8 digits and, after 59, 5 characters or 8 digits, after 62, "
            "10 characters or 15 digits"
        )
    layout, point, customer = match.groups()
    bars = [bar for digit in layout + point for bar in divmod(int(digit), 3)]
    is_numeric = customer.isdigit() and len(customer) == sizes[-1]
    bars += [
        bar
        for char in customer
        for bar in (divmod(int(char), 3) if is_numeric else _AUSTRALIA[char])
    ]
    bars += [3] * ({"59": 38, "62": 53}.get(layout, 23) - 2 - len(bars))
    triples = [
        16 * a + 4 * b + c for a, b, c in zip(bars[::3], bars[1::3], bars[2::3], strict=True)
    ]
    for check in find_checks(triples, 4, bits=6, polynomial=0x43):
        bars += (check >> 4, check >> 2 & 3, check & 3)
    text = " ".join(filter(None, (layout, point, customer)))
    return BarcodeValue("".join("FADT"[bar] for bar in (1, 3, *bars, 1, 3)), text)


def find_checks(symbols: Sequence[int], count: int, *, bits: int, polynomial: int) -> list[int]:
    """Return the check symbols of a Reed-Solomon code over the field of 2**bits."""
    size = (1 << bits) - 1
    powers = [1]
    for _ in range(size - 1):
        doubled = powers[-1] << 1
        powers.append(doubled ^ polynomial if doubled > size else doubled)
    logs = {power: at for at, power in enumerate(powers)}

    def multiply(one: int, other: int) -> int:
        return powers[(logs[one] + logs[other]) % size] if one and other else 0

    generator = [1]  # the product of (x - root), from the highest power
    for at in range(1, count + 1):
        shifted = [0, *(multiply(part, powers[at]) for part in generator)]
        generator = [a ^ b for a, b in zip([*generator, 0], shifted, strict=True)]
    checks = [0] * count
    for symbol in symbols:
        lead = symbol ^ checks[0]
        checks = [
            b ^ multiply(lead, g) for b, g in zip([*checks[1:], 0], generator[1:], strict=True)
        ]
    return checks


# --- Japan Post ---------------------------------------------------------------------------------

_JAPAN: Final = dict(
    zip(
        "0123456789-abcdefgh",
        re.findall("...", "144114132312123141321213231411414324342234432243423441111"),
        strict=True,
    )
)
_JAPAN_CODES: Final = 20


def read_japan(value: str) -> BarcodeValue:
    """Read a postcode of seven digits and the numbers of an address; what exceeds 13 codes is left out,
    as Japan Post prescribes.
    """
    match = match_value(
        r"([0-9]{3})-?([0-9]{4}) ?([0-9A-Z-]*)",
        value,
        "a postcode of seven digits and the numbers of an address, of digits, capital letters and hyphens, "
        'such as "154-0023 3-16-4-205"',
    )
    codes = "".join(_japan_codes("".join(match.groups())))[:_JAPAN_CODES].ljust(_JAPAN_CODES, "d")
    order = "".join(_JAPAN)
    codes += order[-sum(map(order.index, codes)) % len(order)]
    bars = f"13{''.join(_JAPAN[code] for code in codes)}31"
    return BarcodeValue("".join("FADT"[int(bar) - 1] for bar in bars), value)


def _japan_codes(text: str) -> Iterable[str]:
    """Yield the code of each digit or hyphen, and two of each letter."""
    for char in text:
        if char in ascii_uppercase:
            tens, ones = divmod(ascii_uppercase.index(char), 10)
            yield f"{'abc'[tens]}{ones}"
        else:
            yield char
