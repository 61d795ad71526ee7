"""Postal codes of four states, held against the examples that their operators publish."""

from __future__ import annotations

import pytest
import zxingcpp
from PIL import Image

from workers.engine.barcodes import SYMBOLOGIES, BarcodeSpec
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode


def encode(symbology: str, value: str) -> Symbol | ContentProblem:
    return encode_barcode(BarcodeSpec(symbology, value))


def states_of(symbol: Symbol | ContentProblem) -> str:
    """Read the states of a symbol from its bars: which reach above the tracker, which below."""
    assert isinstance(symbol, Symbol), symbol
    top = min(y for _, y, _, _ in symbol.rectangles)
    foot = max(y + height for _, y, _, height in symbol.rectangles)
    return "".join(
        "TADF"[(y == top) + 2 * (y + height == foot)] for _, y, _, height in symbol.rectangles
    )


@pytest.mark.parametrize(
    ("symbology", "value", "states"),
    [
        # Royal Mail, Mailmark barcode C and L encoding and decoding instructions, examples.
        ("mailmark-4state", "21B2254800659JW5O9QA6Y",
         "DAATATTTADTAATTFADDDDTTFTFDDDDFFDFDAFTADDTFFTDDATADTTFATTDAFDTFDDA"),
        ("mailmark-4state", "11000000000000000XY11",
         "TTDTTATDDTTATTDTAATTDTAATDDTTATTDTTDATFTAATDDTAATDDTATATFAADDAATAATDDTAADFTFTA"),
        ("mailmark-4state", "41038422416563762EF61AH8T",
         "DTTFATTDDTATTTATFTDFFFTFDFDAFTTTADTTFDTFDDDTDFDDFTFAADTFDTDTDTFAATAFDDTAATTDTT"),
        # Of other forms of postcodes, from the tests of zint.
        ("mailmark-4state", "2345678901234KM12JQ3N",
         "TDTFAFADDATATATTAAFAFTFTDADFDTDAAADFFDTTDDTDDFATDDTFDATFDFTFFFDFTA"),
        ("mailmark-4state", "0418070504030C12JQ3U",
         "FTAFFDAFTDDFTDTAFAADDDTADFTFAFFFATAAATFTDDDATFATFTTFTFFATADTDAAFTA"),
        ("mailmark-4state", "02D7543219876C123JQ4U",
         "AFTFAFATFDDFFDTTDDFAFDFDAFFTFAAFTTDATDFATATFTDFTFTTTFFTTATDATFDFTA"),
        ("mailmark-4state", "33C55555555555555OV123JQ4U",
         "FDTTFDDTDFFAAAADDFFDTFTFDDTADAAADATTFAFTTFDATTDDTDAFTAFTDDTTADDFFTAFDTDDTDTTAF"),
        ("mailmark-4state", "42944444444444444CI1K3JQ4U",
         "FTDDTTTTFAFFTATFTTFTDTFTFAADADTAFDADDTFDFDAFDFTTAFATFDFDTTFATFDFDAAAFTFTDFFTAF"),
        ("rm4scc", "BX11LT 1A", "ADFTAFATDTDAFTDAFFTTFFDATTDAFDADAATDFF"),
        # PostNL, Handleiding KIX code, 2.1, examples 1 and 4.
        ("kix", "2500GG 30250", "TDFADDAATTFFTTFFDAFTDAFTDTAFTTFFTDFADDAATTFF"),
        ("kix", "1231FZ 13XHS", "TDAFTDFADTAFTDAFDAADFFTTTDAFDTAFFATDDFATFTFT"),
        # Australia Post, Customer Barcoding Technical Specifications, diagram 1, and Guide, figure 4.
        ("auspost", "1196184209", "ATFAFATFDFFADDAAFDFFTFTDFFTDADADTADAT"),
        ("auspost", "59 56439111 ABA 9", "ATADTFADDFAAAFTFFAFAFAFFFFFAFFFFFTTDDTTAFADAFFFTTAAT"),
        ("auspost", "59 32211324 12345678", "ATADTFAFFDFDFAFAAFFDAAFAFDAFAAADDFDADDAADTDDDFTDTTAT"),
        ("auspost", "62 32211324 123456789012345",
         "ATDFFDAFFDFDFAFAAFFDAAFAFDAFAAADDFDADDTFFFFAFDAFAAADTADDATFAFFFTFAT"),
        ("auspost", "62 32211324 aBCd#F hIz",
         "ATDFFDAFFDFDFAFAAFFDAAFDTFFAFFDFTDFATFADFFTADTFDDTTTTFDAADFFAATTDAT"),
        # Japan Post, Zip/Barcode Manual, page 6; the third has more than its 20 codes.
        ("japan-post", "154-0023 3-16-4-205",
         "FDFFTFTFFADFTTFTTFDADFADFATFTFFTDAFTFTFADTFTFDAFTTFTFTDATDATDADAFDF"),
        ("japan-post", "350-1106 22-1A308",
         "FDDFAFTFFTTFFTFFTFTTDAFFDAFDATFTFFTDATFTTDFAFTTADFTDATDATDATDAFTFDF"),
        ("japan-post", "3210987TUVWXY",
         "FDDFAFDAFFTFTTTFFADFAFDDTATFFADTFTTADTFFTADTFDAADTDFAADTFADTDADTADF"),
    ],
)  # fmt: skip
def test_a_postal_code_has_the_bars_of_a_published_example(symbology, value, states):
    assert states_of(encode(symbology, value)) == states


@pytest.mark.parametrize(
    ("symbology", "value", "reported"),
    [
        ("rm4scc", "SN3 1SD 1C", "a delivery point suffix"),
        ("rm4scc", "12345", "the six digits of a postal code of Singapore"),
        ("kix", "1231 GF", "a postcode, a house number"),
        ("mailmark-4state", "51000000000000000XY11", "a format (0 to 4)"),
        ("mailmark-4state", "01000000000000000A1C1IA1A", '"A1C1IA1A " is not a postcode'),
        ("mailmark-4state", "0" * 30, "a supply chain of 2 or 6 digits"),
        ("mailmark-2d", "021000000012345678EF61AH8T 0", "the version 1"),
        ("mailmark-2d", "011000000012345678EF6AH8T  0", "a postcode with its suffix"),
        ("auspost", "12 39549554", "a format code (11, 45, 87, 92"),
        ("auspost", "59 39549554 ABCDEF", "after 59, 5 characters or 8 digits"),
        ("auspost", "11 39549554 ABCDE", "customer information"),
        ("japan-post", "154-002", "a postcode of seven digits"),
        ("itf", "123", "an even number of digits"),
        ("itf", "1" * 82, "at most 80"),
    ],
)
def test_a_wrong_postal_code_is_reported_with_the_accepted_form(symbology, value, reported):
    problem = encode(symbology, value)
    assert isinstance(problem, ContentProblem), "a wrong value was drawn"
    assert reported in problem.text


@pytest.mark.parametrize(
    ("symbology", "value", "read_back"),
    [
        (
            "mailmark-2d",
            "011000000012345678EF61AH8T 0SN31SD        Order 7/a",
            "JGB 011000000012345678EF61AH8T 0SN31SD        Order 7/a",
        ),
        (
            "mailmark-2d",
            "011000000012345678EF61AH8T 0",
            "JGB 011000000012345678EF61AH8T 0" + 13 * " ",
        ),
        ("itf", "0123456789", "0123456789"),
    ],
)
def test_other_codes_of_mail_are_read_back(symbology, value, read_back):
    symbol = encode(symbology, value)
    assert isinstance(symbol, Symbol)
    scale = 4
    image = Image.new("L", (symbol.columns * scale, symbol.rows * scale), 255)
    for x, y, width, height in symbol.rectangles:
        image.paste(0, (x * scale, y * scale, (x + width) * scale, (y + height) * scale))
    (code,) = zxingcpp.read_barcodes(image)
    assert code.text == read_back
    if symbology == "mailmark-2d":
        assert symbol.columns >= 24  # modules, the least that Royal Mail defines


@pytest.mark.parametrize("symbology", [name for name, kind in SYMBOLOGIES.items() if kind.bars])
def test_the_bars_of_a_postal_code_have_a_size_that_sorters_read(symbology):
    bars = SYMBOLOGIES[symbology].bars
    assert bars is not None
    pitch, width, full, tracker = (
        size * bars.part
        for size in (bars.pitch, bars.width, bars.tracker + 2 * bars.reach, bars.tracker)
    )
    assert 25.4 / 25 <= pitch <= 1.21  # millimetres
    assert 0.38 <= width <= 0.63
    assert 3.3 <= full <= 5.84
    assert 1.02 <= tracker <= 1.52
