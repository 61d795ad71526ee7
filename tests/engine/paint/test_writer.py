"""Printing: the file says what the display list says, in marks, text, links and outline."""

from __future__ import annotations

import io
import re

import pytest
import zxingcpp
from PIL import Image, ImageOps

from tests.engine.paint.drawing import (
    BLUE,
    OWNER,
    RED,
    extracted,
    marks,
    opened,
    page,
    printed,
    rendered,
    text,
)
from tests.engine.typefaces import find_face
from workers.engine.layout.display import (
    Anchor,
    Fill,
    LinkArea,
    OutlineEntry,
    Picture,
    RectangleSet,
    Restore,
    Save,
    Stroke,
    StrokedRectangle,
    StrokeRows,
    TextRows,
)
from workers.engine.layout.elements.barcodes import Symbol, encode_barcode
from workers.engine.layout.pictures import prepare_image
from workers.engine.tree.nodes import Barcode
from workers.engine.units import BLACK, Color, ColorSpace

WHITE = (255, 255, 255)


def test_file_is_sound():
    file = printed(page(text(10, 20, "sound"), Fill(0, 0, 5, 5, RED, OWNER)))
    with opened(file) as pdf:
        assert pdf.check_pdf_syntax() == []


def test_extracted_text_is_the_written_text():
    content = "Grüße (50 %) – “Zitat”\u00a0č Ωμέγα Привет €"
    assert extracted(printed(page(text(5, 20, content), width=400))) == content


@pytest.mark.parametrize("char", ["漢", "\U0001f600", "\ud800"])
def test_text_that_no_font_has_is_still_printed(char):
    with opened(printed(page(text(5, 20, f"a{char}b")))) as pdf:
        assert pdf.check_pdf_syntax() == []


def test_neighbouring_runs_share_one_text_object():
    content = marks(printed(page(text(5, 20, "a"), text(15, 20, "b"), text(5, 30, "c"))))
    assert content.count(b"BT") == content.count(b"ET") == 1
    assert content.count(b"Tf") == 1
    assert b"10 0 Td" in content
    assert b"-10 -10 Td" in content


@pytest.mark.parametrize("owners", [None, [[OWNER] * 3] * 3])
def test_rows_of_texts_are_written_as_their_runs_are(owners):
    places = [(x, y) for y in (30, 45, 60) for x in (5, 35, 70)]
    contents = ["To", "1.5", "Va", "", "(2)", "", "", "", ""]
    owner = None if owners is None else OWNER
    cells = [
        text(*place, content, color=RED, owner=owner, letter_spacing=0.5)
        for place, content in zip(places, contents, strict=True)
    ]
    columns = ([getattr(cell, name) for cell in cells] for name in ("codes", "text", "width"))
    first = cells[0]
    shared = (30, 45, 60), first.face, 10.0, RED
    rows = TextRows([x for x, _ in places], *shared, *columns, owners, 0.5)
    runs = [*rows.runs()]
    assert [(run.text, run.x, run.y) for run in runs] == [
        *[("To", 5, 30), ("1.5", 35, 30), ("Va", 70, 30)],
        ("(2)", 35, 45),
    ]
    before, after = text(5, 20, "before"), text(5, 70, "after")
    assert printed(page(before, rows, after)) == printed(page(before, *cells, after))


def test_equal_neighbours_become_one_path():
    content = marks(printed(page(*(Fill(x, 0, 5, 5, RED, OWNER) for x in range(0, 50, 10)))))
    assert content.count(b"rg") == 1
    assert content.count(b"f\n") == 1


@pytest.mark.parametrize("dash", [(), (2.0, 1.0)])
def test_borders_of_rows_look_as_their_lines_do(dash):
    style = 1.0, RED, None, dash
    rows = StrokeRows([Stroke(5, 0, 45, 0, *style), Stroke(5, 0, 5, 10, *style)], [10, 20, 30])
    lines = [*rows.strokes()]
    assert [line[:4] for line in lines[:2]] == [(5, 10, 45, 10), (5, 10, 5, 20)]
    assert rendered(printed(page(rows))).tobytes() == rendered(printed(page(*lines))).tobytes()


def test_numbers_have_no_exponents():
    content = marks(
        printed(
            page(
                text(0.000_01, 20, "x", letter_spacing=0.000_001),
                Fill(1e-7, 123456.789, 1e-9, 0.5, RED, OWNER),
                Stroke(0, 0, 1e7, 1e-5, 0.01, BLUE, OWNER),
            )
        )
    )
    assert not re.search(rb"[0-9]e[+-]?[0-9]", content)


def test_page_is_drawn_from_the_top_left():
    image = rendered(printed(page(Fill(0, 0, 50, 20, RED, OWNER))))
    assert image.getpixel((10, 10)) == (255, 0, 0)
    assert image.getpixel((10, 30)) == WHITE
    assert image.getpixel((60, 10)) == WHITE


def test_lines_and_outlines_are_stroked():
    image = rendered(
        printed(
            page(
                Stroke(10, 10, 90, 10, 4, RED, OWNER),
                StrokedRectangle(10, 30, 80, 60, 4, BLUE, OWNER, radius=20),
            )
        )
    )
    assert image.getpixel((50, 10)) == (255, 0, 0)
    assert image.getpixel((50, 30)) == (0, 0, 255)
    assert image.getpixel((11, 31)) == WHITE  # outside the round corner
    assert image.getpixel((50, 60)) == WHITE


def test_dashes_leave_gaps():
    image = rendered(printed(page(Stroke(0, 10, 100, 10, 4, RED, OWNER, (10.0, 10.0)))))
    assert image.getpixel((5, 10)) == (255, 0, 0)
    assert image.getpixel((15, 10)) == WHITE


def test_cmyk_colours_stay_cmyk():
    cyan = Color(ColorSpace.CMYK, (1.0, 0.0, 0.0, 0.25))
    assert b"1 0 0 0.25 k\n" in marks(printed(page(Fill(0, 0, 5, 5, cyan, OWNER))))


def test_clip_turn_and_state_end_with_their_group():
    image = rendered(
        printed(
            page(
                Save(clip=(0, 0, 50, 100)),
                Fill(0, 0, 100, 20, RED, OWNER),
                Restore(),
                Save(rotate=(90, 50, 60)),
                Fill(20, 55, 60, 10, BLUE, OWNER),
                Restore(),
                Fill(90, 90, 10, 10, RED, OWNER),
            )
        )
    )
    assert image.getpixel((40, 10)) == (255, 0, 0)
    assert image.getpixel((60, 10)) == WHITE
    assert image.getpixel((50, 85)) == (0, 0, 255)
    assert image.getpixel((25, 60)) == WHITE
    assert image.getpixel((95, 95)) == (255, 0, 0)


def test_turn_is_clockwise():
    turned = page(Save(rotate=(90, 50, 50)), Fill(45, 0, 10, 30, RED, OWNER), Restore())
    image = rendered(printed(turned))
    assert image.getpixel((85, 50)) == (255, 0, 0)
    assert image.getpixel((15, 50)) == WHITE


def test_group_is_seen_through_as_a_whole():
    image = rendered(
        printed(
            page(
                Save(opacity=0.5),
                Fill(0, 0, 60, 60, BLUE, OWNER),
                Fill(30, 30, 60, 60, RED, OWNER),
                Restore(),
                Fill(95, 0, 5, 5, RED, OWNER),
            )
        )
    )
    over_paper, over_blue = image.getpixel((80, 80)), image.getpixel((45, 45))
    assert over_paper == over_blue
    assert over_paper[0] == 255
    assert 120 <= over_paper[1] <= 135
    assert image.getpixel((97, 2)) == (255, 0, 0)


def test_groups_in_groups_show_their_pictures_and_text():
    stored = io.BytesIO()
    Image.new("RGB", (8, 8), (0, 0, 0)).save(stored, "PNG")
    picture = Picture(0, 0, 50, 50, prepare_image(stored.getvalue()), OWNER)
    half, end = Save(opacity=0.5), Restore()
    file = printed(page(half, half, picture, text(5, 80, "inner"), end, end, text(5, 95, "outer")))
    assert 185 <= rendered(file).getpixel((25, 25))[0] <= 195
    assert extracted(file).split() == ["inner", "outer"]
    with opened(file) as pdf:
        assert pdf.check_pdf_syntax() == []


def test_pages_of_different_sizes_set_no_font_they_do_not_use():
    file = printed(page(text(5, 20, "a")), page(Fill(0, 0, 5, 5, RED, OWNER), width=50), page())
    assert b"Tf" in marks(file, 0)
    with opened(file) as pdf:
        assert [b"Tf" in sheet.Contents.read_bytes() for sheet in pdf.pages] == [True, False, False]
        assert [float(sheet.mediabox[2]) for sheet in pdf.pages] == [100, 50, 100]


@pytest.mark.parametrize("family", ["sans-serif", "Noto Sans SC"])
def test_justified_words_move_apart(family):
    face = find_face((family,), 400, False)
    plain = text(5, 20, "two words", face=face)
    spread = printed(page(plain._replace(codes=face.encode_justified("two words", 3000))))
    # The reader sees a gap, and no more text than there is.
    assert extracted(spread).split() == ["two", "words"]
    assert right_edge(spread) - right_edge(printed(page(plain))) == 30


def right_edge(pdf: bytes) -> int:
    """Return where the ink of a page ends, in points."""
    box = ImageOps.invert(rendered(pdf).convert("L")).getbbox()
    assert box is not None
    return box[2]


def test_letter_spacing_is_taken_back():
    content = marks(printed(page(text(5, 20, "wide", letter_spacing=2.0), text(5, 40, "plain"))))
    assert content.index(b"2 Tc") < content.index(b"0 Tc")


def test_fonts_are_embedded_once_and_cut_down():
    pages = [page(text(5, 20, f"page {number}")) for number in range(5)]
    with opened(printed(*pages)) as pdf:
        (font,) = pdf.pages[0].Resources.Font.values()
        assert re.fullmatch(r"/[A-Z]{6}\+NotoSans-Regular", str(font.BaseFont))
        program = font.DescendantFonts[0].FontDescriptor.FontFile2
        assert len(program.read_bytes()) < 5000
        assert all(sheet.Resources.Font.F1.objgen == font.objgen for sheet in pdf.pages)


def test_image_used_on_many_pages_is_in_the_file_once():
    stored = io.BytesIO()
    Image.linear_gradient("L").save(stored, "PNG")
    image = prepare_image(stored.getvalue())
    with opened(printed(*(page(Picture(0, 0, 9, 9, image, OWNER)) for _ in range(9)))) as pdf:
        images = [
            thing for thing in pdf.objects if getattr(thing, "get", {}.get)("/Subtype") == "/Image"
        ]
        assert len(images) == 1


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "LA", "RGBA"])
def test_png_is_drawn_as_it_looks(mode):
    source = Image.new("RGB", (8, 8), WHITE)
    source.paste((0, 0, 0), (0, 0, 4, 4))
    stored = io.BytesIO()
    source.convert(mode).save(stored, "PNG")
    image = rendered(printed(page(Picture(0, 0, 80, 80, prepare_image(stored.getvalue()), OWNER))))
    assert image.getpixel((10, 10)) == (0, 0, 0)
    assert image.getpixel((60, 10)) == image.getpixel((10, 60)) == WHITE


def test_transparent_parts_show_the_background():
    source = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    source.paste((0, 0, 0, 255), (0, 0, 4, 8))
    stored = io.BytesIO()
    source.save(stored, "PNG")
    picture = Picture(0, 0, 80, 80, prepare_image(stored.getvalue()), OWNER)
    image = rendered(printed(page(Fill(0, 0, 100, 100, RED, OWNER), picture)))
    assert image.getpixel((10, 40)) == (0, 0, 0)
    assert image.getpixel((60, 40)) == (255, 0, 0)


def test_adobe_cmyk_jpeg_is_not_negative():
    stored = io.BytesIO()
    Image.new("CMYK", (16, 16), (0, 0, 0, 0)).save(stored, "JPEG")
    picture = Picture(0, 0, 80, 80, prepare_image(stored.getvalue()), OWNER)
    assert min(rendered(printed(page(picture))).getpixel((40, 40))) > 240


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_turned_by_its_exif_orientation(orientation):
    source = Image.new("L", (32, 16), 255)
    source.paste(0, (0, 0, 16, 8))  # dark at the top left of the stored rows
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = io.BytesIO()
    source.save(stored, "JPEG", exif=exif, quality=95)
    shown = ImageOps.exif_transpose(Image.open(stored))
    prepared = prepare_image(stored.getvalue())
    assert (prepared.width, prepared.height) == shown.size
    drawn = rendered(
        printed(page(Picture(0, 0, *shown.size, prepared, OWNER), width=32, height=32))
    )
    for x in (4, shown.width - 4):
        for y in (4, shown.height - 4):
            assert (drawn.getpixel((x, y))[0] < 128) == (shown.getpixel((x, y)) < 128)


def test_printed_bar_code_reads_back():
    value = "https://verify.example.com/K7QX93B2"
    node = Barcode(
        source=None,
        style=None,
        symbology="qr",
        value=value,
        alt="",
        shows_text=False,
        level="M",
        module=None,
        has_quiet_zone=True,
    )
    symbol = encode_barcode(node)
    assert isinstance(symbol, Symbol)
    side = 80 / symbol.columns
    cells = RectangleSet(0, 0, side, side, symbol.rectangles, BLACK, OWNER)
    image = rendered(printed(page(cells)), scale=4)
    assert zxingcpp.read_barcodes(image)[0].text == value


def test_links_become_annotations_with_the_y_axis_up():
    sheet = page(links=[LinkArea(10, 20, 30, 5, "https://example.com/a(ü)")])
    with opened(printed(sheet)) as pdf:
        (link,) = pdf.pages[0].Annots
        assert [float(edge) for edge in link.Rect] == [10, 75, 40, 80]
        assert str(link.A.URI) == "https://example.com/a%28%C3%BC%29"


def test_link_to_a_place_leads_to_its_page():
    first = page(links=[LinkArea(0, 0, 9, 9, "#größe"), LinkArea(0, 0, 9, 9, "#nowhere")])
    second = page(anchors=[Anchor("größe", 5, 30)])
    with opened(printed(first, second)) as pdf:
        (link,) = pdf.pages[0].Annots
        name, place = pdf.Root.Names.Dests.Names
        assert bytes(name) == "größe".encode()
        for led_to in (place, link.Dest):
            assert led_to[0].objgen == pdf.pages[1].obj.objgen
            assert float(led_to[3]) == 70


@pytest.mark.parametrize("target", ["javascript:alert(1)", "file:///etc/passwd", "JAVASCRIPT:x"])
def test_other_schemes_never_reach_the_file(target):
    with opened(printed(page(links=[LinkArea(0, 0, 9, 9, target)]))) as pdf:
        assert "/Annots" not in pdf.pages[0].obj


def test_outline_nests_by_level():
    entries = [
        OutlineEntry(2, "Before any chapter", 0, 10),
        OutlineEntry(1, "Größe", 0, 20),
        OutlineEntry(3, "Skipped a level", 0, 30),
        OutlineEntry(2, "Second", 1, 40),
        OutlineEntry(1, "Last", 1, 50),
    ]
    with opened(printed(page(), page(), outline=entries)) as pdf, pdf.open_outline() as outline:
        assert [item.title for item in outline.root] == ["Before any chapter", "Größe", "Last"]
        assert [item.title for item in outline.root[1].children] == ["Skipped a level", "Second"]
        assert outline.root[2].destination[0].objgen == pdf.pages[1].obj.objgen


def test_no_outline_and_no_places_leave_no_trace():
    with opened(printed(page(text(5, 20, "x")))) as pdf:
        assert "/Outlines" not in pdf.Root
        assert "/Names" not in pdf.Root


def test_equal_pages_give_equal_bytes():
    def sheet():
        bold = find_face(("serif",), 700, False)
        return page(text(5, 20, "same"), text(5, 40, "bytes", face=bold))

    assert printed(sheet(), sheet()) == printed(sheet(), sheet())


def test_cells_stand_beside_other_paths_of_their_colour():
    cells = RectangleSet(0, 0, 10.0, 10.0, ((1, 1, 1, 1), (3, 1, 1, 1)), RED, OWNER)
    sheet = page(
        Fill(0, 0, 5, 5, RED, OWNER), cells, Fill(50, 0, 5, 5, RED, OWNER), text(5, 90, "x")
    )
    image = rendered(printed(sheet, page(RectangleSet(0, 0, 1, 1, (), RED, OWNER))))
    assert [image.getpixel((x, 15)) == (255, 0, 0) for x in (15, 25, 35)] == [True, False, True]
    assert image.getpixel((2, 2)) == image.getpixel((52, 2)) == (255, 0, 0)
