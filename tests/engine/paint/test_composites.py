"""Composite glyphs: where their parts are, and the tables of the font that they are added to."""

from __future__ import annotations

import pytest
import uharfbuzz as hb

from tests.engine.typefaces import find_face
from workers.engine.fonts import Face
from workers.engine.paint import embedding as composites
from workers.engine.paint.embedding import Component, add_composites, join_glyphs, subset_glyphs

FACE = find_face((), 400, False)
X, HAT, SPACE = FACE.glyphs["x"], FACE.glyphs["^"], FACE.glyphs[" "]


def added_to(
    face: Face, *, parts: tuple[Component, ...], advance: int = 600
) -> tuple[hb.Font, int]:
    """Return the font with a glyph of these parts, and the number of the glyph."""
    program = subset_glyphs(face, {glyph for glyph, _, _ in parts})
    program, first = add_composites(program, [join_glyphs(face, parts, advance)])
    return hb.Font(hb.Face(program)), first


@pytest.mark.parametrize("short", [0x1FFFE, 0], ids=["short places", "long places"])
def test_a_composite_encloses_its_parts_where_they_stand(monkeypatch, short):
    monkeypatch.setattr(composites, "MAX_SHORT_OFFSET", short)
    font, glyph = added_to(FACE, parts=((X, 0, 0), (HAT, 500, -100)))
    x, hat = FACE.hb_font.get_glyph_extents(X), FACE.hb_font.get_glyph_extents(HAT)
    joined = font.get_glyph_extents(glyph)
    assert joined.x_bearing == x.x_bearing
    assert joined.y_bearing == max(x.y_bearing, hat.y_bearing - 100)
    assert joined.x_bearing + joined.width == 500 + hat.x_bearing + hat.width
    assert font.get_glyph_h_advance(glyph) == 600
    assert font.get_glyph_extents(X) == x


def test_glyphs_without_an_outline_are_omitted_from_a_composite():
    font, glyph = added_to(FACE, parts=((SPACE, 0, 0), (X, 40, 0)))
    assert font.get_glyph_extents(glyph).x_bearing == 40 + bearing_of(X)
    font, glyph = added_to(FACE, parts=((SPACE, 0, 0), (SPACE, 40, 0)))
    assert not any(font.get_glyph_extents(glyph))
    assert font.get_glyph_h_advance(glyph) == 600


def test_a_part_beyond_two_bytes_stands_at_their_edge():
    font, glyph = added_to(FACE, parts=((X, 0, 0), (X, 100_000, -100_000)))
    assert font.get_glyph_extents(glyph).x_bearing == bearing_of(X)


def test_nothing_is_changed_when_nothing_is_added():
    program = subset_glyphs(FACE, {X})
    assert add_composites(program, [])[0] == program


def bearing_of(glyph: int) -> int:
    bearing: int = FACE.hb_font.get_glyph_extents(glyph).x_bearing
    return bearing
