"""Swiss QR codes: what is drawn reads back as the guideline says, and a wrong bill is reported."""

from __future__ import annotations

from decimal import Decimal
from itertools import cycle
from typing import Any

import pytest
from PIL import Image, ImageDraw

from tests.engine.qr_readers import read_twice
from tests.golden.case import OPTIONS
from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import AuthoringError
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import SWISS_GRAIN, Symbol, encode_barcode
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind
from workers.engine.units import mm

QR_ACCOUNT = "CH4431999123000889012"
ACCOUNT = "CH5800791123000889012"
CREDITOR = {
    "name": "Max Muster & Söhne",
    "street": "Musterstrasse",
    "number": "123",
    "postal_code": "8000",
    "town": "Seldwyla",
    "country": "CH",
}
DEBTOR = {"name": "Simon Muster", "postal_code": "8000", "town": "Seldwyla", "country": "ch"}
BILL = {
    "iban": "CH44 3199 9123 0008 8901 2",
    "creditor": CREDITOR,
    "amount": Decimal("1949.7500"),
    "currency": "CHF",
    "debtor": DEBTOR,
    "reference": "21 00000 00003 13947 14300 09017",
    "message": "Order of 15.06.2020",
    "billing": "//S1/10/10201409/11/200701",
    "procedures": ["Name AV1: UV;UltraPay005;12345", "Name AV2: XY;XYService;54321"],
}
WITHOUT_REFERENCE = {"iban": ACCOUNT, "creditor": CREDITOR}


def symbol_of(value: Any, *, has_quiet_zone: bool = True) -> Symbol:
    symbol = encode_barcode(BarcodeSpec("swiss-qr", value, has_quiet_zone=has_quiet_zone))
    assert isinstance(symbol, Symbol), symbol
    return symbol


def problem_of(value: Any, level: str = "M") -> str:
    problem = encode_barcode(BarcodeSpec("swiss-qr", value, level))
    assert isinstance(problem, ContentProblem), "a wrong bill was drawn"
    return problem.text


def picture(symbol: Symbol) -> Image.Image:
    scale = 8 / symbol.subdivisions
    image = Image.new("L", (round(symbol.columns * scale), round(symbol.rows * scale)), 255)
    draw = ImageDraw.Draw(image)
    for layer, fill in zip((symbol.rectangles, *symbol.overlays), cycle((0, 255)), strict=False):
        for x, y, width, height in layer:
            right, bottom = round((x + width) * scale) - 1, round((y + height) * scale) - 1
            draw.rectangle((round(x * scale), round(y * scale), right, bottom), fill=fill)
    return image


def lines_of(value: Any) -> list[str]:
    code = read_twice(picture(symbol_of(value)))
    assert code.level == "M"
    return code.content.decode("utf-8").split("\n")


def test_a_bill_reads_back_line_by_line():
    assert lines_of(BILL) == [
        *("SPC", "0200", "1", QR_ACCOUNT),
        *("S", "Max Muster & Söhne", "Musterstrasse", "123", "8000", "Seldwyla", "CH"),
        *("", "", "", "", "", "", ""),
        *("1949.75", "CHF"),
        *("S", "Simon Muster", "", "", "8000", "Seldwyla", "CH"),
        *("QRR", "210000000003139471430009017"),
        *("Order of 15.06.2020", "EPD", "//S1/10/10201409/11/200701"),
        *("Name AV1: UV;UltraPay005;12345", "Name AV2: XY;XYService;54321"),
    ]


def test_optional_fields_are_empty():
    lines = lines_of(WITHOUT_REFERENCE)
    assert lines[18:20] == ["", "CHF"]
    assert lines[20:27] == [""] * 7
    assert lines[27:] == ["NON", "", "", "EPD"]


def test_a_creditor_reference_goes_with_an_ordinary_account():
    lines = lines_of(WITHOUT_REFERENCE | {"reference": "RF18 5390 0754 7034", "currency": "EUR"})
    assert (lines[19], lines[27:29]) == ("EUR", ["SCOR", "RF18539007547034"])


def test_a_missing_check_digit_is_added():
    assert lines_of(BILL | {"reference": "21000000000313947143000901"})[28] == (
        "210000000003139471430009017"
    )


def test_an_account_of_liechtenstein_is_taken():
    assert lines_of(WITHOUT_REFERENCE | {"iban": "LI21 0881 0000 2324 013A A"})[3].startswith("LI")


def test_a_notice_may_be_of_nothing():
    notice = {"amount": 0, "message": "DO NOT USE FOR PAYMENT"}
    assert lines_of(WITHOUT_REFERENCE | notice)[18] == "0.00"


def test_the_largest_bill_reads_back():
    full = BILL | {
        "creditor": CREDITOR | {"name": "n" * 70, "street": "s" * 70, "number": "1" * 16},
        "debtor": CREDITOR | {"name": "d" * 70, "street": "s" * 70, "number": "1" * 16},
        "message": "m" * 70,
        "billing": "b" * 70,
        "procedures": ["p" * 100, "q" * 100],
    }
    assert lines_of(full)[-1] == "q" * 100


@pytest.mark.parametrize("has_quiet_zone", [True, False])
def test_the_code_measures_46_millimetres_with_5_around(has_quiet_zone):
    symbol = symbol_of(BILL, has_quiet_zone=has_quiet_zone)
    assert symbol.side == pytest.approx(mm(56 if has_quiet_zone else 46))
    unit = symbol.side / symbol.columns
    left = min(x for x, *_ in symbol.rectangles) * unit
    right = max(x + width for x, _, width, _ in symbol.rectangles) * unit
    assert left == pytest.approx(mm(5) if has_quiet_zone else 0, abs=0.01)
    assert right - left == pytest.approx(mm(46), abs=0.01)


def test_the_cross_stands_in_the_middle_on_7_millimetres():
    symbol = symbol_of(BILL, has_quiet_zone=False)
    drawn = picture(symbol)
    per_mm = drawn.width / 46

    def is_dark(x: float, y: float) -> bool:
        return drawn.getpixel((round(x * per_mm), round(y * per_mm))) == 0

    middle = 23.0
    assert not is_dark(middle, middle)  # the arms are white
    assert not is_dark(middle, middle - 1.8)
    assert not is_dark(middle - 1.8, middle)
    assert is_dark(middle - 1.8, middle - 1.8)  # the field is black
    assert is_dark(middle, middle - 2.6)
    for at in range(-34, 35):  # and around it is a white edge of half a millimetre
        for edge in (-3.3, 3.3):
            assert not is_dark(middle + at / 10, middle + edge)
            assert not is_dark(middle + edge, middle + at / 10)


def test_no_two_rectangles_overlap():
    cells: set[tuple[int, int]] = set()
    symbol = symbol_of(WITHOUT_REFERENCE, has_quiet_zone=False)
    for x, y, width, height in symbol.rectangles:
        if y % SWISS_GRAIN or height != SWISS_GRAIN:
            continue
        for at in range(x, x + width):
            assert (at, y) not in cells
            cells.add((at, y))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"iban": "GB33BUKB20201555555555"}, "only accounts of CH and LI"),
        ({"iban": "CH4431999123000889013"}, "wrong check digits"),
        ({"iban": None}, 'needs the member "iban"'),
        ({"reference": "210000000003139471430009018"}, "ends in 8, but its check digit is 7"),
        ({"reference": ""}, "is missing; a QR-IBAN needs a QR reference"),
        ({"reference": "0" * 27}, "of 27 digits"),
        ({"reference": "RF18539007547034"}, "a QR-IBAN needs a QR reference"),
        ({"iban": ACCOUNT}, "which only a QR-IBAN takes"),
        ({"iban": ACCOUNT, "reference": "RF19539007547034"}, "wrong check digits"),
        ({"iban": ACCOUNT, "reference": "invoice 7"}, "starts with RF"),
        ({"currency": "USD"}, "accepted are CHF and EUR"),
        ({"amount": 0}, 'is 0, which is accepted with the message "DO NOT USE FOR PAYMENT"'),
        ({"amount": Decimal("1.005")}, "two decimals"),
        ({"creditor": None}, 'needs the member "creditor" with name, street'),
        ({"creditor": "Max Muster, 8000 Seldwyla"}, "must be an object"),
        ({"creditor": CREDITOR | {"town": ""}}, 'needs the member "creditor.town"'),
        ({"creditor": CREDITOR | {"country": "Schweiz"}}, '"creditor.country" of'),
        ({"creditor": CREDITOR | {"country": "ZZ"}}, "not a code of ISO 3166-1 such as CH"),
        ({"creditor": CREDITOR | {"zip": "1"}}, 'has no member "zip"'),
        ({"debtor": {"name": "x"}}, 'needs the member "debtor.country"'),
        ({"debtor": DEBTOR | {"name": "n" * 71}}, "71 characters, at most 70"),
        ({"message": "Жук"}, 'holds "Ж" (U+0416), which is not accepted'),
        ({"message": "m" * 80, "billing": "b" * 61}, "141 characters together"),
        ({"procedures": ["a", "b", "c"]}, "at most two"),
        ({"procedures": "a"}, "at most two"),
        ({"procedures": ["a" * 101]}, "101 characters"),
        ({"bic": "x"}, 'no member "bic"'),
    ],
)
def test_an_invalid_bill_is_reported_by_member(change, message):
    assert message in problem_of(BILL | change)


def test_a_text_and_another_level_are_refused():
    assert "takes an object with iban, creditor" in problem_of("SPC")
    assert "always of level M" in problem_of(BILL, "H")


@pytest.mark.parametrize(
    ("size", "code"), [("", None), ('width="40mm"', "barcode-size"), ('width="56mm"', None)]
)
def test_another_size_is_warned_of(size, code):
    value = (
        f"{{{{ {{ 'iban': '{ACCOUNT}', 'creditor': {{ 'name': 'a', 'postal_code': '1', "
        "'town': 'b', 'country': 'CH' } } }}"
    )
    document = f'<document><flow><barcode type="swiss-qr" alt="" {size} value="{value}"/></flow></document>'
    warnings = render(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS).warnings
    assert [one.code for one in warnings] == ([code] if code else [])


def test_a_wrong_bill_is_an_error_at_its_element():
    document = '<document><flow><barcode type="swiss-qr" alt="" value="a"/></flow></document>'
    with pytest.raises(AuthoringError, match="takes an object") as caught:
        render(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    assert caught.value.diagnostics[0].location.tag_name == "barcode"
