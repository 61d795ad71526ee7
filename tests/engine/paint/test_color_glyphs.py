"""Colour glyphs in the file: what is seen of each paint and mode, text, tags, archives and limits."""

from __future__ import annotations

import io
import json
import re
from functools import cache

import pikepdf
import pypdfium2
import pytest

from tests.engine.finish.archive_rules import find_violations
from tests.engine.layout.test_color_fonts import LAYERS, PAINTS, laughing
from tests.engine.layout.test_own_fonts import Stored, rendered
from tests.golden import make_color_fonts as make
from tests.golden.case import OPTIONS
from workers.engine.merged_pdf import MergedPart
from workers.engine.paint import content_stream
from workers.engine.pipeline import prepare_template
from workers.engine.ports import Payload, PayloadKind
from workers.engine.svg import color_glyphs

SCALE = 6
_PLACED = re.compile(rb"q ([\d.]+) 0 0 [\d.]+ ([\d.]+) ([\d.]+) cm\s*/\S+ Do")

WHITE = (255, 255, 255)
RED, YELLOW, GREEN, BLUE = [
    tuple(round(255 * part) for part in make.PALETTE[at][:3])
    for at in (make.RED, make.YELLOW, make.GREEN, make.BLUE)
]
TEAL = (0, 170, 136)  # of the text
PAGE = '<page size="A6" margin="5mm"/>'


def set_text(text: str, *, font: bytes = PAINTS, attributes: str = "", size: str = "80pt") -> bytes:
    fonts = '<font family="Swatch" src="a-font"/>' + PAGE
    paragraph = f"<p font-family='Swatch' font-size='{size}' color='#0a8'>{text}</p>"
    return rendered(fonts, paragraph, Stored(**{"a-font": font}), attributes)


def contents(pdf: bytes) -> bytes:
    with pikepdf.open(io.BytesIO(pdf)) as file:
        return b"".join(page.Contents.read_bytes() for page in file.pages)


@cache
def picture(char: str, font: bytes = PAINTS) -> tuple[object, float, float, float]:
    pdf = set_text(char, font=font)
    scale, x, y = map(float, _PLACED.search(contents(pdf)).groups())
    return pypdfium2.PdfDocument(pdf)[0].render(scale=SCALE).to_pil(), scale, x, y


def seen(char: str, x: float, y: float, font: bytes = PAINTS) -> tuple[int, ...]:
    """Return the colour that is seen at a point of a glyph, in font units."""
    image, scale, left, bottom = picture(char, font)
    return image.getpixel(
        (int((left + x * scale) * SCALE), int(image.height - (bottom + y * scale) * SCALE))
    )


def mixed(one: tuple[int, ...], other: tuple[int, ...], share: float) -> tuple[float, ...]:
    return tuple(a + (b - a) * share for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("char", "point", "color"),
    [
        ("A", (500, 350), RED),
        ("A", (120, 20), WHITE),
        ("B", (500, 350), mixed(YELLOW, BLUE, 0.5)),
        ("C", (130, 30), TEAL),
        ("C", (500, 350), YELLOW),
        ("D", (200, 350), RED),  # padded before the first stop
        ("D", (500, 350), YELLOW),
        ("D", (800, 350), BLUE),
        ("E", (450, 350), YELLOW),  # each 100 units
        ("E", (750, 350), YELLOW),
        ("E", (825, 350), mixed(RED, YELLOW, 0.5)),
        ("F", (425, 350), mixed(RED, YELLOW, 0.5)),
        ("F", (525, 350), mixed(BLUE, YELLOW, 0.5)),  # turned around
        ("G", (200, 350), mixed(RED, YELLOW, 0.0)),
        ("H", (500, 350), RED),
        ("H", (650, 350), YELLOW),
        ("H", (150, 350), BLUE),
        ("I", (550, 350), YELLOW),
        ("I", (750, 350), YELLOW),
        ("J", (400, 350), RED),
        ("L", (200, 350), YELLOW),  # at 180 degrees
        ("L", (500, 650), mixed(RED, YELLOW, 0.5)),
        ("L", (500, 50), mixed(YELLOW, BLUE, 0.5)),
        ("M", (500 + 260, 500), YELLOW),  # at 30 degrees
        ("O", (600, 200), BLUE),
        ("P", (700, 500), RED),
        ("P", (500, 350), WHITE),
        ("Q", (600, 175), RED),
        ("S", (300, 350), RED),
        ("S", (600, 350), WHITE),
        ("U", (500, 350), GREEN),
        ("U", (200, 350), WHITE),
        ("V", (500, 350), YELLOW),
        ("X", (500, 350), RED),
        ("X", (700, 350), YELLOW),
        ("Y", (200, 600), RED),
        ("Y", (700, 350), GREEN),
        ("Z", (200, 350), TEAL),
        ("Z", (800, 350), YELLOW),
        ("0", (130, 50), WHITE),  # outside of the cone
        ("1", (400, 350), RED),
        ("1", (480, 350), mixed(BLUE, YELLOW, 0.12)),
        ("2", (500, 350), RED),
        ("2", (150, 350), WHITE),
        ("3", (800, 390), mixed(RED, WHITE, 0.03)),
        ("3", (510, 50), WHITE),
        ("6", (500, 550), BLUE),
        ("7", (500, 350), RED),
        ("7", (130, 30), WHITE),
    ],
)
def test_a_paint_is_seen_as_it_is_defined(char, point, color):
    assert seen(char, *point) == pytest.approx(color, abs=16)


# The colours of the four parts of a composite: source and backdrop, the half-transparent source on
# the backdrop, source alone, backdrop alone.
BOTH, HALF, SOURCE, BACKDROP = (320, 550), (700, 200), (130, 660), (650, 550)


@pytest.mark.parametrize(
    ("mode", "colors"),
    [
        ("CLEAR", (WHITE, WHITE, WHITE, WHITE)),
        ("SRC", (RED, mixed(WHITE, BLUE, 0.5), RED, WHITE)),
        ("DEST", (YELLOW, YELLOW, WHITE, YELLOW)),
        ("SRC_OVER", (RED, mixed(YELLOW, BLUE, 0.5), RED, YELLOW)),
        ("DEST_OVER", (YELLOW, YELLOW, RED, YELLOW)),
        ("SRC_IN", (RED, mixed(WHITE, BLUE, 0.5), WHITE, WHITE)),
        ("DEST_IN", (YELLOW, mixed(WHITE, YELLOW, 0.5), WHITE, WHITE)),
        ("SRC_OUT", (WHITE, WHITE, RED, WHITE)),
        ("DEST_OUT", (WHITE, mixed(WHITE, YELLOW, 0.5), WHITE, YELLOW)),
        ("SRC_ATOP", (RED, mixed(YELLOW, BLUE, 0.5), WHITE, YELLOW)),
        ("DEST_ATOP", (YELLOW, None, RED, WHITE)),
        ("XOR", (WHITE, None, RED, YELLOW)),
        ("PLUS", (None, None, RED, YELLOW)),
        ("SCREEN", (None, None, RED, YELLOW)),
        ("DARKEN", (tuple(map(min, RED, YELLOW)), None, RED, YELLOW)),
        ("LIGHTEN", (tuple(map(max, RED, YELLOW)), None, RED, YELLOW)),
        (
            "MULTIPLY",
            (tuple(a * b // 255 for a, b in zip(RED, YELLOW, strict=True)), None, RED, YELLOW),
        ),
        (
            "DIFFERENCE",
            (tuple(abs(a - b) for a, b in zip(RED, YELLOW, strict=True)), None, RED, YELLOW),
        ),
    ],
)
def test_a_mode_is_seen_as_it_is_defined(mode, colors):
    [char] = [char for char, each in make.MODES.items() if each.name == mode]
    for point, color in zip((BOTH, HALF, SOURCE, BACKDROP), colors, strict=True):
        if color is not None:
            assert seen(char, *point) == pytest.approx(color, abs=6), point


def test_every_mode_keeps_what_only_one_side_paints_or_removes_it():
    for char in make.MODES:
        assert seen(char, *SOURCE) in (RED, WHITE)
        assert seen(char, *BACKDROP) in (YELLOW, WHITE)


def test_layers_of_version_0_are_drawn_with_the_colour_of_the_text():
    assert seen("A", 120, 20, LAYERS) == YELLOW
    assert seen("A", 500, 600, LAYERS) == RED
    assert seen("A", 500, 350, LAYERS) == TEAL


def test_a_glyph_without_the_colour_of_the_text_is_one_form_for_all_texts():
    forms = b"<span color='#123'>A</span> <span color='#456'>A</span>".decode()
    assert len(set(re.findall(rb"/\S+ Do", contents(set_text(forms))))) == 1
    assert len(set(re.findall(rb"/\S+ Do", contents(set_text(forms, font=LAYERS))))) == 2


def test_text_beside_colour_glyphs_is_extracted_as_it_was_written():
    text = "A1 \U0001f600\u2764\ufe0f \U0001f1e9\U0001f1ea B"
    pdf = set_text(text, font=LAYERS, size="12pt")
    page = pypdfium2.PdfDocument(pdf)[0].get_textpage()
    assert page.get_text_bounded().strip() == text
    left, _, right, _ = page.get_charbox(0)
    assert right - left > 6  # as wide as its glyph, to be selected


def test_only_colour_glyphs_are_invisible_text():
    marks = contents(set_text("1A1", font=LAYERS))
    assert re.findall(rb"3 Tr|0 Tr|TJ", marks) == [b"TJ", b"3 Tr", b"TJ", b"0 Tr", b"TJ"]
    assert b"3 Tr" not in contents(set_text("11", font=LAYERS))


def test_the_selector_of_text_presentation_draws_the_outline():
    marks = contents(set_text("\u2764\ufe0e", font=LAYERS))
    assert b" Do" not in marks


@pytest.mark.parametrize(
    "profile", ["pdf/a-2b", "pdf/a-2u", "pdf/a-2a", "pdf/a-3a", "pdf/ua-1", "pdf/a-3a pdf/ua-1"]
)
def test_archives_and_accessible_files_have_colour_glyphs(profile):
    text = "".join([*make.PAINTS, *make.MODES])
    pdf = set_text(
        " ".join(text), attributes=f"title='t' lang='en' profile='{profile}'", size="9pt"
    )
    assert contents(pdf).count(b" Do") == len(text)
    if "pdf/a" in profile:
        assert find_violations(pdf, int(profile[6])) == []


def test_equal_documents_are_equal_bytes():
    assert set_text("ABC abc") == set_text("ABC abc")


def test_a_glyph_beyond_the_bytes_of_one_or_of_a_document_is_an_outline(monkeypatch):
    monkeypatch.setattr(content_stream, "MAX_COLOR_GLYPH_BYTES", 700)
    marks = contents(set_text("ABCDE"))
    assert 0 < marks.count(b" Do") < 5
    monkeypatch.setattr(color_glyphs, "MAX_CONTENT", 10)
    assert b" Do" not in contents(set_text("EF", font=make.make_paints()))


def test_a_graph_that_explodes_is_drawn_within_the_limits():
    assert len(set_text("A", font=laughing())) < 2 * color_glyphs.MAX_CONTENT


def test_documents_of_a_merged_file_share_their_colour_glyphs():
    source = (
        '<document><font family="Swatch" src="a-font"/><flow font-family="Noto Sans, Swatch">'
        "<p>\U0001f600 and \u2764\ufe0f of all</p><p>{{ number }}</p></flow></document>"
    )
    resources = Stored(**{"a-font": LAYERS})
    part = MergedPart(prepare_template(source.encode()), options=OPTIONS, resources=resources)
    for number in range(4):
        payload = Payload(PayloadKind.JSON, json.dumps({"number": number}).encode())
        part.add(payload, name=str(number))
    pdf = part.close()
    pages = pypdfium2.PdfDocument(pdf)
    said = [page.get_textpage().get_text_bounded().split("\r\n") for page in pages]
    assert said == [["\U0001f600 and \u2764\ufe0f of all", str(number)] for number in range(4)]
    drawn = [page.render(scale=1).to_pil().crop((0, 0, 300, 120)).getcolors() for page in pages]
    assert all(any(color == YELLOW for _, color in colors) for colors in drawn)


def test_colour_glyphs_may_be_in_a_transparent_group_and_a_table():
    fonts = '<font family="Swatch" src="a-font"/>' + PAGE
    body = (
        "<box opacity='0.5'><p font-family='Swatch'>AD</p></box>"
        "<table><tr font-family='Swatch'><td>AB</td><td>D</td></tr></table>"
    )
    pdf = rendered(fonts, body, Stored(**{"a-font": PAINTS}))
    with pikepdf.open(io.BytesIO(pdf)) as file:
        forms = [str(name) for name in file.pages[0].resources.XObject]
    assert len(forms) >= 4
