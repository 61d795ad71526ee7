"""Payment codes of single countries: contents of the standards' examples, read back, and findings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from PIL import Image, ImageDraw

from tests.engine.qr_readers import read_twice
from workers.engine.barcodes import BarcodeSpec
from workers.engine.barcodes.national_codes import (
    write_hct,
    write_pix,
    write_spayd,
    write_upi,
    write_upn,
    write_zbp,
)
from workers.engine.barcodes.payments import write_sepa_payment
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode

SPAYD = {"iban": "CZ58 5500 0000 0012 6509 8001", "amount": Decimal("480.5")}
HCT = {
    "bic": "OTPVHUHB",
    "name": "Minta Bolt Kft.",
    "iban": "HU42 1177 3016 1111 1018 0000 0000",
    "amount": 1234,
    "valid_until": "2026-12-31T23:59:59+01:00",
}
UPI = {"address": "shop@okbank", "name": "Tea & Co", "amount": 99}
PIX = {"key": "123e4567-e12b-12d1-a456-426655440000", "name": "Fulano de Tal", "city": "BRASILIA"}
SEPA = {"name": "Größe & Söhne", "iban": "DE02120300000000202051", "amount": 9, "text": "Nr. 7"}
UPN = {
    "iban": "SI56 0203 6025 3863 406",
    "name": "Podjetje d.o.o.",
    "street": "Čopova ulica 2",
    "town": "1000 Ljubljana",
    "reference": "SI08 1236-17-34565",
    "amount": Decimal("55.58"),
    "message": "Plačilo računa 18/2026",
    "due": "2026-06-16",
    "payer": {"name": "Žiga Šumi", "street": "Lepa ulica 33", "town": "6000 Koper"},
}
ZBP = {"iban": "PL61 1090 1014 0000 0712 1981 2874", "name": "Żółw SA", "amount": Decimal("12.3")}


def test_a_spayd_is_that_of_the_standard():
    content = write_spayd({**SPAYD, "message": "Zboží * 2", "variable_symbol": 1234567890})
    assert content == (
        b"SPD*1.0*ACC:CZ5855000000001265098001*AM:480.50*CC:CZK*MSG:Zbo%C5%BE%C3%AD %2A 2"
        b"*X-VS:1234567890"
    )


def test_a_hungarian_code_has_seventeen_lines():
    lines = write_hct({**HCT, "invoice": "2026-1"}).decode().split("\n")
    assert len(lines) == 18  # the last ends too
    assert lines[:8] == [
        *("HCT", "001", "1", "OTPVHUHB", "Minta Bolt Kft.", "HU42117730161111101800000000"),
        *("HUF1234", "20261231235959+1"),
    ]
    assert lines[12] == "2026-1"


def test_a_upi_address_is_percent_encoded():
    assert write_upi(UPI) == b"upi://pay?pa=shop@okbank&pn=Tea%20%26%20Co&am=99.00&cu=INR"


def test_a_pix_code_is_that_of_the_central_banks_manual():
    assert write_pix(PIX) == (
        b"00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000"
        b"5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
    )


def test_pix_leaves_accents_out():
    assert b"6009SAO PAULO" in write_pix({**PIX, "city": "SÃO PAULO"})


def test_a_polish_code_counts_grosze():
    assert write_zbp(ZBP).decode() == "|PL|61109010140000071219812874|001230|Żółw SA||||"


def test_a_slovenian_order_has_nineteen_lines_and_their_length():
    content = write_upn(UPN)
    assert content.decode("iso-8859-2").split("\n") == [
        *("UPNQR", "", "", "", "", "Žiga Šumi", "Lepa ulica 33", "6000 Koper"),
        *("00000005558", "", "", "OTHR", "Plačilo računa 18/2026", "16.06.2026"),
        *("SI56020360253863406", "SI081236-17-34565", "Podjetje d.o.o.", "Čopova ulica 2"),
        *("1000 Ljubljana", "182", ""),
    ]
    assert content.index(b"182\n") == 182


def test_a_slovenian_order_without_amount_and_reference_is_filled_in_by_its_payer():
    lines = write_upn({**UPN, "amount": None, "reference": None}).decode("iso-8859-2").split("\n")
    assert (lines[8], lines[15]) == ("0" * 11, "SI99")


def test_the_longest_slovenian_order_fits_its_one_version():
    longest = {
        **dict.fromkeys(("name", "street", "town"), "Č" * 33),
        "iban": "MT84MALT011000012345MTLCAST001S",
        "amount": "999999999.99",
        "purpose": "COST",
        "message": "Ž" * 42,
        "due": "2026-12-31",
        "date": "2026-12-30",
        "urgent": True,
        "reference": f"SI00{'1' * 20}-1",
        "payer": {
            **dict.fromkeys(("name", "street", "town"), "Š" * 33),
            "iban": UPN["iban"],
            "reference": "RF18539007547034",
        },
    }
    drawn = picture_of("upn-qr", longest)
    short = read_twice(picture_of("upn-qr", UPN))
    assert (read_twice(drawn).content, short.version) == (write_upn(longest), 15)
    assert drawn.size == picture_of("upn-qr", UPN).size


@pytest.mark.parametrize(
    ("symbology", "value", "content"),
    [
        ("spayd-qr", SPAYD, write_spayd(SPAYD)),
        ("hct-qr", HCT, write_hct(HCT)),
        ("upi-qr", UPI, write_upi(UPI)),
        ("pix-qr", PIX, write_pix(PIX)),
        ("zbp-qr", ZBP, write_zbp(ZBP)),
        ("epc-qr", SEPA, write_sepa_payment(SEPA)),
        ("upn-qr", UPN, write_upn(UPN)),
        (
            "upn-qr",
            {**UPN, "message": "a", "payer": None},
            write_upn({**UPN, "message": "a", "payer": None}),
        ),
    ],
)
def test_a_drawn_code_reads_back(symbology, value, content):
    found = read_twice(picture_of(symbology, value))
    assert (found.content, found.level) == (content, "M")


def picture_of(symbology: str, value: dict[str, Any]) -> Image.Image:
    symbol = encode_barcode(BarcodeSpec(symbology, value))
    assert isinstance(symbol, Symbol), symbol
    image = Image.new("L", (symbol.columns * 4, symbol.rows * 4), 255)
    draw = ImageDraw.Draw(image)
    for x, y, width, height in symbol.rectangles:
        draw.rectangle((4 * x, 4 * y, 4 * (x + width) - 1, 4 * (y + height) - 1), fill=0)
    return image


@pytest.mark.parametrize(
    ("symbology", "value", "message"),
    [
        ("spayd-qr", {**SPAYD, "iban": "CZ59 5500 0000 0012 6509 8001"}, "wrong check digits"),
        ("spayd-qr", {**SPAYD, "amount": 10000000}, "must be from 0.01 to 9999999.99"),
        ("spayd-qr", {**SPAYD, "due": "31.12.2026"}, "not a date such as 2026-12-31"),
        ("spayd-qr", {**SPAYD, "due": "2026-02-31"}, "not a date such as 2026-12-31"),
        ("hct-qr", {**HCT, "valid_until": "2026-02-31T23:59:59+01:00"}, "not a time such as"),
        ("spayd-qr", {**SPAYD, "variable_symbol": "A1"}, "1 to 10 digits"),
        ("spayd-qr", {**SPAYD, "message": "a" * 61}, "at most 60 are allowed"),
        ("hct-qr", {**HCT, "iban": "GB33BUKB20201555555555"}, "only accounts of HU"),
        ("hct-qr", {**HCT, "amount": Decimal("1.5")}, "forints have no decimals"),
        ("hct-qr", {**HCT, "valid_until": "tomorrow"}, "not a time such as"),
        ("hct-qr", {**HCT, "bic": ""}, 'needs the member "bic"'),
        ("hct-qr", {**HCT, "message": "é" * 70, "name": "é" * 70, "shop": "é" * 35}, "345 bytes"),
        ("upi-qr", {**UPI, "address": "shop"}, "not one such as name@bank"),
        ("upi-qr", {**UPI, "currency": "EUR"}, "is not INR"),
        ("pix-qr", {**PIX, "key": "12345678901"}, "a CPF or CNPJ with its check digits"),
        ("pix-qr", {**PIX, "key": "11111111111"}, "a CPF or CNPJ with its check digits"),
        ("pix-qr", {**PIX, "message": "a" * 60}, "too long beside the key"),
        ("pix-qr", {**PIX, "reference": "a-1"}, "it takes letters and digits"),
        ("pix-qr", {**PIX, "name": "東京"}, "letters of the Latin alphabet"),
        ("upn-qr", {**UPN, "town": ""}, 'needs the member "town"'),
        ("upn-qr", {**UPN, "message": "a" * 43}, "at most 42 are allowed"),
        ("upn-qr", {**UPN, "name": "東京"}, "which is not accepted"),
        ("upn-qr", {**UPN, "reference": "12-3"}, "not one such as SI00"),
        ("upn-qr", {**UPN, "reference": "SI00-1"}, "not one such as SI00"),
        ("upn-qr", {**UPN, "reference": "RF19539007547034"}, "wrong check digits"),
        ("upn-qr", {**UPN, "iban": "SI56020360253863407"}, "wrong check digits"),
        ("upn-qr", {**UPN, "purpose": "A1"}, "a code of four letters"),
        ("upn-qr", {**UPN, "due": "16.06.2026"}, "not a date such as 2026-12-31"),
        ("upn-qr", {**UPN, "urgent": "no"}, "must be true or false"),
        ("upn-qr", {**UPN, "payer": "Ada"}, "must be an object"),
        ("upn-qr", {**UPN, "payer": {"iban": "DE02120300000000202051"}}, "has an account of SI"),
        ("upn-qr", {**UPN, "payer": {"city": "a"}}, 'has no member "city"'),
        ("zbp-qr", {**ZBP, "amount": 10000}, "must be from 0.01 to 9999.99"),
        ("zbp-qr", {**ZBP, "tax_number": "1234567890"}, "wrong check digit"),
        ("zbp-qr", {**ZBP, "name": "a|b"}, "which separates values"),
        ("zbp-qr", {**ZBP, "iban": "GB33BUKB20201555555555"}, "only accounts of PL"),
        ("zbp-qr", {**ZBP, "street": "a"}, 'has no member "street"'),
    ],
)
def test_wrong_data_are_findings(symbology: str, value: dict[str, Any], message: str):
    problem = encode_barcode(BarcodeSpec(symbology, value))
    assert isinstance(problem, ContentProblem), "a wrong payment was drawn"
    assert message in problem.text


@pytest.mark.parametrize("key", ["52998224725", "11222333000181", "a.b@c.com", "+5511999998888"])
def test_pix_keys_are_of_five_kinds(key):
    assert key.encode() in write_pix({**PIX, "key": key})
