"""Text in a drawing: in every script it can be copied, and stands where its outlines would."""

from __future__ import annotations

import pytest

from tests.engine.layout.svg.drawings import converted, file_of, svg
from tests.engine.paint.drawing import OWNER, extracted, page, printed, rendered
from tests.engine.test_extraction import TEXTS, same
from workers.engine.layout.display import Picture, ShapedGlyphs
from workers.engine.layout.fonts import find_face, shape_word
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


def test_one_drawing_says_the_same_in_documents_that_give_other_codes():
    drawing = converted(svg('<text x="5" y="50" font-size="20">e&#x301;x&#x301;</text>'))
    face = find_face((), 400, False)
    clusters = shape_word(face, "x\u0301", is_rtl=False, lang="en").clusters
    before = ShapedGlyphs(5, 90, face, 10, BLACK, clusters, "x\u0301", 5, OWNER)
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
