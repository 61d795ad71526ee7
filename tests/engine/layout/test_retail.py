"""UPC-E and add-ons, module by module, against the tables of the GS1 General Specifications, 5.2."""

from __future__ import annotations

import pytest
from stdnum.ean import calc_check_digit as check_digit

from workers.engine.barcodes import BarcodeSpec
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode

# Number sets A and B; figures 5.2.1-2 and 5.2.1-3.
SET_A = [
    "0001101",
    "0011001",
    "0010011",
    "0111101",
    "0100011",
    "0110001",
    "0101111",
    "0111011",
    "0110111",
    "0001011",
]
SET_B = ["".join("01"[bit == "0"] for bit in reversed(code)) for code in SET_A]
# Sets of the six digits of UPC-E by check digit, of number system 0; for 1 they are exchanged.
UPC_E = [
    "BBBAAA",
    "BBABAA",
    "BBAABA",
    "BBAAAB",
    "BABBAA",
    "BAABBA",
    "BAAABB",
    "BABABA",
    "BABAAB",
    "BAABAB",
]
FIVE = ["BBAAA", "BABAA", "BAABA", "BAAAB", "ABBAA", "AABBA", "AAABB", "ABABA", "ABAAB", "AABAB"]
TWO = ["AA", "AB", "BA", "BB"]


def modules(symbology: str, value: str, add_on: str = "") -> str:
    symbol = encode_barcode(BarcodeSpec(symbology, value, has_quiet_zone=False, add_on=add_on))
    assert isinstance(symbol, Symbol), symbol
    line = ["0"] * symbol.columns
    for x, _, width, _ in symbol.rectangles:
        line[x : x + width] = "1" * width
    return "".join(line)


def code_of(digit: str, number_set: str) -> str:
    return (SET_A if number_set == "A" else SET_B)[int(digit)]


def upc_e(short: str) -> str:
    sets = UPC_E[int(short[7])]
    if short[0] == "1":
        sets = sets.translate(str.maketrans("AB", "BA"))
    return "101" + "".join(map(code_of, short[1:7], sets)) + "010101"


def add_on(digits: str) -> str:
    if len(digits) == 2:
        sets = TWO[int(digits) % 4]
    else:
        weighted = 3 * sum(map(int, digits[::2])) + 9 * sum(map(int, digits[1::2]))
        sets = FIVE[weighted % 10]
    return "1011" + "01".join(map(code_of, digits, sets))


@pytest.mark.parametrize(
    ("short", "whole"),
    # GS1 General Specifications, figure 5.2.3-2, and the other rules of suppressing zeros
    [
        ("0123450", "01200000345"),
        ("0123451", "01210000345"),
        ("0123452", "01220000345"),
        ("0123453", "01230000045"),
        ("0123454", "01234000005"),
        ("0123455", "01234500005"),
        ("1987659", "19876500009"),
    ],
)
def test_upc_e_has_the_modules_of_the_standard(short, whole):
    digit = check_digit(whole)
    expected = upc_e(short + digit)
    for value in (short, short + digit, whole, whole + digit):
        assert modules("upce", value) == expected


@pytest.mark.parametrize("digits", ["00", "07", "34", "99", "00000", "52495", "51299", "90000"])
@pytest.mark.parametrize(
    ("symbology", "value", "gap"),
    [("ean13", "9780306406157", 7), ("upca", "036000291452", 9), ("upce", "01234565", 7)],
)
def test_add_on_has_the_modules_of_the_standard_behind_its_gap(symbology, value, gap, digits):
    main = modules(symbology, value)
    line = modules(symbology, value, digits)
    assert line == main + "0" * gap + add_on(digits)
