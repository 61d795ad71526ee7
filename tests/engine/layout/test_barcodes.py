"""Bar codes: what is drawn reads back, and a wrong value is reported, never drawn."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import zxingcpp
from PIL import Image, ImageDraw

from workers.engine.barcodes import BarcodeSpec
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode

IBAN = "GB33BUKB20201555555555"
PAYMENT = {
    "name": "Northwind Tools Ltd",
    "iban": IBAN,
    "amount": Decimal("237.17"),
    "text": "2026-0042",
}


def barcode(
    value: Any, symbology: str = "qr", level: str = "M", has_quiet_zone: bool = True
) -> Any:
    return BarcodeSpec(symbology, value, level, has_quiet_zone)


def symbol_of(node: Any) -> Symbol:
    symbol = encode_barcode(node)
    assert isinstance(symbol, Symbol), symbol
    return symbol


def problem_of(value: Any, symbology: str = "epc-qr", level: str = "M") -> str:
    problem = encode_barcode(barcode(value, symbology, level))
    assert isinstance(problem, ContentProblem), "a wrong value was drawn"
    return problem.text


def read(symbol: Symbol) -> Any:
    scale = 4
    image = Image.new("L", (symbol.columns * scale, symbol.rows * scale), 255)
    draw = ImageDraw.Draw(image)
    for x, y, width, height in symbol.rectangles:
        box = (x * scale, y * scale, (x + width) * scale - 1, (y + height) * scale - 1)
        draw.rectangle(box, fill=0)
    (code,) = zxingcpp.read_barcodes(image)
    return code


@pytest.mark.parametrize("level", ["L", "M", "Q", "H"])
def test_qr_code_reads_back_at_its_level(level):
    code = read(symbol_of(barcode("https://verify.example.com/K7QX93B2", level=level)))
    assert code.text == "https://verify.example.com/K7QX93B2"
    assert code.extra["ECLevel"] == level


def test_qr_code_of_any_text_reads_back():
    assert read(symbol_of(barcode("Grüße aus 東京 für 5 €"))).text == "Grüße aus 東京 für 5 €"


def test_quiet_zone_is_four_modules_on_each_side():
    wide, tight = symbol_of(barcode("x")), symbol_of(barcode("x", has_quiet_zone=False))
    assert wide.columns == tight.columns + 8
    assert min(x for x, *_ in wide.rectangles) == 4
    assert min(y for _, y, *_ in tight.rectangles) == 0


def test_neighbouring_dark_modules_of_a_row_are_one_rectangle():
    symbol = symbol_of(barcode("merge me"))
    cells = [
        (x + across, y + down)
        for x, y, width, height in symbol.rectangles
        for across in range(width)
        for down in range(height)
    ]
    assert len(cells) == len(set(cells))
    assert not {(x + width, y) for x, y, width, _ in symbol.rectangles} & set(cells)


def test_qr_code_that_cannot_hold_its_value_names_the_size():
    assert "5,000 bytes" in problem_of("x" * 5000, "qr")
    assert "2,000 bytes" in problem_of("ä" * 1000, "qr", "H")


def test_invalid_values_are_reported():
    assert "empty" in problem_of("", "qr")
    assert "takes a text" in problem_of({"name": "x"}, "qr")
    assert "takes an object" in problem_of("BCD")
    assert "not known" in problem_of("x", "code11")
    assert "L, M, Q, H" in problem_of("x", "qr", "Z")
    assert "always of level M" in problem_of(PAYMENT, level="H")


def test_payment_code_reads_back_line_by_line():
    code = read(
        symbol_of(barcode(PAYMENT | {"bic": "BUKBGB22XXX", "text": "Grüße 2026"}, "epc-qr"))
    )
    assert code.extra["ECLevel"] == "M"
    assert code.bytes.decode("utf-8").split("\n") == [
        *("BCD", "002", "1", "SCT", "BUKBGB22XXX", "Northwind Tools Ltd", IBAN, "EUR237.17"),
        *("", "", "Grüße 2026"),
    ]


def test_iban_and_reference_may_be_written_in_groups():
    payment = {
        "name": "x",
        "iban": "gb33 BUKB 2020 1555 5555 55",
        "reference": "RF18 5390 0754 7034",
    }
    lines = read(symbol_of(barcode(payment, "epc-qr"))).bytes.decode().split("\n")
    assert (lines[6], lines[9]) == (IBAN, "RF18539007547034")


def test_largest_payment_fits_version_13():
    payment = {
        "name": "n" * 70,
        "iban": IBAN,
        "bic": "BUKBGB22XXX",
        "amount": Decimal("999999999.99"),
        "purpose": "GDDS",
        "text": "t" * 140,
        "information": "i" * 30,
    }
    assert symbol_of(barcode(payment, "epc-qr")).columns <= 4 * 13 + 17 + 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, 'needs the member "name"'),
        ({"name": "n" * 71}, "71 characters, at most 70"),
        ({"iban": None}, 'needs the member "iban"'),
        ({"iban": "GB34BUKB20201555555555"}, "wrong check digits"),
        ({"iban": "hello"}, "not an IBAN"),
        ({"iban": ["GB33"]}, "must be a text"),
        ({"bic": "short"}, "BIC of 8 or 11"),
        ({"amount": Decimal(0)}, "from 0.01"),
        ({"amount": Decimal(1000000000)}, "from 0.01"),
        ({"amount": "12,50"}, "not a number"),
        ({"amount": "NaN"}, "from 0.01"),
        ({"amount": "1e999999"}, "from 0.01"),
        ({"amount": Decimal("1.005")}, "two decimals"),
        ({"currency": "USD"}, "only EUR"),
        ({"purpose": "TOOLONG"}, "1 to 4"),
        ({"reference": "RF19539007547034", "text": ""}, "wrong check digits"),
        ({"reference": "RF18539007547034"}, "not both"),
        ({"text": "t" * 141}, "141 characters, at most 140"),
        ({"text": "ä" * 140, "information": "ä" * 70}, "holds 331 bytes"),
        ({"text": "\ud800"}, "lone surrogate"),
        ({"ibn": IBAN}, 'no member "ibn"'),
    ],
)
def test_an_invalid_payment_is_reported_by_member(change, message):
    assert message in problem_of(PAYMENT | change)


def test_the_account_number_is_not_echoed():
    assert "2020155555" not in problem_of(PAYMENT | {"iban": "GB34BUKB20201555555555"})


def test_text_below_a_code_has_no_control_characters():
    for symbology in ("qr", "datamatrix", "pdf417", "aztec"):
        symbol = encode_barcode(barcode("a\x1db\r\nc", symbology))
        assert isinstance(symbol, Symbol)
        assert symbol.text == "a b\nc"


def test_messages_hold_no_character_that_cannot_be_seen():
    for symbology in ("ean13", "code39", "codabar", "gs1-128", "upce", "gs1-databar", "itf14"):
        reported = problem_of("1\n2\u202e\x00", symbology)
        assert reported.isprintable()
        assert "U+000A" in reported
    assert problem_of(PAYMENT | {"iban": "GB\n12"}).isprintable()
