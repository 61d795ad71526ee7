"""Fonts of imported pages have the widths and the glyphs that their PDF says (ISO 19005-2, 6.2.11)."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.misc import eexec
from fontTools.misc.psCharStrings import T2CharString
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont as OpenType
from pikepdf import Array, Dictionary, Name
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from tests.engine.pdf_pages.files import drawn, new_page, save
from workers.engine.diagnostics import AuthoringError
from workers.engine.pdf_pages.pages import import_page

WIDTHS = "whose widths are not those of its glyphs (6.2.11.5)"
NO_GLYPH = "text without a glyph in its font (6.2.11.8)"
UNREADABLE = "a font program that cannot be read (6.2.11.4.1)"
ROOT = Path(__file__).parents[3]
METRICS = {".notdef": (500, 0), "a": (600, 0), "b": (700, 0)}


def truetype() -> bytes:
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(METRICS))
    builder.setupCharacterMap({97: "a", 98: "b"})
    builder.setupGlyf({name: TTGlyphPen(None).glyph() for name in METRICS})
    return finish(builder)


def finish(builder: FontBuilder) -> bytes:
    builder.setupHorizontalMetrics(METRICS)
    builder.setupHorizontalHeader()
    builder.setupPost()
    out = io.BytesIO()
    builder.save(out)
    return out.getvalue()


def opentype() -> bytes:
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(list(METRICS))
    builder.setupCharacterMap({97: "a", 98: "b"})
    programs = {
        ".notdef": [500, "endchar"],
        "a": [100, 0, "hmoveto", "endchar"],  # the difference to nominalWidthX
        "b": [-107, "callgsubr"],
    }
    drawn = {name: T2CharString(program=program) for name, program in programs.items()}
    builder.setupCFF("Own", {}, drawn, {"nominalWidthX": 500})
    fonts = builder.font["CFF "].cff
    fonts.GlobalSubrs.append(T2CharString(program=[200, 5, 1, "hstem", "endchar"]))
    for each in drawn.values():
        each.private, each.globalSubrs = fonts[0].Private, fonts.GlobalSubrs
    return finish(builder)


def bare_cff() -> bytes:
    return bytes(OpenType(io.BytesIO(opentype())).getTableData("CFF "))


def type1() -> bytes:
    def glyph(name: str, width: int) -> bytes:
        number = bytes((247 + (width - 108) // 256, (width - 108) % 256))
        program = eexec.encrypt(b"0000" + bytes((139,)) + number + b"\x0d\x0e", 4330)[0]
        return b"/%b %d RD %b ND\n" % (name.encode(), len(program), program)

    private = b"0000/lenIV 4 def " + b"".join(glyph(name, METRICS[name][0]) for name in METRICS)
    head = b"%!PS-AdobeFont-1.0\n/Encoding StandardEncoding def\ncurrentfile eexec\n"
    return head + eexec.encrypt(private, 55665)[0]


def simple(kind: str, key: str, program: bytes, *, widths: tuple[int, ...] = (600, 700)) -> Any:
    def make(pdf: pikepdf.Pdf) -> Dictionary:
        descriptor = Dictionary({"/Flags": 32, key: pdf.make_stream(program)})
        return Dictionary(
            Type=Name.Font, Subtype=Name(kind), BaseFont=Name.Own, FirstChar=97,
            Widths=Array(widths), Encoding=Name.WinAnsiEncoding, FontDescriptor=descriptor,
        )  # fmt: skip

    return make


def composite(kind: str, key: str, program: bytes, widths: Array) -> Any:
    def make(pdf: pikepdf.Pdf) -> Dictionary:
        descendant = Dictionary({
            "/Subtype": Name(kind), "/W": widths, "/DW": 600,
            "/FontDescriptor": Dictionary({key: pdf.make_stream(program)}),
        })  # fmt: skip
        if kind == "/CIDFontType2":
            glyphs = bytearray(200)
            glyphs[2 * 97 + 1], glyphs[2 * 98 + 1] = 1, 2
            descendant.CIDToGIDMap = pdf.make_stream(bytes(glyphs))
        return Dictionary(
            Type=Name.Font, Subtype=Name.Type0, BaseFont=Name.Own,
            Encoding=Name("/Identity-H"), DescendantFonts=Array([descendant]),
        )  # fmt: skip

    return make


def breaches(font: Callable[[pikepdf.Pdf], Dictionary], content: bytes) -> str:
    pdf = new_page(content)
    pdf.pages[0].obj.Resources = Dictionary(Font=Dictionary(F=pdf.make_indirect(font(pdf))))
    return "".join(import_page(save(pdf), 1, "k").facts.breaches)


SIMPLE = [
    ("/TrueType", "/FontFile2", truetype()),
    ("/Type1", "/FontFile3", bare_cff()),
    ("/Type1", "/FontFile3", opentype()),
    ("/Type1", "/FontFile", type1()),
]


@pytest.mark.parametrize(("kind", "key", "program"), SIMPLE, ids=range(4))
def test_widths_and_glyphs_of_simple_fonts_are_those_of_their_program(
    kind: str, key: str, program: bytes
):
    shown = b"BT /F 9 Tf (%b) Tj ET"
    right, wrong = simple(kind, key, program), simple(kind, key, program, widths=(600, 702))
    assert breaches(right, shown % b"ab") == ""
    assert breaches(right, shown % b"ac") == NO_GLYPH
    assert breaches(wrong, shown % b"ab") == f"a font {WIDTHS}"
    assert breaches(wrong, shown % b"a") == ""  # only what is shown counts


@pytest.mark.parametrize(
    ("kind", "key", "program", "codes"),
    [
        ("/CIDFontType2", "/FontFile2", truetype(), (97, 98)),
        ("/CIDFontType0", "/FontFile3", bare_cff(), (1, 2)),
    ],
    ids=range(2),
)
def test_widths_and_glyphs_of_composite_fonts_are_those_of_their_program(
    kind: str, key: str, program: bytes, codes: tuple[int, int]
):
    shown = b"BT /F 9 Tf [<%04x> 5 <%04x>] TJ ET"
    several = composite(kind, key, program, Array([codes[1], Array([700])]))
    span = composite(kind, key, program, Array([codes[1], codes[1] + 1, 700]))
    assert breaches(several, shown % codes) == breaches(span, shown % codes) == ""
    assert breaches(several, shown % (codes[0], 0)) == NO_GLYPH
    assert breaches(composite(kind, key, program, Array()), shown % codes) == f"a font {WIDTHS}"


def test_the_font_of_text_is_that_of_its_graphics_state():
    wrong = simple(*SIMPLE[0], widths=(600, 702))
    assert WIDTHS in breaches(wrong, b"q /F 9 Tf Q BT /F 9 Tf q /G 9 Tf Q (b) ' ET")
    assert breaches(wrong, b"BT /F 9 Tf 3 Tr (b) Tj ET") == ""  # invisible
    assert breaches(wrong, b"BT 3 Tr /F 9 Tf (c) Tj ET") == NO_GLYPH  # invisible too
    assert "does not set (6.2.11.5)" in breaches(wrong, b"q /F 9 Tf Q BT (a) Tj ET")


@pytest.mark.parametrize("program", [b"x", truetype()[:300], type1()[:120]])
def test_a_program_that_cannot_be_read_is_refused(program: bytes):
    font = simple("/TrueType", "/FontFile2", program)
    assert breaches(font, b"BT /F 9 Tf (ab) Tj ET") in (UNREADABLE, NO_GLYPH)


def test_pages_of_other_programs_pass():
    pdfmetrics.registerFont(
        TTFont("Own", next(iter(ROOT.glob("workers/engine/fonts/typefaces/NotoSans-*.ttf"))))
    )
    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.setFont("Own", 12)
    canvas.drawString(72, 72, "Grüße, 12 € “x”")
    canvas.save()
    letterhead = (ROOT / "tests/golden/images/letterhead.pdf").read_bytes()
    for data in (out.getvalue(), letterhead):
        assert import_page(data, 1, "k").facts.breaches == {}


def test_an_archive_refuses_fonts_with_other_widths():
    pdf = new_page(b"BT /F 9 Tf (ab) Tj ET")
    font = simple(*SIMPLE[0], widths=(600, 702))(pdf)
    pdf.pages[0].obj.Resources = Dictionary(Font=Dictionary(F=pdf.make_indirect(font)))
    with pytest.raises(AuthoringError) as caught:
        drawn(save(pdf), attributes='profile="pdf/a-2b"')
    assert WIDTHS in str(caught.value)
