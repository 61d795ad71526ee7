"""Composite glyphs, made of several glyphs of a TrueType font (OpenType, glyf)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from struct import Struct, calcsize, error, pack, unpack_from
from typing import Final, NamedTuple

from workers.engine.fonts import Face

Component = tuple[int, int, int]  # a glyph ID, and its offset

_WORDS, _OFFSETS, _MORE = 0x0001, 0x0002, 0x0020  # flags of a component
_HEAD, _COMPONENT, _METRIC = Struct(">5h"), Struct(">HHhh"), Struct(">Hh")
_MIN_COORDINATE, _MAX_COORDINATE = -0x8000, 0x7FFF
MAX_SHORT_OFFSET: Final = 0x1FFFE  # the greatest short offset of loca, which counts words
_MAXP: Final = ">I14H"  # version 1.0
_MAX_POINTS, _MAX_CONTOURS = 3, 4  # fields of maxp with limits of composites
_MAX_ELEMENTS, _MAX_DEPTH = 13, 14
_DEPTH: Final = 8  # nesting of composites; no bundled font nests deeper


class Composite(NamedTuple):
    """A composite glyph as entries of the tables glyf and hmtx; `parts` is its number of
    components.
    """

    glyph: bytes  # empty without an outline
    metric: bytes
    parts: int


def join_glyphs(face: Face, parts: Sequence[Component], advance: int) -> Composite:
    """Return the composite of glyphs of a face, by their glyph IDs."""
    boxes = [_measure(face, part) for part in parts]
    drawn = [part for part, box in zip(parts, boxes, strict=True) if box]
    if not drawn:
        return Composite(b"", _METRIC.pack(min(advance, 0xFFFF), 0), len(parts))
    lefts, bottoms, rights, tops = zip(*filter(None, boxes), strict=True)
    left = _bounded(min(lefts))
    head = _HEAD.pack(-1, left, *map(_bounded, (min(bottoms), max(rights), max(tops))))
    try:
        glyph = head + _write_components(drawn)
    except error:  # of struct: a letter may have more marks than fit into two bytes
        bounded = [(glyph, _bounded(x), _bounded(y)) for glyph, x, y in drawn]
        glyph = head + _write_components(bounded)
    return Composite(glyph, _METRIC.pack(min(advance, 0xFFFF), left), len(parts))


def add_composites(program: bytes, composites: Sequence[Composite]) -> tuple[bytes, int]:
    """Add composite glyphs to a font whose glyph IDs are those of the face.

    Returns the font and the ID of the first new glyph; the others follow it.
    """
    tables = _read_tables(program)
    count: int = unpack_from(">H", tables[b"maxp"], 4)[0]
    if not composites:
        return program, count
    head = bytearray(tables[b"head"])
    head[8:12] = b"\0\0\0\0"  # checkSumAdjustment, which PDF readers ignore
    glyphs = [composite.glyph for composite in composites]
    is_long = unpack_from(">h", head, 50)[0]
    if is_long:
        places = list(unpack_from(f">{count + 1}I", tables[b"loca"]))
    else:
        places = [2 * place for place in unpack_from(f">{count + 1}H", tables[b"loca"])]
    # A composite has an even length, as short offsets require.
    places += accumulate(map(len, glyphs), initial=places.pop())
    if places[-1] <= MAX_SHORT_OFFSET:
        head[50:52] = b"\0\0"
        tables[b"loca"] = pack(f">{len(places)}H", *[place >> 1 for place in places])
    else:
        head[50:52] = b"\0\1"
        tables[b"loca"] = pack(f">{len(places)}I", *places)
    tables[b"head"] = bytes(head)
    tables[b"glyf"] = b"".join((tables[b"glyf"], *glyphs))
    metrics = [composite.metric for composite in composites]
    tables[b"hmtx"] = b"".join((_read_metrics(tables, count), *metrics))
    hhea = bytearray(tables[b"hhea"])
    hhea[34:36] = pack(">H", count + len(composites))
    tables[b"hhea"] = bytes(hhea)
    most_parts = max(composite.parts for composite in composites)
    tables[b"maxp"] = _raise_limits(tables[b"maxp"], count + len(composites), most_parts)
    return _assemble(tables), count


def _measure(face: Face, part: Component) -> tuple[int, int, int, int] | None:
    """Return the bounding box of a component, None without an outline."""
    glyph, x, y = part
    extents = face.hb_font.get_glyph_extents(glyph)
    if extents is None:  # the outline is damaged
        return None
    left, top, width, height = extents
    if not width and not height:
        return None
    return left + x, top + height + y, left + width + x, top + y


def _write_components(parts: Sequence[Component]) -> bytes:
    flags = _WORDS | _OFFSETS
    *others, last = parts
    written = [_COMPONENT.pack(flags | _MORE, *part) for part in others]
    return b"".join((*written, _COMPONENT.pack(flags, *last)))


def _bounded(value: int) -> int:
    """Clamp a coordinate to two bytes."""
    return max(_MIN_COORDINATE, min(value, _MAX_COORDINATE))


def _read_tables(program: bytes) -> dict[bytes, bytes]:
    count = unpack_from(">H", program, 4)[0]
    tables: dict[bytes, bytes] = {}
    for at in range(12, 12 + 16 * count, 16):
        tag, _, offset, length = unpack_from(">4s3I", program, at)
        tables[tag] = program[offset : offset + length]
    return tables


def _read_metrics(tables: dict[bytes, bytes], glyph_count: int) -> bytes:
    """Return hmtx with an advance for each glyph: those of the last glyphs may be omitted."""
    hmtx = tables[b"hmtx"]
    end = 4 * unpack_from(">H", tables[b"hhea"], 34)[0]
    if end == 4 * glyph_count:
        return hmtx
    last = hmtx[end - 4 : end - 2]
    bearings = (hmtx[at : at + 2] for at in range(end, len(hmtx), 2))
    return hmtx[:end] + b"".join(last + bearing for bearing in bearings)


def _raise_limits(maxp: bytes, glyph_count: int, most_parts: int) -> bytes:
    """Return maxp with the new glyphs and the limits of composites."""
    fields = list(unpack_from(_MAXP, maxp))
    fields[1] = glyph_count
    for composite, simple in ((_MAX_POINTS + 1, 2), (_MAX_CONTOURS + 1, 3)):
        fields[composite] = min(max(fields[composite], fields[simple]) * most_parts, 0xFFFF)
    fields[_MAX_ELEMENTS] = min(max(fields[_MAX_ELEMENTS], most_parts), 0xFFFF)
    fields[_MAX_DEPTH] = min(fields[_MAX_DEPTH] + 1, _DEPTH)
    return pack(_MAXP, *fields)


def _assemble(tables: dict[bytes, bytes]) -> bytes:
    """Write the font file (OpenType, font file structure)."""
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    header = pack(
        ">I4H", 0x00010000, count, 16 * power, power.bit_length() - 1, 16 * (count - power)
    )
    directory = b""
    body = b""
    start = calcsize(">I4H") + 16 * count
    for tag in sorted(tables):
        data = tables[tag]
        directory += pack(">4s3I", tag, _checksum(data), start + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    return header + directory + body


def _checksum(data: bytes) -> int:
    padded = data + b"\0" * (-len(data) % 4)
    words: tuple[int, ...] = unpack_from(f">{len(padded) // 4}I", padded)
    return sum(words) & 0xFFFFFFFF
