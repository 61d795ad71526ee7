"""Fonts of accessible files: checkpoints 10 and 31 of the Matterhorn Protocol (ISO 14289-1, 7.21).

The engine writes composite TrueType fonts, with Identity-H or its own CMap, and simple TrueType fonts for what is typed
into fields. Other kinds of fonts are checked as far as their conditions go, and refused by their kind.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pikepdf
import uharfbuzz as hb
from fontTools.agl import AGL2UV
from fontTools.cffLib import CFFFontSet
from fontTools.ttLib import TTFont

from tests.engine.finish.cmaps import Encoding, read_encoding
from tests.engine.finish.matterhorn import name

_SYMBOLIC = 4
_IDENTITY = ("/Identity-H", "/Identity-V")
# A code range of a CMap is expanded to find single values.
_MOST_CODES = 65_536


@dataclass
class UsedFont:
    """A font, and the strings that text shows in it; those of text that is not painted apart."""

    font: Any
    shown: set[bytes] = field(default_factory=set)
    hidden: set[bytes] = field(default_factory=set)
    in_formulas: set[bytes] = field(default_factory=set)


def check_font(used: UsedFont, *, promises: bool) -> Iterator[str]:
    """Yield the conditions that a font fails with the text that is shown in it.

    The engine warns of characters without a glyph; in a file that `promises` to conform they are errors.
    """
    font = used.font
    kind = str(font.get("/Subtype"))
    inner = font.DescendantFonts[0] if kind == "/Type0" else font
    yield from _check_unicode(used, promises=promises)
    if kind == "/Type3":
        yield "7.21 a Type 3 font: its glyphs are not looked at"
        return
    program = _find_program(inner)
    if program is None:
        yield name("31-009", font.get("/BaseFont"))
    if kind == "/Type0":
        yield from _check_composite(used, inner, program, promises=promises)
    elif kind == "/TrueType":
        yield from _check_true_type(used, program)
    else:
        yield f"7.21 a font of the kind {kind}: its widths are not looked up"
        yield from _check_charset(inner, program)


def _find_program(font: Any) -> Any | None:
    descriptor = font.get("/FontDescriptor", {})
    return next((descriptor[key] for key in _PROGRAMS if key in descriptor), None)


_PROGRAMS = ("/FontFile", "/FontFile2", "/FontFile3")


def _codes(strings: set[bytes], encoding: Encoding) -> set[bytes]:
    return {code for string in strings for code in encoding.split(string)}


# --- Unicode ----------------------------------------------------------------------------------


def _check_unicode(used: UsedFont, *, promises: bool) -> Iterator[str]:
    font = used.font
    if "/ToUnicode" not in font:
        if "/DescendantFonts" in font or not _has_named_characters(font):
            yield name("31-027", font.get("/BaseFont"))
        return
    values = read_unicode(font.ToUnicode.read_bytes())
    encoding = read_encoding(font)
    boxes = set() if promises else {b"\0\0"}  # drawn for what no font has
    for code in _codes(used.shown | used.hidden, encoding) - boxes:
        if int.from_bytes(code) not in values:
            yield name("10-001", f"{code.hex().upper()} in {font.get('/BaseFont')}")
    if any(int.from_bytes(code) not in values for code in _codes(used.in_formulas, encoding)):
        yield name("17-003", font.get("/BaseFont"))
    said = {ord(char) for text in values.values() for char in text}
    if 0 in said:
        yield name("31-028", font.get("/BaseFont"))
    if said & {0xFEFF, 0xFFFE}:
        yield name("31-029", font.get("/BaseFont"))


def _has_named_characters(font: Any) -> bool:
    """Return whether a font without ToUnicode names its characters (PDF 1.7, 9.10.2)."""
    encoding = font.get("/Encoding")
    base = encoding.get("/BaseEncoding") if isinstance(encoding, pikepdf.Dictionary) else encoding
    return base in ("/WinAnsiEncoding", "/MacRomanEncoding", "/MacExpertEncoding")


def read_unicode(cmap: bytes) -> dict[int, str]:
    """Return the texts of a ToUnicode CMap by code."""
    found: dict[int, str] = {}
    for section in re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.DOTALL):
        values = re.findall(rb"<([0-9A-Fa-f\s]*)>", section)
        found.update(
            (int(code, 16), _text(to)) for code, to in zip(*[iter(values)] * 2, strict=True)
        )
    for section in re.findall(rb"beginbfrange(.*?)endbfrange", cmap, re.DOTALL):
        for first, last, to, each in _RANGE.findall(section):
            found.update(_read_range(int(first, 16), int(last, 16), to, each))
    return found


_RANGE = re.compile(
    rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(?:<([0-9A-Fa-f\s]*)>|\[([^\]]*)\])", re.DOTALL
)


def _read_range(first: int, last: int, to: bytes, each: bytes) -> Iterator[tuple[int, str]]:
    if each:
        texts = map(_text, re.findall(rb"<([0-9A-Fa-f\s]*)>", each))
        yield from zip(range(first, last + 1), texts, strict=False)
        return
    text = _text(to)
    for code in range(first, min(last + 1, first + _MOST_CODES)):
        yield code, text[:-1] + chr(ord(text[-1]) + code - first)


def _text(digits: bytes) -> str:
    raw = bytes.fromhex(digits.decode())
    return raw.decode("utf-16-be", "surrogatepass") if len(raw) > 1 else chr(raw[0])


# --- composite fonts --------------------------------------------------------------------------


def _check_composite(
    used: UsedFont, inner: Any, program: Any | None, *, promises: bool
) -> Iterator[str]:
    encoding = used.font.get("/Encoding")
    if isinstance(encoding, pikepdf.Stream):
        yield from _check_cmap(encoding, inner)
    elif encoding not in _IDENTITY:
        yield name("31-006", encoding)
    if inner.get("/Subtype") != "/CIDFontType2":
        yield f"7.21 a font of the kind {inner.get('/Subtype')}: its widths are not looked up"
        return
    if "/CIDToGIDMap" not in inner:
        yield name("31-005", inner.get("/BaseFont"))
        return
    table = inner.CIDToGIDMap
    if not isinstance(table, pikepdf.Stream) and table != "/Identity":
        yield name("31-004", table)
        return
    if program is not None:
        face = hb.Face(program.read_bytes())
        glyph_of = _glyph_map(table)
        for found in _check_glyphs(used, inner, face, glyph_of):
            if promises or not found.startswith("31-030"):
                yield found
        yield from _check_cid_set(inner, face.glyph_count, glyph_of)


def _check_cmap(cmap: Any, inner: Any) -> Iterator[str]:
    """Check an embedded CMap against the font that it selects glyphs of."""
    own, of_font = cmap.get("/CIDSystemInfo", {}), inner.get("/CIDSystemInfo", {})
    if own.get("/Registry") != of_font.get("/Registry"):
        yield name("31-001", own.get("/Registry"))
    if own.get("/Ordering") != of_font.get("/Ordering"):
        yield name("31-002", own.get("/Ordering"))
    if int(of_font.get("/Supplement", 0)) < int(own.get("/Supplement", 0)):
        yield name("31-003", own.get("/Supplement"))
    content = cmap.read_bytes()
    mode = re.search(rb"/WMode\s+(\d)\s+def", content)
    if int(cmap.get("/WMode", 0)) != int(mode[1] if mode else 0):
        yield name("31-007", cmap.get("/WMode", 0))
    others = {f"/{other.decode()}" for other in re.findall(rb"/(\S+)\s+usecmap", content)}
    other = cmap.get("/UseCMap")
    if isinstance(other, pikepdf.Name):
        others.add(str(other))
    if others - set(_IDENTITY):
        yield name("31-008", min(others))


def _check_glyphs(
    used: UsedFont, inner: Any, face: Any, glyph_of: Callable[[int], int]
) -> Iterator[str]:
    widths, default = _widths(inner)
    font = hb.Font(face)
    encoding = read_encoding(used.font)
    rendered = _codes(used.shown, encoding)
    for code in rendered | _codes(used.hidden, encoding):
        cid = encoding.cid_of(code)
        glyph = glyph_of(cid)
        place = f"{code.hex().upper()} in {inner.get('/BaseFont')}"
        if not encoding.has(code):
            yield f"7.21.3.3 not a code of its CMap: {place}"
        elif glyph == 0:
            yield name("31-030", place)
        elif code in rendered and glyph >= face.glyph_count:
            yield name("31-011", place)
        elif code in rendered:
            actual = font.get_glyph_h_advance(glyph) * 1000 / face.upem
            if abs(widths.get(cid, default) - actual) > 1:
                yield name("31-016", place)


def _check_cid_set(inner: Any, count: int, glyph_of: Callable[[int], int]) -> Iterator[str]:
    stream = inner.FontDescriptor.get("/CIDSet")
    if stream is None:
        return
    bits = stream.read_bytes()
    listed = {8 * at + bit for at, byte in enumerate(bits) for bit in range(8) if byte & 128 >> bit}
    present = {cid for cid in range(_MOST_CODES) if (0 < glyph_of(cid) < count) or cid == 0}
    if present - listed:
        yield name("31-014", min(present - listed))
    if listed - present:
        yield name("31-015", min(listed - present))


def _glyph_map(table: Any) -> Callable[[int], int]:
    if isinstance(table, pikepdf.Name):
        return lambda code: code
    glyphs = table.read_bytes()
    return lambda code: int.from_bytes(glyphs[2 * code : 2 * code + 2])


def _widths(font: Any) -> tuple[dict[int, float], float]:
    widths: dict[int, float] = {}
    entries = iter(font.get("/W", ()))
    for first in entries:
        second = next(entries)
        if isinstance(second, pikepdf.Array):
            widths.update((int(first) + at, float(width)) for at, width in enumerate(second))
        else:
            width = float(next(entries))
            widths.update(dict.fromkeys(range(int(first), int(second) + 1), width))
    return widths, float(font.get("/DW", 1000))


# --- simple fonts -----------------------------------------------------------------------------


def _check_true_type(used: UsedFont, program: Any | None) -> Iterator[str]:
    font = used.font
    data = None if program is None else program.read_bytes()
    tables = [] if data is None else _read_cmaps(data)
    kinds = {(one.platformID, one.platEncID): one for one in tables}
    encoding = font.get("/Encoding")
    if int(font.get("/FontDescriptor", {}).get("/Flags", 0)) & _SYMBOLIC:
        if encoding is not None:
            yield name("31-024", font.get("/BaseFont"))
        if data is not None and not tables:
            yield name("31-025", font.get("/BaseFont"))
        if len(tables) > 1 and (3, 0) not in kinds:
            yield name("31-026", font.get("/BaseFont"))
        return
    yield from _check_encoding(encoding, kinds)
    cmap = kinds.get((3, 1))
    if data is not None and not kinds.keys() & {(3, 1), (1, 0)}:
        yield name("31-017", font.get("/BaseFont"))
    elif data is not None and cmap is not None:
        yield from _check_characters(used, data, cmap.cmap)


def _check_encoding(encoding: Any, kinds: dict[tuple[int, int], Any]) -> Iterator[str]:
    if encoding is None:
        yield name("31-019")
        return
    base = encoding
    if isinstance(encoding, pikepdf.Dictionary):
        base = encoding.get("/BaseEncoding")
        if base is None:
            yield name("31-020")
        names = [str(one)[1:] for one in encoding.get("/Differences", ()) if _is_name(one)]
        if any(one not in AGL2UV for one in names):
            yield name("31-022", min(one for one in names if one not in AGL2UV))
        if names and (3, 1) not in kinds:
            yield name("31-023")
    if base is not None and base not in ("/WinAnsiEncoding", "/MacRomanEncoding"):
        yield name("31-021", base)


def _is_name(value: Any) -> bool:
    return isinstance(value, pikepdf.Name)


def _check_characters(used: UsedFont, data: bytes, cmap: dict[int, str]) -> Iterator[str]:
    """Check that what is shown is in the cmap, with the width that the program has."""
    font, face = used.font, hb.Face(data)
    first = int(font.get("/FirstChar", 0))
    widths = [float(width) for width in font.get("/Widths", ())]
    codec = "mac-roman" if font.get("/Encoding") == "/MacRomanEncoding" else "cp1252"
    for code in {code for string in used.shown for code in string}:
        char = {160: " ", 173: "-"}.get(code) or bytes([code]).decode(codec, "replace")
        if ord(char) not in cmap:
            yield name("31-018", f"{code:02X} in {font.get('/BaseFont')}")
            continue
        glyph = hb.Font(face).get_nominal_glyph(ord(char))
        actual = hb.Font(face).get_glyph_h_advance(glyph) * 1000 / face.upem
        at = code - first
        if not 0 <= at < len(widths) or abs(widths[at] - actual) > 1:
            yield name("31-016", f"{code:02X} in {font.get('/BaseFont')}")


def _read_cmaps(data: bytes) -> list[Any]:
    opened = TTFont(io.BytesIO(data), lazy=True)
    return list(opened["cmap"].tables) if "cmap" in opened else []


def _check_charset(font: Any, program: Any | None) -> Iterator[str]:
    """Check the CharSet of a Type 1 font whose program is in the Compact Font Format."""
    charset = font.get("/FontDescriptor", {}).get("/CharSet")
    if charset is None or program is None or program.get("/Subtype") != "/Type1C":
        return
    fonts = CFFFontSet()
    fonts.decompile(io.BytesIO(program.read_bytes()), None)
    present = set(fonts[0].getGlyphOrder()) - {".notdef"}
    listed = set(str(charset).split("/")) - {"", ".notdef"}
    if present - listed:
        yield name("31-012", min(present - listed))
    if listed - present:
        yield name("31-013", min(listed - present))
