"""A SEPA payment slip prints what its code says, in the language and style of its document."""

from __future__ import annotations

import io
import json
from typing import Any

import pypdfium2
import pytest

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.qr_readers import read_twice
from tests.golden.case import OPTIONS
from workers.engine.barcodes.payments import SLIP_TEXTS, write_sepa_payment
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

SLIP = {
    "name": "Größe & Söhne",
    "iban": "DE02 1203 0000 0000 2020 51",
    "bic": "BYLADEM1001",
    "amount": 1308.66,
    "text": "Rechnung 7",
}


def made(
    value: Any,
    attributes: str = "",
    root: str = 'lang="de-DE"',
    around: str = "{}",
    head: str = '<page size="A5" margin="8mm"/>',
) -> bytes:
    slip = around.format(f'<payment-slip value="slip" {attributes}/>')
    source = f"<document {root}>{head}<flow>{slip}</flow></document>"
    payload = Payload(PayloadKind.JSON, json.dumps({"slip": value}).encode())
    rendered = render(prepare_template(source.encode()), payload, options=OPTIONS)
    assert rendered.warnings == ()
    return rendered.pdf


def text_of(pdf: bytes) -> str:
    with pypdfium2.PdfDocument(pdf) as document:
        return document[0].get_textpage().get_text_range()


def problem_of(value: Any) -> tuple[str, str]:
    with pytest.raises(AuthoringError) as caught:
        made(value)
    (finding,) = caught.value.diagnostics
    return finding.code, finding.text


@pytest.mark.parametrize("around", ["{}", '<div background="black" padding="5mm">{}</div>'])
def test_the_code_and_the_words_say_the_same(around):
    pdf = made(SLIP, 'color="#777777"' if around != "{}" else "", around=around)
    with pypdfium2.PdfDocument(pdf) as document:
        read = read_twice(document[0].render(scale=4).to_pil())
    wanted = write_sepa_payment({**SLIP, "amount": "1308.66"})
    assert (read.content, read.level) == (wanted, "M")
    lines = text_of(pdf).split("\r\n")
    assert lines == [
        *("SEPA-Überweisung", "Zahlen mit Code", "Zahlungsempfänger", "Größe & Söhne"),
        *("IBAN", "DE02 1203 0000 0000 2020 51", "BIC", "BYLADEM1001"),
        *("Betrag", "1.308,66\xa0€", "Verwendungszweck", "Rechnung 7"),
    ]


def test_the_largest_code_is_read_at_the_resolution_of_a_fax():
    largest = {**SLIP, "name": "n" * 70, "text": "t" * 140, "bic": "BYLADEM1001", "purpose": "GDDS"}
    with pypdfium2.PdfDocument(made(largest)) as document:
        picture = document[0].render(scale=200 / 72).to_pil()
    assert b"t" * 140 in read_twice(picture).content


@pytest.mark.parametrize("lang", SLIP_TEXTS)
def test_a_slip_speaks_the_language_of_its_element(lang):
    texts = SLIP_TEXTS[lang]
    shown = text_of(made(SLIP, f'lang="{lang}"'))
    # The title mixes directions in Arabic and Hebrew: its words are read in the order of the page.
    assert set(texts["title"].split()) <= set(shown.split())
    for word in (texts["beneficiary"], texts["amount"], texts["remittance"], texts["scan"]):
        assert word in shown
    referred = {**SLIP, "text": None, "reference": "RF18 5390 0754 7034"}
    shown = text_of(made(referred, root=f'lang="{lang}"'))
    assert f"{texts['reference']}\r\nRF18 5390 0754 7034" in shown


def test_other_languages_have_english_words_and_their_own_numbers():
    shown = text_of(made(SLIP, root='lang="da"'))
    assert "Scan to pay" in shown
    assert "1.308,66" in shown


def test_an_amount_that_is_not_given_is_filled_in_by_the_payer():
    shown = text_of(made({**SLIP, "amount": None}))
    assert "Betrag (EUR)\r\nVerwendungszweck" in shown


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("text", "must be an object with name, iban and amount"),
        ({**SLIP, "iban": "DE03120300000000202051"}, '"iban" of "payment-slip" has wrong check'),
        ({**SLIP, "reference": "RF18539007547034"}, 'either "reference" or "text", not both'),
        ({**SLIP, "amount": 0}, "must be from 0.01"),
        ({**SLIP, "currency": "CHF"}, "only EUR can be paid"),
        ({**SLIP, "city": "a"}, 'has no member "city"'),
        ({**SLIP, "text": "é" * 140, "name": "é" * 70}, "holds 331 bytes"),
    ],
)
def test_a_wrong_payment_is_a_finding(value, message):
    code, text = problem_of(value)
    assert code == "payment-slip-value"
    assert message in text


def test_a_slip_conforms_to_pdf_ua():
    root = 'lang="de-DE" title="T" profile="pdf/a-3a pdf/ua-1"'
    assert find_violations(made(SLIP, root=root, around="<h1>T</h1>{}"), promises=True) == []


LONG = "word " * 60


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "<div>{}</div>",
        "<div><p>a</p>{}<p>b</p></div>",
        "<row>{}<p>a</p></row>",
        f'<row><div width="20mm"><p>{LONG}</p></div>{{}}</row>',
        '<row align-items="end"><p>a</p><div>{}</div></row>',
        "<row><div><row><div>{}</div></row></div></row>",
        '<div columns="1" padding="2mm" border="1pt solid black">{}</div>',
        "<table><tr><td>a</td></tr><tr><td>{}</td></tr></table>",
        f'<table><col width="20mm"/><col/><tr><td colspan="2">a</td></tr><tr><td>{LONG}</td><td>{{}}</td></tr></table>',
        "<table><tr><td>a</td></tr><tr><td><p>b</p>{}</td></tr></table>",
        "<ul><li><p>a</p></li><li>{}</li></ul>",
        '<grid grid-template-columns="1fr">{}</grid>',
        '<p break-after="avoid">a</p>{}',
        "<blockquote>{}</blockquote>",
    ],
)
@pytest.mark.parametrize("height", [100, 118, 124, 130, 136, 142, 148, 160, 185])
def test_a_slip_stays_on_one_page(around, height):
    around = f'<div height="{height}mm"><p>begin</p></div>{around}'
    pdf = made(SLIP, around=around)
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    words = ("SEPA", "Zahlen", "Größe", "IBAN", "Betrag", "Rechnung")
    shown = [[word for word in words if word in page] for page in pages]
    assert [found for found in shown if found] == [list(words)]


@pytest.mark.parametrize("height", [20, 45, 70, 90])
def test_a_slip_in_columns_stays_in_one_of_them(height):
    around = f'<div columns="2" column-gap="4mm"><div height="{height}mm"><p>a</p></div>{{}}<div height="60mm"><p>b</p></div></div>'
    pdf = made(SLIP, "font-size='6pt'", around=f'<div height="90mm"><p>a</p></div>{around}')
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        texts = [page.get_textpage() for page in document]
        places = [
            (number, edges_of(text, word)[0] > 200)
            for word in ("SEPA", "IBAN", "Rechnung")
            for number, text in enumerate(texts)
            if word in text.get_text_range()
        ]
    assert places == [places[0]] * 3


def edges_of(text: pypdfium2.PdfTextPage, word: str) -> tuple[float, ...]:
    index, _ = text.search(word).get_next()
    return text.get_charbox(index)


def test_a_slip_in_a_row_that_is_higher_than_a_page_is_broken_and_complete():
    around = '<div height="10mm"><p>a</p></div><row>{}<p width="10mm">b</p></row>'
    pdf = made(SLIP, around=around, head='<page size="120mm 50mm" margin="4mm"/>')
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    assert "SEPA" in pages[1]
    assert "Rechnung 7" in pages[-1]
    assert "IBAN" in "".join(pages)
