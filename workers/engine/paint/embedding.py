"""Fonts, images and pages of other files as PDF objects; subsets and streams are prepared once and reused."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, groupby
from typing import Any, Final

import uharfbuzz as hb

from workers.engine.fonts import Face, code_of, encodable_text
from workers.engine.paint.objects import ObjectPart, WrittenObject, write_stream
from workers.engine.pdf_pages import ImportedPage
from workers.engine.pdf_writer import compress
from workers.engine.prepared_images import PixelStream, PreparedImage

# Tables that an embedded font with fixed codes does not need (ISO 32000-1, 9.9).
_DROPPED: Final = frozenset(
    int.from_bytes(tag, "big")
    for tag in b"COLR CPAL DSIG GDEF GPOS GSUB OS/2 STAT cmap gasp name post".split()
)
FLAGS: Final = (
    hb.SubsetFlags.NO_HINTING | hb.SubsetFlags.NO_LAYOUT_CLOSURE | hb.SubsetFlags.NOTDEF_OUTLINE
)
_MAX_SUBSETS: Final = 64  # cached for each face
# Font flags (PDF 1.7, table 123).
_FIXED_PITCH, _SERIF, _SYMBOLIC, _NONSYMBOLIC, _ITALIC = 1, 2, 4, 32, 64


@dataclass(frozen=True, slots=True)
class Subset:
    """A face reduced to some characters, ready to be written; streams are compressed."""

    name: bytes
    font_file: bytes
    font_file_length: int
    glyph_map: bytes
    widths: bytes
    to_unicode: bytes


def write_font(
    face: Face, subset: Subset, write_shared: Callable[[bytes, bytes], WrittenObject]
) -> WrittenObject:
    """Return a subset as a composite font (ISO 32000-1, 9.7).

    `write_shared` returns a stream with entries and data, which is in the file once.
    """
    descriptor = write_descriptor(face, subset.name, subset.font_file, subset.font_file_length)
    descendant = WrittenObject(
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%b"
        b" %b /FontDescriptor " % (subset.name, _SYSTEM_INFO),
        descriptor,
        b" /CIDToGIDMap ",
        write_shared(_DEFLATED, subset.glyph_map),
        b" /W %b >>" % subset.widths,
    )
    return WrittenObject(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /%b /Encoding /Identity-H /DescendantFonts ["
        % subset.name,
        descendant,
        b"] /ToUnicode ",
        write_shared(_DEFLATED, subset.to_unicode),
        b" >>",
    )


def make_subset(face: Face, characters: frozenset[str]) -> Subset:
    """Return the subset of a face with `characters`, deterministic and cached for other documents."""
    return face.with_cache(_cut, max_entries=_MAX_SUBSETS)(characters)


def _cut(face: Face, characters: frozenset[str]) -> Subset:
    chars = sorted(set(encodable_text("".join(characters))))
    program, new_glyphs = _subset_characters(face, chars)
    drawn = face.glyphs if face.ligatures is None else face.glyphs | face.ligatures.glyphs
    codes = {char: code_of(char) for char in chars}
    glyphs = {codes[char]: new_glyphs[drawn[char]] for char in chars if char in drawn}
    letters = {} if face.ligatures is None else face.ligatures.letters
    said = [(code, write_hexadecimal(letters.get(char, char))) for char, code in codes.items()]
    tag = make_tag((face.name + "".join(chars)).encode("utf-8"))
    return Subset(
        name=f"{tag}+{face.name}".encode("ascii"),
        font_file=compress(program),
        font_file_length=len(program),
        glyph_map=_compress_map(_write_glyph_map(glyphs, max(codes.values(), default=0))),
        widths=_widths(face, codes),
        to_unicode=compress(write_to_unicode(said)),
    )


def write_image(image: PreparedImage) -> WrittenObject:
    """Return an image and its mask with their prepared data."""
    entries: list[ObjectPart] = [_image_entries(image.pixels)]
    if image.mask is not None:
        mask = write_stream([_image_entries(image.mask)], image.mask.data)
        entries += [b" /SMask ", mask]
    return write_stream(entries, image.pixels.data)


def write_page(page: ImportedPage) -> WrittenObject:
    """Return an imported page as a form in a unit square, like a raster image."""
    objects = [WrittenObject() for _ in page.objects]
    for written, parts in zip(objects, page.objects, strict=True):
        # Objects may refer to each other before they are defined.
        written.define(*(objects[part] if isinstance(part, int) else part for part in parts))
    return objects[0]


def subset_glyphs(face: Face, glyphs: set[int]) -> bytes:
    """Reduce a font to some glyphs, which keep their glyph IDs."""
    wanted = hb.SubsetInput()
    wanted.glyph_set.update(glyphs)
    program, _ = _subset(face, wanted, FLAGS | hb.SubsetFlags.RETAIN_GIDS)
    return program


def make_tag(content: bytes) -> str:
    """Return the six letters that name a subset (ISO 32000-1, 9.6.4), derived from its content."""
    digest = sha256(content).digest()
    return "".join(chr(65 + byte % 26) for byte in digest[:6])


def _subset_characters(face: Face, chars: Iterable[str]) -> tuple[bytes, dict[int, int]]:
    """Reduce a font to some characters; return its program and the new glyph ID of each old one.

    Subsetting by glyph would take ten times as long: it scans all characters of a face.
    """
    wanted = hb.SubsetInput()
    wanted.unicode_set.update(ord(char) for char in chars if char in face.glyphs)
    if face.ligatures is not None:
        found = face.ligatures.glyphs
        wanted.glyph_set.update(found[char] for char in chars if char in found)
    program, plan = _subset(face, wanted, FLAGS)
    return program, dict(plan.old_to_new_glyph_mapping)


def _subset(face: Face, wanted: Any, flags: int) -> tuple[bytes, Any]:
    wanted.flags = flags
    wanted.drop_table_tag_set.update(_DROPPED)
    plan = hb.SubsetPlan(face.hb_face, wanted)
    program: bytes = plan.execute().blob.data
    return program, plan


def _write_glyph_map(glyphs: dict[int, int], last: int) -> bytes:
    """Return CIDToGIDMap up to the last code, two bytes each; other codes map to .notdef.

    A code beyond the end of the map would draw nothing.
    """
    mapped = bytearray(2 * (last + 1))
    for code, glyph in glyphs.items():
        mapped[2 * code : 2 * code + 2] = glyph.to_bytes(2, "big")
    return bytes(mapped)


def _compress_map(mapped: bytes) -> bytes:
    """Compress data that is mostly zeros: run-length matching is faster and smaller."""
    deflate = zlib.compressobj(strategy=zlib.Z_RLE)
    return deflate.compress(mapped) + deflate.flush()


def _widths(face: Face, codes: Mapping[str, int]) -> bytes:
    """Return the widths of glyphs by code, which is their CID (ISO 32000-1, 9.7.4.3)."""
    scale = 1000 / face.units
    widths = {code: round(face.advances[char] * scale) for char, code in codes.items()}
    runs = (
        b"%d [%b]" % (run[0], b" ".join(b"%d" % widths[code] for code in run))
        for run in _consecutive(sorted(widths))
    )
    return b"[" + b" ".join(runs) + b"]"


def write_to_unicode(pairs: Sequence[tuple[int, bytes]], *, digits: int = 4) -> bytes:
    """Return a CMap of codes to their characters in UTF-16 (ISO 32000-1, 9.10.3), both in hexadecimal.

    Each code by itself: Ghostscript 10.0 misreads ranges.
    """
    entry, last = b"<%%0%dX> <%%b>\n" % digits, 256 ** (digits // 2) - 1
    blocks = (pairs[at : at + 100] for at in range(0, len(pairs), 100))  # more are not allowed
    return _TO_UNICODE % (
        b"<%0*X> <%X>" % (digits, 0, last),
        b"\n".join(
            b"%d beginbfchar\n%bendbfchar"
            % (len(block), (entry * len(block)) % tuple(chain.from_iterable(block)))
            for block in blocks
        ),
    )


def write_hexadecimal(text: str) -> bytes:
    """Return a text in UTF-16 as hexadecimal digits."""
    return text.encode("utf-16-be").hex().upper().encode("ascii")


_TO_UNICODE: Final = b"""/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
%b
endcodespacerange
%b
endcmap
CMapName currentdict /CMap defineresource pop
end
end"""
_SYSTEM_INFO: Final = b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
_DEFLATED: Final = b"/Filter /FlateDecode"


def _consecutive(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Group sorted numbers into runs without gaps."""
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        yield [number for _, number in run]


def write_descriptor(
    face: Face, name: bytes, program: bytes, length: int, *, is_symbolic: bool = True
) -> WrittenObject:
    """Return a font descriptor (ISO 32000-1, 9.8); `program` is compressed, from some length."""
    flags = _SYMBOLIC if is_symbolic else _NONSYMBOLIC
    flags |= _ITALIC if face.is_italic else 0
    flags |= _SERIF if "Serif" in face.family else 0
    flags |= _FIXED_PITCH if "Mono" in face.family else 0
    entries = (
        b"<< /Type /FontDescriptor /FontName /%b /Flags %d /FontBBox [%d %d %d %d] /ItalicAngle %d"
        b" /Ascent %d /Descent %d /CapHeight %d /StemV %d /FontFile2 "
        % (
            name,
            flags,
            *face.bounding_box,
            round(face.italic_angle),
            round(face.ascent * 1000),
            round(-face.descent * 1000),
            round(face.cap_height * 1000),
            140 if face.is_bold else 80,
        )
    )
    stream = write_stream([b"%b /Length1 %d" % (_DEFLATED, length)], program)
    return WrittenObject(entries, stream, b" >>")


def _image_entries(pixels: PixelStream) -> bytes:
    entries = (
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent %d /ColorSpace %b"
        b" /Filter /%b"
        % (
            pixels.width,
            pixels.height,
            pixels.bits,
            _color_space(pixels),
            pixels.filter.encode("ascii"),
        )
    )
    if pixels.predictor_colors:
        parts = pixels.predictor_colors, pixels.bits, pixels.width
        form = b" /DecodeParms << /Predictor 15 /Colors %d /BitsPerComponent %d /Columns %d >>"
        entries += form % parts
    if pixels.color_key:
        entries += b" /Mask [%b]" % b" ".join(b"%d" % value for value in pixels.color_key)
    if pixels.is_inverted:
        entries += b" /Decode [1 0 1 0 1 0 1 0]"
    return entries


def _color_space(pixels: PixelStream) -> bytes:
    if pixels.color_space != "Indexed":
        return b"/" + pixels.color_space.encode("ascii")
    last = len(pixels.palette) // 3 - 1
    return b"[/Indexed /DeviceRGB %d <%b>]" % (last, pixels.palette.hex().encode("ascii"))
