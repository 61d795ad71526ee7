"""Pages of other PDFs look as in their files, and bring nothing but what is drawn."""

from __future__ import annotations

import base64
import io
import re
import zlib

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import Image, ImageChops

from tests.engine.finish import accessibility_rules, archive_rules
from tests.engine.pdf_pages.files import (
    OPTIONS,
    SIDE,
    colours,
    drawn,
    form,
    imported,
    new_page,
    picture,
    save,
)
from tests.golden.case import FOLDER, FolderImages
from workers.engine.pdf_pages.pages import import_page
from workers.engine.pipeline import prepare_template, render, validate

# Red at the lower left, green at the lower right, blue at the upper left.
CORNERS = b"1 0 0 rg 0 0 50 50 re f 0 0.50196 0 rg 50 0 50 50 re f 0 0 1 rg 0 50 50 50 re f"
AT = ((25, 75), (75, 75), (25, 25), (75, 25))
UPRIGHT = ["red", "green", "blue", "white"]


def text_of(pdf: bytes) -> bytes:
    """Return all objects of a file as text, streams decompressed."""
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        opened.save(
            out, qdf=True, object_stream_mode=pikepdf.ObjectStreamMode.disable, static_id=True
        )
    return out.getvalue()


def test_numbers_may_be_objects_of_their_own():
    data = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 4 0 R 5 0 R]/Rotate 6 0 R/Contents 7 0 R/Resources 8 0 R>> endobj
4 0 obj 100 endobj
5 0 obj 50.5 endobj
6 0 obj 0 endobj
7 0 obj <</Length 20>> stream
0 0 1 rg 0 0 9 9 re f
endstream endobj
8 0 obj null endobj
trailer <</Root 1 0 R/Size 9>>
"""
    imported = import_page(data, 1, "k")
    assert (imported.width_points, imported.height_points) == (100, 50.5)


def test_a_page_of_our_own_looks_as_in_its_file():
    data = (FOLDER / "images" / "letterhead.pdf").read_bytes()
    for number in (1, 2):
        with pypdfium2.PdfDocument(data) as document:
            page = document[number - 1]
            wanted = page.render(scale=2).to_pil().convert("RGB")
        imported = import_page(data, number, "k")
        assert (imported.pages, imported.omitted) == (2, ())
        assert imported.facts.unembedded == imported.facts.unmapped == {}
        made = drawn(data, number)
        with pypdfium2.PdfDocument(made) as document:
            page = document[0]
            found = page.render(scale=5).to_pil().convert("RGB").resize(wanted.size)
        difference = (
            ImageChops.difference(wanted, found).convert("L").resize((30, 40), Image.Resampling.BOX)
        )
        assert difference.getextrema()[1] < 40


@pytest.mark.parametrize(
    ("rotate", "seen"),
    [
        (0, UPRIGHT),
        (90, ["green", "white", "red", "blue"]),
        (180, ["white", "blue", "green", "red"]),
        (270, ["blue", "red", "white", "green"]),
        (-90, ["blue", "red", "white", "green"]),
    ],
)
def test_a_rotated_page_is_upright(rotate, seen):
    pdf = new_page(CORNERS)
    pdf.pages[0].obj.Rotate = rotate
    data = save(pdf)
    assert colours(data, *AT) == seen
    assert colours(drawn(data), *AT) == seen


def test_the_crop_box_bounds_the_page_within_the_media_box():
    pdf = new_page(CORNERS)
    pdf.pages[0].obj.CropBox = Array([50, -20, 200, 50])
    page = import_page(save(pdf), 1, "k")
    assert (page.width_points, page.height_points) == (50, 50)
    assert colours(drawn(save(pdf)), *AT) == ["green"] * 4
    for wrong in (Array([0, 0, 0, 0]), Array([String("x")]), Array([200, 200, 300, 300])):
        pdf.pages[0].obj.CropBox = wrong
        assert colours(drawn(save(pdf)), *AT) == UPRIGHT


def test_boxes_and_resources_are_inherited_from_the_page_tree():
    pdf = new_page(b"/X Do")
    page, tree = pdf.pages[0].obj, pdf.Root.Pages
    del page["/Resources"], page["/MediaBox"]
    tree.Resources = Dictionary(XObject=Dictionary(X=form(pdf, CORNERS)))
    tree.MediaBox = Array([0, 0, SIDE, SIDE])
    tree.Rotate = 180
    assert colours(drawn(save(pdf)), *AT) == ["white", "blue", "green", "red"]


@pytest.mark.parametrize(
    "options",
    [
        {"object_stream_mode": pikepdf.ObjectStreamMode.generate},
        {"object_stream_mode": pikepdf.ObjectStreamMode.disable},
        {"linearize": True},
        {"qdf": True},
    ],
)
def test_every_layout_of_a_file_gives_the_same_page(options):
    pdf = new_page(CORNERS)
    assert imported(save(pdf, **options)) == imported(save(pdf))


def test_a_lost_cross_reference_and_wrong_lengths_are_repaired():
    data = save(new_page(CORNERS), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    assert colours(drawn(data[: data.rindex(b"xref\n")]), *AT) == UPRIGHT
    assert colours(drawn(b"junk before\n" + data), *AT) == UPRIGHT

    assert colours(drawn(re.sub(rb"/Length \d+", b"/Length 3", data)), *AT) == UPRIGHT


@pytest.mark.parametrize(
    "content",
    [
        b"q q q " + CORNERS,
        b"Q Q " + CORNERS + b" Q",
        b"q 0.1 0 0 0.1 0 0 cm Q Q Q " + CORNERS,
        CORNERS + b" BT",
        b"ET EMC EMC 1 2 3 /Undefined Do /F 3 Tf bogus " + CORNERS,
        b"% a comment (unbalanced\n" + CORNERS,
        CORNERS.replace(b"0.50196", b"+-0.50196").replace(b"+-", b"+"),
    ],
)
def test_unbalanced_content_is_balanced_and_does_not_reach_the_document(content):
    made = drawn(save(new_page(content)))
    assert colours(made, *AT) == UPRIGHT
    written = text_of(made)
    start = written.index(b"/Subtype /Form")
    body = written[written.index(b"stream\n", start) : written.index(b"endstream", start)]
    assert body.split().count(b"q") == body.split().count(b"Q")


def test_inline_images_forms_groups_states_patterns_and_type_3_fonts_are_drawn():
    pdf = new_page()
    group = form(
        pdf,
        b"0 0.50196 0 rg 50 0 50 50 re f",
        Group=Dictionary(S=Name.Transparency, CS=Name.DeviceRGB),
        Resources=Dictionary(),
    )
    glyph = pdf.make_stream(b"1000 0 0 0 1000 1000 d1 0 0 1000 1000 re f")
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 1000, 1000]),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]), CharProcs=Dictionary(a=glyph),
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array([97, Name("/a")])),
        FirstChar=97, LastChar=97, Widths=Array([1000]), Resources=Dictionary(),
    )  # fmt: skip
    tile = pdf.make_stream(
        b"0 0 1 rg 0 0 5 5 re f", Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1,
        BBox=Array([0, 0, 5, 5]), XStep=5, YStep=5, Resources=Dictionary(),
    )  # fmt: skip
    page = pdf.pages[0].obj
    page.Resources = Dictionary(
        XObject=Dictionary(G=group),
        Font=Dictionary({"/Fé": pdf.make_indirect(font)}),
        Pattern=Dictionary(P=tile),
        ExtGState=Dictionary(S=Dictionary(ca=1, BM=Name.Multiply)),
    )
    inline = b"q 50 0 0 50 0 0 cm BI /W 1 /H 1 /CS /RGB /BPC 8 /F /AHx ID ff0000> EI Q "
    page.Contents = Array(
        [
            pdf.make_stream(inline + b"/G Do /Pattern cs /P"),
            pdf.make_stream(
                "scn 0 50 50 50 re f /S gs 0.2 g BT /Fé 50 Tf 50 50 Td (a) Tj ET".encode()
            ),
        ]
    )
    data = save(pdf)
    seen = ["red", "green", "blue", "(51, 51, 51)"]
    assert colours(data, *AT) == seen
    assert colours(drawn(data), *AT) == seen
    assert import_page(data, 1, "k").facts.unmapped == {"without a name": None}


def test_a_hidden_layer_is_not_drawn_and_layers_do_not_remain():
    pdf = new_page(
        b"/OC /A BDC 1 0 0 rg 0 0 100 100 re f EMC /OC /B BDC " + CORNERS + b" EMC /X Do"
    )
    off, on = (
        pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String(name))) for name in ("off", "on")
    )
    hidden = form(pdf, b"0 0 1 rg 0 0 100 100 re f", OC=off)
    pdf.pages[0].obj.Resources = Dictionary(
        Properties=Dictionary(A=off, B=on), XObject=Dictionary(X=hidden)
    )
    pdf.Root.OCProperties = Dictionary(OCGs=Array([off, on]), D=Dictionary(OFF=Array([off])))
    made = drawn(save(pdf))
    assert colours(made, *AT) == UPRIGHT
    assert b"/OC" not in text_of(made)


ACTIVE = (
    *(b"JavaScript", b"/JS", b"/AA", b"OpenAction", b"Launch", b"URI", b"SubmitForm", b"AcroForm"),
    *(b"EmbeddedFile", b"Filespec", b"RichMedia", b"Widget", b"/Annots", b"GoToR", b"evil", b"/PS"),
    *(b"Metadata 1", b"PieceInfo", b"StructParents", b"/OPI", b"/Ref", b"ImportData"),
)


def test_nothing_active_survives_wherever_it_stands():
    pdf = new_page(
        CORNERS + b" /X Do /P Do /I Do /Pattern cs /T scn 0 0 1 1 re f /S gs BT /F 9 Tf (x) Tj ET"
    )
    script = Dictionary(S=Name.JavaScript, JS=String("evil()"))
    launch = Dictionary(S=Name.Launch, F=String("evil.exe"), Next=script)
    uri = Dictionary(S=Name.URI, URI=String("http://evil.example"))
    file = pdf.make_indirect(
        Dictionary(Type=Name.Filespec, F=String("evil"), EF=Dictionary(F=pdf.make_stream(b"evil", Type=Name.EmbeddedFile)))
    )  # fmt: skip
    actions = {
        "AA": Dictionary(O=script), "A": launch, "AF": Array([file]), "PieceInfo": Dictionary(x=script),
        "Metadata": pdf.make_stream(b"evil"), "StructParents": 3, "OPI": Dictionary(x=uri),
        "Ref": Dictionary(F=file), "JS": String("evil()"),
    }  # fmt: skip
    widget = pdf.make_indirect(
        Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Btn, Rect=Array([0, 0, 9, 9]), AP=Dictionary(N=form(pdf, b"")), **actions)
    )  # fmt: skip
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]), A=uri)
    media = Dictionary(
        Type=Name.Annot,
        Subtype=Name.RichMedia,
        Rect=Array([0, 0, 9, 9]),
        AP=Dictionary(N=form(pdf, b"")),
    )
    page = pdf.pages[0].obj
    for name, value in {"AA": Dictionary(O=script), "Annots": Array([widget, link, media])}.items():
        page[f"/{name}"] = value
    descriptor = Dictionary(
        Type=Name.FontDescriptor, FontName=Name.X, FontFile2=pdf.make_stream(b"font"), **actions
    )
    page.Resources = Dictionary(
        XObject=Dictionary(
            X=form(pdf, b"", **actions),
            P=pdf.make_stream(b"evil", Type=Name.XObject, Subtype=Name.PS),
            I=pdf.make_stream(b"\0\0\0", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1, ColorSpace=Name.DeviceRGB, BitsPerComponent=8, **actions),
        ),
        Pattern=Dictionary(T=pdf.make_stream(b"", PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 9, 9]), XStep=9, YStep=9, **actions)),
        ExtGState=Dictionary(S=Dictionary(ca=1, **actions)),
        Font=Dictionary(F=Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name.X, FontDescriptor=descriptor, **actions)),
        Properties=Dictionary(M=Dictionary(x=script)),
    )  # fmt: skip
    root = pdf.Root
    root.OpenAction, root.AcroForm = script, Dictionary(Fields=Array([widget]), XFA=String("evil"))
    root.Names = Dictionary(
        JavaScript=Dictionary(Names=Array([String("a"), script])),
        EmbeddedFiles=Dictionary(Names=Array([String("a"), file])),
    )
    data = save(pdf)
    before = text_of(data)
    assert sum(word in before for word in ACTIVE) > 15
    after = text_of(drawn(data, attributes='tagged="false"'))
    survived = [word for word in ACTIVE if word in after]
    assert survived == []
    assert import_page(data, 1, "k").omitted == ("form fields", "annotations")


def test_a_page_is_in_a_document_once_however_often_it_is_drawn_and_bytes_are_equal():
    data = (FOLDER / "images" / "letterhead.pdf").read_bytes()
    one, many = drawn(data, uses=1), drawn(data, uses=40)
    assert many == drawn(data, uses=40)
    assert len(many) - len(one) < 40 * 400
    with pikepdf.open(io.BytesIO(many)) as opened:
        called = {
            page.Resources.XObject[name].objgen
            for page in opened.pages
            for name in page.Resources.XObject
            if b"Form" in page.Resources.XObject[name].Subtype.unparse()
        }
    assert len(called) == 1


def test_resources_named_like_entries_do_not_confuse_the_writer():
    pdf = new_page(CORNERS + b" /Length cs 0 scn /Filter Do")
    for space in (5, Array([Name.Length, 5]), Array([Name.Indexed, Name.Length, 5])):
        pdf.pages[0].obj.Resources = Dictionary(
            ColorSpace=Dictionary(Length=space),
            XObject=Dictionary(Filter=form(pdf, b"", Resources=Dictionary())),
        )
        assert colours(drawn(save(pdf)), *AT) == UPRIGHT


def test_data_with_other_filters_are_kept_readable():
    pdf = new_page(b"q 100 0 0 100 0 0 cm /I Do Q")
    image = pdf.make_stream(
        b"x",
        Type=Name.XObject,
        Subtype=Name.Image,
        Width=2,
        Height=2,
        ColorSpace=Name.DeviceRGB,
        BitsPerComponent=8,
    )
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(I=image))
    # Upper row blue and white, lower row red and green.
    pixels = bytes((0, 0, 255, 255, 255, 255)), bytes((255, 0, 0, 0, 128, 0))
    raw = b"".join(pixels)
    predicted = b"".join(
        b"\2" + bytes((b - a) & 255 for a, b in zip(above, row, strict=True))
        for above, row in zip((bytes(6), pixels[0]), pixels, strict=True)
    )
    predictor = Dictionary(Predictor=15, Colors=3, Columns=2)
    for stored, filters, parameters in (
        (zlib.compress(raw), Name.FlateDecode, None),
        (zlib.compress(predicted), Name.FlateDecode, predictor),
        (
            zlib.compress(predicted).hex().encode() + b">",
            Array([Name.AHx, Name.Fl]),
            Array([None, predictor]),
        ),
        (b"\x0b" + raw + b"\x80", Name.RunLengthDecode, None),
        (lzw(raw), Name.LZWDecode, None),
    ):
        image.write(stored, filter=filters, decode_parms=parameters)
        data = save(pdf, stream_decode_level=pikepdf.StreamDecodeLevel.none, compress_streams=False)
        assert colours(drawn(data), *AT) == UPRIGHT, filters


def lzw(data: bytes) -> bytes:
    """Return data in codes of 9 bits without a table: a clear code before each 200 bytes."""
    codes = [256, *data, 257]
    bits = "".join(f"{code:09b}" for code in codes)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


def test_the_picture_of_a_soft_mask_and_a_shading_is_as_in_the_file():
    pdf = new_page(b"/S gs 1 0 0 rg 0 0 100 100 re f /N gs /H sh")
    mask = form(
        pdf,
        b"1 g 0 0 50 50 re f",
        Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray),
        Resources=Dictionary(),
    )
    shading = Dictionary(
        ShadingType=2, ColorSpace=Name.DeviceRGB, Coords=Array([60, 0, 90, 0]),
        Function=Dictionary(FunctionType=2, N=1, Domain=Array([0, 1]), C0=Array([0, 0, 1]), C1=Array([0, 0, 1])),
    )  # fmt: skip
    pdf.pages[0].obj.Resources = Dictionary(
        ExtGState=Dictionary(
            S=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=mask)),
            N=Dictionary(SMask=Name("/None")),
        ),
        Shading=Dictionary(H=shading),
    )
    data = save(pdf)
    assert ImageChops.difference(picture(data), picture(drawn(data))).getbbox() is None
    assert colours(drawn(data), *AT) == ["red", "blue", "white", "blue"]


def test_an_archive_with_a_letterhead_keeps_the_rules_of_pdf_a_and_pdf_ua():
    case = FOLDER / "cases" / "letterhead-archive.xml"
    template = prepare_template(case.read_bytes())
    made = render(template, None, options=OPTIONS, resources=FolderImages()).pdf
    assert archive_rules.find_violations(made, 3) == []
    assert accessibility_rules.find_violations(made) == []


@pytest.mark.parametrize(
    ("entries", "is_stretched"),
    [
        ({"MediaBox": [0, 0, 842, 595]}, True),
        ({"MediaBox": [0, 0, 842, 595], "Rotate": 90}, False),
        ({"MediaBox": [100, 100, 695, 942]}, False),
        ({"MediaBox": [0, 0, 842, 595], "CropBox": [100, 0, 521, 595]}, False),
        ({"MediaBox": [0, 0, 297.5, 421], "UserUnit": 2}, False),
        ({"MediaBox": [0, 0, 595, 842], "Rotate": 270}, True),
        ({"MediaBox": [0, 0, 612, 792]}, True),
    ],
)
def test_a_letterhead_of_other_proportions_is_warned_of(entries, is_stretched):
    pdf = new_page()
    for name, value in entries.items():
        pdf.pages[0].obj[f"/{name}"] = Array(value) if isinstance(value, list) else value
    address = f"data:application/pdf;base64,{base64.b64encode(save(pdf)).decode()}"
    source = (
        f'<document title="t" lang="en"><page size="A4" background-image="{address}"/>'
        "<flow><p/><break/><p/></flow></document>"
    )
    rendered = render(prepare_template(source.encode()), None, options=OPTIONS)
    codes = [warning.code for warning in rendered.warnings]
    assert codes == ["background-stretched"] * is_stretched
    checked = validate(prepare_template(source.encode()), None, options=OPTIONS)
    assert [warning.text for warning in checked.warnings] == [
        each.text for each in rendered.warnings
    ]
