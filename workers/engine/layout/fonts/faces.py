"""Faces: what one font covers, how wide its text is, and how text is written in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import filterfalse
from operator import add
from typing import Any, Final, TypeVar, cast

import uharfbuzz as hb

_KERNING_ALONE: Final = {"kern": True, "liga": False, "clig": False, "calt": False, "ccmp": False}

T = TypeVar("T")

_MAX_WORDS: Final = 20_000  # kept per face, some 4 MB of each kind; a book has some 10,000
_MAX_PAIRS: Final = 50_000  # of characters kept per face; the text of one language has some 1,000
_LONGEST_KEPT: Final = 100  # characters: longer texts seldom come again, and memory is bounded

# Characters that are never drawn: soft hyphens that were not used, joiners, marks of direction,
# selectors of a sign's form, which emoji bring along.
_IGNORED: Final = (
    "\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
_DROP: Final = re.compile(f"[{_IGNORED}]")
# A code is one UTF-16 unit, so what has none of its own is written as the replacement character.
_REPLACE: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_UNUSUAL: Final = re.compile(f"[{_IGNORED}\ud800-\udfff\U00010000-\U0010ffff]")
_KERNED: Final = re.compile(rb"\)-?\d+\(")  # only a kern has such: brackets of text are escaped
_ESCAPED: Final = re.compile(rb"[\\()\r\x80-\xff]")

# Figures are as wide as each other so that they stand in columns: they are never kerned.
_FIGURES: Final = re.compile(r"[\d.,:/ \u00a0\u202f%€$£+\-\u2212]*")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a font is by design, beyond its measures."""

    is_bold: bool = False
    is_italic: bool = False
    is_emboldened: bool = False  # bold by stronger outlines, as its design has no bold font
    is_general: bool = True  # of Latin, Greek and Cyrillic, not of one other script
    is_ideographic: bool = False
    is_own: bool = False  # an account's: it may have letters of any script


class Face:
    """One font, of the house or of an account. Measures are in em: multiply by the font size to get
    points.

    A character is written as its UTF-16 code; the embedded font maps codes to glyphs. So the text
    of a page can be copied exactly as it was written, even where two characters share a glyph.
    Text that `needs_shaping` is written by its glyphs instead (fonts/shaping.py).
    """

    shapes = True

    def __init__(self, family: str, hb_face: Any, *, name: str, traits: Traits) -> None:
        self.family = family
        self.name = name  # as it stands in the file
        self.is_general = traits.is_general
        self.is_ideographic = traits.is_ideographic
        self.is_bold = traits.is_bold
        self.is_italic = traits.is_italic
        self.is_emboldened = traits.is_emboldened
        self.is_own = traits.is_own
        self._caches: dict[object, Callable[..., Any]] = {}
        self.hb_face: Any = hb_face
        self.hb_font: Any = hb.Font(self.hb_face)
        self.units: int = self.hb_face.upem
        self._covered = frozenset(map(chr, filter(_is_drawn, self.hb_face.unicodes)))
        self._widths: dict[str, float] = {}
        self._codes: dict[str, bytes] = {}
        self._operands: dict[str, bytes] = {}
        extents = self.hb_font.get_font_extents("ltr")
        self.ascent: float = extents.ascender / self.units
        self.descent: float = -extents.descender / self.units
        self.cap_height = self._metric(hb.OTMetricsTag.CAP_HEIGHT)
        self.x_height = self._metric(hb.OTMetricsTag.X_HEIGHT)
        self.underline_position = self._metric(hb.OTMetricsTag.UNDERLINE_OFFSET)
        self.underline_thickness = self._metric(hb.OTMetricsTag.UNDERLINE_SIZE)
        self.strike_position = self._metric(hb.OTMetricsTag.STRIKEOUT_OFFSET)

    def cached(self, work: Callable[..., T], *, most: int) -> Callable[..., T]:
        """Return `work` with this face as its first argument, and a cache that ends with the face."""
        found = self._caches.get(work)
        if found is None:
            found = self._caches[work] = lru_cache(maxsize=most)(partial(work, self))
        return cast("Callable[..., T]", found)

    def clear_caches(self) -> None:
        """Drop all that was worked out of this face, so that it can be freed; it stays usable."""
        self._caches.clear()

    @cached_property
    def glyphs(self) -> dict[str, int]:
        """Give the glyph of each character."""
        find = self.hb_font.get_nominal_glyph
        return {char: find(ord(char)) for char in self._covered}

    @cached_property
    def advances(self) -> _Advances:
        """Give the advance width of each character, in font units."""
        return _Advances(self.hb_font, self.glyphs)

    @cached_property
    def _kerns(self) -> _Kerns:
        return _Kerns(self.hb_font, self.advances)

    def __repr__(self) -> str:
        """Name the face."""
        return f"Face({self.name})"

    def measure(self, text: str) -> float:
        """Give the width of `text` in em, kerned; kept for the next time."""
        width = self._widths.get(text)
        if width is None:
            units = sum(map(self.advances.__getitem__, text))
            if not _FIGURES.fullmatch(text):
                units += sum(map(self._kerns.__getitem__, map(add, text, text[1:])))
            width = units / self.units
            if len(text) > _LONGEST_KEPT:
                return width
            if len(self._widths) >= _MAX_WORDS:
                self._widths.clear()
            self._widths[text] = width
        return width

    def kern(self, first: str, second: str) -> float:
        """Give by how much `second` is moved when it follows `first`, in em; mostly 0."""
        return self._kerns[first + second] / self.units

    def encode(self, text: str) -> bytes:
        """Write `text` as a PDF operand for this face: a string, or an array where pairs are kerned."""
        operand = self._operands.get(text)
        if operand is None:
            operand = self._write_operand(text)
            if len(text) <= _LONGEST_KEPT:
                if len(self._operands) >= _MAX_WORDS:
                    self._operands.clear()
                self._operands[text] = operand
        return operand

    def _write_operand(self, text: str) -> bytes:
        if _FIGURES.fullmatch(text):
            return b"(" + _write(text) + b")"
        codes = b"\x00 ".join(map(self._encode_word, text.split(" ")))
        if b")" in codes and _KERNED.search(codes):
            return b"[(" + codes + b")]"
        return b"(" + codes + b")"

    def encode_spread(self, text: str, adjustment: float) -> bytes:
        """Write `text` as a PDF array whose spaces are wider by `adjustment` thousandths of an em.

        Word spacing (Tw) counts one-byte codes only (PDF 1.7, 9.3.3), so justified lines need this.
        """
        gap = b"\x00 )%d(" % -round(adjustment)
        return b"[(" + gap.join(map(self._encode_word, text.split(" "))) + b")]"

    def _encode_word(self, word: str) -> bytes:
        """Write the inside of a string operand; a kern ends the string and begins another."""
        codes = self._codes.get(word)
        if codes is None:
            codes = self._write_kerned(word)
            if len(word) <= _LONGEST_KEPT:
                if len(self._codes) >= _MAX_WORDS:
                    self._codes.clear()
                self._codes[word] = codes
        return codes

    def _write_kerned(self, word: str) -> bytes:
        kerns = list(map(self._kerns.__getitem__, map(add, word, word[1:])))
        if not any(kerns):
            return _write(word)
        written = []
        start = 0
        for end, kern in enumerate(kerns, start=1):
            if kern:
                written.append(_write(word[start:end]))
                written.append(b")%d(" % -round(kern * 1000 / self.units))
                start = end
        written.append(_write(word[start:]))
        return b"".join(written)

    def covers(self, char: str) -> bool:
        """Tell whether the face has a glyph for `char`, or needs none."""
        return char in self._covered or _DROP.match(char) is not None

    def covers_all(self, text: str) -> bool:
        """Tell whether the face can draw the whole of `text`."""
        if text.isascii() and text.isprintable():
            return True
        return all(map(_DROP.match, filterfalse(self._covered.__contains__, text)))

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

    def _metric(self, tag: Any) -> float:
        return float(self.hb_font.get_metric_position_with_fallback(tag)) / self.units


def written_text(text: str) -> str:
    """Give the characters that stand in the file for `text`: what is never drawn is left out."""
    if text.isascii() or not _UNUSUAL.search(text):
        return text
    return _REPLACE.sub("\ufffd", _DROP.sub("", text))


def _write(text: str) -> bytes:
    """Write the inside of a PDF string."""
    codes = written_text(text).encode("utf-16-be")
    return _ESCAPED.sub(_escape, codes) if _ESCAPED.search(codes) else codes


def _is_drawn(code: int) -> bool:
    return code >= 0x20 and not 0x7F <= code < 0xA0  # a control is never a glyph


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


class _Kerns(dict[str, int]):
    """How much nearer two characters stand than their advances say, by pair, in font units."""

    def __init__(self, font: Any, advances: _Advances) -> None:
        super().__init__()
        self._font = font
        self._advances = advances

    def __missing__(self, pair: str) -> int:
        if len(self) >= _MAX_PAIRS:
            self.clear()
        kern = self[pair] = self._work_out(pair)
        return kern

    def _work_out(self, pair: str) -> int:
        first, second = pair[0], pair[1]
        if " " in pair or first.isdigit() or second.isdigit() or _UNUSUAL.search(pair):
            return 0
        buffer: Any = hb.Buffer()
        buffer.add_str(pair)
        buffer.guess_segment_properties()
        hb.shape(self._font, buffer, _KERNING_ALONE)
        positions = buffer.glyph_positions
        if len(positions) != 2:
            return 0
        advance: int = positions[0].x_advance
        return advance - self._advances[first]


def _escape(match: re.Match[bytes]) -> bytes:
    """Escape a byte of a string (PDF 1.7, 7.3.4.2): content is ASCII, as ReportLab's canvas takes it."""
    # A bare carriage return inside a string reads as a line feed.
    if match[0] == b"\r":
        return b"\\r"
    return b"\\" + match[0] if match[0].isascii() else b"\\%03o" % match[0][0]
