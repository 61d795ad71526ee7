"""Fonts, images, vector images and pages of other files as PDF objects; subsets and streams are prepared once and reused.

A code of shaped text stands for a cluster (a letter with its marks, a syllable) and its characters; its
glyphs are joined into one glyph of the embedded font, a composite one in a TrueType font (OpenType,
glyf). So text copied from a page is the text that was written, however a reader extracts it. Codes
count from 1 in document order, so equal documents have equal bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, chain, count, groupby
from struct import Struct, error, pack, unpack_from
from typing import Any, Final, NamedTuple

import uharfbuzz as hb

from workers.engine.fonts import Cluster, Face, code_of, encodable_text, write_font_file
from workers.engine.paint.canvas_file import (
    ALL_FONTS,
    COLOR_SPACES,
    ObjectPart,
    WrittenObject,
    write_deflated,
    write_stream,
)
from workers.engine.pdf_writer import PreparedObject, compress, write_number
from workers.engine.prepared_images import PixelStream, PreparedImage
from workers.engine.svg import DocumentPart, DrawnText

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
    """A composite glyph as entries of the tables glyf and hmtx; `parts` is its number of components."""

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
    font = hb.Face(program)
    tables = {tag.encode(): font.reference_table(tag).data for tag in font.table_tags}
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
    return write_font_file(b"\0\1\0\0", tables), count


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


# A code has two bytes, and a font 65,535 glyphs including those of its face. A run is written in
# one font, so another font starts well before the limit; clusters beyond it are drawn as empty
# boxes.
MAX_CODES: Final = 30_000
LAST_CODE: Final = 45_000
MAX_CACHED_CODES: Final = 4_000  # cached for each face
_MAX_SHAPED_SUBSETS: Final = 16  # cached for each face


@dataclass(frozen=True, slots=True, eq=False)
class _ClusterCode:
    """The data of a code in the parts of a font, cached for all documents.

    `glyph` is None when a composite has to be added for it.
    """

    glyphs: tuple[int, ...]
    glyph: int | None
    composite: Composite
    advance: int  # in font units
    width: bytes  # in thousandths of an em
    text: bytes  # UTF-16 in hexadecimal


class ShapedFont:
    """A face whose shaped text is written by clusters, with the codes used in a document."""

    def __init__(self, face: Face, name: str) -> None:
        self.face = face
        self.name = name
        self.is_emboldened = face.is_emboldened
        self._codes: dict[tuple[tuple[Component, ...], str], tuple[bytes, _ClusterCode]] = {}
        # The written form of each cluster by its identity, which is faster to look up than its
        # value; known clusters are kept alive in `_kept`, so that no other can have their address.
        self._known: dict[int, bytes] = {}
        self._kept: list[Cluster] = []

    @property
    def is_full(self) -> bool:
        """Whether another run might need more codes than are left."""
        return len(self._codes) >= MAX_CODES

    def write(self, clusters: Sequence[Cluster]) -> bytes:
        """Return the operator that shows clusters from left to right."""
        if len(self._kept) >= MAX_CODES:
            self._kept.clear()
            self._known.clear()
        known = self._known
        names = list(map(id, clusters))
        for cluster in [
            new for name, new in zip(names, clusters, strict=True) if name not in known
        ]:
            known[id(cluster)] = self._write(cluster)
            self._kept.append(cluster)
        written = b"".join(map(known.__getitem__, names))
        if written.endswith(b"<"):  # no adjustment is needed after the last
            written = written[: written.rindex(b">")]
        return b"[<" + written + b">]TJ\n"

    def _write(self, cluster: Cluster) -> bytes:
        """Return the code of a cluster, with an adjustment if its advance differs from the glyph's."""
        key = (cluster.glyphs, cluster.text)
        found = self._codes.get(key)
        if found is None and len(self._codes) >= LAST_CODE:
            return b"0000"
        if found is None:
            code = b"%04X" % (len(self._codes) + 1)
            code_entry = self.face.with_cache(_make_code, max_entries=MAX_CACHED_CODES)(*key)
            found = self._codes[key] = (code, code_entry)
        written, code_entry = found
        if code_entry.advance != cluster.advance:
            beyond = (code_entry.advance - cluster.advance) * (1000 / self.face.units)
            written += b">%d<" % round(beyond)
        return written

    def embed(self, write_shared: Callable[[bytes, bytes], WrittenObject]) -> WrittenObject:
        """Return the font with the clusters that were written in it; see `write_font`."""
        code_entry = tuple(code_entry for _, code_entry in self._codes.values())
        subset = self.face.with_cache(_make_subset, max_entries=_MAX_SHAPED_SUBSETS)(code_entry)
        return write_font(self.face, subset, write_shared)


def _make_code(face: Face, parts: tuple[Component, ...], text: str) -> _ClusterCode:
    measure = face.hb_font.get_glyph_h_advance
    advance = sum(measure(glyph) for glyph, *_ in parts)
    is_alone = len(parts) == 1 and parts[0][1:] == (0, 0)
    return _ClusterCode(
        glyphs=tuple(glyph for glyph, *_ in parts),
        glyph=parts[0][0] if is_alone else None,
        composite=join_glyphs(face, parts, advance),
        advance=advance,
        width=b"%d" % round(advance * (1000 / face.units)),
        text=write_hexadecimal(text),
    )


def _make_subset(face: Face, code_entry: Sequence[_ClusterCode]) -> Subset:
    program = subset_glyphs(face, set(chain.from_iterable(each.glyphs for each in code_entry)))
    composites = [each.composite for each in code_entry if each.glyph is None]
    program, first = add_composites(program, composites)
    added = count(first)
    glyphs = [next(added) if each.glyph is None else each.glyph for each in code_entry]
    to_unicode = write_to_unicode([*enumerate((each.text for each in code_entry), start=1)])
    # Equal glyphs and characters imply that all else is equal.
    tag = make_tag(face.name.encode("ascii") + program + to_unicode)
    return Subset(
        name=f"{tag}+{face.name}".encode("ascii"),
        font_file=compress(program),
        font_file_length=len(program),
        glyph_map=compress(pack(f">{len(glyphs) + 1}H", 0, *glyphs)),
        widths=b"[1 [" + b" ".join(each.width for each in code_entry) + b"]]",
        to_unicode=compress(to_unicode),
    )


# Resources shared with the document: references to images, and fonts by face.
FindImage = Callable[[PreparedImage], ObjectPart]
UseFont = Callable[[Face], tuple[str, set[str]]]
UseShapedFont = Callable[[Face], ShapedFont]


class PreparedObjectWriter:
    """Writes the objects of drawings and imported pages in one document, each once."""

    def __init__(
        self,
        *,
        find_image: FindImage,
        use_font: UseFont,
        use_shaped_font: UseShapedFont,
        is_print: bool,
    ) -> None:
        self._find_image = find_image
        self._use_font = use_font
        self._use_shaped_font = use_shaped_font
        self._written: dict[PreparedObject, WrittenObject] = {}
        self._of_document: dict[object, Sequence[ObjectPart]] = {
            DocumentPart.FONTS: (b"/Font ", ALL_FONTS, b" "),
            DocumentPart.COLOR_SPACES: (COLOR_SPACES,),
            # Print blends in the colours of the output intent; RGB is calibrated by the default of the file.
            DocumentPart.BLENDING_SPACE: () if is_print else (b" /CS /DeviceRGB",),
        }

    def write(self, prepared: PreparedObject) -> WrittenObject:
        """Return an object, with those that it refers to."""
        known = self._written.get(prepared)
        if known is None:
            parts = [part for each in prepared.parts for part in self._find_parts(each)]
            if prepared.content is None:
                known = WrittenObject(*parts)
            else:
                known = write_deflated(parts, b"".join(map(self._write_content, prepared.content)))
            self._written[prepared] = known
        return known

    def _find_parts(self, part: object) -> Sequence[ObjectPart]:
        match part:
            case bytes():
                return (part,)
            case PreparedObject():
                return (self.write(part),)
            case PreparedImage():
                return (self._find_image(part),)
            case _:
                return self._of_document[part]

    def _write_content(self, part: object) -> bytes:
        if not isinstance(part, DrawnText):
            assert isinstance(part, bytes)
            return part
        if part.clusters is None:
            name, characters = self._use_font(part.face)
            characters.update(part.text)
            codes = part.face.encode(part.text)
            shown = codes + (b"TJ\n" if codes[:1] == b"[" else b"Tj\n")
        else:
            font = self._use_shaped_font(part.face)
            name, shown = font.name, font.write(part.clusters)
        return b"/%b %b Tf %b" % (name.encode("ascii"), write_number(part.size), shown)
