"""Faces: coverage, metrics and text encoding of one font.

Text with a ligature would have to be shaped as a whole and encoded by glyphs, at half as much again as
by characters. Instead each ligature is a stand-in: a private character that is measured, kerned and encoded
as any other. Stand-ins exist between layout and encoding only, never in the text of a document.
"""

from __future__ import annotations

import re
from codecs import utf_16_be_encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import accumulate, compress, filterfalse
from operator import add
from typing import Final, TypeVar, cast

import uharfbuzz as hb

from workers.engine.caches import BoundedCache

# Stand-ins are of Unicode's last private plane. Text with such characters is shaped, so they are never
# in text that is encoded by characters. Their codes are those of surrogates, which no character has.
_FIRST: Final = 0x10F000
_MAX_LIGATURES: Final = 0x400
_FIRST_CODE: Final = 0xDC00
STAND_INS: Final = f"{chr(_FIRST)}-{chr(_FIRST + _MAX_LIGATURES - 1)}"  # of a character class
_STAND_IN: Final = re.compile(f"[{STAND_INS}]")
_CODES: Final = {_FIRST + at: _FIRST_CODE + at for at in range(_MAX_LIGATURES)}

SOFT_HYPHEN: Final = "\u00ad"
_MAX_CACHED_TEXTS: Final = 20_000  # per face, some 3 MB
_MAX_EXPANDED_LENGTH: Final = 40  # characters: words, not lines

# Returns the indexes in a word whose characters are in no ligature.
FindUnligated = Callable[[str], Sequence[int]]


class Ligatures:
    """The ligatures of a face that differ from their letters; `letters` are those of each stand-in.

    `is_contextual` means that the font has more than those, by the text around them.
    """

    def __init__(self, found: Mapping[str, int], *, is_contextual: bool) -> None:
        ordered = sorted(found, key=lambda letters: (-len(letters), letters))[:_MAX_LIGATURES]
        self._stand_ins = {letters: chr(_FIRST + at) for at, letters in enumerate(ordered)}
        self.letters = {stand_in: letters for letters, stand_in in self._stand_ins.items()}
        self.glyphs = {self._stand_ins[letters]: found[letters] for letters in ordered}
        self.is_contextual = is_contextual
        self._pattern = re.compile("|".join(_write_patterns(ordered)))
        self._joined: dict[FindUnligated | None, JoinedTexts] = {}

    def are_in(self, text: str) -> bool:
        """Return whether a text has letters that are drawn as a ligature."""
        return self._pattern.search(text) is not None

    def join(self, find_unligated: FindUnligated | None = None) -> JoinedTexts:
        """Return the texts with stand-ins for the letters of ligatures, but for those `find_unligated` names."""
        joined = self._joined.get(find_unligated)
        if joined is None:
            joined = self._joined[find_unligated] = JoinedTexts(self, find_unligated)
        return joined

    def replace(self, text: str) -> str:
        """Return a text with stand-ins for all ligatures."""
        return self._pattern.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        return self._stand_ins[match[0]]


class JoinedTexts(dict[str, str]):
    """Texts with stand-ins for ligatures, by the text as written."""

    def __init__(self, ligatures: Ligatures, find_unligated: FindUnligated | None) -> None:
        super().__init__()
        self.ligatures = ligatures
        # Whether each word has ligatures, possibly across a soft hyphen.
        self.are_in = BoundedCache(
            self._has_ligatures, max_entries=_MAX_CACHED_TEXTS, max_length=_MAX_EXPANDED_LENGTH
        )
        self._extents: dict[tuple[str, ...], tuple[list[float], list[float]]] = {}
        self._find_unligated = find_unligated

    # A part of the keys of glyph styles, and one object per face and rule: compared by identity.

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __missing__(self, text: str) -> str:
        if " " in text:  # words recur, lines do not
            joined = " ".join(map(self.__getitem__, text.split(" ")))
        elif self._find_unligated is None or not self.ligatures.are_in(text):
            joined = self.ligatures.replace(text)
        else:
            joined = self._join_word(text, self._find_unligated)
        if len(text) <= _MAX_EXPANDED_LENGTH:
            if len(self) >= _MAX_CACHED_TEXTS:
                self.clear()
            self[text] = joined
        return joined

    def find_extents(
        self, parts: tuple[str, ...], measure: Callable[[str], float]
    ) -> tuple[list[float], list[float]]:
        """Return the left and right ends of the parts of a word, in em from its start.

        They are those in the whole word: a ligature may stand across two parts. `measure` is that
        of the face with these ligatures.
        """
        found = self._extents.get(parts)
        if found is None:
            whole = accumulate(part.removesuffix(SOFT_HYPHEN) for part in parts)
            rights = [measure(self[text]) for text in whole]
            lefts = [right - measure(self[part]) for right, part in zip(rights, parts, strict=True)]
            found = lefts, rights
            if sum(map(len, parts)) <= _MAX_EXPANDED_LENGTH:
                if len(self._extents) >= _MAX_CACHED_TEXTS:
                    self._extents.clear()
                self._extents[parts] = found
        return found

    def _has_ligatures(self, word: str) -> bool:
        bare = word.replace(SOFT_HYPHEN, "")
        return self[bare] != bare

    def _join_word(self, word: str, find_unligated: FindUnligated) -> str:
        start, parts = 0, []
        for at in (*find_unligated(word), len(word)):
            parts += [self.ligatures.replace(word[start:at]), word[at : at + 1]]
            start = at + 1
        return "".join(parts)


def _write_patterns(ligatures: Sequence[str]) -> Iterator[str]:
    """Yield a pattern for each first letter, which regular expressions find faster; the longest first."""
    for first in dict.fromkeys(letters[0] for letters in ligatures):
        rests = [re.escape(letters[1:]) for letters in ligatures if letters[0] == first]
        yield f"{re.escape(first)}(?:{'|'.join(rests)})"


def expand(text: str, ligatures: Ligatures | None) -> str:
    """Return the letters of a text with stand-ins."""
    letters = ligatures.letters if ligatures is not None else {}
    return "".join(letters.get(char, char) for char in text)


def code_of(char: str) -> int:
    """Return the code of a character or stand-in: two bytes, those of the character in UTF-16."""
    code = ord(char)
    return _CODES.get(code, code)


def write_codes(text: str) -> bytes:
    """Return the codes of a text, which may have stand-ins."""
    if not text.isascii() and _STAND_IN.search(text):
        return text.translate(_CODES).encode("utf-16-be", "surrogatepass")
    return utf_16_be_encode(text)[0]  # `str.encode` takes three times as long


_KERNING_ONLY: Final = {"kern": True, "liga": False, "clig": False, "calt": False, "ccmp": False}

_ASCII: Final = frozenset(map(chr, range(0x20, 0x7F)))

K = TypeVar("K", str, bytes)
T = TypeVar("T")
Features = tuple[tuple[str, int], ...]  # of OpenType, with their values

_MAX_CACHED_WORDS: Final = 20_000  # per face, some 4 MB of each kind; a book has some 10,000
_MAX_CACHED_PAIRS: Final = 50_000  # of characters per face; the text of one language has some 1,000
# Features that HarfBuzz applies by default; ligatures are switched off here.
_ON_BY_DEFAULT: Final = frozenset({"kern", "ccmp", "locl", "mark", "mkmk", "rlig", "rclt"})
_MAX_CACHED_FEATURE_SETS: Final = 32  # per face
_MAX_CACHED_LENGTH: Final = 100  # characters: longer texts seldom recur

# Default ignorable characters: unused soft hyphens, joiners, bidirectional controls,
# variation selectors, tags.
_DEFAULT_IGNORABLE: Final = "\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_IGNORABLE: Final = re.compile(f"[{_DEFAULT_IGNORABLE}]")
# Latin letters, punctuation, currency signs and the minus, without the soft hyphen.
_SIMPLE: Final = re.compile(
    r"[ -~\u00a0-\u00ac\u00ae-\u024f\u2010-\u2027\u202f\u2030-\u205e\u20a0-\u20c0\u2212]*"
)
# A code is one UTF-16 unit, so a supplementary character is encoded as U+FFFD.
# Stand-ins for ligatures are encoded, so they are not among these.
_BEYOND: Final = "\ud800-\udfff\U00010000-\U0010efff\U0010f400-\U0010ffff"
_SUPPLEMENTARY: Final = re.compile(f"[{_BEYOND}]")
_NOT_ENCODED: Final = re.compile(f"[{_DEFAULT_IGNORABLE}{_BEYOND}]")
_WITH_LIGATURES: Final = {**_KERNING_ONLY, "liga": True}
_KERNED: Final = re.compile(rb"\)-?\d+\(")  # only a kern matches: brackets of text are escaped

_SPACE: Final = b"\0 "  # its code
_ESCAPED: Final = re.compile(rb"[\\()\r]")

_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_BY_ITSELF: Final = b"by itself"  # of texts whose operand depends on their digits

# Figures are never kerned, so that they align in columns.
_FIGURES: Final = re.compile(r"[\d.,:/ \u00a0\u202f%€$£+\-\u2212]*")


# The letters that are tried for ligatures, how many in each, and the texts of each length: a font may
# ligate all letters with each other.
_FIRST_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS: Final = f"{_FIRST_LETTERS}àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßāćčďđēęěğīłńňőœřśşšťůűźżž"
_MAX_LENGTH: Final = 4  # letters of a ligature
_MAX_TRIED: Final = 10_000  # texts of each length: a font may ligate all letters with each other


@dataclass(frozen=True, slots=True)
class Traits:
    """Traits of a font by design, beside its metrics."""

    is_bold: bool = False
    is_italic: bool = False
    is_emboldened: bool = False  # synthesised bold (CSS Fonts 4, font-synthesis)
    is_general: bool = True  # has Latin, Greek and Cyrillic
    is_ideographic: bool = False
    is_custom: bool = False  # an account's, with any scripts


class Face:
    """One font, of the product or of an account. Metrics are in em: multiply by the font size for points.

    The code of a character is its UTF-16 unit, and the embedded font maps codes to glyphs, so copied
    text is exactly what was written, even where two characters share a glyph (decision 495). Text
    that `needs_shaping` is encoded by its glyphs instead (shaping.py).
    """

    shapes = True

    def __init__(self, family: str, hb_face: hb.Face, *, name: str, traits: Traits) -> None:
        self.family = family
        self.name = name  # as in the file
        self.is_general = traits.is_general
        self.is_ideographic = traits.is_ideographic
        self.is_bold = traits.is_bold
        self.is_italic = traits.is_italic
        self.is_emboldened = traits.is_emboldened
        self.is_own = traits.is_custom
        self.is_colored = bool(hb_face.has_color_paint or hb_face.has_color_layers)
        self._caches: dict[object, Callable[..., object]] = {}
        self.hb_face: hb.Face = hb_face
        self.hb_font = hb.Font(self.hb_face)
        self.units: int = self.hb_face.upem
        self._covered = frozenset(map(chr, filter(_is_drawn, self.hb_face.unicodes)))
        # The product's text fonts have all of ASCII; one of an account may have emoji only.
        self._has_ascii = not self.is_own or self._covered.issuperset(_ASCII)
        extents = self.hb_font.get_font_extents("ltr")
        self.ascent: float = extents.ascender / self.units
        self.descent: float = -extents.descender / self.units
        self.cap_height = self._metric(hb.OTMetricsTag.CAP_HEIGHT)
        self.x_height = self._metric(hb.OTMetricsTag.X_HEIGHT)
        self.underline_position = self._metric(hb.OTMetricsTag.UNDERLINE_OFFSET)
        self.underline_thickness = self._metric(hb.OTMetricsTag.UNDERLINE_SIZE)
        self.strike_position = self._metric(hb.OTMetricsTag.STRIKEOUT_OFFSET)

    def with_cache(self, function: Callable[..., T], *, max_entries: int) -> Callable[..., T]:
        """Return `function` with this face as its first argument and a cache that is freed with the face."""
        found = self._caches.get(function)
        if found is None:
            found = self._caches[function] = lru_cache(maxsize=max_entries)(partial(function, self))
        return cast("Callable[..., T]", found)

    def clear_caches(self) -> None:
        """Clear the caches, so that the face can be freed; it stays usable."""
        self._caches.clear()
        for name in ("_widths", "_codes", "_operands", "_pattern_widths", "_pattern_operands"):
            self.__dict__.pop(name, None)  # they refer to the face

    @cached_property
    def _widths(self) -> BoundedCache[str, float]:
        return _cache(self._measure)

    @cached_property
    def _codes(self) -> BoundedCache[str, bytes]:
        return _cache(self._write_kerned)

    @cached_property
    def _operands(self) -> BoundedCache[str, bytes]:
        return _cache(self._write_operand)

    @cached_property
    def _pattern_widths(self) -> BoundedCache[bytes, float]:
        return _cache(self._measure_pattern)

    @cached_property
    def _pattern_operands(self) -> BoundedCache[bytes, bytes]:
        return _cache(self._encode_pattern)

    @cached_property
    def glyphs(self) -> dict[str, int]:
        """The glyph index by character (OpenType, cmap)."""
        find = self.hb_font.get_nominal_glyph
        return {char: find(ord(char)) for char in self._covered}

    @cached_property
    def advances(self) -> _Advances:
        """The advance width by character, in font units (OpenType, hmtx)."""
        return _Advances(self.hb_font, self.glyphs)

    @cached_property
    def _kerns(self) -> _Kerns:
        return _Kerns(self.hb_font, self.advances)

    def __repr__(self) -> str:
        """Return the name of the face."""
        return f"Face({self.name})"

    def measure(self, text: str) -> float:
        """Return the advance width of `text` in em, kerned; the result is cached."""
        return self._widths[text]

    def measure_all(self, texts: Sequence[str]) -> list[float]:
        """Return the advance widths of many texts, as `measure` does of each."""
        patterns = self._find_patterns("\n".join(texts), len(texts))
        if patterns is None:
            return [*map(self.measure, texts)]
        return [*map(self._pattern_widths.__getitem__, patterns)]

    def measure_words(self, words: Sequence[str]) -> list[float]:
        """Return the advance width of each word in em."""
        return [*map(self._widths.__getitem__, words)]

    def _measure(self, text: str) -> float:
        units = sum(map(self.advances.__getitem__, text))
        if not _FIGURES.fullmatch(text):
            units += sum(map(self._kerns.__getitem__, map(add, text, text[1:])))
        return units / self.units

    def _find_patterns(self, joined: str, count: int) -> list[bytes] | None:
        """Return the texts in `count` lines with zeros for their digits, in one go.

        None where some of them are not ASCII, hold a line end, or have figures of several widths.
        """
        if not joined.isascii() or not self._has_equal_figures:
            return None
        patterns = joined.encode().translate(_ZEROS).split(b"\n")
        return patterns if len(patterns) == count else None

    def _measure_pattern(self, pattern: bytes) -> float:
        return self._measure(pattern.decode())

    def _encode_pattern(self, pattern: bytes) -> bytes:
        """Return what all texts of a pattern are encoded as, empty for their characters as they are.

        `_BY_ITSELF` where it depends on the digits: kerned or escaped text with a number.
        """
        text = pattern.decode()
        operand = self._write_operand(text)
        if operand == _write_plain(text):
            return b""
        return _BY_ITSELF if b"0" in pattern else operand

    @cached_property
    def _has_equal_figures(self) -> bool:
        return len({self.advances[figure] for figure in "0123456789"}) == 1

    def kern(self, first: str, second: str) -> float:
        """Return the kern between two characters in em, mostly 0."""
        return self._kerns[first + second] / self.units

    def depth(self, text: str) -> float:
        """Return how far the ink of a text reaches below the baseline, in em."""
        found = (self.hb_font.get_glyph_extents(self.glyphs.get(char, 0)) for char in text)
        return max((-(box.y_bearing + box.height) for box in found if box), default=0) / self.units

    def encode(self, text: str) -> bytes:
        """Return `text` as the operand of Tj, or of TJ where pairs are kerned (ISO 32000-1 9.4.3)."""
        return self._operands[text]

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        """Return the operands of many texts, as `encode` does of each."""
        joined = "\n".join(texts)
        patterns = self._find_patterns(joined, len(texts))
        if patterns is None:
            return [*map(self.encode, texts)]
        operands = _write_plain(joined).replace(b"\0\n", b")\n(").split(b"\n")
        others = [*map(self._pattern_operands.__getitem__, patterns)]
        for at in compress(range(len(others)), others):
            other = others[at]
            operands[at] = self.encode(texts[at]) if other is _BY_ITSELF else other
        return operands

    def _write_operand(self, text: str) -> bytes:
        if _FIGURES.fullmatch(text):
            return b"(" + _write_string(text) + b")"
        codes = _SPACE.join(map(self._codes.__getitem__, text.split(" ")))
        if b")" in codes and _KERNED.search(codes):
            return b"[(" + codes + b")]"
        return b"(" + codes + b")"

    def encode_justified(self, text: str, adjustment: float) -> bytes:
        """Return `text` as the operand of TJ, its spaces wider by `adjustment` thousandths of an em.

        Word spacing is for spaces of one byte only (ISO 32000-1, 9.3.3).
        """
        gap = _SPACE + b")%d(" % -round(adjustment)
        return b"[(" + gap.join(map(self._codes.__getitem__, text.split(" "))) + b")]"

    def append_space(self, operand: bytes) -> bytes:
        """Return the operand of a text with a space at its end."""
        end = b")]" if operand[-1:] == b"]" else b")"
        return operand[: -len(end)] + _SPACE + end

    def _write_kerned(self, word: str) -> bytes:
        """Return the inside of a string operand; a kern ends the string and starts another."""
        kerns = list(map(self._kerns.__getitem__, map(add, word, word[1:])))
        if not any(kerns):
            return _write_string(word)
        written = []
        start = 0
        for end, kern in enumerate(kerns, start=1):
            if kern:
                written.append(_write_string(word[start:end]))
                written.append(b")%d(" % -round(kern * 1000 / self.units))
                start = end
        written.append(_write_string(word[start:]))
        return b"".join(written)

    def covers(self, char: str) -> bool:
        """Return whether the face has a glyph for `char`, or `char` needs none."""
        return char in self._covered or _IGNORABLE.match(char) is not None

    def draws_simply(self, text: str) -> bool:
        """Return whether the face draws all of `text` itself, a glyph for each character from left to right.

        False for some texts of which this holds: it is a quick answer for words and numbers.
        """
        return (self._has_ascii and text.isascii()) or (
            _SIMPLE.fullmatch(text) is not None and self._covered.issuperset(text)
        )

    def covers_all(self, text: str) -> bool:
        """Return whether the face can draw all of `text`."""
        if self._has_ascii and text.isascii() and text.isprintable():
            return True
        return all(map(_IGNORABLE.match, filterfalse(self._covered.__contains__, text)))

    @cached_property
    def features(self) -> frozenset[str]:
        """The tags of the OpenType features that the font has for any script (GSUB and GPOS)."""
        face = self.hb_face
        found: set[str] = {"kern"} if "kern" in face.table_tags else set()
        for table in ("GSUB", "GPOS"):
            for script in range(len(face.get_table_script_tags(table))):
                found.update(face.get_language_feature_tags(table, script))
        return frozenset(found)

    def find_supported_features(self, features: Features) -> Features:
        """Return the features that the font has; `tnum` only where its figures are not tabular already."""
        return (
            self.with_cache(_find_supported_features, max_entries=_MAX_CACHED_FEATURE_SETS)(
                features
            )
            if features
            else ()
        )

    @cached_property
    def ligatures(self) -> Ligatures | None:
        """The common ligatures, None without any that differ from their letters."""
        found = find_ligatures(self)
        if found is not None:
            for stand_in, glyph in found.glyphs.items():
                self.advances[stand_in] = self.hb_font.get_glyph_h_advance(glyph)
            self._kerns.ligatures = found
        return found

    def find_missing_features(self, features: Features) -> list[str]:
        """Return the tags of the enabled features that the font lacks.

        Figures may be tabular or lining by design, and few fonts have contextual ligatures beside
        the common ones, so those tags are never missing.
        """
        by_design = ("tnum", "lnum", "clig")
        return [
            tag
            for tag, value in features
            if value and tag not in self.features and tag not in by_design
        ]

    def find_missing(self, text: str) -> str:
        """Return the distinct characters of `text` that the face cannot draw, in order."""
        return "".join(dict.fromkeys(char for char in text if not self.covers(char)))

    @cached_property
    def bounding_box(self) -> tuple[int, int, int, int]:
        """The bounding box of all glyphs in thousandths of an em: left, bottom, right, top (OpenType, head)."""
        head = self.table("head")
        corners = (int.from_bytes(head[at : at + 2], "big", signed=True) for at in (36, 38, 40, 42))
        left, bottom, right, top = (round(1000 * value / self.units) for value in corners)
        return left, bottom, right, top

    @cached_property
    def italic_angle(self) -> float:
        """The slant in degrees counter-clockwise, negative to the right (OpenType, post)."""
        return int.from_bytes(self.table("post")[4:8], "big", signed=True) / 65536

    def table(self, tag: str) -> bytes:
        """Return one table of the font file."""
        data: bytes = self.hb_face.reference_table(tag).data
        return data

    def _metric(self, tag: object) -> float:
        return float(self.hb_font.get_metric_position_with_fallback(tag)) / self.units


def encodable_text(text: str) -> str:
    """Return the characters that are encoded for `text`: default ignorable ones are removed."""
    if text.isascii() or not _NOT_ENCODED.search(text):
        return text
    return _SUPPLEMENTARY.sub("\ufffd", _IGNORABLE.sub("", text))


def _write_string(text: str) -> bytes:
    """Return the inside of a PDF string (ISO 32000-1 7.3.4.2)."""
    codes = write_codes(encodable_text(text))
    return _ESCAPED.sub(_escape, codes) if _ESCAPED.search(codes) else codes


def _escape(match: re.Match[bytes]) -> bytes:
    # A reader would take a carriage return in a string for a line feed.
    return b"\\r" if match[0] == b"\r" else b"\\" + match[0]


def _write_plain(text: str) -> bytes:
    """Return text without kerns and escapes as the operand of Tj."""
    return b"(" + write_codes(text) + b")"


def _is_drawn(code: int) -> bool:
    return code >= 0x20 and not 0x7F <= code < 0xA0  # controls have no glyph


def _find_supported_features(face: Face, features: Features) -> Features:
    usable = tuple(
        (tag, value)
        for tag, value in features
        if tag in face.features and (value or tag in _ON_BY_DEFAULT)
    )
    others = tuple((tag, value) for tag, value in usable if tag != "tnum")
    return others if len(others) < len(usable) and _has_tabular_figures(face, others) else usable


def _has_tabular_figures(face: Face, features: Features) -> bool:
    """Return whether all figures are equally wide with these features."""
    buffer = hb.Buffer()
    buffer.add_str("0123456789")
    buffer.guess_segment_properties()
    chosen = {tag: value for tag, value in features if tag not in ("frac", "afrc", "ordn")}
    hb.shape(face.hb_font, buffer, {**chosen, "kern": False})
    return len({position.x_advance for position in buffer.glyph_positions}) == 1


def find_ligatures(face: Face) -> Ligatures | None:
    """Return the common ligatures of a face, None without any.

    A ligature as wide as its letters looks like them, as in Noto Sans, and is left out.
    """
    if "liga" not in face.features or not (face.is_general or face.is_own):
        return None
    letters = [letter for letter in _LETTERS if face.covers(letter)]
    found: dict[str, int] = {}
    longer = [first + second for first in _FIRST_LETTERS for second in letters]
    while longer and len(longer[0]) <= _MAX_LENGTH:
        ligated = _shape_all(face, longer)
        found |= {
            text: glyph
            for text, (glyph, advance) in ligated.items()
            if advance != round(face.units * face.measure(text))
        }
        longer = [text + letter for text in ligated for letter in letters][:_MAX_TRIED]
    return Ligatures(found, is_contextual="clig" in face.features) if found else None


def _shape_all(face: Face, texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the glyph and the advance of the texts that the font draws as one glyph."""
    buffer = hb.Buffer()
    buffer.add_str(" ".join(texts))
    buffer.guess_segment_properties()
    hb.shape(face.hb_font, buffer, {"liga": True, "clig": False, "calt": False, "kern": False})
    by_start: dict[int, list[tuple[int, int]]] = {}
    for info, at in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        by_start.setdefault(info.cluster, []).append((info.codepoint, at.x_advance))
    found: dict[str, tuple[int, int]] = {}
    start = 0
    for text in texts:
        inside = (by_start.get(start + at) for at in range(1, len(text)))
        glyphs = by_start.get(start, [])
        if len(glyphs) == 1 and not any(inside):
            found[text] = glyphs[0]
        start += len(text) + 1
    return found


def _cache(compute: Callable[[K], T]) -> BoundedCache[K, T]:
    return BoundedCache(compute, max_entries=_MAX_CACHED_WORDS, max_length=_MAX_CACHED_LENGTH)


class _Advances(dict[str, int]):
    """Advance widths by character; a missing one is as wide as the glyph .notdef."""

    def __init__(self, font: hb.Font, glyphs: dict[str, int]) -> None:
        super().__init__(
            (char, 0 if _IGNORABLE.match(char) else font.get_glyph_h_advance(glyph))
            for char, glyph in glyphs.items()
        )
        self._empty_box: int = font.get_glyph_h_advance(0)

    def __missing__(self, char: str) -> int:
        if _IGNORABLE.match(char):
            return 0
        return (
            self.get("\ufffd", self._empty_box) if _SUPPLEMENTARY.match(char) else self._empty_box
        )


class _Kerns(dict[str, int]):
    """Kerns by pair of characters, in font units."""

    def __init__(self, font: object, advances: _Advances) -> None:
        super().__init__()
        self._font = font
        self._advances = advances
        self.ligatures: Ligatures | None = None

    def __missing__(self, pair: str) -> int:
        if len(self) >= _MAX_CACHED_PAIRS:
            self.clear()
        kern = self[pair] = self._compute(pair)
        return kern

    def _compute(self, pair: str) -> int:
        first, second = pair[0], pair[1]
        if " " in pair or first.isdigit() or second.isdigit() or _NOT_ENCODED.search(pair):
            return 0
        buffer = hb.Buffer()
        letters = expand(pair, self.ligatures)
        buffer.add_str(letters)
        buffer.guess_segment_properties()
        hb.shape(self._font, buffer, _KERNING_ONLY if letters == pair else _WITH_LIGATURES)
        positions = buffer.glyph_positions
        if len(positions) != 2:
            return 0
        advance: int = positions[0].x_advance
        return advance - self._advances[first]
