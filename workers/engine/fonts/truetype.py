"""Conversion of CFF outlines to TrueType, the one outline format that PDFs are written with."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

import uharfbuzz as hb

# CFF has cubic curves, TrueType quadratic ones: they differ by at most this fraction of an em,
# a tenth of a dot of an offset printer at 12 pt.
_TOLERANCE: Final = 1 / 1000
# Subroutines draw the same curves again and again; fonts of ideographs have a point in 4 bytes.
_FEW_POINTS: Final = 100_000
_POINTS_PER_BYTE: Final = 4
_MAXP: Final = {
    "tableVersion": 0x00010000,
    "maxZones": 1,
    **dict.fromkeys(
        (
            *("maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs"),
            *("maxStackElements", "maxSizeOfInstructions", "maxComponentElements"),
            *("maxPoints", "maxContours", "maxCompositePoints", "maxCompositeContours"),
            "maxComponentDepth",
        ),
        0,
    ),
}


class TooManyPointsError(Exception):
    """The outlines of a font have more points than its size explains."""


def convert_outlines(program: bytes) -> bytes:
    """Return a font with CFF outlines as one with TrueType outlines; all else is unchanged.

    `program` was written by HarfBuzz, so its tables are valid.

    Raises:
        TooManyPointsError: see there.
    """
    from fontTools.ttLib import TTFont, newTable  # imported here: most processes never need it

    glyphs = _draw_glyphs(program)
    font: Any = TTFont(BytesIO(program), lazy=True, recalcTimestamp=False)
    font.setGlyphOrder(list(glyphs))
    for tag in ("CFF ", "CFF2", "VORG"):
        if tag in font:
            del font[tag]
    font["loca"] = newTable("loca")
    glyf: Any = newTable("glyf")
    font["glyf"] = glyf
    glyf.glyphOrder, glyf.glyphs, glyf.axisTags = list(glyphs), glyphs, []
    metrics = font["hmtx"].metrics
    for name, glyph in glyphs.items():
        glyph.recalcBounds(glyf)
        metrics[name] = (metrics[name][0], glyph.xMin)
    font.sfntVersion = "\0\1\0\0"
    for field, value in _MAXP.items():
        setattr(font["maxp"], field, value)
    font["head"].glyphDataFormat = 0
    written = BytesIO()
    font.save(written)
    return written.getvalue()


def _draw_glyphs(program: bytes) -> dict[str, Any]:
    from fontTools.pens.cu2quPen import Cu2QuPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    face: Any = hb.Face(hb.Blob(program))
    font: Any = hb.Font(face)
    glyphs, points = {}, 0
    for glyph in range(face.glyph_count):
        pen: Any = TTGlyphPen(None)
        font.draw_glyph_with_pen(
            glyph, Cu2QuPen(pen, face.upem * _TOLERANCE, reverse_direction=True)
        )
        made = glyphs[f"glyph{glyph:05}"] = pen.glyph()
        points += len(getattr(made, "coordinates", ()))
        if points > _FEW_POINTS + _POINTS_PER_BYTE * len(program):
            raise TooManyPointsError
    return glyphs
