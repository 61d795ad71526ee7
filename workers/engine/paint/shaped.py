"""Shaped text as a PDF font of its own: codes are given to clusters of glyphs as they are met.

A code stands for a cluster (a letter with its marks, a syllable) and the characters it says; its
glyphs are joined into one glyph of the embedded font. So what is copied from a page is what was
written, whichever way a reader finds its text: nothing has to be guessed from glyphs that stand
before the letter they follow, or on it. Codes count from 1 in the order of the document: equal
documents are equal bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from workers.engine.layout.fonts import Cluster, Face
from workers.engine.paint.composites import Part, add_composites
from workers.engine.paint.embedding import (
    CMAP,
    Subset,
    make_tag,
    subset_glyphs,
    write_font,
    write_glyph_map,
)
from workers.engine.paint.objects import PdfFile

# A code has two bytes and a font 65,535 glyphs. A run of text is written in one font, so another
# begins long before; a run of more clusters than that is no text, and shows empty boxes.
_MAX_CODES: Final = 30_000
_LAST_CODE: Final = 55_000


class _Said(NamedTuple):
    """The glyphs of a code, what they say, and their advance in font units."""

    parts: tuple[Part, ...]
    text: str
    advance: int


class ShapedFont:
    """A face whose text is written by clusters, as far as a document uses it."""

    def __init__(self, face: Face, name: bytes) -> None:
        self.face = face
        self.name = name
        self.is_emboldened = face.is_emboldened
        self._codes: dict[tuple[tuple[Part, ...], str], tuple[bytes, int]] = {}  # and advances
        # How each cluster is written by its identity, which is quicker than what it holds; those
        # that are known here are kept, so that no other can have theirs.
        self._known: dict[int, bytes] = {}
        self._kept: list[Cluster] = []

    @property
    def is_full(self) -> bool:
        """Tell whether there may be no codes left for another run."""
        return len(self._codes) >= _MAX_CODES

    def write(self, clusters: Sequence[Cluster]) -> bytes:
        """Write the operator that shows clusters from left to right, each where it stands."""
        pairs = zip(map(self._known.get, map(id, clusters)), clusters, strict=True)
        written = b"".join([code or self._write(new) for code, new in pairs])
        if written.endswith(b"<"):  # no pen needs to be moved behind the last
            written = written[: written.rindex(b">")]
        return b"[<" + written + b">]TJ\n"

    def _write(self, cluster: Cluster) -> bytes:
        """Write the code of a cluster, and by how much the viewer's pen is then beyond its place."""
        key = (cluster.parts, cluster.text)
        found = self._codes.get(key)
        if found is None and len(self._codes) >= _LAST_CODE:
            return b"0000"
        if found is None:
            measure = self.face.hb_font.get_glyph_h_advance
            advance = sum(measure(glyph) for glyph, *_ in cluster.parts)
            found = self._codes[key] = (b"%04X" % (len(self._codes) + 1), advance)
        written, advance = found
        if advance != cluster.advance:
            written += b">%d<" % round((advance - cluster.advance) * (1000 / self.face.units))
        if len(self._kept) >= _MAX_CODES:
            self._kept.clear()
            self._known.clear()
        self._kept.append(cluster)
        self._known[id(cluster)] = written
        return written

    def embed(self, file: PdfFile) -> bytes:
        """Embed the clusters that were written and give the reference of the font."""
        said = tuple(
            _Said(parts, text, advance) for (parts, text), (_, advance) in self._codes.items()
        )
        return write_font(file, self.face, _make_subset(self.face, said))


@lru_cache(maxsize=64)
def _make_subset(face: Face, said: Sequence[_Said]) -> Subset:
    glyphs = {glyph for each in said for glyph, *_ in each.parts}
    program, new_glyphs = subset_glyphs(face, glyphs)
    renamed = [
        (tuple((new_glyphs[glyph], x, y) for glyph, x, y in each.parts), each.advance)
        for each in said
    ]
    program, final = add_composites(program, renamed)
    scale = 1000 / face.units
    to_unicode = _to_unicode(said)
    # What is alike in glyphs and in what they say is alike in all else.
    tag = make_tag(face.name.encode("ascii") + program + to_unicode)
    return Subset(
        name=f"{tag}+{face.name}".encode("ascii"),
        font_file=zlib.compress(program, 6),
        font_file_length=len(program),
        glyph_map=zlib.compress(write_glyph_map(dict(enumerate(final, start=1))), 6),
        widths=b"[1 [" + b" ".join(b"%d" % round(each.advance * scale) for each in said) + b"]]",
        to_unicode=zlib.compress(to_unicode, 6),
    )


def _to_unicode(said: Sequence[_Said]) -> bytes:
    """Say which characters each code stands for (PDF 1.7, 9.10.3), in blocks of at most 100."""
    lines = [
        b"<%04X> <%b>" % (code, _write_units(each.text)) for code, each in enumerate(said, start=1)
    ]
    blocks = (lines[at : at + 100] for at in range(0, len(lines), 100))
    return CMAP % b"\n".join(
        b"%d beginbfchar\n%b\nendbfchar" % (len(block), b"\n".join(block)) for block in blocks
    )


@lru_cache(maxsize=10_000)
def _write_units(text: str) -> bytes:
    return text.encode("utf-16-be").hex().upper().encode("ascii")
