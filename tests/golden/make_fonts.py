"""The fonts of the cases, cut from Inter (SIL Open Font License): `python -m tests.golden.make_fonts`.

Needs Debian's fonts-inter and fonts-inter-variable. Each is a few kilobytes of basic Latin under a
name of its own, in one of the formats that are accepted.
"""

from __future__ import annotations

from io import BytesIO
from itertools import accumulate
from pathlib import Path
from struct import pack, unpack_from
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

FONTS = Path(__file__).parent / "fonts"
STATIC = Path("/usr/share/fonts/opentype/inter")
VARIABLE = Path("/usr/share/fonts/truetype/inter-vf/Inter.var.ttf")
TEXT = "".join(map(chr, range(0x20, 0x7F))) + "äöüßÄÖÜéè–—“”’€é\u0301"


def main() -> None:
    """Write all fonts."""
    variable = cut(TTFont(VARIABLE), "Brand Variable")
    write("brand-variable.ttf", variable)
    for name, weight in (("brand-regular.ttf", 400), ("brand-bold.woff2", 700)):
        font = instancer.instantiateVariableFont(reopen(variable), {"wght": weight, "slnt": 0})
        font["OS/2"].usWeightClass = weight
        rename(font, f"Brand {weight}")
        write(name, font)
    write("brand-black.otf", cut(TTFont(STATIC / "Inter-Black.otf"), "Brand Black"))
    write("brand-italic.otf", cut(TTFont(STATIC / "Inter-Italic.otf"), "Brand Italic"))
    narrow = reopen(variable)
    narrow = instancer.instantiateVariableFont(narrow, {"wght": 300, "slnt": 0})
    squeeze(narrow)
    light = instancer.instantiateVariableFont(reopen(variable), {"wght": 100, "slnt": 0})
    light["OS/2"].usWeightClass = 100
    rename(light, "Brand Thin")
    (FONTS / "brand-pair.ttc").write_bytes(join_faces((to_bytes(narrow), to_bytes(light))))


def cut(font: TTFont, name: str) -> TTFont:
    """Cut a font down to basic Latin."""
    options = subset.Options(hinting=False, layout_features=["kern", "mark", "ccmp"])
    options.drop_tables += ["STAT", "DSIG", "meta"]
    cutter = subset.Subsetter(options)
    cutter.populate(text=TEXT)
    cutter.subset(font)
    rename(font, name)
    return font


def rename(font: TTFont, name: str) -> None:
    """Name a font; its copyright stays."""
    table: Any = font["name"]
    table.names = [record for record in table.names if record.nameID in (0, 13, 14)]
    for name_id, text in ((1, name), (2, "Regular"), (4, name), (6, name.replace(" ", ""))):
        table.setName(text, name_id, 3, 1, 0x409)


def squeeze(font: TTFont) -> None:
    """Make a font narrower, as one of width class 3."""
    glyf, metrics = font["glyf"], font["hmtx"].metrics
    for glyph_name in font.getGlyphOrder():
        glyph = glyf[glyph_name]
        if glyph.isComposite():
            for part in glyph.components:
                part.x = round(part.x * 0.75)
        elif glyph.numberOfContours:
            glyph.coordinates.scale((0.75, 1))
            glyph.coordinates.toInt()
        glyph.recalcBounds(glyf)
        width, _ = metrics[glyph_name]
        metrics[glyph_name] = round(width * 0.75), getattr(glyph, "xMin", 0)
    font["OS/2"].usWidthClass, font["OS/2"].usWeightClass = 3, 300
    del font["GPOS"]
    rename(font, "Brand Narrow")


def reopen(font: TTFont) -> TTFont:
    return TTFont(BytesIO(to_bytes(font)))


def to_bytes(font: TTFont) -> bytes:
    written = BytesIO()
    font.save(written, reorderTables=False)
    return written.getvalue()


def write(name: str, font: TTFont) -> None:
    font.flavor = "woff2" if name.endswith(".woff2") else None
    (FONTS / name).write_bytes(to_bytes(font))


def join_faces(faces: tuple[bytes, ...]) -> bytes:
    """Join fonts to a collection (OpenType, font collections)."""
    header = 12 + 4 * len(faces)
    starts = list(accumulate(map(len, faces), initial=header))
    body = b"".join(_moved(face, by) for face, by in zip(faces, starts, strict=False))
    return pack(f">4sII{len(faces)}I", b"ttcf", 0x00010000, len(faces), *starts[:-1]) + body


def _moved(face: bytes, by: int) -> bytes:
    moved = bytearray(face)
    (count,) = unpack_from(">H", face, 4)
    for at in range(12 + 8, 12 + 16 * count, 16):
        moved[at : at + 4] = pack(">I", unpack_from(">I", face, at)[0] + by)
    return bytes(moved)


if __name__ == "__main__":
    main()
