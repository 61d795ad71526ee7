"""Series can be distinguished in grey, and by readers who do not see every colour."""

from __future__ import annotations

from itertools import combinations
from math import dist

import pytest

from workers.engine.layout.charts.drawing import (
    DASHES,
    HATCHES,
    LINES,
    MARKERS,
    PALETTE,
    color_of,
    hatch_of,
    is_dark,
)
from workers.engine.units import BLACK, Color, ColorSpace, tint_color

# Machado, Oliveira and Fernandes 2009, severity 1, on linear light.
SEEN = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(color: Color, seen: str = "all colours") -> tuple[float, float, float]:
    """Return the CIELAB coordinates of a colour as perceived under white D65."""
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.components]
    red, green, blue = (
        min(max(sum(m * c for m, c in zip(row, light, strict=True)), 0.0), 1.0)
        for row in SEEN[seen]
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("seen", SEEN)
def test_any_two_colours_differ_for_every_reader(seen):
    for one, other in combinations(PALETTE, 2):
        assert dist(lab(one, seen), lab(other, seen)) >= 20


def test_any_two_colours_are_two_greys():
    for one, other in combinations(PALETTE, 2):
        assert abs(lab(one)[0] - lab(other)[0]) >= 10


def test_lines_are_seen_on_white_paper():
    assert all(lab(color)[0] <= 75 for color in LINES)


def test_lines_and_points_differ_in_shape_too():
    assert len(set(DASHES)) == len(DASHES) == len(set(MARKERS)) == len(set(HATCHES)) == 6


def test_a_colour_that_comes_again_is_hatched():
    assert [hatch_of(at, 6, is_hatched=False) for at in (0, 5, 6, 12)] == [None, None, 45.0, -45.0]
    assert len({hatch_of(at, 6, is_hatched=True) for at in range(6)}) == 6
    for is_hatched in (True, False):
        looks = {(at % 6, hatch_of(at, 6, is_hatched=is_hatched)) for at in range(36)}
        assert len(looks) == 36


def test_an_own_colour_goes_before_the_palette():
    assert color_of(1, BLACK, PALETTE) is BLACK
    assert color_of(7, None, PALETTE) is PALETTE[1]


def test_text_on_a_colour_is_read():
    cyan = Color(ColorSpace.CMYK, (1.0, 0.0, 0.0, 0.0))
    assert is_dark(BLACK)
    assert not is_dark(cyan)
    assert is_dark(Color(ColorSpace.CMYK, (0.0, 0.0, 0.0, 1.0)))
    assert tint_color(cyan, 0.5).components == (0.5, 0.0, 0.0, 0.0)
    assert tint_color(BLACK, 0.25).components == (0.75, 0.75, 0.75)
