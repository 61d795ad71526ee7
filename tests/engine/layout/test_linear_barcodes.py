"""Bar codes of all types: the values they take, the digits they add, and that they read back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import zxingcpp
from PIL import Image, ImageDraw
from stdnum.ean import calc_check_digit as check_digit

from workers.engine.barcodes import BarcodeSpec
from workers.engine.barcodes.gs1 import InvalidValueError, find_doubtful, read_element_string
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

GTIN = "09506000134352"


def encode(symbology: str, value: Any, has_quiet_zone: bool = True) -> Symbol | ContentProblem:
    return encode_barcode(BarcodeSpec(symbology, value, has_quiet_zone=has_quiet_zone))


def problem_of(symbology: str, value: Any) -> str:
    problem = encode(symbology, value)
    assert isinstance(problem, ContentProblem), "a wrong value was drawn"
    return problem.text


def read(symbol: Symbol | ContentProblem) -> str:
    assert isinstance(symbol, Symbol), symbol
    image = Image.new("L", (symbol.columns * 4, symbol.rows * 4 + 40), 255)
    draw = ImageDraw.Draw(image)
    for x, y, width, height in symbol.rectangles:
        draw.rectangle((x * 4, y * 4 + 20, (x + width) * 4 - 1, (y + height) * 4 + 19), fill=0)
    (code,) = zxingcpp.read_barcodes(image)
    text: str = code.text
    return text


@pytest.mark.parametrize(
    ("symbology", "value", "read_back", "shown"),
    [
        ("code128", "Parcel 7/a", "Parcel 7/a", "Parcel 7/a"),
        ("code39", "SHELF-7", "SHELF-7", "SHELF-7"),
        ("code93", "Shelf-7/a", "Shelf-7/a", "Shelf-7/a"),
        ("codabar", "12345", "A12345A", "12345"),
        ("codabar", "B123C", "B123C", "123"),
        ("ean13", "4012345678901", "4012345678901", "4 012345 678901"),
        ("ean8", "96385074", "96385074", "9638 5074"),
        ("upca", "036000291452", "0036000291452", "0 36000 29145 2"),
        ("itf14", "15400141288763", "15400141288763", "1 54 00141 28876 3"),
        ("datamatrix", "Grüße, 東京", "Grüße, 東京", "Grüße, 東京"),
        ("gs1-128", f"(01){GTIN}(10)AB-1", f"(01){GTIN}(10)AB-1", f"(01){GTIN}(10)AB-1"),
        ("gs1-datamatrix", f"(01){GTIN}(17)280630", f"(01){GTIN}(17)280630", f"(01){GTIN}\n(17)280630"),
    ],
)  # fmt: skip
def test_a_code_decodes_and_shows_its_human_readable_text(symbology, value, read_back, shown):
    symbol = encode(symbology, value)
    assert read(symbol) == read_back
    assert isinstance(symbol, Symbol)
    assert symbol.text == shown


@pytest.mark.parametrize(
    ("symbology", "short", "whole"),
    [
        ("ean13", "401234567890", "4012345678901"),
        ("ean8", "9638507", "96385074"),
        ("upca", "03600029145", "0036000291452"),
        ("itf14", "1540014128876", "15400141288763"),
        ("gs1-128", "(01)0950600013435", f"(01){GTIN}"),
        ("gs1-datamatrix", "(8013)1987654Ad4X4bL5ttr2310c2K", "(8013)1987654Ad4X4bL5ttr2310c2K"),
        ("gs1-datamatrix", "(8003)0400000112345", "(8003)04000001123452"),
        ("gs1-datamatrix", f"(01){GTIN}(11)260200", f"(01){GTIN}(11)260200"),
    ],
)
def test_missing_check_digit_is_added(symbology, short, whole):
    assert read(encode(symbology, short)) == whole


@pytest.mark.parametrize(
    ("value", "completed", "found"),
    [
        ("4006381333931", "4 00 63813 33931 4", "4006381333931"),
        ("(10)7(01)4006381333931", "(10)7(01)40063813339314", "4006381333931"),
        ("400638133393", "4 006381 333931", None),
        ("(01)04006381333931", "(01)04006381333931", None),
    ],
)
def test_a_check_digit_after_another_one_is_found(value, completed, found):
    assert find_doubtful(value, completed) == found


@pytest.mark.parametrize(("value", "codes"), [("4006381333931", ["barcode-value"]), (GTIN, [])])
def test_an_article_number_without_its_zero_is_warned_of(value, codes):
    source = f'<document><flow><barcode type="itf14" alt="" value="{value}"/></flow></document>'
    payload = Payload(PayloadKind.XML, source.encode())
    options = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))
    assert [one.code for one in render(None, payload, options=options).warnings] == codes


@pytest.mark.parametrize(
    ("symbology", "value", "reported"),
    [
        ("ean13", "4012345678900", "its check digit is 1"),
        ("ean13", "40123", "has 5 digits, accepted are 13, or 12"),
        ("ean8", "9638507X", "characters other than digits"),
        ("ean8", "٩٦٣٨٥٠٧٤", "characters other than digits"),
        ("code128", "Gr\n→", 'the character "→" (U+2192)'),
        ("code39", "A\nB", '"AU+000AB" is not accepted'),
        ("codabar", "1\x00", '"1U+0000" is not accepted'),
        ("ean13", "4012\t34567890", "U+0009"),
        ("gs1-128", "(10)a\u202eb", "U+202E"),
        ("micro-qr", "ä", "declares no character set"),
        ("micro-qr", "1" * 36, "at most 35"),
        ("micro-qr", "a" * 16, "does not fit"),
        ("upce", "01234566", "its check digit is 5"),
        ("upce", "2123456", "begins with 0 or 1"),
        ("upce", "036000291452", "too few zeros"),
        ("upce", "12345", "has 5 digits, accepted are 8, or 7"),
        ("gs1-databar", "09501101530017", "its check digit is 0"),
        ("gs1-databar-limited", "59501101530015", "begins with 0 or 1"),
        ("gs1-databar-expanded", "0109501101530003", "not a GS1 element string"),
        ("gs1-databar-expanded", "(91)" + "A" * 60, "does not fit"),
        ("pdf417", "x" * 2711, "at most 2,710"),
        ("pdf417", "ü" * 1500, "does not fit"),
        ("aztec", "x" * 3833, "at most 3,832"),
        ("maxicode", "x" * 139, "at most 138"),
        ("maxicode", "x" * 120, "does not fit"),
        ("datamatrix", "1" * 3117, "at most 3,116"),
        ("code128", "x" * 81, "at most 80"),
        ("code39", "shelf", "capital letters"),
        ("code93", "é", "those of ASCII"),
        ("usps-imb", "05934567094987654321", "is not accepted"),
        ("usps-imb", "0123456709498765432", "a tracking code of 20 digits"),
        ("usps-imb", "01234567094987654321 0123", "a ZIP code of 5, 9 or 11"),
        ("codabar", "A12", "between two letters from A to D"),
        ("datamatrix", "x" * 2336, "does not fit"),
        ("datamatrix", "ü" * 2000, "does not fit"),
        ("gs1-128", "0109506000134352", "not a GS1 element string"),
        ("gs1-128", "(01)09506000134353", "its check digit is 2"),
        ("gs1-128", "(09)12", "(09) is not a GS1 application identifier"),
        ("gs1-128", "(17)281330", "is not a date"),
        ("gs1-128", "(10)", "not a GS1 element string"),
        ("gs1-128", "(10)ä", "GS1 character set"),
        ("gs1-128", "(10)a(10)b", "is used twice"),
        ("gs1-128", "(91)" + "x" * 60, "at most 48 fit"),
        ("gs1-datamatrix", "(3103)12", "its format is N6"),
        ("gs1-datamatrix", "(253)1234567890123", "check digit"),
        ("gs1-128", "(10)AB-1", "must have one of these beside it: 01 02"),
        ("gs1-128", f"(02){GTIN}", "(02) must have one of these beside it: 37"),
        ("gs1-128", f"(01){GTIN}(255)4000001123452", "exclude each other"),
        ("gs1-128", f"(01){GTIN}(17)260231", "is not a date"),
        ("gs1-128", f"(01){GTIN}(7003)2611262460", "is not a date"),
        ("gs1-128", f"(01){GTIN}(3103)001250(3102)000125", "a measure or an amount twice"),
        ("gs1-128", f"(01){GTIN}(422)757", "numbers of countries"),
        ("gs1-128", "(00)006141411234567890(4307)XX", "not the code of a country"),
        ("gs1-128", "(415)4000001123452(8020)1(3912)998100", "number of a currency"),
        ("gs1-128", "(415)4000001123452(8020)1(8007)DE03120300000000202051", "not an IBAN"),
        ("gs1-datamatrix", "(8006)095060001343520201", "not a piece of its total"),
        ("gs1-datamatrix", "(8013)1987654Ad4X4bL5ttr2310c2J", "wrong check characters"),
        ("gs1-datamatrix", f"(01){GTIN}(8001)00000000100101", "has a size of 0"),
        ("gs1-datamatrix", "(00)006141411234567890(4300)a%2", "two hexadecimal digits"),
        ("itf14", "", "is empty"),
        ("itf14", {"a": "b"}, "takes a text, not an object"),
    ],
)
def test_an_invalid_value_is_reported_with_the_accepted_form(symbology, value, reported):
    assert reported in problem_of(symbology, value)


def test_identifiers_with_two_parts_take_the_second_only_where_it_may_be_missing():
    assert read_element_string("(253)4012345678901AB") == "(253)4012345678901AB"
    assert read_element_string("(253)4012345678901") == "(253)4012345678901"
    with pytest.raises(InvalidValueError, match=r"in \(8006\)"):
        read_element_string(f"(8006){GTIN}12")


def test_check_digit_weighs_from_the_right():
    assert check_digit("629104150021") == "3"


def test_quiet_zone_can_be_left_out():
    wide, tight = encode("ean13", "401234567890"), encode("ean13", "401234567890", False)
    assert isinstance(wide, Symbol)
    assert isinstance(tight, Symbol)
    assert (wide.columns, tight.columns) == (95 + 22, 95)


# The examples of USPS-B-3200, table 5.
@pytest.mark.parametrize(
    ("zip_code", "states"),
    [
        ("", "ATTFATTDTTADTAATTDTDTATTDAFDDFADFDFTFFFFFTATFAAAATDFFTDAADFTFDTDT"),
        ("01234", "DTTAFADDTTFTDTFTFDTDDADADAFADFATDDFTAAAFDTTADFAAATDFDTDFADDDTDFFT"),
        ("012345678", "ADFTTAFDTTTTFATTADTAAATFTFTATDAAAFDDADATATDTDTTDFDTDATADADTDFFTFA"),
        ("01234567891", "AADTFFDFTDADTAADAATFDTDDAAADDTDTTDAFADADDDTFFFDDTTTADFAAADFTDAADA"),
    ],
)
def test_intelligent_mail_has_the_bars_of_the_specification(zip_code, states):
    symbol = encode("usps-imb", f"01 234 567094 987654321 {zip_code}")
    assert isinstance(symbol, Symbol)
    third = min(height for _, _, _, height in symbol.rectangles)
    top = min(y for _, y, _, _ in symbol.rectangles)
    drawn = {(0, 3): "F", (0, 2): "A", (1, 2): "D", (1, 1): "T"}
    found = [drawn[(y - top) // third, height // third] for _, y, _, height in symbol.rectangles]
    assert "".join(found) == states
    assert symbol.text == f"01 234 567094 987654321 {zip_code}".strip()
    assert 2.667 + 0.25 <= symbol.side / 72 <= 3.225 + 0.25  # inches, with its quiet zone
