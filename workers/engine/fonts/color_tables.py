"""The tables of colour glyphs, COLR (versions 0 and 1) and CPAL, and the limits of what they paint.

HarfBuzz walks the paint graph of a glyph, ends cycles, nests at most 64 paints and follows at most
65,536 edges.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

import uharfbuzz as hb

from workers.engine.fonts.faces import Face
from workers.engine.fonts.properties import FontRefusedError

MAX_FONT_OPERATIONS: Final = 2_000_000  # of all glyphs of a font, some 2 s
_FEW_OPERATIONS: Final = 100_000  # whatever the size of the file
_OPERATIONS_PER_BYTE: Final = 40  # that emoji font has 4 for each byte as WOFF2
# Version, number and offset of the base glyphs (OpenType, COLR).
_COLR_HEADER: Final = Struct(">HHI")
_BASE_GLYPH: Final = Struct(">HHH")  # glyph, first layer, number of layers
MAX_COLOR_GLYPHS: Final = 10_000  # of a font: the edges of one may take a millisecond
_MAX_CACHED_GLYPHS: Final = 10_000  # of a face, whether they are coloured


def has_color_tables(hb_face: Any) -> bool:
    """Return whether a font has colour glyphs."""
    return bool(hb_face.has_color_paint or hb_face.has_color_layers)


def is_color_glyph(face: Face, glyph: int) -> bool:
    """Return whether a glyph is painted in colours."""
    return face.with_cache(_is_color_glyph, max_entries=_MAX_CACHED_GLYPHS)(glyph)


def _is_color_glyph(face: Face, glyph: int) -> bool:
    return _has_colors(face.hb_face, glyph)


def _has_colors(hb_face: Any, glyph: int) -> bool:
    return bool(hb_face.glyph_has_color_paint(glyph) or hb_face.get_glyph_color_layers(glyph))


def check_layers(hb_face: Any, size: int) -> None:
    """Check the number of layers of all glyphs, which glyphs may share and rewriting copies.

    `size` is the number of bytes of the file, as sent.

    Raises:
        FontRefusedError: There are too many.
    """
    table: bytes = hb_face.reference_table("COLR").data or b""
    if len(table) < _COLR_HEADER.size:
        return
    _, count, start = _COLR_HEADER.unpack_from(table)
    records = memoryview(table)[start : start + count * _BASE_GLYPH.size]
    whole = records[: len(records) - len(records) % _BASE_GLYPH.size]
    layers = sum(number for _, _, number in _BASE_GLYPH.iter_unpack(whole))
    _check_operations(layers, size)


def _check_operations(number: int, size: int) -> None:
    limit = min(_FEW_OPERATIONS + _OPERATIONS_PER_BYTE * size, MAX_FONT_OPERATIONS)
    if number > limit:
        raise FontRefusedError(
            f"The colour glyphs of the font paint more than {limit:,} layers, clips and "
            "transformations, the most for its size",
            "Use a part of it, or a simpler font.",
        )


def count_color_glyphs(hb_face: Any, size: int) -> int:
    """Return the number of colour glyphs of a font, once their paint graphs are known to be bounded.

    `size` is the number of bytes of the file, as sent, which bounds what they may paint.

    Raises:
        FontRefusedError: There are too many, or together they paint too much.
    """
    if not has_color_tables(hb_face):
        return 0
    font: Any = hb.Font(hb_face)
    colored = [glyph for glyph in range(hb_face.glyph_count) if _has_colors(hb_face, glyph)]
    if len(colored) > MAX_COLOR_GLYPHS:
        raise FontRefusedError(
            f"The font has {len(colored):,} colour glyphs; at most {MAX_COLOR_GLYPHS:,} are accepted",
            "Use a part of it.",
        )
    operations = 0

    def record(*_: object) -> None:
        nonlocal operations
        operations += 1

    paint = make_painter(font, dict.fromkeys(OPERATIONS, record))
    for glyph in colored:
        paint(glyph)
        _check_operations(operations, size)
    return len(colored)


OPERATIONS: Final = (
    *("push_transform", "pop_transform", "push_clip_glyph", "push_clip_rectangle", "pop_clip"),
    *("color", "linear_gradient", "radial_gradient", "sweep_gradient", "push_group", "pop_group"),
)
_FOREGROUND: Final = hb.Color(0, 0, 0, 255)


def make_painter(font: Any, callbacks: dict[str, Callable[..., None]]) -> Callable[[int], None]:
    """Return a function that paints a glyph of a font, by a callback for each operation of HarfBuzz."""
    functions: Any = hb.PaintFuncs()
    for name, callback in callbacks.items():
        getattr(functions, f"set_{name}_func")(callback)
    return lambda glyph: font.paint_glyph(glyph, functions, None, 0, _FOREGROUND)
