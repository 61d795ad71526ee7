"""Composite glyphs: several glyphs of a TrueType font joined into one (OpenType, glyf)."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, calcsize, error, pack, unpack_from
from typing import Final, NamedTuple

Part = tuple[int, int, int]  # a glyph, and where it stands

_WORDS, _OFFSETS, _MORE = 0x0001, 0x0002, 0x0020  # flags of a component
_HEAD, _BOX, _COMPONENT = Struct(">5h"), Struct(">4h"), Struct(">HHhh")
_LEAST, _MOST = -0x8000, 0x7FFF
_MAXP: Final = ">I14H"  # version 1.0
_MAX_POINTS, _MAX_CONTOURS = 3, 4  # fields of maxp that count what composites add up to
_MAX_ELEMENTS, _MAX_DEPTH = 13, 14
_DEPTH: Final = 8  # composites of composites; no font of the set nests deeper


class _Font(NamedTuple):
    """The tables of a font, its glyphs, and the advance and bearing of each."""

    tables: dict[bytes, bytes]
    glyphs: list[bytes]
    metrics: list[tuple[int, int]]


def add_composites(
    program: bytes, wanted: Sequence[tuple[tuple[Part, ...], int]]
) -> tuple[bytes, list[int]]:
    """Add a glyph for each group of parts with its advance; gives the font and the glyph of each.

    A single glyph at its own place needs none.
    """
    font = _read(program)
    result: list[int] = []
    for parts, advance in wanted:
        if len(parts) == 1 and parts[0][1:] == (0, 0):
            result.append(parts[0][0])
            continue
        result.append(len(font.glyphs))
        glyph = _compose(font.glyphs, parts)
        bearing = unpack_from(">h", glyph, 2)[0] if glyph else 0
        font.glyphs.append(glyph)
        font.metrics.append((min(advance, 0xFFFF), bearing))
    most = max((len(parts) for parts, _ in wanted), default=1)
    return (
        program if most == 1 and len(font.glyphs) == _count(font) else _write(font, most)
    ), result


def _count(font: _Font) -> int:
    count: int = unpack_from(">H", font.tables[b"maxp"], 4)[0]
    return count


def _compose(glyphs: Sequence[bytes], parts: Sequence[Part]) -> bytes:
    """Write a glyph made of others; empty when none of them has an outline."""
    seen = [part for part in parts if glyphs[part[0]]]
    if not seen:
        return b""
    try:
        return _join(glyphs, seen)
    except error:  # of struct: a letter may be given more marks than any font has room for
        return _join(glyphs, [(glyph, _bounded(x), _bounded(y)) for glyph, x, y in seen])


def _join(glyphs: Sequence[bytes], parts: Sequence[Part]) -> bytes:
    boxes: list[tuple[int, ...]] = []
    components = b""
    flags, last = _WORDS | _OFFSETS | _MORE, len(parts)
    for at, (glyph, x, y) in enumerate(parts, start=1):
        left, bottom, right, top = _BOX.unpack_from(glyphs[glyph], 2)
        boxes.append((left + x, bottom + y, right + x, top + y))
        if at == last:
            flags = _WORDS | _OFFSETS
        components += _COMPONENT.pack(flags, glyph, x, y)
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    box = map(_bounded, (min(lefts), min(bottoms), max(rights), max(tops)))
    return _HEAD.pack(-1, *box) + components


def _bounded(value: int) -> int:
    """Keep a place within two bytes."""
    return max(_LEAST, min(value, _MOST))


def _read(program: bytes) -> _Font:
    count = unpack_from(">H", program, 4)[0]
    tables: dict[bytes, bytes] = {}
    for at in range(12, 12 + 16 * count, 16):
        tag, _, offset, length = unpack_from(">4s3I", program, at)
        tables[tag] = program[offset : offset + length]
    glyph_count = unpack_from(">H", tables[b"maxp"], 4)[0]
    is_long = unpack_from(">h", tables[b"head"], 50)[0]
    if is_long:
        places = unpack_from(f">{glyph_count + 1}I", tables[b"loca"])
    else:
        places = tuple(2 * place for place in unpack_from(f">{glyph_count + 1}H", tables[b"loca"]))
    glyf = tables[b"glyf"]
    glyphs = [glyf[places[i] : places[i + 1]] for i in range(glyph_count)]
    return _Font(tables, glyphs, _read_metrics(tables, glyph_count))


def _read_metrics(tables: dict[bytes, bytes], glyph_count: int) -> list[tuple[int, int]]:
    hmtx = tables[b"hmtx"]
    long_count = unpack_from(">H", tables[b"hhea"], 34)[0]
    metrics: list[tuple[int, int]] = [
        unpack_from(">Hh", hmtx, 4 * i) for i in range(min(long_count, glyph_count))
    ]
    last = metrics[-1][0] if metrics else 0
    bearings = unpack_from(f">{glyph_count - len(metrics)}h", hmtx, 4 * long_count)
    return metrics + [(last, bearing) for bearing in bearings]


def _write(font: _Font, most_parts: int) -> bytes:
    tables = dict(font.tables)
    padded = [glyph + b"\0" * (-len(glyph) % 4) for glyph in font.glyphs]
    places = [0]
    for glyph in padded:
        places.append(places[-1] + len(glyph))
    tables[b"glyf"] = b"".join(padded)
    tables[b"loca"] = pack(f">{len(places)}I", *places)
    tables[b"hmtx"] = b"".join(pack(">Hh", *metric) for metric in font.metrics)
    head = bytearray(tables[b"head"])
    head[8:12] = b"\0\0\0\0"  # the checksum of the whole, which no reader of a PDF looks at
    head[50:52] = b"\0\1"  # loca in four bytes
    tables[b"head"] = bytes(head)
    hhea = bytearray(tables[b"hhea"])
    hhea[34:36] = pack(">H", len(font.metrics))
    tables[b"hhea"] = bytes(hhea)
    tables[b"maxp"] = _raise_limits(tables[b"maxp"], len(font.glyphs), most_parts)
    return _assemble(tables)


def _raise_limits(maxp: bytes, glyph_count: int, most_parts: int) -> bytes:
    """Count the new glyphs, and what a composite may add up to."""
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
