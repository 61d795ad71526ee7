"""A character that no font has is an empty box, whatever way its text is written."""

from __future__ import annotations

import base64

import pypdfium2
import pytest

from tests.engine.svg.drawings import svg
from tests.engine.test_extraction import extracted
from tests.engine.typefaces import find_missing
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Resources

RUNE, OL_CHIKI, ASTRAL = "\u16a0", "\u1c5b", "\U0001f701"
SIZES = (4, 6, 8, 9, 10, 11, 12, 14, 18, 20, 24, 40, 72)


def rendered(content: str, attributes: str = "") -> tuple[bytes, list[str]]:
    template = prepare_template(
        f"<document {attributes}><page size='A6' margin='5mm'/><flow>{content}</flow></document>".encode()
    )
    result = render(template, None, options=OPTIONS, resources=Resources())
    return result.pdf, [warning.code for warning in result.warnings]


def ink(pdf: bytes, scale: float) -> int:
    page = pypdfium2.PdfDocument(pdf)[0].render(scale=scale, grayscale=True).to_pil()
    return sum((255 - shade) * count for shade, count in enumerate(page.histogram())) // 255


@pytest.mark.long
@pytest.mark.parametrize("char", [RUNE, OL_CHIKI, ASTRAL], ids=["plain", "shaped", "astral"])
@pytest.mark.parametrize("size", SIZES)
def test_the_empty_box_is_drawn_at_every_size(char: str, size: int):
    assert find_missing(char) == char
    # No other character is in the font, so that its map of glyphs is as short as can be.
    pdf, warnings = rendered(f'<p font-size="{size}pt">{char}</p>')
    assert warnings == ["missing-glyph"]
    assert ink(pdf, 200 / size) > 400


@pytest.mark.parametrize(
    "look", ["", 'font-weight="bold"', 'font-style="italic"', 'font-family="monospace"']
)
def test_the_empty_box_is_drawn_in_every_face(look: str):
    pdf, _ = rendered(f'<p font-size="40pt" {look}>{RUNE}</p>')
    assert ink(pdf, 5) > 400


@pytest.mark.parametrize("around", ["العر%sبية", "עב%sרית", "नम%sस्ते", "漢%s字", "ไท%sย", "✓%s"])
def test_the_empty_box_stands_between_characters_of_every_script(around: str):
    with_box, without = (rendered(f"<p>{around % char}</p>")[0] for char in (RUNE, ""))
    assert ink(with_box, 8) > ink(without, 8) + 100


@pytest.mark.parametrize("paint", ["", 'fill="none" stroke="black" stroke-width="1"'])
@pytest.mark.parametrize("char", [RUNE, OL_CHIKI, ASTRAL], ids=["plain", "shaped", "astral"])
def test_a_missing_glyph_in_an_svg_is_drawn_as_a_box_and_reported(char: str, paint: str):
    def page(text: str) -> tuple[bytes, list[str]]:
        drawing = svg(f'<text x="10" y="60" font-size="40" {paint}>{text}</text>')
        return rendered(f'<img alt="" width="50mm" src="{address(drawing)}"/>')

    pdf, warnings = page(f"a{char}")
    assert warnings == ["missing-glyph"]
    assert ink(pdf, 4) > ink(page("a")[0], 4) + 100


@pytest.mark.parametrize("attributes", ['missing-glyph="error"', 'profile="pdf/a-2b"'])
def test_a_character_missing_in_an_svg_can_be_an_error(attributes: str):
    drawing = svg(f'<text x="10" y="60" font-size="40">{RUNE}</text>')
    with pytest.raises(AuthoringError) as caught:
        rendered(f'<img alt="b" width="50mm" src="{address(drawing)}"/>', attributes)
    assert [reported.code for reported in caught.value.diagnostics] == ["missing-glyph"]


@pytest.mark.parametrize("char", "☐☑☒✓✔✕✖✗✘☎✉⚠★☆")
@pytest.mark.parametrize("look", ["", 'font-weight="bold"', 'font-family="Noto Serif"'])
def test_boxes_and_ticks_are_drawn_and_copied(char: str, look: str):
    pdf, warnings = rendered(f'<p font-size="20pt" {look}>a {char} b</p>')
    assert warnings == []
    assert extracted(pdf) == f"a {char} b"
    assert ink(pdf, 2) > ink(rendered(f'<p font-size="20pt" {look}>a b</p>')[0], 2) + 50


def test_a_selector_of_the_form_of_a_sign_is_not_missing():
    pdf, warnings = rendered("<p>✔\ufe0f done ☎\ufe0e</p>")
    assert warnings == []
    assert extracted(pdf).replace("\ufe0f", "").replace("\ufe0e", "") == "✔ done ☎"


def test_items_that_are_checked_have_boxes_for_markers():
    pdf, warnings = rendered(
        '<ul><li checked="true">done</li><li checked="false">open</li><li>plain</li></ul>'
        '<ol><li>one</li><li checked="{{ 1 == 1 }}">two</li></ol>'
    )
    assert warnings == []
    assert extracted(pdf).split("\n") == ["☑ done", "☐ open", "• plain", "1. one", "☑ two"]


def address(drawing: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(drawing).decode()
