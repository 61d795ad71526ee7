"""PDF/X-4: black text is on one plate, boxes and metadata say what a press needs, RGB is refused."""

from __future__ import annotations

import io
from dataclasses import replace

import pikepdf
import pytest

from tests.engine.layout.test_color_fonts import PAINTS
from tests.engine.layout.test_own_fonts import Stored
from tests.engine.paint.test_spot_colors import separate
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind

HEAD = '<document profile="pdf/x-4" output-intent="{}" title="T"><page size="60mm 60mm" margin="0" bleed="3mm"/>'
TEXT = '<div height="40mm" background="cmyk(0 0 100 0)"><p font-size="20pt">HHHH</p></div>'
COLORED = ("rg", "RG", "g", "G", "cs", "CS", "sc", "SC", "scn", "SCN")


def document(inside: str, intent: str = "press") -> Payload:
    source = f"{HEAD.format(intent)}<flow>{inside}</flow></document>"
    return Payload(PayloadKind.XML, source.encode())


def make(inside: str = TEXT, *, is_draft: bool = False) -> bytes:
    options = replace(OPTIONS, is_draft=is_draft)
    return render(None, document(inside), options=options, resources=FolderImages()).pdf


def codes(inside: str, intent: str = "press") -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        render(None, document(inside, intent), options=OPTIONS, resources=FolderImages())
    return [each.code for each in caught.value.diagnostics]


def test_black_text_is_on_the_plate_of_black_alone_and_printed_over_its_background(tmp_path):
    plates = separate(make(), tmp_path)
    assert plates["Black"].getextrema() == (0, 255)
    assert plates["Cyan"].getextrema() == plates["Magenta"].getextrema() == (255, 255)
    # The area below the letters is yellow all over: nothing is knocked out.
    left, top, right, bottom = plates["Black"].point(lambda ink: 255 - ink).getbbox()
    assert plates["Yellow"].crop((left, top, right, bottom)).getextrema() == (0, 0)


def test_white_text_is_knocked_out(tmp_path):
    plates = separate(make(TEXT.replace("<p ", '<p color="white" ')), tmp_path)
    assert plates["Yellow"].crop((9, 9, 100, 30)).getextrema()[1] > 250


@pytest.mark.parametrize("is_draft", [False, True])
def test_no_content_has_a_colour_of_rgb(is_draft):
    inside = TEXT + '<div opacity="0.5"><p color="#888">a</p></div><hr border="1pt solid black"/>'
    with pikepdf.open(io.BytesIO(make(inside, is_draft=is_draft))) as pdf:
        forms = [one for one in pdf.objects if isinstance(one, pikepdf.Stream)]
        contents = [*pdf.pages, *(one for one in forms if one.get("/Subtype") == "/Form")]
        used = [
            str(each.operator) for one in contents for each in pikepdf.parse_content_stream(one)
        ]
    assert {"k", "BT"} <= set(used)
    assert not set(used) & set(COLORED)


def test_the_file_says_what_a_press_needs():
    first, second = make(), make()
    assert first == second
    assert first.startswith(b"%PDF-1.6")
    with pikepdf.open(io.BytesIO(first)) as pdf:
        [intent] = pdf.Root.OutputIntents
        assert intent.S == "/GTS_PDFX"
        assert intent.DestOutputProfile.read_bytes() == FolderImages().find_image("press")
        assert intent.Info == "Pressroom test press"
        page = pdf.pages[0]
        edges = [round(float(edge), 1) for edge in (*page.TrimBox, *page.BleedBox)]
        assert edges == [8.5, 8.5, 178.6, 178.6, 0, 0, 187.1, 187.1]
        assert pdf.docinfo["/Trapped"] == "/False"
        with pdf.open_metadata() as xmp:
            assert xmp["pdfxid:GTS_PDFXVersion"] == "PDF/X-4"
            assert xmp["xmpMM:DocumentID"].startswith("urn:pressroom:document:")
            assert xmp["xmp:CreateDate"] == "1970-01-01T00:00:00+00:00"


def test_pictures_in_rgb_are_calibrated_and_links_have_no_target():
    drawing = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'%3E%3Cg opacity='.5'%3E%3Crect width='9' height='9' fill='red'/%3E%3C/g%3E%3C/svg%3E"
    inside = f'<p><a href="https://example.com/">a</a></p><img src="{drawing}" alt=""/>'
    with pikepdf.open(io.BytesIO(make(inside))) as pdf:
        page = pdf.pages[0]
        assert "/Annots" not in page
        [form] = page.Resources.XObject.values()
        assert page.Resources.ColorSpace.DefaultRGB == form.Resources.ColorSpace.DefaultRGB
        assert form.Resources.ColorSpace.DefaultRGB[1].N == 3
        groups = [
            one.Group for one in pdf.objects if isinstance(one, pikepdf.Stream) and "/Group" in one
        ]
        assert groups
        assert all("/CS" not in group for group in groups)


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ('<p color="red">a</p>', "profile-color"),
        ("<p color=\"{{ '#c00000' }}\">a</p>", "profile-color"),
        ('<chart type="gauge" value="0.4" colors="green" alt="a" height="20mm"/>', "profile-color"),
        ('<img src="letterhead" alt="" width="20mm"/>', "profile-pdf"),
        ('<p><input name="a" label="b"/></p>', "profile-print"),
    ],
)
def test_what_a_press_cannot_print_is_an_error(inside, code):
    assert codes(inside) == [code]


def test_an_output_intent_is_the_stored_profile_of_a_printer():
    assert codes("<p>a</p>", "absent") == ["output-intent"]
    assert codes("<p>a</p>", "logo") == ["output-intent"]
    found = validate(None, document("<p>a</p>", "logo"), options=OPTIONS, resources=FolderImages())
    assert [each.code for each in found] == ["output-intent"]


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'


@pytest.mark.parametrize(
    ("inside", "drawing"),
    [
        ('<box opacity="0.5" background="cmyk(0 0 0 20)"><p>a</p></box>', ""),
        ('<box opacity="0.5"><box rotate="90deg"><p>a</p></box></box>', ""),
        ('<img src="seen" alt=""/>', '<rect width="9" height="9" opacity="0.4"/>'),
        (
            '<img src="seen" alt=""/>',
            '<g opacity="0.4"><rect width="9" height="9"/><rect width="3" height="3"/></g>',
        ),
        ('<box opacity="0.5"><box overflow="hidden" height="9mm"/><p>a</p></box>', ""),
        ('<box opacity="0.5" height="9mm"/><p>a</p>', None),
        ('<box opacity="1" background="cmyk(0 0 0 20)"><p>a</p></box>', None),
        ('<box overflow="hidden" height="9mm"><p>a</p></box>', None),
        ('<img src="seen" alt=""/>', '<rect width="9" height="9"/>'),
        ('<img src="seen" alt=""/>', '<rect width="9" height="9" opacity="1" fill-opacity="1"/>'),
    ],
)
def test_transparency_is_told_once_for_each_element(inside, drawing):
    is_told = drawing == "" or "0.4" in (drawing or "")
    drawn, find = SVG.format(drawing or "").encode(), FolderImages().find_image
    resources = Stored()
    resources.find_image = lambda name: drawn if name == "seen" else find(name)
    payload = Payload(
        PayloadKind.XML, f"{HEAD.format('press')}<flow>{inside}</flow></document>".encode()
    )
    for options in (OPTIONS, replace(OPTIONS, is_draft=True)):  # whose mark is not the author's
        made = render(None, payload, options=options, resources=resources)
        assert [each.code for each in made.warnings] == ["print-transparency"] * is_told


def test_a_glyph_that_loses_its_colours_is_told():
    resources = Stored(**{"a-font": PAINTS})
    resources.find_image = FolderImages().find_image
    head = HEAD.format("press").replace("<page", '<font family="Swatch" src="a-font"/><page')
    found = []
    for family in ("Swatch", "Noto Sans"):
        source = f'{head}<flow><p font-family="{family}, Noto Sans">x\N{GRINNING FACE}</p></flow></document>'
        payload = Payload(PayloadKind.XML, source.encode())
        made = render(None, payload, options=OPTIONS, resources=resources)
        found.append([each.code for each in made.warnings])
    assert found == [["print-glyph"], []]
