"""The fixed font set: faces by family, what they cover, how wide text is, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

import uharfbuzz as hb

SANS: Final = "Noto Sans"
SERIF: Final = "Noto Serif"
MONO: Final = "JetBrains Mono"

FAMILIES: Final = (SANS, SERIF, MONO)
ALIASES: Final = {"sans-serif": SANS, "serif": SERIF, "monospace": MONO}

_BOLD_FROM: Final = 600  # CSS Fonts 4, 5.2: with 400 and 700 at hand, 600 and more choose bold
_MAX_WIDTHS: Final = 20_000  # words kept per face, some 4 MB; a book has some 10,000
_MAX_WORD: Final = 60  # longer texts are hardly met again
_LONGEST_KEPT: Final = 100  # characters: longer texts seldom come again, and memory is bounded

# Characters that are never drawn: soft hyphens that were not used, joiners, marks of direction.
_IGNORED: Final = "\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
_DROP: Final = re.compile(f"[{_IGNORED}]")
# A code is one UTF-16 unit, so what has none of its own is written as the replacement character.
_REPLACE: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_UNUSUAL: Final = re.compile(f"[{_IGNORED}\ud800-\udfff\U00010000-\U0010ffff]")
_ESCAPED: Final = re.compile(rb"[\\()\r]")


class Face:
    """One font of the set. Measures are in em: multiply by the font size to get points.

    A character is written as its UTF-16 code; the embedded font maps codes to glyphs. So the text
    of a page can be copied exactly as it was written, even where two characters share a glyph.
    """

    def __init__(self, family: str, *, is_bold: bool, is_italic: bool) -> None:
        self.family = family
        self.is_bold = is_bold
        self.is_italic = is_italic
        self.name = f"{family.replace(' ', '')}-{_style_name(is_bold, is_italic)}"
        self.data = (files(__package__) / "typefaces" / f"{self.name}.ttf").read_bytes()
        self.hb_face: Any = hb.Face(self.data)
        font: Any = hb.Font(self.hb_face)
        self.units: int = self.hb_face.upem
        self.glyphs: dict[str, int] = {
            chr(code): font.get_nominal_glyph(code)
            for code in self.hb_face.unicodes
            if 0x20 <= code < 0x10000 and not 0x7F <= code < 0xA0  # a control is never a glyph
        }
        self.advances = _Advances(font, self.glyphs)
        self._covered = frozenset(self.glyphs)
        self._widths: dict[str, float] = {}
        extents = font.get_font_extents("ltr")
        self.ascent: float = extents.ascender / self.units
        self.descent: float = -extents.descender / self.units
        self.cap_height = self._metric(font, hb.OTMetricsTag.CAP_HEIGHT)
        self.x_height = self._metric(font, hb.OTMetricsTag.X_HEIGHT)
        self.underline_position = self._metric(font, hb.OTMetricsTag.UNDERLINE_OFFSET)
        self.underline_thickness = self._metric(font, hb.OTMetricsTag.UNDERLINE_SIZE)
        self.strike_position = self._metric(font, hb.OTMetricsTag.STRIKEOUT_OFFSET)

    def __repr__(self) -> str:
        """Name the face."""
        return f"Face({self.name})"

    def measure(self, text: str) -> float:
        """Give the width of `text` in em: the plain sum of advances, kept for the next time."""
        width = self._widths.get(text)
        if width is None:
            width = sum(map(self.advances.__getitem__, text)) / self.units
            if len(text) > _LONGEST_KEPT:
                return width
            if len(self._widths) >= _MAX_WIDTHS:
                self._widths.clear()
            self._widths[text] = width
        return width

    def encode(self, text: str) -> bytes:
        """Write `text` as a PDF string operand for this face, brackets included."""
        codes = written_text(text).encode("utf-16-be")
        if _ESCAPED.search(codes):
            codes = _ESCAPED.sub(_escape, codes)
        return b"(" + codes + b")"

    def encode_spread(self, text: str, adjustment: float) -> bytes:
        """Write `text` as a PDF array whose spaces are wider by `adjustment` thousandths of an em.

        Word spacing (Tw) counts one-byte codes only (PDF 1.7, 9.3.3), so justified lines need this.
        """
        gap = b"\x00 )%d(" % -round(adjustment)
        operand = self.encode(text)
        if operand.count(b"\x00 ") == text.count(" "):
            return b"[" + operand.replace(b"\x00 ", gap) + b"]"
        # Two other codes look like a space where they meet, such as U+0100 U+2014.
        return b"[(" + gap.join(self.encode(word)[1:-1] for word in text.split(" ")) + b")]"

    def covers(self, char: str) -> bool:
        """Tell whether the face has a glyph for `char`, or needs none."""
        return char in self._covered or _DROP.match(char) is not None

    def covers_all(self, text: str) -> bool:
        """Tell whether the face can draw the whole of `text`."""
        if text.isascii() and text.isprintable():
            return True
        return self._covered.issuperset(text) or not self.find_missing(text)

    def find_missing(self, text: str) -> str:
        """Give the characters of `text` that the face cannot draw, each once, in order."""
        return "".join(dict.fromkeys(char for char in text if not self.covers(char)))

    @cached_property
    def bounding_box(self) -> tuple[int, int, int, int]:
        """Give the box all glyphs lie in, in thousandths of an em (OpenType, head)."""
        head = self.table("head")
        corners = (int.from_bytes(head[at : at + 2], "big", signed=True) for at in (36, 38, 40, 42))
        left, bottom, right, top = (round(1000 * value / self.units) for value in corners)
        return left, bottom, right, top

    @cached_property
    def italic_angle(self) -> float:
        """Give the slant in degrees, negative to the right (OpenType, post)."""
        return int.from_bytes(self.table("post")[4:8], "big", signed=True) / 65536

    def table(self, tag: str) -> bytes:
        """Give one table of the font file."""
        data: bytes = self.hb_face.reference_table(tag).data
        return data

    def _keep_width(self, text: str, width: float) -> None:
        if len(self._widths) >= _MAX_WIDTHS:
            self._widths.clear()
        self._widths[text] = width

    def _metric(self, font: Any, tag: Any) -> float:
        return float(font.get_metric_position_with_fallback(tag)) / self.units


def written_text(text: str) -> str:
    """Give the characters that stand in the file for `text`: what is never drawn is left out."""
    if text.isascii() or not _UNUSUAL.search(text):
        return text
    return _REPLACE.sub("\ufffd", _DROP.sub("", text))


def find_face(families: tuple[str, ...], weight: int, is_italic: bool) -> Face:
    """Find the face of the first family of the set that is named, of the nearest weight.

    A family that is not of the set is passed over; with none at all it is Noto Sans.
    """
    return _chain(families, weight >= _BOLD_FROM, is_italic)[0]


def split_by_face(
    families: tuple[str, ...], weight: int, is_italic: bool, text: str
) -> list[tuple[Face, str]]:
    """Cut `text` into runs of the first face that has each character: the families, then the set.

    A character that no face has stays with the first face, which draws its empty box;
    `find_missing` tells which these are.
    """
    chain = _chain(families, weight >= _BOLD_FROM, is_italic)
    if chain[0].covers_all(text):
        return [(chain[0], text)]
    chosen = ((_face_of(chain, char), char) for char in text)
    return [
        (face, "".join(char for _, char in run))
        for face, run in groupby(chosen, key=lambda pair: pair[0])
    ]


def find_missing(text: str) -> str:
    """Give the characters of `text` that no family of the set has, each once, in order."""
    chain = _chain((), False, False)
    if chain[0].covers_all(text):
        return ""
    return "".join(
        char for char in dict.fromkeys(text) if not any(face.covers(char) for face in chain)
    )


class _Advances(dict[str, int]):
    """Advance widths by character; what the font does not have is as wide as its empty box."""

    def __init__(self, font: Any, glyphs: dict[str, int]) -> None:
        super().__init__(
            (char, 0 if _DROP.match(char) else font.get_glyph_h_advance(glyph))
            for char, glyph in glyphs.items()
        )
        self._empty_box: int = font.get_glyph_h_advance(0)

    def __missing__(self, char: str) -> int:
        if _DROP.match(char):
            return 0
        return self.get("\ufffd", self._empty_box) if _REPLACE.match(char) else self._empty_box


@cache
def _face(family: str, is_bold: bool, is_italic: bool) -> Face:
    return Face(family, is_bold=is_bold, is_italic=is_italic)


@lru_cache(maxsize=256)
def _chain(families: tuple[str, ...], is_bold: bool, is_italic: bool) -> tuple[Face, ...]:
    named = [*_known(families), *FAMILIES]
    return tuple(_face(family, is_bold, is_italic) for family in dict.fromkeys(named))


def _known(families: Iterable[str]) -> list[str]:
    by_name = {name.casefold(): name for name in FAMILIES} | ALIASES
    found = (by_name.get(family.casefold()) for family in families)
    return [family for family in found if family]


def _face_of(chain: tuple[Face, ...], char: str) -> Face:
    return next((face for face in chain if face.covers(char)), chain[0])


def _style_name(is_bold: bool, is_italic: bool) -> str:
    return ("Bold" if is_bold else "") + ("Italic" if is_italic else "") or "Regular"


def _escape(match: re.Match[bytes]) -> bytes:
    # A bare carriage return inside a string reads as a line feed (PDF 1.7, 7.3.4.2).
    return b"\\r" if match[0] == b"\r" else b"\\" + match[0]
