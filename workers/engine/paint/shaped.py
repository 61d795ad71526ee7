"""Shaped text as a PDF font of its own: codes are given to clusters of glyphs as they are met.

A code stands for a cluster (a letter with its marks, a syllable) and the characters it says; its
glyphs are joined into one glyph of the embedded font. So what is copied from a page is what was
written, whichever way a reader finds its text: nothing has to be guessed from glyphs that stand
before the letter they follow, or on it. Codes count from 1 in the order of the document: equal
documents are equal bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
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
        # The same by identity, which is quicker; a cluster that is kept here keeps its own.
        self._known: dict[int, tuple[bytes, int, Cluster]] = {}

    @property
    def is_full(self) -> bool:
        """Tell whether there may be no codes left for another run."""
        return len(self._codes) >= _MAX_CODES

    def write(self, clusters: Iterable[Cluster]) -> bytes:
        """Write the operator that shows clusters from left to right, each where it stands."""
        scale = 1000 / self.face.units
        out: list[bytes] = []
        off = 0  # how far the viewer's pen is beyond its place, in font units
        known = self._known
        for cluster in clusters:
            found = known.get(id(cluster)) or self._code_of(cluster)
            if off:
                out.append(b">%d<" % round(off * scale))
            out.append(found[0])
            off = found[1] - cluster.advance
        return b"[<" + b"".join(out) + b">]TJ\n"

    def _code_of(self, cluster: Cluster) -> tuple[bytes, int, Cluster]:
        key = (cluster.parts, cluster.text)
        code = self._codes.get(key)
        if code is None and len(self._codes) >= _LAST_CODE:
            return b"0000", cluster.advance, cluster
        if code is None:
            measure = self.face.hb_font.get_glyph_h_advance
            advance = sum(measure(glyph) for glyph, *_ in cluster.parts)
            code = self._codes[key] = (b"%04X" % (len(self._codes) + 1), advance)
        if len(self._known) >= _MAX_CODES:
            self._known.clear()
        found = self._known[id(cluster)] = (*code, cluster)
        return found

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
    return Subset(
        name=f"{make_tag(face.name + repr(said))}+{face.name}".encode("ascii"),
        font_file=zlib.compress(program, 6),
        font_file_length=len(program),
        glyph_map=zlib.compress(write_glyph_map(dict(enumerate(final, start=1))), 6),
        widths=b"[1 [" + b" ".join(b"%d" % round(each.advance * scale) for each in said) + b"]]",
        to_unicode=zlib.compress(_to_unicode(said), 6),
    )


def _to_unicode(said: Sequence[_Said]) -> bytes:
    """Say which characters each code stands for (PDF 1.7, 9.10.3), in blocks of at most 100."""
    lines = [
        b"<%04X> <%b>" % (code, each.text.encode("utf-16-be").hex().upper().encode("ascii"))
        for code, each in enumerate(said, start=1)
    ]
    blocks = (lines[at : at + 100] for at in range(0, len(lines), 100))
    return CMAP % b"\n".join(
        b"%d beginbfchar\n%b\nendbfchar" % (len(block), b"\n".join(block)) for block in blocks
    )
