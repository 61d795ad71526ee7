"""Every type of bar code is read back from the rendered page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from xml.sax.saxutils import quoteattr

import pytest
import zxingcpp

from tests.engine.paint.drawing import rendered
from workers.engine.barcodes.symbologies import SYMBOLOGIES
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.syntax.vocabulary import ELEMENTS

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))
GTIN = "09501101530003"


def draw(symbology: str, value: str, **attributes: str) -> bytes:
    """Make a page with one bar code; what no document may hold is written as an escape."""
    if not value.isprintable():
        value = value.replace("\\", "\\\\")
        value = "".join(c if c.isprintable() else f"\\x{ord(c):02X}" for c in value)
        attributes["escapes"] = "true"
    given = " ".join(
        f"{name.replace('_', '-')}={quoteattr(text)}" for name, text in attributes.items()
    )
    source = (
        '<document><page size="130mm 90mm" margin="10mm"/><flow>'
        f'<barcode type="{symbology}" value="{{{{ value }}}}" alt="" {given}/></flow></document>'
    )
    payload = Payload(PayloadKind.JSON, json.dumps({"value": value}).encode())
    made = render(prepare_template(source.encode()), payload, options=OPTIONS)
    assert made.warnings == ()
    return made.pdf


def read(pdf: bytes, *, is_pure: bool = False) -> zxingcpp.Barcode:
    """Read the page at several resolutions, as a scanner takes several pictures."""
    for scale in (4, 6, 8):
        found = zxingcpp.read_barcodes(
            rendered(pdf, scale=scale).convert("L"),
            is_pure=is_pure,
            text_mode=zxingcpp.TextMode.Plain,
            ean_add_on_symbol=zxingcpp.EanAddOnSymbol.Read,
        )
        if found:
            (code,) = found
            return code
    raise AssertionError("no bar code was found")


@pytest.mark.parametrize(
    ("symbology", "value", "attributes", "kind", "text"),
    [
        ("qr", "Grüße, 東京", {}, "QRCode", None),
        ("micro-qr", "12345", {}, "MicroQRCode", None),
        ("micro-qr", "HELLO-7", {"level": "Q"}, "MicroQRCode", None),
        ("datamatrix", "1" * 3116, {"width": "60mm"}, "DataMatrix", None),
        ("gs1-datamatrix", f"(01){GTIN}(10)AB", {}, "DataMatrix", f"01{GTIN}10AB"),
        ("aztec", "Grüße, 東京", {}, "Aztec", None),
        ("aztec", "Boarding pass", {"correction": "4"}, "Aztec", None),
        ("pdf417", "Grüße, 東京", {}, "PDF417", None),
        ("pdf417", "A\x1e\x1d\x04" * 9, {"columns": "4", "correction": "6"}, "PDF417", None),
        ("code128", "Grüße, ÿ\x80", {}, "Code128", None),
        ("code128", "a\n\x00\x1d\x7fb", {}, "Code128", None),
        ("gs1-128", f"(01){GTIN}(10)AB", {}, "Code128", f"01{GTIN}10AB"),
        ("code39", "SHELF-7", {}, "Code39", None),
        ("codabar", "12345", {}, "Codabar", "A12345A"),
        ("ean13", "9780306406157", {}, "EAN13", None),
        ("ean13", "9780306406157", {"add_on": "52495"}, "EAN13", "978030640615752495"),
        ("ean13", "9771234567003", {"add_on": "07"}, "EAN13", "977123456700307"),
        ("ean8", "96385074", {}, "EAN8", None),
        ("qr", "C:\\temp\x1d", {}, "QRCode", None),
        ("upca", "036000291452", {}, "EAN13", "0036000291452"),
        ("upca", "036000291452", {"add_on": "12"}, "EAN13", "003600029145212"),
        ("upce", "01234565", {}, "UPCE", "0012345000065"),
        ("upce", "1123456", {"add_on": "52495"}, "UPCE", "011234500006252495"),
        ("itf14", "15400141288763", {}, "ITF", None),
        ("gs1-databar", GTIN, {}, "DataBarOmni", f"01{GTIN}"),
        ("gs1-databar", GTIN, {"height": "4.3mm"}, "DataBarOmni", f"01{GTIN}"),
        ("gs1-databar-stacked", GTIN, {}, "DataBarStk", f"01{GTIN}"),
        ("gs1-databar-stacked-omni", GTIN, {}, "DataBarStk", f"01{GTIN}"),
        ("gs1-databar-limited", GTIN, {}, "DataBarLtd", f"01{GTIN}"),
        ("gs1-databar-expanded", f"(01){GTIN}(10)AB", {}, "DataBarExp", f"01{GTIN}10AB"),
        (
            *("gs1-databar-expanded-stacked", f"(01){GTIN}(10)ABC123(21)99", {}, "DataBarExpStk"),
            f"01{GTIN}10ABC123\x1d2199",
        ),
        (
            *("gs1-databar-expanded-stacked", f"(01){GTIN}(10)ABC123(21)99", {"columns": "1"}),
            *("DataBarExpStk", f"01{GTIN}10ABC123\x1d2199"),
        ),
    ],
)  # fmt: skip
def test_code_of_a_page_reads_back(symbology, value, attributes, kind, text):
    code = read(draw(symbology, value, **attributes))
    assert code.format.name == kind
    assert code.text == (value if text is None else text)


@pytest.mark.parametrize("attributes", [{}, {"quiet": "false"}])
def test_maxicode_of_a_page_reads_back(attributes):
    # Its reader finds no symbol among others: it takes a picture of nothing else.
    for value in ("Hello MaxiCode", "Grüße", "1" * 138, "A\x1e\x1d\x04"):
        code = read(draw("maxicode", value, **attributes), is_pure=True)
        assert (code.format.name, code.text) == ("MaxiCode", value)


@pytest.mark.long
def test_code128_holds_all_of_latin_1():
    signs = [chr(number) for number in range(256)]
    for at in range(0, 256, 16):
        value = "".join(signs[at : at + 16])
        assert read(draw("code128", value)).text == value


@pytest.mark.parametrize("symbology", ["qr", "aztec", "datamatrix", "pdf417", "code128"])
def test_a_code_without_width_is_no_failure_of_the_service(symbology):
    attributes = {"width": "0mm", "show-text": "true"}
    try:
        pdf = draw(symbology, "12345", **attributes)
    except AuthoringError:
        return
    assert pdf.startswith(b"%PDF-")


def test_the_vocabulary_names_every_symbology_in_order():
    assert ELEMENTS["barcode"].attributes["type"].value_type.choices == tuple(SYMBOLOGIES)


@pytest.mark.parametrize(
    ("symbology", "value", "attributes", "reported"),
    [
        ("code128", "a\n→", {}, 'it contains the character "→" (U+2192)'),
        ("code39", "A\nB", {}, '"AU+000AB" is not accepted'),
        ("qr", "a", {"columns": "3"}, '"columns" is not accepted for a bar code of type "qr"; it is for pdf417'),
        ("qr", "a", {"correction": "0"}, 'it is for aztec, pdf417'),
        ("ean8", "96385074", {"add_on": "12"}, 'it is for ean13, upca, upce'),
        ("ean13", "9780306406157", {"add_on": "123"}, "it takes 2 or 5 digits"),
        ("aztec", "a", {"correction": "5"}, "it takes 1 to 4"),
        ("micro-qr", "a", {"level": "H"}, "level H is not accepted; use one of L, M, Q"),
        ("pdf417", "a" * 900, {"columns": "1"}, "use more columns than 1"),
        ("gs1-databar-expanded-stacked", f"(01){GTIN}", {"columns": "11"}, "it takes 1 to 10"),
        ("code39", "a\x00", {}, '"aU+0000" is not accepted'),
        ("qr", "C:\\q", {"escapes": "true"}, '"\\q" is not an escape; write'),
    ],
)  # fmt: skip
def test_a_wrong_option_is_reported_with_the_accepted_values(
    symbology, value, attributes, reported
):
    with pytest.raises(AuthoringError) as caught:
        draw(symbology, value, **attributes)
    (finding, *_) = caught.value.diagnostics
    assert reported in finding.text
    assert finding.text.isprintable()
