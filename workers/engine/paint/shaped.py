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
from dataclasses import dataclass
from itertools import chain, count
from struct import pack
from typing import Final

from workers.engine.layout.fonts import Cluster, Face
from workers.engine.paint.composites import Composite, Part, add_composites, join_glyphs
from workers.engine.paint.embedding import (
    CMAP,
    PROGRAM_LEVEL,
    Subset,
    make_tag,
    subset_glyphs,
    write_font,
)
from workers.engine.paint.objects import COMPRESSION, Written

# A code has two bytes and a font 65,535 glyphs, those of its face among them. A run of text is
# written in one font, so another begins long before; a run of more clusters than that is no text,
# and shows empty boxes.
_MAX_CODES: Final = 30_000
_LAST_CODE: Final = 45_000
_MAX_SAID: Final = 4_000  # kept of each face for all documents, some 3 MB
_MAX_SUBSETS: Final = 16  # kept of each face


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """What a code stands for, as the parts of a file have it: ready for every document.

    `glyph` is None when a composite has to be added for it.
    """

    glyphs: tuple[int, ...]
    glyph: int | None
    composite: Composite
    advance: int  # in font units
    width: bytes  # in thousandths of an em
    text: bytes  # UTF-16 in hexadecimal


class ShapedFont:
    """A face whose text is written by clusters, as far as a document uses it."""

    def __init__(self, face: Face, name: str) -> None:
        self.face = face
        self.name = name
        self.is_emboldened = face.is_emboldened
        self._codes: dict[tuple[tuple[Part, ...], str], tuple[bytes, _Said]] = {}
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
        if len(self._kept) >= _MAX_CODES:
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
            code = b"%04X" % (len(self._codes) + 1)
            said = self.face.cached(_say, most=_MAX_SAID)(*key)
            found = self._codes[key] = (code, said)
        written, said = found
        if said.advance != cluster.advance:
            beyond = (said.advance - cluster.advance) * (1000 / self.face.units)
            written += b">%d<" % round(beyond)
        return written

    def embed(self) -> Written:
        """Write the font with the clusters that were written in it."""
        said = tuple(said for _, said in self._codes.values())
        subset = self.face.cached(_make_subset, most=_MAX_SUBSETS)(said)
        return write_font(self.face, subset)


def _say(face: Face, parts: tuple[Part, ...], text: str) -> _Said:
    measure = face.hb_font.get_glyph_h_advance
    advance = sum(measure(glyph) for glyph, *_ in parts)
    is_alone = len(parts) == 1 and parts[0][1:] == (0, 0)
    return _Said(
        glyphs=tuple(glyph for glyph, *_ in parts),
        glyph=parts[0][0] if is_alone else None,
        composite=join_glyphs(face, parts, advance),
        advance=advance,
        width=b"%d" % round(advance * (1000 / face.units)),
        text=text.encode("utf-16-be").hex().upper().encode("ascii"),
    )


def _make_subset(face: Face, said: Sequence[_Said]) -> Subset:
    program = subset_glyphs(face, set(chain.from_iterable(each.glyphs for each in said)))
    composites = [each.composite for each in said if each.glyph is None]
    program, first = add_composites(program, composites)
    added = count(first)
    glyphs = [next(added) if each.glyph is None else each.glyph for each in said]
    to_unicode = _to_unicode(said)
    # What is alike in glyphs and in what they say is alike in all else.
    tag = make_tag(face.name.encode("ascii") + program + to_unicode)
    return Subset(
        name=f"{tag}+{face.name}".encode("ascii"),
        font_file=zlib.compress(program, PROGRAM_LEVEL),
        font_file_length=len(program),
        glyph_map=zlib.compress(pack(f">{len(glyphs) + 1}H", 0, *glyphs), COMPRESSION),
        widths=b"[1 [" + b" ".join(each.width for each in said) + b"]]",
        to_unicode=zlib.compress(to_unicode, COMPRESSION),
    )


def _to_unicode(said: Sequence[_Said]) -> bytes:
    """Say which characters each code stands for (PDF 1.7, 9.10.3), in blocks of at most 100."""
    pairs = list(enumerate((each.text for each in said), start=1))
    blocks = (pairs[at : at + 100] for at in range(0, len(pairs), 100))
    return CMAP % b"\n".join(
        b"%d beginbfchar\n%bendbfchar"
        % (len(block), (b"<%04X> <%b>\n" * len(block)) % tuple(chain.from_iterable(block)))
        for block in blocks
    )
