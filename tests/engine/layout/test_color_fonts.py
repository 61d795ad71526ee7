"""Fonts with colour glyphs: what is kept and refused, what a glyph paints, and which face text has."""

from __future__ import annotations

import io
import re
from random import Random
from typing import Any

import pypdfium2
import pytest
import uharfbuzz as hb
from fontTools.colorLib.builder import buildCOLR
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._f_v_a_r import Axis
from fontTools.ttLib.tables.DefaultTable import DefaultTable
from fontTools.ttLib.tables.otTables import PaintFormat
from fontTools.ttLib.ttFont import newTable
from fontTools.varLib.models import VariationModel
from fontTools.varLib.varStore import OnlineVarStoreBuilder

from tests.engine.layout.test_own_fonts import Stored, damaged, fonts_in, rendered
from tests.golden import make_color_fonts as make
from workers.engine.diagnostics import AuthoringError
from workers.engine.fonts import Cluster, sanitizing
from workers.engine.fonts.faces import Face, Traits
from workers.engine.fonts.families import FallbackChain, split_by_fallback
from workers.engine.fonts.sanitizing import (
    FontRefusedError,
    count_color_glyphs,
    inspect_font,
    instantiate,
    is_color_glyph,
    sanitize_font,
)
from workers.engine.svg import color_glyphs
from workers.engine.svg.color_glyphs import DrawnGlyph, draw_color_glyphs
from workers.engine.units import BLACK

PAINTS, LAYERS = make.make_paints(), make.make_layers()


def face_of(data: bytes) -> Face:
    [sanitized] = sanitize_font(data)
    program = hb.Face(hb.Blob(sanitized.data))
    return Face("Swatch", program, name="Swatch", traits=Traits(is_custom=True))


def drawn(face: Face, char: str) -> DrawnGlyph | None:
    return draw_color_glyphs(face, Cluster(((face.glyphs[char], 0, 0),), 0, char), BLACK)


def drawn_from(data: bytes, char: str) -> DrawnGlyph | None:
    return drawn(face_of(data), char)


def fills(data: bytes, char: str) -> list[bytes]:
    """Return the colours of the shapes of a glyph."""
    return re.findall(rb"([\d. ]+) (?:rg|g)\n", b"".join(drawn_from(data, char).form.content))


def colr_glyph(name: str) -> make.Paint:
    return {"Format": PaintFormat.PaintColrGlyph, "Glyph": name}


# --- what is kept -----------------------------------------------------------------------------


def test_the_properties_of_a_font_count_its_colour_glyphs():
    [paints] = inspect_font(PAINTS).faces
    assert paints.color_glyphs == len(make.PAINTS) + len(make.MODES) + 1
    [layers] = inspect_font(LAYERS).faces
    assert layers.color_glyphs == 7


def test_sanitising_twice_changes_nothing():
    [once] = sanitize_font(PAINTS)
    assert sanitize_font(once.data)[0].data == once.data


def test_a_font_without_colours_counts_none():
    face = hb.Face(hb.Blob(without(LAYERS, "COLR", "CPAL")))
    assert count_color_glyphs(face, 1) == 0


def without(data: bytes, *tags: str) -> bytes:
    font = TTFont(io.BytesIO(data))
    for tag in tags:
        del font[tag]
    return make.to_bytes(font)


@pytest.mark.parametrize("tag", ["SVG ", "CBDT", "sbix"])
def test_a_font_of_pictures_alone_is_refused_by_the_name_of_their_table(tag):
    def strip(font: TTFont) -> None:
        for name in font.getGlyphOrder():
            font["glyf"][name] = type(font["glyf"][name])()
        font[tag] = DefaultTable(tag)
        font[tag].data = b"picture"

    font = TTFont(io.BytesIO(without(LAYERS, "COLR", "CPAL")))
    strip(font)
    with pytest.raises(FontRefusedError, match=rf"are pictures \(table {tag.strip()}\)"):
        inspect_font(make.to_bytes(font))


# --- what a glyph paints ------------------------------------------------------------------------


def test_a_glyph_without_colours_paints_its_outline_in_the_colour_of_the_text():
    face = face_of(LAYERS)
    assert not is_color_glyph(face, face.glyphs["1"])
    assert drawn(face, "1").uses_text_color
    assert fills(LAYERS, "1") == [b"0"]


def test_layers_have_the_colours_of_the_first_palette():
    # The last is that of the text.
    assert fills(LAYERS, "A") == [b"1 0.8 0.101961", b"0.85098 0.101961 0.14902", b"0"]


def test_a_variable_paint_is_that_of_the_instance():
    store = OnlineVarStoreBuilder(["wght"])
    store.setModel(VariationModel([{}, {"wght": 1.0}], axisOrder=["wght"]))
    base, index = store.storeMasters([0, 400])
    assert base == 0
    paint = {**make.moved(PaintFormat.PaintVarTranslate, make.shape("small", make.solid(make.RED)))}
    paint |= {"dx": 0, "dy": 0, "VarIndexBase": index}
    font = TTFont(io.BytesIO(make.make_font("Moving", {"A": make.shape("disc", make.solid(0))})))
    font["COLR"] = buildCOLR(
        {"u0041": paint}, glyphMap=font.getReverseGlyphMap(), varStore=store.finish()
    )
    axis = Axis()
    axis.axisTag, axis.axisNameID = "wght", font["name"].addName("Weight")
    axis.minValue, axis.defaultValue, axis.maxValue = 400, 400, 900
    font["fvar"] = newTable("fvar")
    font["fvar"].axes, font["fvar"].instances = [axis], []
    [variable] = sanitize_font(make.to_bytes(font))
    assert variable.properties.is_variable
    lefts = []
    for weight in (400, 900):
        program = hb.Face(hb.Blob(instantiate(variable.data, {"wght": weight})))
        face = Face("M", program, name="M", traits=Traits(is_custom=True))
        lefts.append(drawn(face, "A").form.box[0])
    assert lefts == [349, 749]  # a unit beside the shape


def test_a_feature_whose_tag_is_no_text_refuses_the_font():
    data = LAYERS.replace(b"ccmp", b"cc\xffp")
    assert data != LAYERS
    with pytest.raises(FontRefusedError, match="damaged"):
        inspect_font(data)


# --- hostile paint graphs -----------------------------------------------------------------------


def test_a_cycle_of_glyphs_ends():
    glyphs = {"A": colr_glyph("u0042"), "B": make.layers(colr_glyph("u0041"), make.PAINTS["A"])}
    assert len(fills(make.make_font("Cycle", glyphs), "A")) == 1


def laughing(glyphs: int = 1) -> bytes:
    """Return a font in which each glyph paints 200 to the power of 8 layers."""
    many = make.layers(*[colr_glyph("x0")] * 200)
    extra = {f"x{at}": make.layers(*[colr_glyph(f"x{at + 1}")] * 200) for at in range(7)}
    extra["x7"] = make.shape("small", make.solid(make.RED))
    return make.make_font("Laugh", {chr(0x41 + at): many for at in range(glyphs)}, extra=extra)


def test_a_graph_that_explodes_is_cut_and_a_font_of_them_is_refused(monkeypatch):
    glyph = drawn_from(laughing(), "A")
    assert glyph is None or glyph.size <= color_glyphs.MAX_CONTENT
    monkeypatch.setattr(sanitizing, "MAX_FONT_OPERATIONS", 200_000)
    with pytest.raises(FontRefusedError, match="paint more than 200,000"):
        inspect_font(laughing(10))


def test_a_font_of_too_many_colour_glyphs_is_refused(monkeypatch):
    monkeypatch.setattr(sanitizing, "MAX_COLOR_GLYPHS", 5)
    with pytest.raises(FontRefusedError, match="has 7 colour glyphs; at most 5"):
        inspect_font(LAYERS)


def nested(depth: int, kind: PaintFormat, **numbers: Any) -> bytes:
    paint = make.shape("small", make.solid(make.RED))
    for _ in range(depth):
        paint = make.moved(kind, paint, **numbers)
    return make.make_font("Deep", {"A": make.layers(make.shape("disc", make.solid(0)), paint)})


def test_a_deep_graph_is_refused():
    with pytest.raises(FontRefusedError, match="damaged"):
        inspect_font(nested(200, PaintFormat.PaintTranslate, dx=1, dy=0))


def test_coordinates_that_no_page_has_make_the_glyph_an_outline():
    matrix = {"xx": 30_000, "yx": 0, "xy": 0, "yy": 30_000, "dx": 0, "dy": 0}
    data = nested(5, PaintFormat.PaintTransform, Transform=matrix)
    assert drawn_from(data, "A") is None
    assert drawn_pages(data, "<p>A</p>") == 1


def test_a_color_beyond_the_palette_is_drawn():
    data = make.make_font("Beyond", {"A": make.shape("disc", make.solid(500))})
    assert drawn_from(data, "A").form.content == ()  # HarfBuzz paints it transparent
    assert drawn_pages(data, "<p>A</p>") == 1


@pytest.mark.parametrize("limit", ["MAX_OPERATIONS", "MAX_POINTS", "MAX_GROUPS", "MAX_STOPS"])
def test_each_limit_of_a_glyph_makes_it_an_outline(monkeypatch, limit):
    paint = make.combined(
        make.MODES["l"], make.shape("square", make.linear(make.line())), make.PAINTS["A"]
    )
    data = make.make_font("Limit", {"A": paint})
    assert drawn_from(data, "A") is not None
    monkeypatch.setattr(color_glyphs, limit, 1)
    assert drawn_from(data, "A") is None


def drawn_pages(data: bytes, text: str) -> int:
    pdf = rendered('<font family="Brand" src="a-font"/>', text, Stored(**{"a-font": data}))
    file = pypdfium2.PdfDocument(pdf)
    file[0].render(scale=0.5)
    return len(file)


def damaged_colors(data: bytes, random: Random) -> bytes:
    """Damage the tables of colours only: the rest of the font is well."""
    font = TTFont(io.BytesIO(data), lazy=True)
    tag = random.choice(("COLR", "COLR", "COLR", "CPAL"))
    table = bytearray(font.reader[tag])
    for _ in range(random.choice((1, 2, 5))):
        at = random.randrange(len(table))
        match random.randrange(4):
            case 0:
                table[at] = random.randrange(256)
            case 1:
                table[at : at + 2] = random.choice((b"\xff\xff", b"\0\0", b"\x7f\xff", b"\x80\0"))
            case 2:
                del table[at : at + random.randrange(1, 30)]
            case _:
                table = table[: max(at, 14)]
    font[tag] = DefaultTable(tag)
    font[tag].data = bytes(table)
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


@pytest.mark.parametrize("count", [25, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("damage", [damaged, damaged_colors])
@pytest.mark.parametrize("name", ["swatch-paints", "swatch-layers"])
def test_damaged_tables_of_colours_are_refused_or_set_text(name, damage, count):
    whole = PAINTS if name == "swatch-paints" else LAYERS
    random = Random(f"{name} {damage.__name__}")
    text = "".join(make.PAINTS) + "".join(make.MODES) + "\U0001f600"
    drawn = 0
    for _ in range(count):
        data = damage(whole, random)
        try:
            inspect_font(data)
        except FontRefusedError:
            continue
        try:
            drawn += drawn_pages(data, f"<p>{text}</p>")
        except AuthoringError:  # a glyph may be wider than the page
            continue
    assert drawn, "the damage must leave something to draw"


# --- presentation -------------------------------------------------------------------------------


COLORED = face_of(LAYERS)
PLAIN = face_of(without(LAYERS, "COLR", "CPAL"))
HEART = "\u2764"


def split(text: str, *faces: Face) -> list[tuple[Face, str]]:
    chain = FallbackChain(faces, is_bold=False, is_italic=False, region="zh")
    return split_by_fallback(lambda _region: chain, text, "en")


def test_the_selectors_of_text_and_emoji_choose_between_two_fonts():
    assert split(f"{HEART}\ufe0f", PLAIN, COLORED) == [(COLORED, f"{HEART}\ufe0f")]
    assert split(f"{HEART}\ufe0e", COLORED, PLAIN) == [(PLAIN, f"{HEART}\ufe0e")]
    assert split(HEART, PLAIN, COLORED)[0][0] is PLAIN
    assert split(HEART, COLORED, PLAIN)[0][0] is COLORED


def test_a_sequence_stays_whole_in_the_colour_font_that_has_it():
    flag = "\U0001f1e9\U0001f1ea"
    runs = split(f"{flag} {flag}", COLORED)
    assert [run for run in runs if run[1] != " "] == [(COLORED, flag)] * 2


def test_letters_that_a_colour_font_lacks_are_set_in_the_next_family():
    [(face, text), *_] = split("x", COLORED, "Noto Sans")
    assert (face.family, text) == ("Noto Sans", "x")


def test_a_row_of_a_table_is_set_in_the_next_family_where_its_font_has_no_letters():
    table = '<table font-family="Swatch, Noto Sans"><tbody><tr><td>Paid</td><td>Due</td></tr></tbody></table>'
    outlines = without(LAYERS, "COLR", "CPAL")
    pdf = rendered('<font family="Swatch" src="swatch"/>', table, Stored(swatch=outlines))
    assert fonts_in(pdf) == ["NotoSans"]
