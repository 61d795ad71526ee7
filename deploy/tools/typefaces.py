"""Cut the Chinese, Japanese and Korean fonts and that of symbols down to what each has to bring.

`python -m deploy.tools.typefaces FOLDER` takes NotoSansJP-Regular.ttf and its like for SC, TC and KR
as Google distributes them, NotoSans_400Regular.ttf of the npm package
@expo-google-fonts/noto-sans 0.4.2, and NotoSansSymbols2-Regular.ttf, NotoSans-*.ttf and NotoSerif-*.ttf
(Debian: fonts-noto-core), those that the folder has, and writes them to workers/engine/fonts/typefaces.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import uharfbuzz as hb
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

TYPEFACES = Path(__file__).parents[2] / "workers" / "engine" / "fonts" / "typefaces"
REGIONS = ("JP", "SC", "TC", "KR")
MINUS = 0x2212
SOM = 0x20C0
SYMBOLS = "NotoSansSymbols2-Regular.ttf"
# Text in these scripts is set by characters alone, so layout tables would only take room.
DROPPED = (b"BASE", b"VORG", b"vhea", b"vmtx", b"gasp", b"DSIG", b"meta", b"STAT", b"GSUB", b"GPOS", b"GDEF")  # fmt: skip


def main() -> None:
    """Cut the fonts of a folder."""
    folder = Path(sys.argv[1])
    if (folder / SYMBOLS).exists():
        cut_symbols(folder / SYMBOLS)
    for path in (*folder.glob("NotoSans-*.ttf"), *folder.glob("NotoSerif-*.ttf")):
        add_minus(path)
    if (folder / "NotoSans_400Regular.ttf").exists():
        add_som(folder / "NotoSans_400Regular.ttf")
    if (folder / "NotoSansJP-Regular.ttf").exists():
        cut_regions(folder)


def add_minus(path: Path) -> None:
    """Add the minus sign (U+2212), which Noto leaves to its font of mathematics: the bar of the plus.

    It is the last glyph, so no other glyph changes its index.
    """
    font = TTFont(path, recalcTimestamp=False)
    if MINUS in font.getBestCmap():
        raise SystemExit(f"{path} has a minus sign")
    plus = font.getBestCmap()[ord("+")]
    points = font["glyf"][plus].coordinates
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = sorted({y for x, y in points if x == left})
    pen = TTGlyphPen(None)
    pen.moveTo((left, high))
    for corner in ((right, high), (right, low), (left, low)):
        pen.lineTo(corner)
    pen.closePath()
    font.setGlyphOrder([*font.getGlyphOrder(), "minus"])
    font["glyf"].glyphs["minus"] = pen.glyph()
    font["hmtx"]["minus"] = font["hmtx"][plus]
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[MINUS] = "minus"
    del font["DSIG"]  # the signature of the file as it was
    font.save(TYPEFACES / path.name)


def add_som(path: Path) -> None:
    """Add the som sign (U+20C0) of a newer Noto Sans to the symbols, as their last glyph."""
    newer = TTFont(path)
    symbols = TTFont(TYPEFACES / SYMBOLS, recalcTimestamp=False)
    name = newer.getBestCmap()[SOM]
    pen = DecomposingRecordingPen(newer.getGlyphSet())
    newer.getGlyphSet()[name].draw(pen)
    drawn = TTGlyphPen(None)
    pen.replay(drawn)
    symbols.setGlyphOrder([*symbols.getGlyphOrder(), "som"])
    symbols["glyf"].glyphs["som"] = drawn.glyph()
    symbols["hmtx"]["som"] = newer["hmtx"][name]
    for table in symbols["cmap"].tables:
        if table.isUnicode():
            table.cmap[SOM] = "som"
    symbols.save(TYPEFACES / SYMBOLS)


def cut_symbols(path: Path) -> None:
    """Cut the font of symbols: arrows, check boxes, stars, technical signs, Braille; no pictures."""
    face = hb.Face(hb.Blob.from_file_path(str(path)))
    codes = {code for code in face.unicodes if code == 0x20 or 0x2000 <= code < 0x2C00}
    (TYPEFACES / SYMBOLS).write_bytes(cut(face, codes))


def cut_regions(folder: Path) -> None:
    """Cut the fonts of Chinese, Japanese and Korean against each other."""
    faces = {
        region: hb.Face(hb.Blob.from_file_path(str(folder / f"NotoSans{region}-Regular.ttf")))
        for region in REGIONS
    }
    codes = {region: set(face.unicodes) for region, face in faces.items()}
    kept = choose(codes)
    for region, face in faces.items():
        path = TYPEFACES / f"NotoSans{region}-Regular.ttf"
        path.write_bytes(cut(face, kept[region]))


def choose(codes: dict[str, set[int]]) -> dict[str, set[int]]:
    """Return the characters each font keeps; no character of any is lost but a few of the rarest."""
    big5, korean, simplified = (
        {code for code in range(0x80, 0x10000) if is_in(code, name)}
        for name in ("big5", "cp949", "gb2312")
    )
    japanese = codes["JP"]
    traditional = {
        code
        for code in codes["TC"]
        if not is_hangul(code) and (not is_ideograph(code) or code in big5 or code > 0xFFFF)
    }
    rest = japanese | traditional
    return {
        "JP": japanese,
        "TC": traditional,
        "KR": {code for code in codes["KR"] if not is_ideograph(code) or code in korean},
        "SC": {
            code
            for code in codes["SC"]
            if not is_hangul(code)
            and (not is_ideograph(code) or code in simplified or code not in rest)
        },
    }


def cut(face: Any, codes: set[int]) -> bytes:
    """Write a font with some characters only, without hints and layout tables."""
    wanted = hb.SubsetInput()
    wanted.unicode_set.update(codes)
    wanted.flags = hb.SubsetFlags.NO_HINTING | hb.SubsetFlags.NOTDEF_OUTLINE
    wanted.drop_table_tag_set.update(int.from_bytes(tag, "big") for tag in DROPPED)
    data: bytes = hb.subset(face, wanted).blob.data
    return data


def is_in(code: int, encoding: str) -> bool:
    """Return whether a character has a code in an encoding."""
    try:
        chr(code).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def is_ideograph(code: int) -> bool:
    """Return whether a character is a Chinese one."""
    return 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or code >= 0x20000


def is_hangul(code: int) -> bool:
    """Return whether a character is a Korean letter or syllable."""
    blocks = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
    return any(low <= code <= high for low, high in blocks)


if __name__ == "__main__":
    main()
