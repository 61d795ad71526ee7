"""Sanitising of font files: only known and required tables are kept, and written again.

A font file is untrusted input. HarfBuzz reads it with bounds checks and writes new tables from what
it parsed; unknown tables are dropped, and with them programs (hints), bitmaps and signatures. No byte
of the file itself reaches a PDF. Colour glyphs (COLR and CPAL) are kept and walked once: HarfBuzz ends
cycles, nests at most 64 paints and follows at most 65,536 edges.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from struct import Struct, pack, pack_into, unpack_from
from typing import Any, Final, NamedTuple

import uharfbuzz as hb

from workers.engine.fonts.faces import Face

# `font-stretch` in per cent of usWidthClass 1 to 9 (CSS Fonts 4 §2.3; OpenType, OS/2).
_STRETCHES: Final = (50.0, 62.5, 75.0, 87.5, 100.0, 112.5, 125.0, 150.0, 200.0)
_ITALIC, _OBLIQUE = 1 << 0, 1 << 9  # fsSelection
_RIGHTS, _RESTRICTED = 0x000F, 0x0002  # fsType, bits 0 to 3
_NO_SUBSETTING, _BITMAPS_ALONE = 0x0100, 0x0200
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9-]")  # needs an escape in a PDF name
_MAX_NAME: Final = 63  # characters of a PostScript name (OpenType, name)
_MAX_SHOWN: Final = 100
_LEAST_OS2: Final = 68  # bytes of version 0 as Apple defines it


class FontRefusedError(Exception):
    """The font cannot be used; `text` is the reason, `advice` the remedy."""

    def __init__(self, text: str, advice: str = "Export it again from its source.") -> None:
        super().__init__(f"{text}. {advice}")
        self.text = text
        self.advice = advice


@contextmanager
def _refusing(text: str) -> Iterator[None]:
    """Refuse the font with a reason where a reader of its data fails: damaged ones raise many kinds of exception."""
    try:
        yield
    except (FontRefusedError, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise FontRefusedError(text) from error


class VariationAxis(NamedTuple):
    """An axis of a variable font: four-letter tag and values (OpenType, fvar)."""

    tag: str
    minimum: float
    default: float
    maximum: float


class DescriptorRange(NamedTuple):
    """The weights or widths that a face covers; both ends are equal in a static face."""

    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class FaceProperties:
    """One face of a font file: names, CSS weight (1 to 1000), width in per cent, slant and axes."""

    index: int
    family: str
    style: str
    postscript_name: str
    weight: DescriptorRange
    stretch: DescriptorRange
    is_italic: bool
    glyphs: int
    characters: int
    axes: tuple[VariationAxis, ...]
    color_glyphs: int = 0  # of COLR

    @property
    def is_variable(self) -> bool:
        """Whether the face has variation axes."""
        return bool(self.axes)


def read_face_properties(face: hb.Face, index: int) -> FaceProperties:
    """Return the properties of an opened face.

    Raises:
        FontRefusedError: Its table OS/2 is missing or too short.
    """
    os2: bytes = face.reference_table("OS/2").data
    if len(os2) < _LEAST_OS2:
        raise FontRefusedError(
            'The font has no table "OS/2", which states its weight and its embedding rights'
        )
    axes = tuple(
        VariationAxis(axis.tag, axis.min_value, axis.default_value, axis.max_value)
        for axis in (face.axis_infos if face.has_var_data else ())
    )
    by_tag = {axis.tag: DescriptorRange(axis.minimum, axis.maximum) for axis in axes}
    weight = float(min(max(_word(os2, 4), 1), 1000))
    stretch = _STRETCHES[min(max(_word(os2, 6), 1), 9) - 1]
    return FaceProperties(
        index=index,
        family=_name(face, 16) or _name(face, 1),
        style=_name(face, 17) or _name(face, 2),
        postscript_name=_UNSAFE.sub("", _name(face, 6))[:_MAX_NAME] or "Font",
        weight=by_tag.get("wght", DescriptorRange(weight, weight)),
        stretch=by_tag.get("wdth", DescriptorRange(stretch, stretch)),
        is_italic=bool(_word(os2, 62) & (_ITALIC | _OBLIQUE)),
        glyphs=face.glyph_count,
        characters=len(face.unicodes),
        axes=axes,
    )


def check_embedding_rights(face: hb.Face) -> None:
    """Check that a font may be embedded as a subset (OpenType, OS/2 fsType).

    Raises:
        FontRefusedError: The licence does not allow it.
    """
    os2: bytes = face.reference_table("OS/2").data
    rights = _word(os2, 8) if len(os2) >= _LEAST_OS2 else 0
    if rights & _RIGHTS == _RESTRICTED:
        what = "does not allow embedding it in documents (fsType: restricted license embedding)"
    elif rights & _NO_SUBSETTING:
        what = "allows embedding it whole only (fsType: no subsetting); PDFs embed subsets"
    elif rights & _BITMAPS_ALONE:
        what = "allows embedding its bitmaps only (fsType: bitmap embedding only)"
    else:
        return
    raise FontRefusedError(
        f"The maker of the font {what}",
        "Ask the maker for a version that is licensed for embedding, or use another font.",
    )


def _word(table: bytes, at: int) -> int:
    return int.from_bytes(table[at : at + 2], "big")


def _name(face: hb.Face, name_id: int) -> str:
    """Return a name in English, else in the first language, on one line."""
    try:
        text = face.get_name(name_id) or ""
    except (ValueError, UnicodeError):
        return ""
    line = " ".join(str(text)[:1000].split())
    shown = "".join(char for char in line if unicodedata.category(char)[0] != "C")
    return shown[:_MAX_SHOWN]


WOFF_SIGNATURE: Final = b"wOFF"
MAX_UNPACKED: Final = 64_000_000  # bytes, the limit of a font
_MAX_TABLES: Final = 100
_DIRECTORY: Final = 44  # offset (WOFF 1.0, 3)
_DAMAGED_WOFF: Final = "The WOFF file is damaged"


class _Entry(NamedTuple):
    tag: bytes
    offset: int
    packed: int  # length in the file
    length: int  # of the table


def unpack_woff(data: bytes) -> bytes:
    """Return the OpenType font in a WOFF file.

    Raises:
        FontRefusedError: Damaged, or larger than 64 MB unpacked.
    """
    with _refusing(_DAMAGED_WOFF):
        flavor = data[4:8]
        (count,) = unpack_from(">H", data, 12)
        if not 0 < count <= _MAX_TABLES:
            raise FontRefusedError(f"{_DAMAGED_WOFF}: it has {count} tables")
        entries = [_Entry(*unpack_from(">4s3I", data, _DIRECTORY + 20 * at)) for at in range(count)]
    if sum(entry.length for entry in entries) > MAX_UNPACKED:
        raise FontRefusedError(
            f"The WOFF file unpacks to more than {MAX_UNPACKED // 1_000_000} MB", "Make it smaller."
        )
    return write_font_file(flavor, {entry.tag: _unpack(data, entry) for entry in entries})


def _unpack(data: bytes, entry: _Entry) -> bytes:
    """Return a table, never longer than its entry says."""
    packed = data[entry.offset : entry.offset + entry.packed]
    if len(packed) != entry.packed:
        raise FontRefusedError(f"{_DAMAGED_WOFF}: its tables extend beyond the end of the file")
    table = packed
    if entry.packed < entry.length:
        with _refusing(f"{_DAMAGED_WOFF}: it cannot be unpacked"):
            table = zlib.decompressobj().decompress(packed, entry.length + 1)
    if len(table) != entry.length:
        raise FontRefusedError(f"{_DAMAGED_WOFF}: a table is not as long as its entry says")
    return table


def write_font_file(flavor: bytes, tables: Mapping[bytes, bytes]) -> bytes:
    """Write tables as a file (OpenType, font file structure)."""
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    search = pack(">4H", count, 16 * power, power.bit_length() - 1, 16 * (count - power))
    directory, content = [flavor, search], []
    offset = 12 + 16 * count
    for tag, table in sorted(tables.items()):
        padded = table + bytes(-len(table) % 4)
        words = array("I", padded)
        words.byteswap()  # from big-endian
        directory.append(pack(">4s3I", tag, sum(words) & 0xFFFFFFFF, offset, len(table)))
        content.append(padded)
        offset += len(padded)
    return b"".join((*directory, *content))


WOFF2_SIGNATURE: Final = b"wOF2"
MAX_WOFF2_UNPACKED: Final = 32_000_000  # bytes: outlines are rebuilt glyph by glyph in Python
_FREE_UNPACKED: Final = 1_000_000
_UNPACKED_PER_BYTE: Final = 40  # fonts are packed to a half or a fifth
_HEADER_BYTES: Final = 48
_FLAVOR, _LENGTH, _TABLES, _PACKED, _METADATA = 4, 8, 12, 20, 28  # offsets (WOFF2, 4.1)


def unpack_woff2(data: bytes) -> bytes:
    """Return the OpenType font in a WOFF2 file.

    Raises:
        FontRefusedError: Damaged, a collection, or larger than 32 MB unpacked.
    """
    if data[_FLAVOR : _FLAVOR + 4] == b"ttcf":
        raise FontRefusedError(
            "The WOFF2 file is a collection", "Send its fonts one by one, or the collection as TTC."
        )
    with _refusing("The WOFF2 file is damaged: it cannot be unpacked"):
        return _unpack_by_tables(_remove_metadata(data))


def _remove_metadata(data: bytes) -> bytes:
    """Return the file without its metadata, once its unpacked size is known to be within the limit.

    The library unpacks font and metadata whole, however large they are.
    """
    import brotli  # imported here: most processes never need it
    from fontTools.ttLib.woff2 import WOFF2DirectoryEntry

    file = BytesIO(data)
    file.seek(_HEADER_BYTES)
    length = 0
    (count,) = unpack_from(">H", data, _TABLES)
    for _ in range(count):
        entry: Any = WOFF2DirectoryEntry()
        entry.fromFile(file)
        length += entry.length
    start = file.tell()
    end = start + unpack_from(">I", data, _PACKED)[0]
    limit = min(_FREE_UNPACKED + _UNPACKED_PER_BYTE * len(data), MAX_WOFF2_UNPACKED)
    if length > limit:
        raise FontRefusedError(
            f"The WOFF2 file unpacks to more than {limit:,} bytes, the most for its size",
            "Make it smaller.",
        )
    unpacked = brotli.Decompressor().process(data[start:end], output_buffer_limit=length + 1)
    if len(unpacked) != length:
        raise ValueError("the tables do not fill the unpacked data")
    font_only = bytearray(data[:end])
    font_only[_METADATA:_HEADER_BYTES] = bytes(_HEADER_BYTES - _METADATA)
    pack_into(">I", font_only, _LENGTH, end)
    return bytes(font_only)


def _unpack_by_tables(font_only: bytes) -> bytes:
    from fontTools.ttLib.woff2 import decompress

    unpacked = BytesIO()
    decompress(BytesIO(font_only), unpacked)
    return unpacked.getvalue()


MAX_FONT_OPERATIONS: Final = 2_000_000  # of all glyphs of a font, some 2 s
_FEW_OPERATIONS: Final = 100_000  # whatever the size of the file
_OPERATIONS_PER_BYTE: Final = 40  # that emoji font has 4 for each byte as WOFF2
# Version, number and offset of the base glyphs (OpenType, COLR).
_COLR_HEADER: Final = Struct(">HHI")
_BASE_GLYPH: Final = Struct(">HHH")  # glyph, first layer, number of layers
MAX_COLOR_GLYPHS: Final = 10_000  # of a font: the edges of one may take a millisecond
_MAX_CACHED_GLYPHS: Final = 10_000  # of a face, whether they are coloured


def has_color_tables(hb_face: hb.Face) -> bool:
    """Return whether a font has colour glyphs."""
    return bool(hb_face.has_color_paint or hb_face.has_color_layers)


def is_color_glyph(face: Face, glyph: int) -> bool:
    """Return whether a glyph is painted in colours."""
    return face.with_cache(_is_color_glyph, max_entries=_MAX_CACHED_GLYPHS)(glyph)


def _is_color_glyph(face: Face, glyph: int) -> bool:
    return _has_colors(face.hb_face, glyph)


def _has_colors(hb_face: hb.Face, glyph: int) -> bool:
    return bool(hb_face.glyph_has_color_paint(glyph) or hb_face.get_glyph_color_layers(glyph))


def check_layers(hb_face: hb.Face, size: int) -> None:
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


def count_color_glyphs(hb_face: hb.Face, size: int) -> int:
    """Return the number of colour glyphs of a font, once their paint graphs are known to be bounded.

    `size` is the number of bytes of the file, as sent, which bounds what they may paint.

    Raises:
        FontRefusedError: There are too many, or together they paint too much.
    """
    if not has_color_tables(hb_face):
        return 0
    font = hb.Font(hb_face)
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


def make_painter(font: hb.Font, callbacks: dict[str, Callable[..., None]]) -> Callable[[int], None]:
    """Return a function that paints a glyph of a font, by a callback for each operation of HarfBuzz."""
    functions = hb.PaintFuncs()
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


def convert_outlines(program: bytes) -> bytes:
    """Return a font with CFF outlines as one with TrueType outlines; all else is unchanged.

    `program` was written by HarfBuzz, so its tables are valid.

    Raises:
        FontRefusedError: The outlines have more points than the size of the font explains.
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

    face = hb.Face(hb.Blob(program))
    font = hb.Font(face)
    glyphs, points = {}, 0
    for glyph in range(face.glyph_count):
        pen: Any = TTGlyphPen(None)
        font.draw_glyph_with_pen(
            glyph, Cu2QuPen(pen, face.upem * _TOLERANCE, reverse_direction=True)
        )
        made = glyphs[f"glyph{glyph:05}"] = pen.glyph()
        points += len(getattr(made, "coordinates", ()))
        if points > _FEW_POINTS + _POINTS_PER_BYTE * len(program):
            raise FontRefusedError(
                "The outlines of the font have too many points for its size", "Use a part of it."
            )
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


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FontProgram:
    """A sanitised face of a font file with TrueType outlines; alive as long as a font set uses it."""

    data: bytes
    properties: FaceProperties


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


def sanitize_font(data: bytes) -> tuple[FontProgram, ...]:
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
    sanitized: list[FontProgram] = []
    for index, start in enumerate(offsets):
        tags = _read_directory(data, start)
        sanitized.append(_sanitize(data, index, tags, size))
        if sum(len(face.data) for face in sanitized) > MAX_SANITIZED:
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
    face = hb.Face(hb.Blob(program))
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
    with _refusing(_DAMAGED):
        (count,) = unpack_from(">I", data, 8)
        if count > MAX_FACES:
            raise FontRefusedError(
                f"The collection has {count} fonts; at most {MAX_FACES} are accepted",
                "Send them one by one.",
            )
        offsets = list(unpack_from(f">{count}I", data, 12))
    if not offsets:
        raise FontRefusedError("The collection is empty")
    return offsets


def _read_directory(data: bytes, start: int) -> frozenset[bytes]:
    """Return the table tags of a face, once their number and bounds are checked."""
    with _refusing(_DAMAGED):
        (count,) = unpack_from(">H", data, start + 4)
        if count > MAX_TABLES:
            raise FontRefusedError(
                f"The font has {count} tables; at most {MAX_TABLES} are accepted"
            )
        entries = [unpack_from(">4s3I", data, start + 12 + 16 * at) for at in range(count)]
    if any(offset + length > len(data) for _, _, offset, length in entries):
        raise FontRefusedError(f"{_DAMAGED}: its tables extend beyond the end of the file")
    return frozenset(tag for tag, *_ in entries)


def _sanitize(data: bytes, index: int, tags: frozenset[bytes], size: int) -> FontProgram:
    _check_tables(tags)
    face = hb.Face(hb.Blob(data), index)
    check_embedding_rights(face)
    _check_glyphs(face, tags)
    check_layers(face, size)
    program = _rewrite(face, tags)
    if b"CFF " in tags or (b"CFF2" in tags and not face.axis_infos):
        program = _convert(program)
    sanitized = hb.Face(hb.Blob(program))
    _check_sanitized(sanitized, tags)
    with _refusing(_DAMAGED):  # the tag of an axis, a script or a feature may be no text
        properties = read_face_properties(sanitized, index)
        _check_feature_tags(sanitized)
    if properties.is_variable:
        instantiate(program, {})
    color_glyphs = count_color_glyphs(sanitized, size)
    return FontProgram(program, replace(properties, color_glyphs=color_glyphs))


def _convert(program: bytes) -> bytes:
    """Return a static font with the outlines of TrueType, written by HarfBuzz."""
    with _refusing(f"{_DAMAGED}: its outlines cannot be read"):
        converted = convert_outlines(program)
    return _rewrite(hb.Face(hb.Blob(converted)), _read_directory(converted, 0))


def _check_tables(tags: frozenset[bytes]) -> None:
    missing = [tag for tag in _REQUIRED_TABLES if tag not in tags]
    if missing:
        raise FontRefusedError(f'{_DAMAGED}: it has no table "{missing[0].decode()}"')
    if not ({b"glyf", b"loca"} <= tags or b"CFF " in tags or b"CFF2" in tags):
        raise FontRefusedError("The font has no outlines", _OUTLINES_NEEDED)


def _check_glyphs(face: hb.Face, tags: frozenset[bytes]) -> None:
    for tag, limit in ((b"CFF ", MAX_CFF_GLYPHS), (b"CFF2", MAX_CFF2_GLYPHS)):
        if tag in tags and face.glyph_count > limit:
            raise FontRefusedError(
                f"The font has {face.glyph_count:,} glyphs with {tag.decode().strip()} outlines; at "
                f"most {limit:,} are accepted",
                "Use its TrueType version, or a part of it.",
            )


def _rewrite(face: object, tags: frozenset[bytes]) -> bytes:
    subset_input = _make_subset_input()
    subset_input.drop_table_tag_set.update(
        int.from_bytes(tag, "big") for tag in tags - _KEPT_TABLES
    )
    return _write(subset_input, face)


def _write(subset_input: hb.SubsetInput, face: object) -> bytes:
    with _refusing(_DAMAGED):  # HarfBuzz cannot parse a table
        program: bytes = subset_input.subset(face).blob.data
    return program


def _make_subset_input() -> hb.SubsetInput:
    subset_input = hb.SubsetInput()
    subset_input.keep_everything()
    subset_input.flags = _FLAGS
    return subset_input


def _check_sanitized(face: hb.Face, tags: frozenset[bytes]) -> None:
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


def _check_feature_tags(face: hb.Face) -> None:
    """Read the tags of all features; one that is not ASCII raises a UnicodeError."""
    for table in ("GSUB", "GPOS"):
        for script in range(len(face.get_table_script_tags(table))):
            face.get_language_feature_tags(table, script)


def _has_outlines(face: hb.Face) -> bool:
    font = hb.Font(face)
    glyphs = map(font.get_nominal_glyph, face.unicodes)
    extents = (font.get_glyph_extents(glyph) for glyph in glyphs if glyph is not None)
    return any(box is not None and (box.width or box.height) for box in extents)
