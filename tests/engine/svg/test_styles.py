"""Colours, styles, gradients, clips, masks and copies: what an element looks like."""

from __future__ import annotations

import pytest

from tests.engine.svg.drawings import BLACK, BLUE, GREEN, RED, WHITE, converted, seen, svg

RECTANGLE = '<rect width="100" height="100" {}/>'


@pytest.mark.parametrize(
    "value",
    [
        *("red", "RED", "#f00", "#ff0000", "#ff0000ff", "rgb(255,0,0)", "rgb(100% 0% 0%)"),
        *("hsl(0, 100%, 50%)", "rgba(255, 0, 0, 1)", "currentColor", "url(#none) red"),
    ],
)
def test_colours(value: str):
    assert seen(RECTANGLE.format(f'color="red" fill="{value}"'), (50, 50)) == [RED]


def test_styles_override_attributes_and_each_other():
    style = (
        "<style>/* a comment */ rect { fill: blue } .a { fill: red } #b.a { fill: green }"
        " g rect { stroke: none } rect.c { fill: blue !important }</style>"
    )
    for given, colour in (
        ('fill="red"', BLUE),
        ('class="a"', RED),
        ('class="x a"', RED),
        ('class="a" id="b"', GREEN),
        ('class="a" id="b" style="fill: red"', RED),
        ('class="c" style="fill: red"', BLUE),
    ):
        assert seen(style + RECTANGLE.format(given), (50, 50)) == [colour], given


def test_only_inheritable_properties_are_inherited():
    content = '<g fill="red" opacity="0.99"><g fill="inherit">{}</g></g>'
    assert seen(content.format(RECTANGLE.format("")), (50, 50))[0][0] > 250
    assert seen('<g display="none">' + RECTANGLE.format("") + "</g>", (50, 50)) == [WHITE]
    hidden = '<g visibility="hidden">' + RECTANGLE.format('visibility="visible"') + "</g>"
    assert seen(hidden, (50, 50)) == [BLACK]


def test_a_group_is_seen_through_as_one():
    parts = '<rect width="60" height="100" fill="red"/><rect x="40" width="60" height="100" fill="red"/>'
    ends, overlap = seen(f'<g opacity="0.5">{parts}</g>', (20, 50), (50, 50))
    assert ends == overlap
    ends, overlap = seen(f'<g fill-opacity="0.5">{parts}</g>', (20, 50), (50, 50))
    assert ends != overlap


def test_gradients_lead_from_colour_to_colour():
    stops = '<stop stop-color="red"/><stop offset="100%" stop-color="blue"/>'
    for kind in (
        f'<linearGradient id="g">{stops}</linearGradient>',
        f'<linearGradient id="g" gradientUnits="userSpaceOnUse" x2="100">{stops}</linearGradient>',
        f'<linearGradient id="h">{stops}</linearGradient><linearGradient id="g" xlink:href="#h"/>',
        f'<radialGradient id="g" cx="0" cy="0.5" r="1">{stops}</radialGradient>',
    ):
        left, right = seen(kind + RECTANGLE.format('fill="url(#g)"'), (2, 50), (97, 50))
        assert left[0] > 230, kind
        assert right[2] > 230, kind


def test_gradients_repeat_and_reflect():
    gradient = (
        '<linearGradient id="g" x2="0.5" spreadMethod="{}"><stop stop-color="red"/>'
        '<stop offset="1" stop-color="blue"/></linearGradient>' + RECTANGLE.format('fill="url(#g)"')
    )
    assert seen(gradient.format("repeat"), (54, 50))[0][0] > 200
    assert seen(gradient.format("reflect"), (97, 50))[0][0] > 200
    assert seen(gradient.format("pad"), (97, 50))[0][2] > 250


def test_gradient_may_fade_out():
    gradient = (
        '<linearGradient id="g"><stop stop-color="red"/>'
        '<stop offset="1" stop-color="red" stop-opacity="0"/></linearGradient>'
    )
    left, right = seen(gradient + RECTANGLE.format('fill="url(#g)"'), (2, 50), (97, 50))
    assert left[1] < 20
    assert right[1] > 235


def test_gradient_of_one_colour_or_none():
    one = '<linearGradient id="g"><stop stop-color="red"/></linearGradient>'
    assert seen(one + RECTANGLE.format('fill="url(#g)"'), (50, 50)) == [RED]
    none = '<linearGradient id="g"/>'
    assert seen(none + RECTANGLE.format('fill="url(#g)"'), (50, 50)) == [WHITE]


@pytest.mark.parametrize(
    "shapes",
    [
        '<rect x="25" y="25" width="50" height="50"/>',
        '<rect x="25" y="25" width="50" height="25"/><rect x="25" y="50" width="50" height="25"/>',
        '<g/><rect x="25" y="25" width="50" height="50" fill="none" opacity="0"/>',
    ],
)
def test_clips_cut(shapes: str):
    content = f'<clipPath id="c">{shapes}</clipPath>' + RECTANGLE.format(
        'fill="red" clip-path="url(#c)"'
    )
    assert seen(content, (50, 50), (10, 50), (90, 50)) == [RED, WHITE, WHITE]


def test_clip_in_parts_of_the_box():
    content = (
        '<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width="0.5" height="1"/></clipPath>'
        '<rect x="50" width="50" height="100" fill="red" clip-path="url(#c)"/>'
    )
    assert seen(content, (60, 50), (90, 50)) == [RED, WHITE]


@pytest.mark.parametrize(
    "content",
    [
        '<svg width="100" height="100" viewBox="0 0 10 10"><rect width="10" height="10"/></svg>',
        '<symbol id="s" viewBox="0 0 10 10"><rect width="10" height="10"/></symbol><use href="#s"/>',
        '<switch><rect width="100" height="100"/><rect width="900" height="100"/></switch>',
        '<rect width="100" height="100"/><rect width="900" height="100" display="none"/>',
        '<rect width="50" height="100"/><rect width="100" height="100" visibility="hidden"/>',
        '<rect width="40" height="100"/><text x="40" y="80" textLength="60">a text</text>',
        '<g opacity="0"><rect x="50" width="50" height="100"/></g><rect width="50" height="100"/>',
    ],
)
def test_the_box_of_a_group_is_that_of_what_it_draws(content: str):
    clip = '<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width="0.3" height="1"/></clipPath>'
    drawn = f'{clip}<g fill="red" clip-path="url(#c)">{content}</g>'
    assert seen(drawn, (25, 10), (35, 10)) == [RED, WHITE]


def test_a_context_paint_fits_the_box_of_its_use():
    gradient = '<linearGradient id="g"><stop offset="0.5" stop-color="red"/><stop offset="0.5"/></linearGradient>'
    shape = '<defs><rect id="r" width="100" height="100" fill="context-fill"/></defs>'
    drawn = f'{gradient}{shape}<use href="#r" fill="url(#g)"/>'
    assert seen(drawn, (40, 50), (60, 50)) == [RED, BLACK]


def test_clip_of_nothing_shows_nothing():
    content = '<clipPath id="c"/>' + RECTANGLE.format('clip-path="url(#c)"')
    assert seen(content, (50, 50)) == [WHITE]


def test_mask_shows_where_it_is_white():
    content = '<mask id="m"><rect width="50" height="100" fill="white"/></mask>' + RECTANGLE.format(
        'fill="red" mask="url(#m)"'
    )
    assert seen(content, (25, 50), (75, 50)) == [RED, WHITE]


def test_patterns_repeat_also_under_a_mask():
    content = (
        '<pattern id="p" width="20" height="20" patternUnits="userSpaceOnUse">'
        '<rect width="10" height="20" fill="red"/></pattern>'
        '<mask id="m"><rect width="100" height="50" fill="white"/></mask>'
        + RECTANGLE.format('fill="url(#p)" mask="url(#m)"')
    )
    assert seen(content, (5, 25), (15, 25), (45, 25), (5, 75)) == [RED, WHITE, RED, WHITE]


def test_copies_and_symbols():
    content = (
        '<defs><rect id="r" width="20" height="20"/><symbol id="s" viewBox="0 0 10 10">'
        '<rect width="30" height="10" fill="blue"/></symbol></defs>'
        '<use href="#r" x="10" y="10" fill="red"/><use xlink:href="#s" x="50" y="50" width="40" height="40"/>'
    )
    assert seen(content, (20, 20), (70, 70), (95, 70)) == [RED, BLUE, WHITE]


def test_view_box_is_fitted():
    box = 'width="100" height="100" viewBox="0 0 100 50" {}'
    clipped = '<rect width="100" height="50" fill="red"/>'
    assert seen(clipped, (50, 10), (50, 50), attributes=box.format("")) == [WHITE, RED]
    low = box.format('preserveAspectRatio="xMidYMax"')
    assert seen(clipped, (50, 30), (50, 90), attributes=low) == [WHITE, RED]
    wide = box.format('preserveAspectRatio="none"')
    assert seen(clipped, (50, 10), (50, 90), attributes=wide) == [RED, RED]


def test_nested_drawing_cuts_at_its_edges():
    content = (
        '<svg x="20" y="20" width="40" height="40">' + RECTANGLE.format('fill="red"') + "</svg>"
    )
    assert seen(content, (40, 40), (70, 40)) == [RED, WHITE]


@pytest.mark.parametrize(
    ("transform", "place"),
    [
        *(
            ("translate(30-40)", (90, 20)),
            ("translate(30,-40)", (90, 20)),
            ("translate(30px)", (90, 60)),
        ),
        *(("matrix(1 0 0 1-40 0)", (20, 60)), ("scale(.5)", (30, 30)), ("scale(.5.25)", (30, 15))),
        *(("rotate(90deg 60 60) translate(30)", (60, 90)), ("rotate(0.25turn)", (-60, 60))),
        *(
            ("translate(10)scale(1)", (70, 60)),
            ("translate(50 x)", (-1, -1)),
            ("rotate(1", (-1, -1)),
        ),
    ],
)
def test_transforms(transform: str, place: tuple[int, int]):
    content = f'<rect x="55" y="55" width="10" height="10" transform="{transform}"/>'
    is_seen = min(place) >= 0
    assert (BLACK in seen(content, *([place] if is_seen else [(60, 60)]))) == is_seen


def test_switch_draws_its_first_supported_child():
    content = (
        '<switch><foreignObject requiredExtensions="x"/><g>'
        + RECTANGLE.format('fill="red"')
        + "</g></switch>"
    )
    assert seen(content, (50, 50)) == [RED]
    assert converted(svg(content)).omitted == ()


@pytest.mark.parametrize(
    "style",
    [
        "g > rect",
        "svg>g>rect",
        "svg g rect",
        "[id]",
        "rect[id='here']",
        'rect[class~="b"]',
        "[data-cell-id^=c][data-cell-id$='1'][data-cell-id*=\"ell\"]",
        "rect:first-child",
        "g rect:last-child.a.b",
        ":root rect",
        "line, [id='a,b'], rect",
        "svg :root g, svg > rect, #here",
    ],
)
def test_selectors_of_drawing_programs_choose_elements(style: str) -> None:
    shape = '<g><rect id="here" class="a b" data-cell-id="cell-1" width="100" height="100"/></g>'
    assert seen(f"<style>{style} {{ fill: red }}</style>{shape}", (50, 50)) == [RED]


@pytest.mark.parametrize(
    "style", ["svg > rect", "g > g > rect", "[id=her]", "rect[href]", "g:first-child", "p rect"]
)
def test_selectors_choose_no_other_element(style: str) -> None:
    shape = '<g/><g><rect id="here" fill="blue" width="100" height="100"/></g>'
    assert seen(f"<style>{style} {{ fill: red }}</style>{shape}", (50, 50)) == [BLUE]


@pytest.mark.parametrize(
    ("content", "colour"),
    [
        ('<style type="text/x-less">rect { fill: red }</style>', BLUE),
        ('<style type="text/css; charset=utf-8">rect { fill: red }</style>', RED),
        ('<style media="speech">rect { fill: red }</style>', BLUE),
        ('<style media="print">rect { fill: red }</style>', RED),
        ("<style>rect { fill: light-dark(rgb(255, 0, 0), var(--dark, #00f)) }</style>", RED),
        ("<style>rect { fill: light-dark(var(--light, #ff0000), #00f) }</style>", RED),
        ("<style>svg { color: red } rect { fill: currentColor }</style>", RED),
        ("<style>rect { fill: hsl(0 100% 50% / 100%) }</style>", RED),
    ],
)
def test_style_sheets_and_values_of_drawing_programs(content: str, colour: tuple) -> None:
    shape = '<rect fill="blue" width="100" height="100"/>'
    assert seen(content + shape, (50, 50)) == [colour]


def test_rem_is_of_the_root_and_em_of_the_element() -> None:
    shape = '<g font-size="50"><rect width="2rem" height="1em" fill="red"/></g>'
    assert seen(shape, (30, 45), (34, 45), (30, 55)) == [RED, WHITE, WHITE]


def test_entities_of_namespaces_are_read() -> None:
    declared = b'<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY ai "http://x/">]>'
    root = (
        b'<svg xmlns="&ns;" xmlns:i="&ai;" width="9" height="9"><rect i:a="" width="9" height="9"/>'
    )
    image = converted(declared + root + b"</svg>")
    assert (image.width, image.omitted) == (9, ())


def test_namespaces_may_be_declared_as_attributes_of_the_document_type() -> None:
    declared = (
        b"<!DOCTYPE svg [<!ELEMENT svg ANY><!ATTLIST svg xmlns CDATA #FIXED 'http://www.w3.org/2000/svg' "
        b"xmlns:xlink CDATA #FIXED 'http://www.w3.org/1999/xlink'>]>"
    )
    drawing = b'<defs><rect id="a" width="9" height="9"/></defs><use xlink:href="#a"/></svg>'
    image = converted(declared + b'<svg width="9" height="9">' + drawing)
    assert (image.width, image.omitted) == (9, ())
