"""The QR-bill has the measures and fonts of SIX (Implementation Guidelines QR-bill 2.3, section 3, and style guide)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.golden.case import OPTIONS, FolderImages
from tests.golden.dump import dump_pages
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import build_document, lay_out_document, prepare_template
from workers.engine.ports import Payload, PayloadKind
from workers.engine.units import POINTS_PER_MM

SELLER = {
    "name": "Max Muster & Söhne",
    "street": "Musterstrasse",
    "number": "123",
    "postal_code": "8000",
    "town": "Seldwyla",
    "country": "CH",
}
BILL = {
    "iban": "CH4431999123000889012",
    "reference": "210000000003139471430009017",
    "creditor": SELLER,
    "debtor": SELLER,
    "amount": 1949.75,
    "currency": "CHF",
    "message": "Order",
    "billing": "//S1/10/10201409",
    "procedures": ["eBill/B/41010560425610173"],
}
BLANK = {"iban": "CH5800791123000889012", "creditor": SELLER}
TOP = 297 - 105  # mm, of the bill on A4
TEXT = re.compile(r'text ([-\d.]+),([-\d.]+) [\d.]+ (\S+) ([\d.]+) "(.*)"')
BOX = re.compile(r"(?:fill|cells) ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)")
LINE = re.compile(r"line ([\d.]+),([\d.]+) to ([\d.]+),([\d.]+) width ([\d.]+)")


def dump(bill: dict[str, Any], lang: str = "en") -> str:
    source = (
        f'<document lang="{lang}"><page size="A4" margin="20mm"/><style element="document" '
        'font-size="20pt" color="red" font-family="Noto Serif"/><flow><qr-bill value="bill"/></flow></document>'
    )
    findings = Findings()
    payload = Payload(PayloadKind.JSON, json.dumps({"bill": bill}).encode())
    template = prepare_template(source.encode())
    document, _ = build_document(template, payload, options=OPTIONS, findings=findings)
    laid_out = lay_out_document(document, resources=FolderImages(), findings=findings)
    findings.raise_errors()
    return dump_pages(laid_out.draw_all())


def texts(shown: str) -> dict[str, list[tuple[float, float, str, float]]]:
    """Return the place of each text, in mm from the bill's upper left corner, its font and size."""
    found: dict[str, list[tuple[float, float, str, float]]] = {}
    for x, y, face, size, text in TEXT.findall(shown):
        place = round(float(x) / POINTS_PER_MM, 1), round(float(y) / POINTS_PER_MM - TOP, 1)
        found.setdefault(text, []).append((*place, face, float(size)))
    return found


def test_parts_have_their_titles_fonts_and_sizes():
    found = texts(dump(BILL))
    assert found["Receipt"] == [(5.0, pytest.approx(8.3, abs=0.4), "LiberationSans-Bold", 11)]
    assert found["Payment part"][0][::2] == (67.0, "LiberationSans-Bold")
    for heading in ("Account / Payable to", "Reference", "Payable by", "Currency", "Amount"):
        receipt, part = found[heading]
        assert receipt[2:] == ("LiberationSans-Bold", 6)
        assert part[2:] == ("LiberationSans-Bold", 8)
        assert receipt[0] < 62 < part[0]
    for value in ("CH44 3199 9123 0008 8901 2", "21 00000 00003 13947 14300 09017", "1 949.75"):
        receipt, part = found[value]
        assert receipt[2:] == ("LiberationSans-Regular", 8)
        assert part[2:] == ("LiberationSans-Regular", 10)
    assert found["Acceptance point"][0][2:] == ("LiberationSans-Bold", 6)
    assert found["eBill/B/41010560425610173"][0][2:] == ("LiberationSans-Regular", 7)
    assert {face for all_ in found.values() for *_, face, _ in all_} <= {
        *("LiberationSans-Regular", "LiberationSans-Bold", "NotoSansSymbols2-Regular")
    }


def test_the_code_is_46_mm_wide_at_its_place_with_5_mm_around():
    (x, y, width, height), *_ = re.findall(r"cells ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)", dump(BILL))
    assert (float(width), float(height)) == pytest.approx((46 * POINTS_PER_MM,) * 2, abs=0.1)
    assert float(x) / POINTS_PER_MM == pytest.approx(62 + 5, abs=0.1)
    assert float(y) / POINTS_PER_MM - TOP == pytest.approx(5 + 7 + 5, abs=0.1)


def test_everything_keeps_5_mm_off_the_edges_of_both_parts():
    for bill in (BILL, BLANK):
        shown = dump(bill)
        found = texts(shown)
        found.pop("✂", None)
        lefts = [x for all_ in found.values() for x, *_ in all_]
        assert min(lefts) >= 5
        assert not [x for x in lefts if 57 < x < 67]
        for x, y, width, height in BOX.findall(shown):
            right = (float(x) + float(width)) / POINTS_PER_MM
            assert right <= 57.1 or 66.9 <= float(x) / POINTS_PER_MM <= right <= 205.1
            assert (float(y) + float(height)) / POINTS_PER_MM - TOP <= 100.1


def test_blank_fields_have_the_sizes_of_the_guidelines():
    marks = [tuple(map(float, found)) for found in BOX.findall(dump(BLANK))]
    corners = [mark for mark in marks if max(mark[2:]) < 9]
    assert len(corners) == 4 * 4 * 2
    sizes = []
    for at in range(0, len(corners), 8):
        field = corners[at : at + 8]
        left, top = min(x for x, *_ in field), min(y for _, y, *_ in field)
        right = max(x + width for x, _, width, _ in field)
        bottom = max(y + height for _, y, _, height in field)
        sizes.append((round((right - left) / POINTS_PER_MM), round((bottom - top) / POINTS_PER_MM)))
    assert sorted(sizes) == [(30, 10), (40, 15), (52, 20), (65, 25)]
    assert {round(min(mark[2:]), 1) for mark in corners} == {0.8}  # 0.75 pt
    assert {round(max(mark[2:]) / POINTS_PER_MM) for mark in corners} == {3}


def test_the_bill_is_cut_off_along_two_lines_with_scissors():
    shown = dump(BILL)
    (across, down) = [tuple(map(float, found)) for found in LINE.findall(shown)]
    assert across[:3] == pytest.approx((0, TOP * POINTS_PER_MM, 210 * POINTS_PER_MM), abs=0.6)
    assert down[0] == pytest.approx(62 * POINTS_PER_MM, abs=0.6)
    assert (down[1], down[3]) == pytest.approx((TOP * POINTS_PER_MM, 297 * POINTS_PER_MM), abs=0.6)
    assert shown.count("✂") == 2


@pytest.mark.parametrize(
    ("lang", "titles"),
    [
        ("de", ("Empfangsschein", "Zahlteil", "Konto / Zahlbar an", "Annahmestelle")),
        ("fr", ("Récépissé", "Section paiement", "Compte / Payable à", "Point de dépôt")),
        ("it", ("Ricevuta", "Sezione pagamento", "Conto / Pagabile a", "Punto di accettazione")),
        ("en", ("Receipt", "Payment part", "Account / Payable to", "Acceptance point")),
    ],
)
def test_a_bill_speaks_four_languages(lang, titles):
    assert set(titles) <= texts(dump(BILL, f"{lang}-CH")).keys()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"reference": "RF18539007547034", "iban": "CH5800791123000889012"}, "RF18 5390 0754 7034"),
        ({"currency": "EUR"}, "EUR"),
        ({"amount": 0.05}, "0.05"),
        ({"amount": 999999999.99}, "999 999 999.99"),
    ],
)
def test_references_currencies_and_amounts_are_grouped_as_prescribed(change, word):
    assert len(texts(dump(BILL | change))[word]) == 2


def test_a_bill_without_a_reference_has_no_heading_for_one():
    shown = texts(dump({**BILL, "iban": "CH5800791123000889012", "reference": None}))
    assert "Reference" not in shown


def findings_of(bill: dict[str, Any], lang: str = "fr") -> tuple[Findings, str]:
    source = f'<document lang="{lang}"><page size="A4" margin="20mm"/><flow><qr-bill value="bill"/></flow></document>'
    findings = Findings()
    payload = Payload(PayloadKind.JSON, json.dumps({"bill": bill}).encode())
    document, _ = build_document(
        prepare_template(source.encode()), payload, options=OPTIONS, findings=findings
    )
    laid_out = lay_out_document(document, resources=FolderImages(), findings=findings)
    return findings, dump_pages(laid_out.draw_all())


@pytest.mark.parametrize(
    ("street", "printed"),
    [
        ("Place de l\u2019Exemple", "Place de l'Exemple"),
        ("Rue du Pre\u0301 \u2013 Nord", "Rue du Pré - Nord"),
        ("\u201eAu Lac\u201c", '"Au Lac"'),
        ("\ufb01n \u1ebfa", "fin ea"),
        ("Gasse\u202f3\u200b", "Gasse 3"),
        ("HAUPTSTRA\u1e9eE", "HAUPTSTRASSE"),
    ],
)
def test_typed_signs_are_replaced_with_a_warning(street, printed):
    findings, shown = findings_of(BILL | {"debtor": SELLER | {"street": street}})
    assert findings.error_count == 0
    assert printed in shown.replace('\\"', '"')
    has_other = any(sign in street for sign in "\u2019\u2013\u201e\ufb01\u200b\u1e9e")
    assert ["accepted signs" in one.message for one in findings.warnings] == [True] * has_other


@pytest.mark.parametrize(
    ("lang", "words"),
    [("de", "NICHT ZUR ZAHLUNG VERWENDEN"), ("fr", "NE PAS UTILISER POUR LE PAIEMENT")],
)
def test_a_bill_of_nothing_says_that_it_is_not_to_be_paid(lang, words):
    for amount in (0, "0", "0.00"):
        findings, shown = findings_of(BILL | {"amount": amount, "message": ""}, lang)
        assert findings.error_count == 0
        assert words in shown
        assert [words in one.message for one in findings.warnings] == [True]
        assert '"0.00"' in shown
    with pytest.raises(AuthoringError, match="DO NOT USE FOR PAYMENT"):
        findings_of(BILL | {"amount": 0}, lang)
