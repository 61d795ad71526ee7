"""Text in a drawing: in every script it can be copied, and is where its outlines would."""

from __future__ import annotations

import pytest

from tests.engine.paint.drawing import OWNER, extracted, page, printed, rendered
from tests.engine.svg.drawings import converted, file_of, svg
from tests.engine.test_extraction import TEXTS, same
from tests.engine.typefaces import find_face
from workers.engine.fonts import shape_word
from workers.engine.layout.display import Picture, ShapedRun
from workers.engine.units import BLACK

RIGHT_TO_LEFT = ("ar", "he", "fa")


@pytest.mark.parametrize("lang", ["hi", "bn", "ta", "th", *RIGHT_TO_LEFT])
def test_text_of_every_script_is_copied_as_it_was_written(lang: str):
    where = 'x="95" direction="rtl"' if lang in RIGHT_TO_LEFT else 'x="5"'
    file = file_of(svg(f'<text {where} y="50" font-size="5">{TEXTS[lang]}</text>'))
    assert same(extracted(file)) == same(TEXTS[lang])


def test_shaped_text_is_drawn_where_its_outlines_would_be():
    text = '<text x="10" y="60" font-size="30" letter-spacing="2" {}>कि e&#x301;न</text>'
    fill, outline = (
        rendered(file_of(svg(text.format(look))), scale=2).convert("L")
        for look in ("", 'fill="none" stroke="black" stroke-width="0.5"')
    )
    boxes = [image.point(lambda shade: 255 * (shade < 200)).getbbox() for image in (fill, outline)]
    assert None not in boxes
    assert all(abs(one - other) <= 3 for one, other in zip(*boxes, strict=True)), boxes


def test_a_drawing_extracts_alike_in_documents_with_other_glyph_codes():
    drawing = converted(svg('<text x="5" y="50" font-size="20">e&#x301;x&#x301;</text>'))
    face = find_face((), 400, False)
    clusters = shape_word(face, "x\u0301", is_rtl=False, lang="en").clusters
    before = ShapedRun(5, 90, face, 10, BLACK, clusters, "x\u0301", 5, OWNER)
    for items in ((), (before,)):
        file = printed(page(*items, Picture(0, 0, 100, 100, drawing, OWNER)))
        assert "éx\u0301" in same(extracted(file))
        assert len(extracted(file).split()) == 1 + len(items)


def test_patterns_and_masks_hold_shaped_text_too():
    pattern = (
        '<pattern id="p" width="50" height="50" patternUnits="userSpaceOnUse">'
        '<text y="30" font-size="20">कि</text></pattern><rect width="100" height="100" fill="url(#p)"/>'
    )
    image = rendered(file_of(svg(pattern))).convert("L")
    assert image.getextrema()[0] < 100


def box_of(attributes: str, text: str = "I") -> tuple[int, int, int, int]:
    """Return the box of the black pixels of a text in the middle of the drawing."""
    content = f'<text x="50" y="50" font-size="30" {attributes}>{text}</text>'
    box = rendered(file_of(svg(content))).convert("L").point(lambda v: 255 * (v < 128)).getbbox()
    assert box is not None
    return box


@pytest.mark.parametrize("paint", ["", 'fill="none" stroke="black"'])
def test_a_turned_character_lies_about_where_it_begins(paint: str):
    left, top, right, bottom = box_of(paint)
    assert bottom - top > 2 * (right - left)
    assert bottom <= 52
    left, top, right, bottom = box_of(f'rotate="90" {paint}')
    assert right - left > 2 * (bottom - top)
    assert left >= 48
    assert top >= 49


def test_each_character_has_its_angle_and_the_last_holds_on():
    for text, attributes in (
        ("III", 'rotate="0 90"'),
        ('I<tspan rotate="90">II</tspan>', ""),
        ('<tspan rotate="0 45 90">I</tspan><tspan rotate="90">II</tspan>', 'rotate="5"'),
    ):
        image = rendered(
            file_of(svg(f'<text x="5" y="40" font-size="30" {attributes}>{text}</text>'))
        ).convert("L")
        first = image.crop((0, 0, 14, 100)).point(lambda v: 255 * (v < 128)).getbbox()
        rest = image.crop((14, 41, 100, 100)).point(lambda v: 255 * (v < 128)).getbbox()
        assert first is not None
        assert first[3] <= 42
        assert rest is not None  # below the line, where no upright letter is


def test_turned_text_keeps_its_marks_and_can_be_copied():
    file = file_of(svg('<text x="20" y="50" font-size="20" rotate="5 10">e&#x301;a कि</text>'))
    assert set(same(extracted(file))) >= set("éaकि")


def test_rotated_text_has_a_bound_that_is_reported():
    long = converted(svg(f'<text rotate="5">{"a" * 10_001}</text>'))
    assert long.omitted == ("the rotation of text of more than 10,000 characters",)
    assert converted(svg(f'<text rotate="0">{"a" * 10_001}</text>')).omitted == ()
