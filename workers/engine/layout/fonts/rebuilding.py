"""Rebuilding: of a font file only what is understood and needed is kept, written anew.

A font file is untrusted input. HarfBuzz reads it with bounds on every access and writes new tables
from what it read; tables that it does not know are dropped, and with them programs (hints), bitmaps,
colours and signatures. Nothing of the file itself reaches a PDF.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from struct import unpack_from
from typing import Any, Final

import uharfbuzz as hb

from workers.engine.layout.fonts import woff2
from workers.engine.layout.fonts.facts import (
    FaceFacts,
    FontRefusedError,
    check_rights,
    read_face_facts,
)
from workers.engine.layout.fonts.truetype import convert_outlines

MAX_FACES: Final = 32  # of a collection
MAX_TABLES: Final = 100  # of a face
MAX_CFF_GLYPHS: Final = 12_000  # whose outlines are converted; some 3 s
MAX_REBUILT: Final = 64_000_000  # bytes of all faces

_COLLECTION: Final = b"ttcf"
_FORMATS: Final = {
    b"\0\1\0\0": "truetype",
    b"true": "truetype",
    b"OTTO": "opentype",
    _COLLECTION: "collection",
    woff2.SIGNATURE: "woff2",
}
_KEPT: Final = frozenset(
    {b"head", b"hhea", b"hmtx", b"maxp", b"OS/2", b"cmap", b"glyf", b"loca", b"CFF ", b"name"}
    | {b"post", b"GSUB", b"GPOS", b"GDEF", b"kern", b"fvar", b"avar", b"gvar", b"HVAR", b"MVAR"}
)
_NEEDED: Final = (b"head", b"hhea", b"hmtx", b"maxp", b"cmap")
_FLAGS: Final = hb.SubsetFlags.NO_HINTING | hb.SubsetFlags.NOTDEF_OUTLINE
_UNITS: Final = range(16, 16_385)  # of an em (OpenType, head)
_DAMAGED: Final = "The font file is damaged"


@dataclass(frozen=True, slots=True)
class RebuiltFace:
    """A face as it is used: a font with outlines of TrueType and its properties."""

    facts: FaceFacts
    program: bytes


@dataclass(frozen=True, slots=True)
class FontFacts:
    """A font file that renders can use: its format, and the properties of each face by its index."""

    format: str  # truetype, opentype, collection, woff2
    faces: tuple[FaceFacts, ...]


def inspect_font(data: bytes) -> FontFacts:
    """Return the properties of a font file, once every face of it was rebuilt.

    Raises:
        FontRefusedError: no font, damaged, over a limit, or not licensed for embedding.
    """
    format_ = find_format(data)
    return FontFacts(format_, tuple(face.facts for face in rebuild_font(data)))


def find_format(data: bytes) -> str:
    """Return the name of a font file's format.

    Raises:
        FontRefusedError: none that is accepted.
    """
    format_ = _FORMATS.get(data[:4])
    if format_ is None:
        raise FontRefusedError(
            "The file is none of TrueType, OpenType, TrueType collection and WOFF2",
            "Convert it to one of these.",
        )
    return format_


def rebuild_font(data: bytes) -> tuple[RebuiltFace, ...]:
    """Rebuild every face of a font file. Equal bytes give equal bytes.

    Raises:
        FontRefusedError: no font, damaged, over a limit, or not licensed for embedding.
    """
    if find_format(data) == "woff2":
        data = woff2.unpack_woff2(data)
    starts = _find_faces(data)
    rebuilt: list[RebuiltFace] = []
    for index, start in enumerate(starts):
        tags = _read_directory(data, start)
        rebuilt.append(_rebuild(data, index, tags))
        if sum(len(face.program) for face in rebuilt) > MAX_REBUILT:
            raise FontRefusedError(
                f"The font is larger than {MAX_REBUILT // 1_000_000} MB", "Leave out some of it."
            )
    return tuple(rebuilt)


def instantiate(program: bytes, settings: dict[str, float]) -> bytes:
    """Return the instance of a rebuilt variable font at values of its axes, others at their default.

    A value beyond the ends of its axis is that of the end.

    Raises:
        FontRefusedError: its tables do not allow it.
    """
    face: Any = hb.Face(hb.Blob(program))
    wanted = _keep_all()
    wanted.pin_all_axes_to_default(face)
    for axis in face.axis_infos:
        if axis.tag in settings:
            value = min(max(settings[axis.tag], axis.min_value), axis.max_value)
            wanted.pin_axis_location(face, axis.tag, value)
    return _write(wanted, face)


def _find_faces(data: bytes) -> list[int]:
    """Return where the directory of each face begins."""
    if data[:4] != _COLLECTION:
        return [0]
    try:
        (count,) = unpack_from(">I", data, 8)
        if count > MAX_FACES:
            raise FontRefusedError(
                f"The collection has {count} fonts; at most {MAX_FACES} are accepted",
                "Send them one by one.",
            )
        starts = list(unpack_from(f">{count}I", data, 12))
    except struct.error as error:
        raise FontRefusedError(_DAMAGED) from error
    if not starts:
        raise FontRefusedError("The collection is empty")
    return starts


def _read_directory(data: bytes, start: int) -> frozenset[bytes]:
    """Return the tags of the tables of a face, which lie in the file and are not too many."""
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
        raise FontRefusedError(f"{_DAMAGED}: its tables go on beyond its end")
    return frozenset(tag for tag, *_ in entries)


def _rebuild(data: bytes, index: int, tags: frozenset[bytes]) -> RebuiltFace:
    _check_tables(tags)
    face: Any = hb.Face(hb.Blob(data), index)
    check_rights(face)
    _check_glyphs(face, tags)
    program = _rewrite(face, tags)
    if b"CFF " in tags:
        converted = _convert(program)
        program = _rewrite(hb.Face(hb.Blob(converted)), _read_directory(converted, 0))
    rebuilt: Any = hb.Face(hb.Blob(program))
    _check_rebuilt(rebuilt)
    try:
        facts = read_face_facts(rebuilt, index)
    except UnicodeError as error:  # a tag of an axis
        raise FontRefusedError(_DAMAGED) from error
    if facts.is_variable:
        instantiate(program, {})
    return RebuiltFace(facts, program)


def _convert(program: bytes) -> bytes:
    try:
        return convert_outlines(program)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        # Curves out of bounds end in whichever exception comes first.
        raise FontRefusedError(f"{_DAMAGED}: its outlines cannot be read") from error


def _check_tables(tags: frozenset[bytes]) -> None:
    missing = [tag for tag in _NEEDED if tag not in tags]
    if missing:
        raise FontRefusedError(f'{_DAMAGED}: it has no table "{missing[0].decode()}"')
    if b"CFF2" in tags:
        raise FontRefusedError(
            "The font has outlines of CFF2, which are not supported",
            "Use the TrueType version of the variable font, or its static fonts.",
        )
    if not ({b"glyf", b"loca"} <= tags or b"CFF " in tags):
        raise FontRefusedError(
            "The font has no outlines", "Use a font with outlines, not one of bitmaps or pictures."
        )


def _check_glyphs(face: Any, tags: frozenset[bytes]) -> None:
    if b"CFF " in tags and face.glyph_count > MAX_CFF_GLYPHS:
        raise FontRefusedError(
            f"The font has {face.glyph_count:,} glyphs with outlines of CFF; at most "
            f"{MAX_CFF_GLYPHS:,} are accepted",
            "Use its TrueType version, or a part of it.",
        )


def _rewrite(face: Any, tags: frozenset[bytes]) -> bytes:
    wanted = _keep_all()
    wanted.drop_table_tag_set.update(int.from_bytes(tag, "big") for tag in tags - _KEPT)
    return _write(wanted, face)


def _write(wanted: Any, face: Any) -> bytes:
    try:
        program: bytes = wanted.subset(face).blob.data
    except RuntimeError as error:  # of HarfBuzz: a table cannot be read
        raise FontRefusedError(_DAMAGED) from error
    return program


def _keep_all() -> Any:
    wanted: Any = hb.SubsetInput()
    wanted.keep_everything()
    wanted.flags = _FLAGS
    return wanted


def _check_rebuilt(face: Any) -> None:
    """Refuse a face of which too little could be read to set text in it."""
    if face.upem not in _UNITS:
        raise FontRefusedError(f"{_DAMAGED}: its em has {face.upem} units")
    if not {"glyf", "loca", "head", "hhea", "hmtx", "maxp"} <= frozenset(face.table_tags):
        raise FontRefusedError(_DAMAGED)
    if not face.glyph_count or not face.unicodes:
        raise FontRefusedError("The font has no characters")
    if not _has_outlines(face):
        raise FontRefusedError(f"{_DAMAGED}: none of its characters has an outline")


def _has_outlines(face: Any) -> bool:
    font: Any = hb.Font(face)
    glyphs = map(font.get_nominal_glyph, face.unicodes)
    extents = (font.get_glyph_extents(glyph) for glyph in glyphs if glyph is not None)
    return any(box is not None and (box.width or box.height) for box in extents)
