"""Shaping: text whose glyphs depend on each other, word by word, by HarfBuzz.

Arabic letters join, Indian vowels stand before their consonant, marks sit on their letter: such
text is written by clusters of glyphs, not by characters. Each cluster carries the characters it
stands for, so that a word can be copied and searched as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

import uharfbuzz as hb

from workers.engine.layout.fonts.faces import Face

# Marks that are set on letters, scripts whose letters depend on each other, and what has no code of
# two bytes. Ideographs, kana and whole Hangul syllables stand for themselves.
_SHAPED: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0590-\u109f\u1100-\u11ff\u135d-\u135f\u1700-\u18af\u1900-\u1aff"
    "\u1b00-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua67d"
    "\ua69e\ua69f\ua6f0\ua6f1\ua800-\ua82f\ua840-\uabff\ud7b0-\ud7ff\ufb1d-\ufdff\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufe70-\ufefc\U00010000-\U0010ffff]"
)
# Scripts whose letters join or change their order, and need the features that are off for others.
_COMPLEX: Final = re.compile(
    "[\u0590-\u109f\u135d-\u135f\u1700-\u18af\u1900-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # JSON can say half a character
_JOINERS: Final = "\u200c\u200d"
_CURSIVE: Final = re.compile("[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")

# Thai is written without spaces, so its words are lines; what it shapes is a letter with its marks.
# Fonts move some vowels by a hundredth of an em when a letter stands before them. That is left out:
# so a phrase is as wide as its words, wherever a line breaks, and letters are shaped once for all.
_THAI: Final = re.compile("[\u0e01-\u0e4e]+")
_THAI_CLUSTER: Final = re.compile(
    "[^\u0e31\u0e33-\u0e3a\u0e47-\u0e4e][\u0e31\u0e33-\u0e3a\u0e47-\u0e4e]*|."
)

# As in the text that is written by characters: kerned, and without ligatures.
_SIMPLE_SCRIPTS: Final = {"liga": False, "clig": False, "calt": False}
_MAX_CLUSTERS: Final = 10_000
_MAX_WORDS: Final = 3_000  # kept by each shaper, some 2 MB
_MAX_WIDTHS: Final = 10_000  # of words, some 2 MB; of Thai syllables there are as many
_MAX_SHAPERS: Final = 4  # kept of each face: directions and languages
_LONGEST_KEPT: Final = 60  # characters: longer texts seldom come again


class Cluster(NamedTuple):
    """Characters that are drawn as one: a letter with its marks, a syllable, a ligature.

    `parts` are its glyphs with their places from the pen, which then moves on by `advance`, all in
    font units. `text` is what it says in the order it is seen in, from left to right.
    """

    parts: tuple[tuple[int, int, int], ...]
    advance: int
    text: str


@dataclass(frozen=True, slots=True)
class ShapedWord:
    """A word's clusters from left to right, and its width in em.

    `ends` is how far from its beginning each character ends; those of one cluster end together.
    """

    clusters: tuple[Cluster, ...]
    width: float
    ends: tuple[float, ...]


T = TypeVar("T")

# Of a shaped word; attributes of many are read more quickly than in a loop.
_WIDTH: Final[Callable[[ShapedWord], float]] = attrgetter("width")
_CLUSTERS: Final[Callable[[ShapedWord], tuple[Cluster, ...]]] = attrgetter("clusters")


def needs_shaping(text: str) -> bool:
    """Tell whether text is written by glyphs rather than by characters."""
    return not text.isascii() and _SHAPED.search(text) is not None


def is_cursive(text: str) -> bool:
    """Tell whether letters of the text join, so that nothing may be put between them."""
    return _CURSIVE.search(text) is not None


def shape_word(face: Face, word: str, *, is_rtl: bool, lang: str) -> ShapedWord:
    """Shape a word, or any text that stands in one direction and one face."""
    return find_shaper(face, is_rtl, lang).words[word]


def find_shaper(face: Face, is_rtl: bool, lang: str) -> Shaper:
    """Return the shaper of a face, direction and language, with what it keeps."""
    return face.cached(_make_shaper, most=_MAX_SHAPERS)(is_rtl, lang)


def _make_shaper(face: Face, is_rtl: bool, lang: str) -> Shaper:
    return Shaper(face, is_rtl=is_rtl, lang=lang)


class Shaper:
    """Shapes text of one face, direction and language; `words` are shaped when they are asked for.

    All characters of a text are looked at here, so loops are maps over dictionaries.
    """

    def __init__(self, face: Face, *, is_rtl: bool, lang: str) -> None:
        self._face = face
        self._is_rtl = is_rtl
        self._lang = lang
        self.words = _Kept(self._shape, most=_MAX_WORDS)
        self._widths = _Kept(self._measure, most=_MAX_WIDTHS)
        self._letters = _Kept(self._shape_run, most=_MAX_WORDS)  # of Thai

    def measure_words(self, words: Iterable[str]) -> list[float]:
        """Give the width of each of some words in em: of Thai there are as many as syllables."""
        return list(map(self._widths.__getitem__, words))

    def shape_clusters(self, word: str) -> Sequence[Cluster]:
        """Give the clusters of a word alone: equal ones of Thai are one."""
        if word in self.words or not self._is_cut_into_letters(word):
            return self.words[word].clusters
        return list(chain.from_iterable(map(_CLUSTERS, self._shape_letters(word))))

    def _is_cut_into_letters(self, word: str) -> bool:
        return not self._is_rtl and _THAI.fullmatch(word) is not None

    def _shape_letters(self, word: str) -> Iterable[ShapedWord]:
        return map(self._letters.__getitem__, _THAI_CLUSTER.findall(word))

    def _measure(self, word: str) -> float:
        if self._is_cut_into_letters(word):
            return sum(map(_WIDTH, self._shape_letters(word)))
        return self.words[word].width

    def _shape(self, word: str) -> ShapedWord:
        if self._is_cut_into_letters(word):
            return _put_together(self._shape_letters(word))
        return self._shape_run(word)

    def _shape_run(self, word: str) -> ShapedWord:
        return _shape_run(self._face, word, is_rtl=self._is_rtl, lang=self._lang)


class _Kept(dict[str, T]):
    """What was found out about words, as many and as long as are worth keeping."""

    def __init__(self, find_out: Callable[[str], T], *, most: int) -> None:
        super().__init__()
        self._find_out = find_out
        self._most = most

    def __missing__(self, word: str) -> T:
        found = self._find_out(word)
        if len(word) <= _LONGEST_KEPT:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found


def _shape_run(face: Face, word: str, *, is_rtl: bool, lang: str) -> ShapedWord:
    buffer: Any = hb.Buffer()
    buffer.add_codepoints(list(map(ord, _SURROGATE.sub("\ufffd", word))))
    buffer.cluster_level = hb.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if is_rtl else "ltr"
    buffer.language = lang
    hb.shape(face.hb_font, buffer, _features_of(face, word))
    glyphs = list(zip(buffer.glyph_infos, buffer.glyph_positions, strict=True))
    starts = _find_starts(word, {info.cluster for info, _ in glyphs})
    ends = dict(zip(starts, [*starts[1:], len(word)], strict=True))
    runs = groupby(glyphs, lambda pair: starts[bisect_right(starts, pair[0].cluster) - 1])
    clusters: dict[int, Cluster] = {}
    for start, run in runs:
        text = _SURROGATE.sub("\ufffd", word[start : ends[start]])
        clusters[start] = _join(run, text[::-1] if is_rtl else text)
    widths = [clusters[start].advance / face.units for start in starts]
    reached = accumulate(widths)
    by_character = [
        end for start, end in zip(starts, reached, strict=True) for _ in range(start, ends[start])
    ]
    return ShapedWord(tuple(clusters.values()), sum(widths), tuple(by_character))


def _features_of(face: Face, word: str) -> dict[str, bool]:
    """Return which features are off: an account's font may have complex scripts beside simple ones."""
    is_simple = face.is_general and not (face.is_own and _COMPLEX.search(word))
    return _SIMPLE_SCRIPTS if is_simple else {}


def _put_together(pieces: Iterable[ShapedWord]) -> ShapedWord:
    """Give the word that shaped pieces make from left to right."""
    clusters: list[Cluster] = []
    ends: list[float] = []
    width = 0.0
    for piece in pieces:
        clusters += piece.clusters
        ends += [width + end for end in piece.ends]
        width += piece.width
    return ShapedWord(tuple(clusters), width, tuple(ends))


def _find_starts(word: str, clusters: set[int]) -> list[int]:
    """Give where the clusters of a word begin: marks stay with their letter."""
    return [
        at
        for at in sorted(clusters)
        if at == 0 or not (word[at] in _JOINERS or unicodedata.category(word[at])[0] == "M")
    ]


def _join(run: Iterable[tuple[Any, Any]], text: str) -> Cluster:
    parts: list[tuple[int, int, int]] = []
    pen = 0
    for info, at in run:
        parts.append((info.codepoint, pen + at.x_offset, at.y_offset))
        pen += at.x_advance
    return _keep_cluster(tuple(parts), pen, text)


# One object for equal clusters of all words: a document looks up the code of each but once.
_keep_cluster = lru_cache(maxsize=_MAX_CLUSTERS)(Cluster)
