"""What PDF/A asks of imported pages: repaired where it can be, else refused with its clause."""

from __future__ import annotations

import io

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from tests.engine.pdf_pages.files import drawn, imported, new_page, save
from workers.engine.diagnostics import AuthoringError
from workers.engine.pdf_pages.archive_checks import check_jpeg2000, has_private_characters
from workers.engine.pdf_pages.pages import import_page

TEXT = b"BT /F 9 Tf (ab) Tj ET"


def font_page(font: Dictionary, descendant: Dictionary | None = None, **entries: object) -> bytes:
    pdf = new_page(TEXT)
    descriptor = Dictionary(
        Type=Name.FontDescriptor, FontName=Name("/ABCDEF+Own"), FontFile2=pdf.make_stream(b"x"),
        CIDSet=pdf.make_stream(b"\xff"), CharSet=String("/a"), **entries,
    )  # fmt: skip
    described = font if descendant is None else descendant
    described.FontDescriptor = pdf.make_indirect(descriptor)
    if descendant is not None:
        font.DescendantFonts = Array([pdf.make_indirect(descendant)])
        if font.Encoding == Name.Own:
            font.Encoding = pdf.make_stream(
                b"", Type=Name.CMap, CIDSystemInfo=Dictionary(Registry=String("Other"))
            )
    pdf.pages[0].obj.Resources = Dictionary(Font=Dictionary(F=pdf.make_indirect(font)))
    return save(pdf)


def composite(encoding: str) -> bytes:
    descendant = Dictionary(
        Type=Name.Font, Subtype=Name.CIDFontType2, BaseFont=Name("/ABCDEF+Own"),
        CIDSystemInfo=Dictionary(Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0),
    )  # fmt: skip
    font = Dictionary(Type=Name.Font, Subtype=Name.Type0, BaseFont=Name("/ABCDEF+Own"))
    font.Encoding = Name(encoding)
    return font_page(font, descendant)


def simple(flags: int, **entries: object) -> bytes:
    font = Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name("/ABCDEF+Own"))
    for name, value in entries.items():
        font[f"/{name}"] = value
    return font_page(font, Flags=flags)


def breaches(data: bytes) -> tuple[str, ...]:
    return tuple(import_page(data, 1, "k").facts.breaches)


def test_optional_sets_of_glyphs_stay_behind_and_the_map_of_glyphs_is_stated():
    written = imported(composite("/Identity-H"))
    assert b"/CIDToGIDMap /Identity" in written
    assert b"CIDSet" not in written
    assert b"CharSet" not in written


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (composite("/Nobodys-CMap"), "6.2.11.3.3"),
        (composite("/Own"), "6.2.11.3.1"),
        (composite("/Identity-H"), "6.2.11.4.1"),  # its program cannot be read
        (simple(32), "6.2.11.6"),
        (simple(4, Encoding=Name.WinAnsiEncoding), "6.2.11.6"),
    ],
)
def test_a_font_that_breaks_the_standard_is_named_with_its_clause(data: bytes, clause: str):
    assert clause in "".join(breaches(data))


def test_an_archive_refuses_a_page_that_breaks_its_standard():
    with pytest.raises(AuthoringError) as caught:
        drawn(simple(32), attributes='profile="pdf/a-2b"')
    assert "TrueType font without a standard encoding (6.2.11.6)" in str(caught.value)


def test_a_predefined_cmap_is_allowed():
    assert breaches(composite("/UniJIS-UTF16-H")) == ()


def test_the_attributes_of_colorants_are_kept():
    pdf = new_page(b"/C cs 1 1 scn 0 0 9 9 re f")
    tint = pdf.make_stream(
        b"{pop pop 0 0 0}", FunctionType=4, Domain=Array([0, 1, 0, 1]), Range=Array([0, 1] * 3)
    )
    spot = Array([Name.Separation, Name.Spot, Name.DeviceRGB, tint])
    attributes = Dictionary(
        Subtype=Name.NChannel, Colorants=Dictionary(Spot=spot),
        Process=Dictionary(ColorSpace=Name.DeviceRGB, Components=Array([Name.Red])),
        MixingHints=Dictionary(Solidities=Dictionary(Spot=0.5), PrintingOrder=Array([Name.Spot])),
    )  # fmt: skip
    space = Array([Name.DeviceN, Array([Name.Spot, Name.Red]), Name.DeviceRGB, tint, attributes])
    pdf.pages[0].obj.Resources = Dictionary(ColorSpace=Dictionary(C=pdf.make_indirect(space)))
    with pikepdf.open(io.BytesIO(drawn(save(pdf)))) as made:
        spaces = [
            one for one in made.objects if isinstance(one, Array) and one and one[0] == "/DeviceN"
        ]
        kept = spaces[0][4]
        assert kept.Subtype == "/NChannel"
        assert kept.Colorants.Spot[1] == "/Spot"
        assert list(kept.Process.Components) == ["/Red"]
        assert float(kept.MixingHints.Solidities.Spot) == 0.5
        assert list(kept.MixingHints.PrintingOrder) == ["/Spot"]


def test_overprint_mode_in_a_cmyk_profile_is_refused():
    pdf = new_page(b"/S gs /C cs 1 0 0 0 scn 0 0 9 9 re f")
    profile = pdf.make_stream(b"icc", N=4)
    pdf.pages[0].obj.Resources = Dictionary(
        ColorSpace=Dictionary(C=Array([Name.ICCBased, profile])),
        ExtGState=Dictionary(S=Dictionary(OP=True, OPM=1)),
    )
    assert breaches(save(pdf)) == ("overprint mode 1 in a CMYK profile (6.2.4.2)",)


def jp2(channels: int, *spaces: bytes) -> bytes:
    header = bytes(8) + channels.to_bytes(2, "big") + bytes(4)
    boxes = [(b"ihdr", header), *((b"colr", space) for space in spaces)]
    inner = b"".join((8 + len(body)).to_bytes(4, "big") + kind + body for kind, body in boxes)
    return (8 + len(inner)).to_bytes(4, "big") + b"jp2h" + inner


SRGB = b"\x01\x00\x00\x00\x00\x00\x10"


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (jp2(3, SRGB), 0),
        (jp2(2, SRGB), 1),
        (jp2(3), 1),
        (jp2(3, SRGB, SRGB), 1),
        (jp2(3, SRGB, b"\x01\x00\x01\x00\x00\x00\x10"), 0),
        (jp2(3, b"\x01\x00\x00\x00\x00\x00\x13"), 1),
        (b"", 2),
        (b"\x00\x00\x00\x09abcde", 2),
    ],
)
def test_jpeg_2000_has_the_channels_and_the_colour_space_of_archives(data: bytes, count: int):
    assert len(list(check_jpeg2000(data))) == count


@pytest.mark.parametrize(
    ("cmap", "is_private"),
    [
        (b"1 beginbfchar <01> <0041> endbfchar", False),
        (b"1 beginbfchar <E001> <0041> <02> <E000> endbfchar", True),
        (b"1 beginbfrange <E000> <E005> <0041> endbfrange", False),
        (b"1 beginbfrange <00> <05> <F0B7> endbfrange", True),
        (b"1 beginbfrange <00> <01> [<0041> <F0B7>] endbfrange", True),
        (b"1 beginbfrange <00> <01> [<0041> <0042>] <E000> <E001> <0043> endbfrange", False),
        (b"1 beginbfchar <01> <0000> endbfchar", True),
        (b"1 beginbfchar <01> <D83DDE00> endbfchar", False),
        (b"beginbfchar <", False),
    ],
)
def test_characters_of_private_use_are_found(cmap: bytes, is_private: bool):
    assert has_private_characters(cmap) is is_private
