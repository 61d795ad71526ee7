"""Fonts that a document declares: found, matched as CSS does, embedded, kept, refused."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable
from random import Random

import pikepdf
import pypdfium2
import pytest
import uharfbuzz as hb
from fontTools.fontBuilder import FontBuilder
from fontTools.misc.psCharStrings import T2CharString
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.DefaultTable import DefaultTable

from tests.golden.case import FOLDER, OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.fonts import sanitizing
from workers.engine.fonts.sanitizing import (
    DescriptorRange,
    FontRefusedError,
    inspect_font,
    instantiate,
    sanitize_font,
)
from workers.engine.fonts.sets import (
    FONT_SETS,
    DeclaredFace,
    FontFaceDeclaration,
    FontRequest,
    FontSetCache,
    match_face,
)
from workers.engine.layout import document_fonts as declared_fonts
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import FontFile, Resources
from workers.engine.syntax.values import STRETCHES


def make_woff(data: bytes) -> bytes:
    """Return a font as WOFF: its tables compressed one by one, in their order."""
    (count,) = struct.unpack_from(">H", data, 4)
    entries = [struct.unpack_from(">4s3I", data, 12 + 16 * at) for at in range(count)]
    directory, content, offset = b"", b"", 44 + 20 * count
    for tag, checksum, start, length in entries:
        table = data[start : start + length]
        packed = min(table, zlib.compress(table), key=len)
        directory += struct.pack(">4s4I", tag, offset, len(packed), length, checksum)
        content += packed + bytes(-len(packed) % 4)
        offset += len(packed) + -len(packed) % 4
    head = struct.pack(">4s4sI2H", b"wOFF", data[:4], offset, count, 0) + bytes(28)
    return head + directory + content


def inflated(data: bytes, length: int) -> bytes:
    """Return a WOFF file whose first table claims to be longer."""
    return data[:56] + struct.pack(">I", length) + data[60:]


def make_cff2() -> bytes:
    """Return a variable font with CFF2 outlines: two boxes, wider by weight."""

    def box(width: int, growth: int) -> T2CharString:
        right, left = (width, growth, 1, "blend"), (-width, -growth, 1, "blend")
        program = [50, 0, "rmoveto", *right, "hlineto", 700, "vlineto", *left, "hlineto"]
        return T2CharString(program=program)

    outlines = {name: T2CharString(program=[]) for name in (".notdef", "space")}
    outlines |= {"A": box(300, 200), "B": box(400, 100)}
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(list(outlines))
    builder.setupCharacterMap({0x20: "space", 0x41: "A", 0x42: "B"})
    builder.setupHorizontalMetrics(dict.fromkeys(outlines, (600, 50)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    names = {"familyName": "Brand Two", "styleName": "Regular", "psName": "BrandTwo-Regular"}
    builder.setupNameTable(names)
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWeightClass=400)
    builder.setupPost()
    builder.setupFvar([("wght", 400, 400, 900, "Weight")], [])
    builder.setupCFF2(outlines, regions=[{"wght": (0, 1, 1)}])
    written = io.BytesIO()
    builder.font.save(written)
    return written.getvalue()


FONTS = {path.stem: path.read_bytes() for path in (FOLDER / "fonts").glob("brand-*")}
FONTS |= {"brand-woff": make_woff(FONTS["brand-regular"]), "brand-cff2": make_cff2()}
SUFFIXES = {path.stem: path.suffix for path in (FOLDER / "fonts").glob("brand-*")}
SUFFIXES |= {"brand-woff": ".woff", "brand-cff2": ".otf"}


class Stored(Resources):
    """Fonts by name; `read` lists those whose bytes were asked for."""

    def __init__(self, **fonts: bytes) -> None:
        self.fonts = fonts or FONTS
        self.read: list[str] = []

    def find_font(self, name: str) -> FontFile | None:
        data = self.fonts.get(name)
        return None if data is None else FontFile(str(hash(data)), lambda: self._read(name))

    def list_fonts(self) -> list[str]:
        return sorted(self.fonts)

    def _read(self, name: str) -> bytes:
        self.read.append(name)
        return self.fonts[name]


def rendered(fonts: str, text: str, resources: Stored | None = None, attributes: str = "") -> bytes:
    source = f"<document {attributes}>{fonts}<flow font-family='Brand, Noto Sans'>{text}</flow></document>"
    template = prepare_template(source.encode())
    return render(template, None, options=OPTIONS, resources=resources or Stored()).pdf


def fonts_in(pdf: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(pdf)) as file:
        fonts = [font for page in file.pages for font in page.resources.Font.values()]
        return sorted({str(font.BaseFont)[8:].rsplit("-", 1)[0] for font in fonts})


def errors_of(fonts: str, resources: Stored) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        rendered(fonts, "<p>text</p>", resources)
    return [diagnostic.text for diagnostic in caught.value.diagnostics]


def altered(name: str, change: Callable[[TTFont], None]) -> bytes:
    font = TTFont(io.BytesIO(FONTS[name]), recalcTimestamp=False)
    change(font)
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


# --- matching (CSS Fonts 4, 5.2) ------------------------------------------------------------------------


def face(weight: float = 400, stretch: float = 100, *, is_italic: bool = False) -> DeclaredFace:
    [rebuilt] = sanitize_font(FONTS["brand-regular"])
    declared = FontFaceDeclaration(
        "B",
        "",
        0,
        DescriptorRange(weight, weight),
        DescriptorRange(stretch, stretch),
        is_italic=is_italic,
    )
    return DeclaredFace(declared, rebuilt)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "wanted", "chosen"),
    [
        ((100, 300, 500, 900), 400, 500),  # from 400 to 500: up to 500 first,
        ((100, 300, 900), 400, 300),  # then the lighter, the nearest first,
        ((600, 900), 450, 600),  # then the heavier
        ((400, 600), 500, 400),
        ((450, 600), 500, 450),
        ((100, 200, 400), 300, 200),  # below 400 the lighter first
        ((400, 500), 300, 400),
        ((500, 700, 900), 600, 700),  # above 500 the heavier first
        ((100, 500), 900, 500),
        ((400, 700), 700, 700),
    ],
)
def test_weights_are_matched_as_css_does(weights, wanted, chosen):
    faces = [face(weight) for weight in Random(wanted).sample(weights, len(weights))]
    found = match_face(faces, FontRequest(wanted, 100, is_italic=False))
    assert found.weight.minimum == chosen


@pytest.mark.parametrize(
    ("widths", "wanted", "chosen"),
    [
        ((50, 87.5, 112.5), 100, 87.5),  # up to normal the narrower first
        ((112.5, 150), 75, 112.5),
        ((75, 150, 200), 125, 150),  # beyond it the wider
        ((50, 75), 125, 75),
    ],
)
def test_widths_are_matched_as_css_does(widths, wanted, chosen):
    faces = [face(stretch=width) for width in widths]
    assert match_face(faces, FontRequest(400, wanted, is_italic=False)).stretch.minimum == chosen


def test_width_decides_before_style_and_style_before_weight():
    faces = [face(700, 75), face(400, is_italic=True), face(400)]
    assert match_face(faces, FontRequest(700, 75, is_italic=True)) is faces[0]
    assert match_face(faces, FontRequest(700, 100, is_italic=True)) is faces[1]
    assert match_face(faces, FontRequest(400, 100, is_italic=False)) is faces[2]


@pytest.mark.parametrize(
    ("word", "width"),
    [
        *(("ultra-condensed", 50), ("extra-condensed", 62.5), ("condensed", 75)),
        *(("semi-condensed", 87.5), ("normal", 100), ("semi-expanded", 112.5)),
        *(("expanded", 125), ("extra-expanded", 150), ("ultra-expanded", 200)),
    ],
)
def test_each_word_of_width_chooses_its_font(word, width):
    fonts = '<font family="Brand" src="brand-regular"/>' + "".join(
        f'<font family="Brand" src="brand-{name}" font-stretch="{width}%"/>' for name in ("bold",)
    )
    fonts = fonts.replace('src="brand-regular"', 'src="brand-regular" font-stretch="90%"')
    assert STRETCHES[word] == width
    pdf = rendered(fonts, f'<p font-stretch="{word}">a</p>')
    assert fonts_in(pdf) == ["Brand700"]


# --- what is in the file ----------------------------------------------------------------------------

FAMILY = '<font family="Brand" src="brand-variable"/><font family="Brand" src="brand-italic"/>'
TEXT = "<p>Grüße: 1.50 € – <b>fett</b>, <i>kursiv</i>, Ж und 漢</p>"


def test_text_is_extracted_as_it_was_written():
    page = pypdfium2.PdfDocument(rendered(FAMILY, TEXT))[0].get_textpage().get_text_bounded()
    assert page.split() == ["Grüße:", "1.50", "€", "–", "fett,", "kursiv,", "Ж", "und", "漢"]


def test_equal_documents_are_equal_bytes_whatever_the_process_keeps():
    first = rendered(FAMILY, TEXT)
    assert rendered(FAMILY, TEXT) == first
    FONT_SETS.clear()
    assert rendered(FAMILY, TEXT) == first


@pytest.mark.parametrize("name", ["brand-regular", "brand-black", "brand-bold", "brand-variable"])
def test_characters_the_font_lacks_are_set_in_the_next_family(name):
    pdf = rendered(f'<font family="Brand" src="{name}"/>', "<p>a Ж</p>")
    [own, house] = fonts_in(pdf)
    assert own.startswith("Brand")
    assert house == "NotoSans"


def test_a_mark_joins_its_letter_where_the_font_has_both_as_one():
    pdf = rendered('<font family="Brand" src="brand-regular"/>', "<p>a&#x308;</p>")
    assert fonts_in(pdf) == ["Brand400"]


def test_files_for_archives_take_fonts_of_every_format():
    fonts = "".join(f'<font family="F{at}" src="{name}"/>' for at, name in enumerate(sorted(FONTS)))
    text = "".join(f"<p font-family='F{at}'>Text AB €</p>" for at in range(len(FONTS)))
    pdf = rendered(fonts, text, attributes='profile="pdf/a-2b" title="t"')
    assert b"pdfaid" in pdf
    own = [name for name in fonts_in(pdf) if name.startswith("Brand")]
    assert len(own) == len(FONTS) - 1  # brand-woff is brand-regular


def test_a_font_for_archives_must_have_every_character():
    with pytest.raises(AuthoringError, match="No font has"):
        rendered(FAMILY, "<p>\U00012000</p>", attributes='profile="pdf/a-2b" title="t"')


# --- what a process keeps -------------------------------------------------------------------------------


def test_a_font_is_read_and_rebuilt_once():
    FONT_SETS.clear()
    resources = Stored()
    for _ in range(3):
        rendered(FAMILY, TEXT, resources)
    assert resources.read == ["brand-variable", "brand-italic"]


def test_a_font_that_two_documents_use_is_rebuilt_once():
    FONT_SETS.clear()
    resources = Stored()
    rendered(FAMILY, TEXT, resources)
    rendered('<font family="Brand" src="brand-variable"/>', TEXT, resources)
    assert resources.read == ["brand-variable", "brand-italic"]


def test_sets_that_were_not_used_for_long_are_dropped():
    sets = FontSetCache(max_bytes=100_000)
    for at in range(10):
        declared = FontFaceDeclaration("B", str(at), 0, None, None, None)
        sets.make({declared: sets.load(declared, lambda: FONTS["brand-regular"], {})})
    kept = [
        at
        for at in range(10)
        if sets.find((FontFaceDeclaration("B", str(at), 0, None, None, None),))
    ]
    assert 1 <= len(kept) < 10
    assert kept[-1] == 9


def test_a_replaced_font_is_another_font():
    fonts = '<font family="Brand" src="logo-font"/>'
    before = rendered(fonts, TEXT, Stored(**{"logo-font": FONTS["brand-regular"]}))
    after = rendered(fonts, TEXT, Stored(**{"logo-font": FONTS["brand-black"]}))
    assert fonts_in(before) != fonts_in(after)


# --- what is refused ------------------------------------------------------------------------------------


def test_too_many_fonts_are_an_error():
    fonts = "".join(f'<font family="F{at}" src="brand-regular"/>' for at in range(65))
    assert errors_of(fonts, Stored()) == [
        "The document declares 65 fonts; at most 64 are used [too-many-fonts]"
    ]


def test_fonts_that_are_too_large_together_are_an_error(monkeypatch):
    monkeypatch.setattr(declared_fonts, "MAX_BYTES", 30_000)
    FONT_SETS.clear()
    [error] = errors_of(FAMILY, Stored())
    assert error.endswith("together [fonts-too-large]")


def test_a_font_without_right_to_embed_is_refused():
    def restrict(bits: int) -> bytes:
        return altered("brand-regular", lambda font: setattr(font["OS/2"], "fsType", bits))

    for bits, words in (
        (0x0002, "restricted license"),
        (0x0100, "no subsetting"),
        (0x0208, "bitmap embedding only"),
    ):
        with pytest.raises(FontRefusedError, match=words):
            inspect_font(restrict(bits))
    for bits in (0, 0x0004, 0x0008, 0x0006):  # of several, the one that allows most counts
        assert inspect_font(restrict(bits)).faces
    fonts = '<font family="Brand" src="a-font"/>'
    [error] = errors_of(fonts, Stored(**{"a-font": restrict(2)}))
    assert "does not allow embedding it in documents" in error


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not TrueType"),
        (b"%PDF-1.7", "not TrueType"),
        (b"wOFF", "WOFF file is damaged"),
        (b"wOFF" + bytes(100), "has 0 tables"),
        (FONTS["brand-woff"][:-100], "beyond the end"),
        (inflated(FONTS["brand-woff"], 70_000_000), "unpacks to more than 64 MB"),
        (inflated(FONTS["brand-woff"], 1_000_000), "not as long as its entry says"),
        (b"\0\1\0\0" + bytes(100), "no table"),
        (b"OTTO\xff\xff" + bytes(100), "65535 tables"),
        (b"ttcf\0\1\0\0" + bytes(4), "empty"),
        (b"ttcf\0\1\0\0\0\0\0\x21" + bytes(200), "33 fonts"),
        (b"ttcf\0\1\0\0\0\0\0\x02\0\0\xff\xff\0\0\xff\xff", "damaged"),
        (b"wOF2", "cannot be unpacked"),
        (b"wOF2ttcf" + bytes(100), "is a collection"),
        (FONTS["brand-regular"][:3000], "beyond the end"),
        (FONTS["brand-bold"][:-100], "cannot be unpacked"),
    ],
)
def test_a_file_that_is_not_a_font_is_rejected_with_the_reason(data, words):
    with pytest.raises(FontRefusedError, match=words):
        inspect_font(data)


def test_a_font_without_outlines_or_characters_is_refused():
    def without(*tags: str) -> Callable[[TTFont], None]:
        def change(font: TTFont) -> None:
            for tag in tags:
                del font[tag]

        return change

    for tags, words in ((("glyf", "loca"), "no outlines"), (("cmap",), 'table "cmap"')):
        with pytest.raises(FontRefusedError, match=words):
            inspect_font(altered("brand-regular", without(*tags)))
    with pytest.raises(FontRefusedError, match='no table "OS/2"'):
        inspect_font(altered("brand-regular", without("OS/2")))


def test_a_large_font_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(sanitizing, "MAX_CFF_GLYPHS", 10)
    with pytest.raises(FontRefusedError, match="147 glyphs with CFF outlines"):
        inspect_font(FONTS["brand-black"])
    monkeypatch.setattr(sanitizing, "MAX_CFF2_GLYPHS", 3)
    with pytest.raises(FontRefusedError, match="4 glyphs with CFF2 outlines; at most 3"):
        inspect_font(FONTS["brand-cff2"])
    monkeypatch.setattr(sanitizing, "MAX_SANITIZED", 1000)
    with pytest.raises(FontRefusedError, match="larger than"):
        inspect_font(FONTS["brand-regular"])
    monkeypatch.setattr(sanitizing, "MAX_WOFF2_UNPACKED", 1000)
    with pytest.raises(FontRefusedError, match="unpacks to more than"):
        inspect_font(FONTS["brand-bold"])


def test_unknown_font_tables_are_removed():
    def add(font: TTFont) -> None:
        for tag in ("DSIG", "meta", "prep", "EVIL"):
            font[tag] = DefaultTable(tag)
            font[tag].data = b"payload" * 10

    data = altered("brand-regular", add)
    assert b"payload" in data
    [rebuilt] = sanitize_font(data)
    assert b"payload" not in rebuilt.data
    assert rebuilt.data == sanitize_font(FONTS["brand-regular"])[0].data


def test_a_woff_file_is_the_font_in_it():
    facts = inspect_font(FONTS["brand-woff"])
    assert facts.format == "woff"
    assert facts.faces == inspect_font(FONTS["brand-regular"]).faces
    [unpacked], [same] = (sanitize_font(FONTS[name]) for name in ("brand-woff", "brand-regular"))
    assert (unpacked.data, unpacked.properties) == (same.data, same.properties)


def test_a_variable_font_with_cff2_outlines_has_an_instance_for_each_weight():
    [sanitized] = sanitize_font(FONTS["brand-cff2"])
    assert sanitized.properties.weight == (400, 900)
    widths = {}
    for weight in (400, 650, 900):
        instance = hb.Face(hb.Blob(instantiate(sanitized.data, {"wght": weight})))
        assert {"glyf", "loca"} <= set(instance.table_tags)
        widths[weight] = hb.Font(instance).get_glyph_extents(2).width
    assert widths == {400: 300, 650: 400, 900: 500}
    pdf = rendered(
        '<font family="Brand" src="brand-cff2"/>', '<p>AB <span font-weight="700">AB</span></p>'
    )
    assert fonts_in(pdf) == ["BrandTwo-Regular"]


def test_facts_are_those_of_the_file():
    facts = inspect_font(FONTS["brand-variable"])
    [only] = facts.faces
    assert facts.format == "truetype"
    assert (only.family, only.weight, only.is_italic) == ("Brand Variable", (100, 900), False)
    assert [axis.tag for axis in only.axes] == ["wght", "slnt"]
    narrow, thin = inspect_font(FONTS["brand-pair"]).faces
    assert (narrow.stretch, narrow.weight, thin.weight) == ((75, 75), (300, 300), (100, 100))
    assert json.dumps(facts.faces[0].axes)


# --- damage ---------------------------------------------------------------------------------------------


def damaged(data: bytes, random: Random) -> bytes:
    """Damage a font: bytes, words, a piece that is cut out, doubled or moved."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20))):
        at = random.randrange(len(changed))
        match random.randrange(5):
            case 0:
                changed[at] = random.randrange(256)
            case 1:
                changed[at : at + 2] = random.choice((b"\xff\xff", b"\0\0", b"\x7f\xff", b"\x80\0"))
            case 2:
                changed[at : at + 4] = random.choice((b"\xff" * 4, bytes(4), b"\x7f\xff\xff\xff"))
            case 3:
                del changed[at : at + random.randrange(1, 40)]
            case _:
                changed[at:at] = changed[at : at + random.randrange(1, 40)]
        if random.random() < 0.5:  # in the directory and the small tables, where most depends on it
            at = random.randrange(min(len(changed), 400))
            changed[at] = random.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", sorted(FONTS))
def test_a_damaged_font_is_refused_or_sets_text(name, count):
    random = Random(name)
    refused = 0
    for _ in range(count):
        data = damaged(FONTS[name], random)
        try:
            inspect_font(data)
        except FontRefusedError:
            refused += 1
            continue
        fonts = '<font family="Brand" src="a-font"/>'
        pdf = rendered(fonts, "<p>Grüße e&#x301; <b>AVATAR</b></p>", Stored(**{"a-font": data}))
        pypdfium2.PdfDocument(pdf)[0].render(scale=0.5)
    assert refused, "the damage must be worth trying"
