"""Shapes and paths: what their attributes say is where the ink is."""

from __future__ import annotations

import pytest

from tests.engine.paint.drawing import extracted, rendered
from tests.engine.svg.drawings import BLACK, BLUE, RED, WHITE, converted, file_of, seen, svg
from workers.engine.svg.paths import find_box, parse_path

FILLED = [
    '<rect x="20" y="20" width="60" height="60"/>',
    '<circle cx="50" cy="50" r="30"/>',
    '<ellipse cx="50%" cy="50%" rx="30" ry="25"/>',
    '<polygon points="20,20 80,20 80,80 20 80"/>',
    '<polyline points="20 20 80 20 80 80 20 80 20 20"/>',
    '<path d="M20 20H80V80H20Z"/>',
    '<path d="m20,20 60,0 0,60-60,0z"/>',
    '<path d="M50 20c16 0 30 14 30 30S66 80 50 80 20 66 20 50 34 20 50 20"/>',
    '<path d="M50 20Q80 20 80 50T50 80 20 50 50 20"/>',
    '<path d="M20 50a30 30 0 1160 0 30 30 0 01-60 0"/>',
    '<path d="M20 50A30 30 0 0 1 80 50A30 30 0 0 1 20 50Z"/>',
    '<line x1="20" y1="50" x2="80" y2="50" stroke="black" stroke-width="60"/>',
    '<g transform="translate(50 50) scale(2) rotate(90)"><rect x="-15" y="-15" width="30" height="30"/></g>',
]


@pytest.mark.parametrize("content", FILLED)
def test_middle_is_filled_and_corners_are_not(content: str):
    assert seen(content, (50, 50), (40, 50), (5, 5), (95, 95)) == [BLACK, BLACK, WHITE, WHITE]


@pytest.mark.parametrize(
    ("data", "segments"),
    [
        ("M1 2", [("M", 1, 2)]),
        ("M1 2 3 4", [("M", 1, 2), ("L", 3, 4)]),
        ("m1 2 3 4", [("M", 1, 2), ("L", 4, 6)]),
        ("M1-2.5.5e1", [("M", 1, -2.5)]),
        ("M0 0L10 10 20", [("M", 0, 0), ("L", 10, 10)]),
        ("M0 0L10 10foo L20 20", [("M", 0, 0), ("L", 10, 10)]),
        ("L10 10", []),
        ("", []),
        (
            "M0 0h5v5zl1 1",
            [("M", 0, 0), ("L", 5, 0), ("L", 5, 5), ("Z",), ("M", 0, 0), ("L", 1, 1)],
        ),
        ("M0 0A0 5 0 0 0 9 9", [("M", 0, 0), ("L", 9, 9)]),
        ("M0 0A5 5 0 2 0 9 9", [("M", 0, 0)]),
    ],
)
def test_path_data_is_read_up_to_its_first_error(data: str, segments: list):
    assert parse_path(data) == segments


def test_flags_of_arcs_need_nothing_between_them():
    assert parse_path("M0 0a5 5 0 01.5.5") == parse_path("M0 0a5 5 0 0 1 .5 .5")


def test_an_arc_too_small_for_its_numbers_is_a_line():
    small = [("M", 0, 0), ("L", 1e-300, 0), ("L", 9, 9)]
    assert parse_path("M0 0A5 5 0 0 0 1e-300 0L9 9") == small


def test_box_is_that_of_the_curve_and_not_of_its_handles():
    assert find_box(parse_path("M0 0C0 40 100 40 100 0")) == pytest.approx((0, 0, 100, 30))


def test_fill_rules():
    star = '<path fill-rule="{}" d="M10 10H90V90H10ZM30 30H70V70H30Z"/>'
    assert seen(star.format("evenodd"), (50, 50)) == [WHITE]
    assert seen(star.format("nonzero"), (50, 50)) == [BLACK]


def test_lines_have_ends_corners_and_dashes():
    line = '<path d="M30 50H70" stroke="red" stroke-width="20" {}/>'
    assert seen(line.format(""), (25, 50), (50, 50)) == [WHITE, RED]
    assert seen(line.format('stroke-linecap="square"'), (25, 50)) == [RED]
    assert seen(line.format('stroke-dasharray="10"'), (35, 50), (45, 50)) == [RED, WHITE]
    assert seen(line.format('stroke-dasharray="10" stroke-dashoffset="10"'), (35, 50)) == [WHITE]
    assert seen(line.format('stroke-dasharray="-1 5"'), (35, 50), (45, 50)) == [RED, RED]
    corner = '<path d="M20 20H80V80" fill="none" stroke="red" stroke-width="20" {}/>'
    assert seen(corner.format(""), (88, 12)) == [RED]
    assert seen(corner.format('stroke-linejoin="bevel"'), (88, 12)) == [WHITE]


def test_dashes_are_measured_in_the_pathlength_of_the_shape():
    ring = (
        '<circle cx="50" cy="50" r="30" fill="none" stroke="red" stroke-width="10"'
        ' pathLength="100" stroke-dasharray="25 75" {}/>'
    )

    assert seen(ring.format(""), (71, 71), (29, 71), (71, 29)) == [RED, WHITE, WHITE]
    assert seen(ring.format('stroke-dashoffset="-25"'), (71, 71), (29, 71), (71, 29)) == [
        WHITE,
        RED,
        WHITE,
    ]
    line = (
        '<path d="M10 50H90" stroke="red" stroke-width="20" pathLength="{}" stroke-dasharray="1"/>'
    )
    assert seen(line.format(4), (20, 50), (40, 50), (60, 50)) == [RED, WHITE, RED]
    assert seen(line.format(-4), (20, 50)) == seen(
        line.format("").replace("pathLength", "x"), (20, 50)
    )


def test_a_line_has_no_inside():
    content = '<path d="M30 50H70" stroke="none"/><polyline points="10 10 90 10"/>'
    assert seen(content, (50, 50), (50, 10)) == [WHITE, WHITE]


def test_line_is_wider_where_it_is_stretched():
    content = (
        '<g transform="scale(4 1)"><rect x="5" y="20" width="15" height="60" fill="none"'
        ' stroke="red" stroke-width="4"/></g>'
    )
    assert seen(content, (14, 50), (26, 50), (50, 21), (50, 24)) == [RED, RED, RED, WHITE]
    content = content.replace("/>", ' vector-effect="non-scaling-stroke"/>')
    assert seen(content, (14, 50), (20, 50)) == [WHITE, RED]


def test_markers_stand_at_the_ends():
    content = (
        '<marker id="dot" markerWidth="4" markerHeight="4" refX="2" refY="2">'
        '<rect width="4" height="4" fill="blue"/></marker>'
        '<path d="M20 50H80" stroke="red" stroke-width="5" marker-start="url(#dot)"'
        ' marker-end="url(#dot)"/>'
    )
    assert seen(content, (13, 50), (50, 50), (87, 42)) == [BLUE, RED, BLUE]


def inked(content: str) -> tuple[int, int]:
    """Return the first and last column of a drawing that has ink in it."""
    image = rendered(file_of(svg(content))).convert("L").point(lambda value: 255 * (value < 128))
    box = image.getbbox()
    assert box is not None
    return box[0], box[2]


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u0631\u062d\u0628\u0627",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "\u05e9\u05dc\u05d5\u05dd",
    ],
)
def test_letters_that_depend_on_each_other_are_drawn(text: str):
    content = f'<text x="10" y="50" font-size="20">{text}</text>'
    first, last = inked(content)
    assert first >= 8
    assert 25 < last < 80
    assert converted(svg(content)).omitted == ()


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ("", 50, 100),
        ('text-anchor="middle"', 0, 100),
        ('text-anchor="end"', 0, 50),
        ('direction="rtl"', 0, 50),
        ('direction="rtl" text-anchor="end"', 50, 100),
    ],
)
def test_text_stands_at_its_anchor(given: str, first: int, last: int):
    left, right = inked(f'<text x="50" y="50" font-size="16" {given}>HHH</text>')
    assert first <= left
    assert right <= last
    assert ("middle" in given) == (left < 45 < 55 < right)


def test_text_is_fitted_to_its_textlength():
    left, right = inked('<text x="10" y="50" textLength="80">HH</text>')
    assert left == pytest.approx(11, abs=2)
    assert right == pytest.approx(89, abs=3)


def test_text_can_be_found():
    content = '<text x="5" y="50" font-size="12">Gr\u00f6\u00dfe <tspan font-weight="bold">12</tspan></text>'
    assert extracted(file_of(svg(content))) == "Größe 12"
