"""Shaped text as a PDF font: codes are assigned to glyph clusters when they first occur.

A code stands for a cluster (a letter with its marks, a syllable) and its characters; its glyphs are
joined into one glyph of the embedded font. So text copied from a page is the text that was written,
however a reader extracts it: it need not reorder glyphs that precede their letter or are placed on
it. Codes count from 1 in document order, so equal documents have equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from struct import pack
from typing import Final

from workers.engine.compression import compress
from workers.engine.fonts import Cluster, Face
from workers.engine.paint.composites import Component, Composite, add_composites, join_glyphs
from workers.engine.paint.embedding import (
    Subset,
    make_tag,
    subset_glyphs,
    write_font,
    write_hexadecimal,
    write_to_unicode,
)
from workers.engine.paint.objects import WrittenObject

# A code has two bytes, and a font 65,535 glyphs including those of its face. A run is written in
# one font, so another font starts well before the limit; clusters beyond it are drawn as empty
# boxes.
MAX_CODES: Final = 30_000
LAST_CODE: Final = 45_000
MAX_CACHED_CODES: Final = 4_000  # cached for each face
_MAX_SUBSETS: Final = 16  # cached for each face


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
        subset = self.face.with_cache(_make_subset, max_entries=_MAX_SUBSETS)(code_entry)
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
