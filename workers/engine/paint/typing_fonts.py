"""Fonts of text typed into form fields: simple fonts with all characters of WinAnsiEncoding.

Viewers write the appearance of a changed field themselves. All of them can encode text for a simple
font (ISO 32000-1, 9.6.3), few for a composite one.
"""

from __future__ import annotations

from typing import Final

import uharfbuzz as hb

from workers.engine.compression import compress
from workers.engine.fonts import Face
from workers.engine.paint.embedding import (
    FLAGS,
    make_tag,
    write_descriptor,
    write_hexadecimal,
    write_to_unicode,
)
from workers.engine.paint.objects import WrittenObject, write_deflated

_FIRST, _LAST = 32, 255
# Windows code page 1252, with another space and hyphen, and bullets for the five unassigned codes
# (ISO 32000-1, D.2).
_CHARACTERS: Final = tuple(
    {0xA0: " ", 0xAD: "-"}.get(code) or bytes([code]).decode("cp1252", "ignore") or "\u2022"
    for code in range(_FIRST, _LAST + 1)
)
# A viewer finds the glyphs by the Unicode cmap; layout tables and names are not used.
_DROPPED: Final = frozenset(
    int.from_bytes(tag, "big") for tag in b"DSIG GDEF GPOS GSUB STAT gasp".split()
)
_TO_UNICODE: Final = write_to_unicode(
    [*enumerate(map(write_hexadecimal, _CHARACTERS), start=_FIRST)], digits=2
)


def write_typing_font(face: Face) -> WrittenObject:
    """Return a face as a simple TrueType font for typed text; its program is cached by face."""
    name, program, length, widths = face.with_cache(_make, max_entries=1)()
    descriptor = write_descriptor(face, name, program, length, is_symbolic=False)
    return WrittenObject(
        b"<< /Type /Font /Subtype /TrueType /BaseFont /%b /Encoding /WinAnsiEncoding"
        b" /FirstChar %d /LastChar %d /Widths [%b] /FontDescriptor "
        % (name, _FIRST, _LAST, widths),
        descriptor,
        b" /ToUnicode ",
        write_deflated((), _TO_UNICODE),
        b" >>",
    )


def _make(face: Face) -> tuple[bytes, bytes, int, bytes]:
    characters = {char for char in _CHARACTERS if char in face.glyphs}
    wanted = hb.SubsetInput()
    wanted.unicode_set.update(map(ord, characters))
    wanted.flags = FLAGS
    wanted.drop_table_tag_set.update(_DROPPED)
    program: bytes = hb.subset(face.hb_face, wanted).blob.data
    scale = 1000 / face.units
    widths = b" ".join(
        b"%d" % (round(face.advances[char] * scale) if char in characters else 0)
        for char in _CHARACTERS
    )
    tag = make_tag(b"typing" + face.name.encode("utf-8"))
    name = f"{tag}+{face.name}".encode("ascii")
    return name, compress(program), len(program), widths
