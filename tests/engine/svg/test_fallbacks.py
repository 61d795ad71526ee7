"""Wrong, missing and conditional values: drawn as browsers do, or reported as left out.

The colours are those that Chromium shows, but for wrong transforms, which it ignores.
"""

from __future__ import annotations

import pytest

from tests.engine.svg.drawings import BLACK, BLUE, GREEN, RED, WHITE, converted, refused, seen, svg

WHOLE = '<rect width="100" height="100" {}/>'
STOPS = '<stop stop-color="red"/><stop offset="1" stop-color="green"/>'
GRADIENT = '<linearGradient id="g" {}>' + STOPS + "</linearGradient>"


def drawn(content: str, *places: tuple[int, int]) -> tuple[list, tuple[str, ...]]:
    return seen(content, *(places or ((50, 50),))), converted(svg(content)).omitted


# --- paints ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "colour"),
    [
        ('fill="bogus"', GREEN),
        ('fill="rgb(1,2)"', GREEN),
        ('fill="blue" style="fill: bogus"', BLUE),
        ('style="fill: blue; fill: var(--none)"', BLUE),
        ('style="fill: blue; fill: bogus !important"', BLUE),
        ('fill="url(#none) bogus"', GREEN),
        ('class="a"', BLUE),
    ],
)
def test_a_wrong_paint_is_as_if_it_were_not_there(given: str, colour: tuple[int, int, int]):
    style = "<style>rect.a { fill: blue; fill: bogus }</style>"
    seen_there, reported = drawn(f'{style}<g fill="green">{WHOLE.format(given)}</g>')
    assert seen_there == [colour]
    assert any(what.startswith("the fill ") for what in reported)


def test_a_wrong_paint_that_nothing_replaces_is_the_initial_one_and_reported():
    assert drawn(WHOLE.format('fill="bogus"')) == ([BLACK], ('the fill "bogus"',))
    assert drawn(WHOLE.format('fill="red" stroke="null"'))[0] == [RED]
    stops = STOPS.replace("red", "bogus").replace("green", "bogus")
    content = f'<linearGradient id="g">{stops}</linearGradient>' + WHOLE.format('fill="url(#g)"')
    assert drawn(content) == ([BLACK], ('the stop-color "bogus"',))


@pytest.mark.parametrize(
    ("content", "colour"),
    [
        (WHOLE.format('fill="url(#none) green"'), GREEN),
        (WHOLE.format('fill="url(#none) none"'), WHITE),
        (WHOLE.format('fill="url(#none) currentColor" color="green"'), GREEN),
        (WHOLE.format("fill=\"url('#none')green\""), GREEN),
        (WHOLE.format('fill="url(other.svg#a) green"'), GREEN),
        (WHOLE.format('fill="red" id="r"') + WHOLE.format('fill="url(#r) green"'), GREEN),
        (GRADIENT.format("") + '<path d="M0 50H100" stroke-width="40" stroke="url(#g) blue"/>', BLUE),
        ('<linearGradient id="g"/>' + WHOLE.format('fill="url(#g) blue"'), WHITE),
        (WHOLE.format('fill="#f00 icc-color(#CMYK, 0, 1, 1, 0)"'), RED),
    ],
)  # fmt: skip
def test_the_fallback_of_an_invalid_reference_is_painted(
    content: str, colour: tuple[int, int, int]
):
    assert drawn(content) == ([colour], ())


def test_a_reference_to_nothing_paints_nothing_and_is_reported():
    content = '<g fill="green">' + WHOLE.format('fill="url(#none)"') + "</g>"
    assert drawn(content) == ([WHITE], ("the fill #none, which is not in the file",))
    outside = '<g fill="green">' + WHOLE.format('fill="url(a.svg#b)"') + "</g>"
    assert drawn(outside) == ([WHITE], ("a fill that is outside of the file",))


@pytest.mark.parametrize("kind", ["scale(0)", "matrix(1 1 1 1 0 0)", "scale(1 0)"])
def test_a_degenerate_gradient_paints_only_its_fallback(kind: str):
    for inside in (STOPS, '<stop stop-color="red"/>'):
        gradient = f'<linearGradient id="g" gradientTransform="{kind}">{inside}</linearGradient>'
        assert drawn(gradient + WHOLE.format('fill="url(#g)"')) == ([WHITE], ())
        assert drawn(gradient + WHOLE.format('fill="url(#g) blue"')) == ([BLUE], ())
    pattern = (
        f'<pattern id="g" width="9" height="9" patternUnits="userSpaceOnUse" '
        f'patternTransform="{kind}">{WHOLE.format("")}</pattern>'
    )
    assert drawn(pattern + WHOLE.format('fill="url(#g) blue"')) == ([BLUE], ())


def test_a_wrong_transform_of_a_gradient_is_ignored_and_reported():
    content = GRADIENT.format('gradientTransform="bogus(2)"') + WHOLE.format('fill="url(#g)"')
    (left, right), reported = drawn(content, (2, 50), (97, 50))
    assert left[0] > 230
    assert right[1] > 110
    assert reported == ("an invalid gradientTransform",)


@pytest.mark.parametrize(
    ("content", "place", "colour"),
    [
        ('<g visibility="visible">' + WHOLE.format('fill="red" visibility="bogus"') + '</g>', (50, 50), RED),
        ('<path d="M0 50H100" stroke="red"/>', (50, 58), WHITE),
        ('<g stroke-width="40"><path d="M0 50H100" stroke="red" stroke-width="bogus"/></g>', (50, 58), RED),
        ('<g fill-opacity="0">' + WHOLE.format('fill="red" fill-opacity="bogus"') + '</g>', (50, 50), WHITE),
    ],
)  # fmt: skip
def test_other_wrong_values_are_as_if_they_were_not_there(content, place, colour):
    assert seen(content, place) == [colour]


# --- context paints -------------------------------------------------------------------------------------

ARROW = (
    '<marker id="m" markerUnits="userSpaceOnUse" markerWidth="20" markerHeight="20" '
    'overflow="visible"><rect x="-10" y="-10" width="20" height="20" fill="context-{}"/></marker>'
)


def test_a_marker_takes_the_paints_of_its_line():
    line = '<path d="M50 50H90" fill="blue" stroke="{}" marker-start="url(#m)"/>'
    assert drawn(ARROW.format("stroke") + line.format("green"), (45, 45)) == ([GREEN], ())
    assert drawn(ARROW.format("fill") + line.format("green"), (45, 45)) == ([BLUE], ())
    assert drawn(ARROW.format("stroke") + line.format("none"), (45, 45)) == ([WHITE], ())


def test_a_marker_stands_in_the_gradient_of_its_line():
    gradient = GRADIENT.format('gradientUnits="userSpaceOnUse" x1="10" x2="90"')
    line = '<path d="M10 50H90" stroke="url(#g)" marker-start="url(#m)" marker-end="url(#m)"/>'
    first, last = seen(gradient + ARROW.format("stroke") + line, (5, 45), (95, 45))
    assert first[0] > 250
    assert last[1] > 120
    assert max(last[0], first[1]) < 5


def test_a_copy_takes_the_paints_of_its_use():
    defs = "<defs><g id='r'>" + WHOLE.format('fill="context-stroke" stroke="none"') + "</g></defs>"
    assert drawn(defs + '<use href="#r" stroke="green" fill="red"/>') == ([GREEN], ())
    nested = defs + '<defs><use id="s" href="#r" stroke="context-fill"/></defs>'
    assert drawn(nested + '<use href="#s" fill="blue"/>') == ([BLUE], ())


def test_without_a_copy_or_a_marker_a_context_paint_is_none():
    assert drawn(WHOLE.format('fill="context-fill"')) == ([WHITE], ())
    used = "<defs>" + WHOLE.format('id="r" fill="context-fill"') + "</defs>"
    assert drawn(used + '<use href="#r" fill="context-stroke"/>')[0] == [WHITE]


# --- transforms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "inside", "outside"),
    [
        ('transform="scale(2)" transform-origin="40 40"', (75, 75), (35, 35)),
        ('transform="rotate(180)" transform-origin="center"', (45, 45), (65, 65)),
        ('transform="rotate(180)" transform-origin="70px 50%"', (85, 45), (45, 45)),
        ('transform="rotate(180)" transform-origin="right bottom"', (145, 145), (45, 45)),
        ('transform="rotate(180)" transform-origin="bottom"', (45, 145), (45, 45)),
        ('style="transform: scale(2); transform-origin: 40px 40px 3px"', (75, 75), (35, 35)),
        ('style="transform: scale(2); transform-box: fill-box; transform-origin: center"', (32, 68), (72, 72)),
        ('style="transform: scale(2); transform-box: fill-box"', (75, 75), (35, 35)),
    ],
)  # fmt: skip
def test_a_transform_is_about_its_origin(attributes: str, inside, outside):
    content = f'<rect x="40" y="40" width="20" height="20" fill="red" {attributes}/>'
    whole = 'width="200" height="200" viewBox="0 0 100 100" overflow="visible"'
    data = svg(content, whole)
    assert converted(data).omitted == ()
    if max(inside) < 100:
        assert seen(content, inside, outside) == [RED, WHITE]
    else:
        assert seen(content, outside) == [WHITE]


def test_groups_copies_and_clips_have_origins_too():
    square = '<rect x="40" y="40" width="10" height="10" fill="red"/>'
    turned = 'transform="rotate(180)" transform-origin="50 50"'
    assert seen(f"<g {turned}>{square}</g>", (55, 55), (45, 45)) == [RED, WHITE]
    copied = f'<defs><g id="a">{square}</g></defs><use href="#a" {turned}/>'
    assert seen(copied, (55, 55), (45, 45)) == [RED, WHITE]
    clip = f'<clipPath id="c"><rect x="40" y="40" width="10" height="10" {turned}/></clipPath>'
    cut = clip + WHOLE.format('fill="red" clip-path="url(#c)"')
    assert seen(cut, (55, 55), (45, 45)) == [RED, WHITE]
    nested = (
        '<svg x="50" y="50" width="50" height="50" viewBox="0 0 10 10">'
        '<rect width="4" height="4" fill="red" transform="rotate(180)" transform-origin="center"/></svg>'
    )
    assert seen(nested, (90, 90), (60, 60)) == [RED, WHITE]


def test_a_transform_or_an_origin_that_is_wrong_is_reported():
    assert drawn(WHOLE.format('transform="translate(9) bogus(1)"')) == (
        [WHITE],
        ("an element with an invalid transform",),
    )
    reported = drawn(WHOLE.format('transform="scale(1 -1)" transform-origin="bogus"'))[1]
    assert reported == ('the transform-origin "bogus"',)


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (
            '<text y="9" style="text-decoration: underline">a</text>',
            "the property `text-decoration`",
        ),
        ('<text y="9" writing-mode="vertical-rl">a</text>', "the property `writing-mode`"),
        ('<text y="9" style="word-spacing: 3px">a b</text>', "the property `word-spacing`"),
        ('<rect width="9" height="9" style="rotate: 45deg"/>', "the property `rotate`"),
        ('<style>rect { scale: 2 }</style><rect width="9" height="9"/>', "the property `scale`"),
        (
            '<text y="9" textLength="50" lengthAdjust="spacingAndGlyphs">ab</text>',
            "the glyph stretching of `lengthAdjust`",
        ),
        (
            '<text y="9"><tspan textLength="50">ab</tspan></text>',
            "the `textLength` of a part of a text",
        ),
        (
            GRADIENT.format('gradientTransform="rotate(9)" transform-origin="center"')
            + WHOLE.format('fill="url(#g)"'),
            "the transform-origin of a gradient",
        ),
    ],
)
def test_unsupported_features_are_reported(content: str, reported: str):
    assert converted(svg(content)).omitted == (reported,)


def test_values_that_ask_for_nothing_are_not_reported():
    style = (
        "text-decoration: none solid rgb(0, 0, 0); writing-mode: lr-tb; word-spacing: 0px; "
        "font-variant: normal; rotate: none; text-decoration-line: inherit"
    )
    content = f'<text y="9" style="{style}" writing-mode="horizontal-tb">a</text>'
    assert converted(svg(content)).omitted == ()


def test_boxes_in_boxes_end():
    nested = '<g style="transform-box: fill-box; transform: rotate(1deg)">' * 80
    assert "too many elements" in refused(svg(nested + WHOLE.format("") + "</g>" * 80))


# --- conditions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "colour", "reported"),
    [
        ('systemLanguage="en"', RED, ()),
        ('systemLanguage="de, EN-GB"', RED, ()),
        ('systemLanguage="de"', WHITE, ('the content for the language "de"',)),
        ('systemLanguage="enm"', WHITE, ('the content for the language "enm"',)),
        ('systemLanguage=""', WHITE, ()),
        ('requiredExtensions="http://example.org/x"', WHITE, ()),
        ('requiredExtensions=""', WHITE, ()),
    ],
)
def test_an_element_is_drawn_where_its_conditions_are_met(given: str, colour, reported):
    assert drawn(WHOLE.format(f'fill="red" {given}')) == ([colour], reported)


def test_a_switch_draws_the_document_language_and_reports_the_others():
    first = WHOLE.format('fill="blue" systemLanguage="de"')
    second = WHOLE.format('fill="red" systemLanguage="en"')
    third = WHOLE.format('fill="green" systemLanguage="fr"')
    otherwise = WHOLE.format('fill="black"')
    reported = ('the content for the language "de"', 'the content for the language "fr"')
    assert drawn(f"<switch>{first}{second}{third}{otherwise}</switch>") == ([RED], reported)
    assert drawn(f"<switch>{first}{third}{otherwise}</switch>") == ([BLACK], reported)


def test_parts_of_a_text_have_conditions_too():
    text = '<text y="50" font-size="40"><tspan systemLanguage="de">■■■</tspan></text>'
    assert converted(svg(text)).omitted == ('the content for the language "de"',)
