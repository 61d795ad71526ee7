"""Sanitising of font files: only known and required tables are kept, and written again.

A font file is untrusted input. HarfBuzz reads it with bounds checks and writes new tables from what
it parsed; unknown tables are dropped, and with them programs (hints), bitmaps and signatures. No byte
of the file itself reaches a PDF. Colour glyphs (COLR and CPAL) are kept and walked once: HarfBuzz ends
cycles, nests at most 64 paints and follows at most 65,536 edges.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from struct import Struct, unpack_from
from typing import Any, Final

import uharfbuzz as hb

from workers.engine.fonts.faces import Face
from workers.engine.fonts.properties import (
    FaceProperties,
    FontRefusedError,
    check_embedding_rights,
    read_face_properties,
)
from workers.engine.fonts.woff import WOFF2_SIGNATURE, WOFF_SIGNATURE, unpack_woff, unpack_woff2

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


MAX_FACES: Final = 32  # per collection
MAX_TABLES: Final = 100  # per face
MAX_CFF_GLYPHS: Final = 12_000  # converting their outlines takes some 3 s
MAX_CFF2_GLYPHS: Final = 4_000  # converted for each instance, in some 1 s
MAX_SANITIZED: Final = 64_000_000  # bytes, all faces together

_COLLECTION: Final = b"ttcf"
_FORMATS: Final = {
    b"\0\1\0\0": "truetype",
    b"true": "truetype",
    b"OTTO": "opentype",
    _COLLECTION: "collection",
    WOFF_SIGNATURE: "woff",
    WOFF2_SIGNATURE: "woff2",
}
_KEPT_TABLES: Final = frozenset(
    {
        b"head",
        b"hhea",
        b"hmtx",
        b"maxp",
        b"OS/2",
        b"cmap",
        b"glyf",
        b"loca",
        b"CFF ",
        b"CFF2",
        b"name",
    }
    | {b"post", b"GSUB", b"GPOS", b"GDEF", b"kern", b"fvar", b"avar", b"gvar", b"HVAR", b"MVAR"}
    | {b"COLR", b"CPAL"}
)
_PICTURE_TABLES: Final = (b"SVG ", b"CBDT", b"sbix", b"EBDT")
_OUTLINES_NEEDED: Final = "Use a font with outlines, not one of bitmaps or pictures; colours are taken from the table COLR."
_REQUIRED_TABLES: Final = (b"head", b"hhea", b"hmtx", b"maxp", b"cmap")
_FLAGS: Final = hb.SubsetFlags.NO_HINTING | hb.SubsetFlags.NOTDEF_OUTLINE
_UNITS_PER_EM: Final = range(16, 16_385)  # OpenType, head
_DAMAGED: Final = "The font file is damaged"


@dataclass(frozen=True, slots=True)
class SanitizedFace:
    """A usable face: a font program with TrueType outlines, and its properties."""

    properties: FaceProperties
    program: bytes


@dataclass(frozen=True, slots=True)
class FontProperties:
    """A usable font file: its format, and the properties of each face by index."""

    format: str  # truetype, opentype, collection, woff, woff2
    faces: tuple[FaceProperties, ...]


def inspect_font(data: bytes) -> FontProperties:
    """Return the properties of a font file, after every face of it was sanitised.

    Raises:
        FontRefusedError: Not a font, damaged, over a limit, or not licensed for embedding.
    """
    format_ = find_format(data)
    return FontProperties(format_, tuple(face.properties for face in sanitize_font(data)))


def find_format(data: bytes) -> str:
    """Return the format of a font file: truetype, opentype, collection, woff or woff2.

    Raises:
        FontRefusedError: Not an accepted format.
    """
    format_ = _FORMATS.get(data[:4])
    if format_ is None:
        raise FontRefusedError(
            "The file is not TrueType, OpenType, a TrueType collection, WOFF or WOFF2",
            "Convert it to one of these.",
        )
    return format_


def sanitize_font(data: bytes) -> tuple[SanitizedFace, ...]:
    """Return every face of a font file, sanitised; deterministic.

    Raises:
        FontRefusedError: Not a font, damaged, over a limit, or not licensed for embedding.
    """
    size = len(data)
    match find_format(data):
        case "woff":
            data = unpack_woff(data)
        case "woff2":
            data = unpack_woff2(data)
    offsets = _find_face_offsets(data)
    sanitized: list[SanitizedFace] = []
    for index, start in enumerate(offsets):
        tags = _read_directory(data, start)
        sanitized.append(_sanitize(data, index, tags, size))
        if sum(len(face.program) for face in sanitized) > MAX_SANITIZED:
            raise FontRefusedError(
                f"The font is larger than {MAX_SANITIZED // 1_000_000} MB", "Leave out some of it."
            )
    return tuple(sanitized)


def instantiate(program: bytes, settings: dict[str, float]) -> bytes:
    """Return the static instance of a sanitised variable font; other axes keep their default.

    A value outside its axis is clamped.

    Raises:
        FontRefusedError: Its tables cannot be instantiated.
    """
    face: Any = hb.Face(hb.Blob(program))
    subset_input = _make_subset_input()
    subset_input.pin_all_axes_to_default(face)
    for axis in face.axis_infos:
        if axis.tag in settings:
            value = min(max(settings[axis.tag], axis.min_value), axis.max_value)
            subset_input.pin_axis_location(face, axis.tag, value)
    instance = _write(subset_input, face)
    return _convert(instance) if "CFF2" in face.table_tags else instance


def _find_face_offsets(data: bytes) -> list[int]:
    """Return the offset of each face's table directory."""
    if data[:4] != _COLLECTION:
        return [0]
    try:
        (count,) = unpack_from(">I", data, 8)
        if count > MAX_FACES:
            raise FontRefusedError(
                f"The collection has {count} fonts; at most {MAX_FACES} are accepted",
                "Send them one by one.",
            )
        offsets = list(unpack_from(f">{count}I", data, 12))
    except struct.error as error:
        raise FontRefusedError(_DAMAGED) from error
    if not offsets:
        raise FontRefusedError("The collection is empty")
    return offsets


def _read_directory(data: bytes, start: int) -> frozenset[bytes]:
    """Return the table tags of a face, once their number and bounds are checked."""
    try:
        (count,) = unpack_from(">H", data, start + 4)
        if count > MAX_TABLES:
            raise FontRefusedError(
                f"The font has {count} tables; at most {MAX_TABLES} are accepted"
            )
        entries = [unpack_from(">4s3I", data, start + 12 + 16 * at) for at in range(count)]
    except struct.error as error:
        raise FontRefusedError(_DAMAGED) from error
    if any(offset + length > len(data) for _, _, offset, length in entries):
        raise FontRefusedError(f"{_DAMAGED}: its tables extend beyond the end of the file")
    return frozenset(tag for tag, *_ in entries)


def _sanitize(data: bytes, index: int, tags: frozenset[bytes], size: int) -> SanitizedFace:
    _check_tables(tags)
    face: Any = hb.Face(hb.Blob(data), index)
    check_embedding_rights(face)
    _check_glyphs(face, tags)
    check_layers(face, size)
    program = _rewrite(face, tags)
    if b"CFF " in tags or (b"CFF2" in tags and not face.axis_infos):
        program = _convert(program)
    sanitized: Any = hb.Face(hb.Blob(program))
    _check_sanitized(sanitized, tags)
    try:
        properties = read_face_properties(sanitized, index)
        _check_feature_tags(sanitized)
    except UnicodeError as error:  # in the tag of an axis, a script or a feature
        raise FontRefusedError(_DAMAGED) from error
    if properties.is_variable:
        instantiate(program, {})
    color_glyphs = count_color_glyphs(sanitized, size)
    return SanitizedFace(replace(properties, color_glyphs=color_glyphs), program)


def _convert(program: bytes) -> bytes:
    """Return a static font with the outlines of TrueType, written by HarfBuzz."""
    try:
        converted = convert_outlines(program)
    except (MemoryError, RecursionError):
        raise
    except TooManyPointsError:
        raise FontRefusedError(
            "The outlines of the font have too many points for its size", "Use a part of it."
        ) from None
    except Exception as error:
        # Invalid curves raise many kinds of exception.
        raise FontRefusedError(f"{_DAMAGED}: its outlines cannot be read") from error
    return _rewrite(hb.Face(hb.Blob(converted)), _read_directory(converted, 0))


def _check_tables(tags: frozenset[bytes]) -> None:
    missing = [tag for tag in _REQUIRED_TABLES if tag not in tags]
    if missing:
        raise FontRefusedError(f'{_DAMAGED}: it has no table "{missing[0].decode()}"')
    if not ({b"glyf", b"loca"} <= tags or b"CFF " in tags or b"CFF2" in tags):
        raise FontRefusedError("The font has no outlines", _OUTLINES_NEEDED)


def _check_glyphs(face: Any, tags: frozenset[bytes]) -> None:
    for tag, limit in ((b"CFF ", MAX_CFF_GLYPHS), (b"CFF2", MAX_CFF2_GLYPHS)):
        if tag in tags and face.glyph_count > limit:
            raise FontRefusedError(
                f"The font has {face.glyph_count:,} glyphs with {tag.decode().strip()} outlines; at "
                f"most {limit:,} are accepted",
                "Use its TrueType version, or a part of it.",
            )


def _rewrite(face: Any, tags: frozenset[bytes]) -> bytes:
    subset_input = _make_subset_input()
    subset_input.drop_table_tag_set.update(
        int.from_bytes(tag, "big") for tag in tags - _KEPT_TABLES
    )
    return _write(subset_input, face)


def _write(subset_input: Any, face: Any) -> bytes:
    try:
        program: bytes = subset_input.subset(face).blob.data
    except RuntimeError as error:  # from HarfBuzz: a table cannot be parsed
        raise FontRefusedError(_DAMAGED) from error
    return program


def _make_subset_input() -> Any:
    subset_input: Any = hb.SubsetInput()
    subset_input.keep_everything()
    subset_input.flags = _FLAGS
    return subset_input


def _check_sanitized(face: Any, tags: frozenset[bytes]) -> None:
    """Raise if too little of a face could be parsed to set text in it."""
    if face.upem not in _UNITS_PER_EM:
        raise FontRefusedError(f"{_DAMAGED}: its em has {face.upem} units")
    tables = frozenset(face.table_tags)
    has_outlines = {"glyf", "loca"} <= tables or "CFF2" in tables
    if not has_outlines or not {"head", "hhea", "hmtx", "maxp"} <= tables:
        raise FontRefusedError(_DAMAGED)
    if not face.glyph_count or not face.unicodes:
        raise FontRefusedError("The font has no characters")
    if not has_color_tables(face) and not _has_outlines(face):  # outlines of layers count too
        pictures = [tag.decode().strip() for tag in _PICTURE_TABLES if tag in tags]
        if pictures:
            raise FontRefusedError(
                f"The glyphs of the font are pictures (table {pictures[0]}), without outlines",
                _OUTLINES_NEEDED,
            )
        raise FontRefusedError(f"{_DAMAGED}: none of its characters has an outline")


def _check_feature_tags(face: Any) -> None:
    """Read the tags of all features; one that is not ASCII raises a UnicodeError."""
    for table in ("GSUB", "GPOS"):
        for script in range(len(face.get_table_script_tags(table))):
            face.get_language_feature_tags(table, script)


def _has_outlines(face: Any) -> bool:
    font: Any = hb.Font(face)
    glyphs = map(font.get_nominal_glyph, face.unicodes)
    extents = (font.get_glyph_extents(glyph) for glyph in glyphs if glyph is not None)
    return any(box is not None and (box.width or box.height) for box in extents)
