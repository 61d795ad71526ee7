"""Shaping by HarfBuzz: text whose glyphs depend on each other, word by word.

Arabic letters join, Indic vowels are reordered, marks attach to letters: such text is encoded by
clusters of glyphs, not by characters. Each cluster has the characters it stands for, so that words
can be copied and searched as written.
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

from workers.engine.caches import BoundedCache
from workers.engine.fonts.faces import Face, Features, FindUnligated

# Combining marks, scripts whose glyphs depend on each other, and characters without a code of
# two bytes. Ideographs, kana and precomposed Hangul syllables need no shaping.
_SHAPED: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0590-\u109f\u1100-\u11ff\u135d-\u135f\u1700-\u18af\u1900-\u1aff"
    "\u1b00-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua67d"
    "\ua69e\ua69f\ua6f0\ua6f1\ua800-\ua82f\ua840-\uabff\ud7b0-\ud7ff\ufb1d-\ufdff\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufe70-\ufefc\U00010000-\U0010ffff]"
)
# Scripts whose letters join or are reordered, and need the features that are off for others.
_COMPLEX: Final = re.compile(
    "[\u0590-\u109f\u135d-\u135f\u1700-\u18af\u1900-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc]"
)
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")  # JSON can contain unpaired surrogates
_EMOJI_PRESENTATION: Final = "\ufe0f"
_JOINERS: Final = "\u200c\u200d"
_CURSIVE: Final = re.compile("[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")

# Thai is written without spaces, so it is shaped by letters with their marks, not by words.
# Fonts kern some vowels after a letter by a hundredth of an em. That is ignored,
# so a phrase is as wide as its words wherever a line breaks, and each cluster is shaped once.
_THAI: Final = re.compile("[\u0e01-\u0e4e]+")
_THAI_CLUSTER: Final = re.compile(
    "[^\u0e31\u0e33-\u0e3a\u0e47-\u0e4e][\u0e31\u0e33-\u0e3a\u0e47-\u0e4e]*|."
)

# As for text encoded by characters: kerned, without ligatures.
_SIMPLE_SCRIPTS: Final = {"liga": False, "clig": False, "calt": False}
_Settings = dict[str, int | bool | list[tuple[int, int, int]]]
_FRACTIONS: Final = {"frac", "afrc"}
_FRACTION: Final = re.compile(r"(?<![\d.,/\u2044])\d+[/\u2044]\d+(?!\d|[.,/\u2044]\d)", re.ASCII)
_NUMBER: Final = re.compile(r"[\d.,:/]{2,}", re.ASCII)  # kerned figures would not align in columns
_FIGURE_FEATURES: Final = frozenset({"lnum", "onum", "pnum", "tnum", "frac", "afrc", "zero"})
_FIGURE: Final = re.compile(r"\d")

_MAX_CACHED_CLUSTERS: Final = 10_000
_MAX_CACHED_WORDS: Final = 3_000  # per shaper, some 2 MB
_MAX_CACHED_WIDTHS: Final = 10_000  # of words, some 2 MB; Thai has as many syllables
_MAX_CACHED_SHAPERS: Final = 8  # per face: directions, languages and features
_MAX_CACHED_LENGTH: Final = 60  # characters: longer texts seldom recur


class Cluster(NamedTuple):
    """Characters drawn as one: a letter with its marks, a syllable, a ligature.

    `glyphs` are (glyph index, x, y) from the pen position, which then advances by `advance`; all in
    font units. `text` is its characters in visual order.
    """

    glyphs: tuple[tuple[int, int, int], ...]
    advance: int
    text: str


@dataclass(frozen=True, slots=True)
class ShapedWord:
    """The clusters of a word in visual order, and its width in em.

    `ends` is the distance from the start of the word to the end of each character, in logical
    order; characters of one cluster end together.
    """

    clusters: tuple[Cluster, ...]
    width: float
    ends: tuple[float, ...]


T = TypeVar("T")

# `map` with these reads attributes faster than a loop.
_WIDTH: Final[Callable[[ShapedWord], float]] = attrgetter("width")
_CLUSTERS: Final[Callable[[ShapedWord], tuple[Cluster, ...]]] = attrgetter("clusters")


def needs_shaping(text: str) -> bool:
    """Return whether a text is encoded by glyphs rather than by characters."""
    return not text.isascii() and _SHAPED.search(text) is not None


def is_cursive(text: str) -> bool:
    """Return whether letters of a text join, which letter spacing must not separate."""
    return _CURSIVE.search(text) is not None


def has_effect(features: Features, face: Face, text: str | None = None) -> bool:
    """Return whether features change how a face draws a text; `text` None means any text."""
    usable = face.find_supported_features(features)
    if not usable:
        return False
    if text is None or any(tag not in _FIGURE_FEATURES for tag, _ in usable):
        return True
    return _FIGURE.search(text) is not None


def has_ligatures(face: Face, text: str) -> bool:
    """Return whether a text has letters that the face draws as a common ligature."""
    return face.ligatures is not None and face.ligatures.are_in(text)


def shape_word(face: Face, word: str, *, is_rtl: bool, lang: str) -> ShapedWord:
    """Shape a word, or any text of one direction and face."""
    return find_shaper(face, is_rtl, lang).words[word]


def find_shaper(
    face: Face,
    is_rtl: bool,
    lang: str,
    features: Features = (),
    find_unligated: FindUnligated | None = None,
) -> Shaper:
    """Return the cached shaper of a face, direction, language and feature set."""
    return face.with_cache(_make_shaper, max_entries=_MAX_CACHED_SHAPERS)(
        is_rtl, lang, features, find_unligated
    )


def _make_shaper(
    face: Face, is_rtl: bool, lang: str, features: Features, find_unligated: FindUnligated | None
) -> Shaper:
    usable = face.find_supported_features(features)
    return Shaper(face, is_rtl=is_rtl, lang=lang, features=usable, find_unligated=find_unligated)


class Shaper:
    """Shapes text of one face, direction and language; `words` shapes on first access.

    Every character of a text passes here, so loops are maps over dictionaries.
    """

    def __init__(
        self,
        face: Face,
        *,
        is_rtl: bool,
        lang: str,
        features: Features = (),
        find_unligated: FindUnligated | None = None,
    ) -> None:
        self._find_unligated = find_unligated
        self._face = face
        self._is_rtl = is_rtl
        self._lang = lang
        self._features = features
        self.words = _cache(self._shape, _MAX_CACHED_WORDS)
        self._widths = _cache(self._measure, _MAX_CACHED_WIDTHS)
        self._thai_clusters = _cache(self._shape_run, _MAX_CACHED_WORDS)

    def measure_words(self, words: Iterable[str]) -> list[float]:
        """Return the advance width of each word in em."""
        return list(map(self._widths.__getitem__, words))

    def shape_clusters(self, word: str) -> Sequence[Cluster]:
        """Return the clusters of a word only; equal Thai clusters are one object."""
        if word in self.words or not self._is_thai(word):
            return self.words[word].clusters
        return list(chain.from_iterable(map(_CLUSTERS, self._shape_thai(word))))

    def _is_thai(self, word: str) -> bool:
        return not self._is_rtl and _THAI.fullmatch(word) is not None

    def _shape_thai(self, word: str) -> Iterable[ShapedWord]:
        return map(self._thai_clusters.__getitem__, _THAI_CLUSTER.findall(word))

    def _measure(self, word: str) -> float:
        if self._is_thai(word):
            return sum(map(_WIDTH, self._shape_thai(word)))
        return self.words[word].width

    def _shape(self, word: str) -> ShapedWord:
        if self._is_thai(word):
            return _concatenate(self._shape_thai(word))
        return self._shape_run(word)

    def _shape_run(self, word: str) -> ShapedWord:
        features = _features_of(self._face, word, self._features)
        if self._find_unligated is not None and features.get("liga"):
            apart = self._find_unligated(word)
            if apart:
                features["liga"] = _ranges_without(apart, len(word))
        return _shape_run(self._face, word, features, is_rtl=self._is_rtl, lang=self._lang)


def _cache(compute: Callable[[str], T], max_entries: int) -> BoundedCache[str, T]:
    return BoundedCache(compute, max_entries=max_entries, max_length=_MAX_CACHED_LENGTH)


def _shape_run(
    face: Face, word: str, features: _Settings, *, is_rtl: bool, lang: str
) -> ShapedWord:
    buffer = hb.Buffer()
    buffer.add_codepoints(list(map(ord, _SURROGATE.sub("\ufffd", word))))
    buffer.cluster_level = hb.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if is_rtl else "ltr"
    buffer.language = lang
    if _EMOJI_PRESENTATION in word:
        # Its empty glyph is as wide as an emoji in the font, where only its advance is 0.
        buffer.flags = hb.BufferFlags.REMOVE_DEFAULT_IGNORABLES
    hb.shape(face.hb_font, buffer, features)
    glyphs = list(zip(buffer.glyph_infos, buffer.glyph_positions, strict=True))
    if not glyphs:  # nothing but selectors
        return ShapedWord((), 0.0, (0.0,) * len(word))
    starts = _find_starts(word, {info.cluster for info, _ in glyphs})
    ends = dict(zip(starts, [*starts[1:], len(word)], strict=True))
    runs = groupby(glyphs, lambda pair: starts[bisect_right(starts, pair[0].cluster) - 1])
    clusters: dict[int, Cluster] = {}
    for start, run in runs:
        text = _SURROGATE.sub("\ufffd", word[start : ends[start]])
        clusters[start] = _make_cluster(run, text[::-1] if is_rtl else text)
    widths = [clusters[start].advance / face.units for start in starts]
    reached = accumulate(widths)
    by_character = [
        end for start, end in zip(starts, reached, strict=True) for _ in range(start, ends[start])
    ]
    return ShapedWord(tuple(clusters.values()), sum(widths), tuple(by_character))


def _features_of(face: Face, word: str, features: Features) -> _Settings:
    """Return the features of a word for HarfBuzz.

    Simple scripts have their own defaults, and a font of an account may also have complex scripts.
    Fractions apply to the figures around a slash only, not to all figures of a word.
    """
    is_simple = face.is_general and not (face.is_own and _COMPLEX.search(word))
    settings: _Settings = {**_SIMPLE_SCRIPTS, **dict(features)} if is_simple else dict(features)
    if settings.get("kern", 1) and "tnum" in settings:
        settings["kern"] = [(m.start(), m.end(), 0) for m in _NUMBER.finditer(word)]
    for tag in _FRACTIONS & settings.keys():
        if settings[tag]:
            settings[tag] = [(m.start(), m.end(), 1) for m in _FRACTION.finditer(word)]
    return {tag: value for tag, value in settings.items() if value != []}


def _ranges_without(apart: Sequence[int], length: int) -> list[tuple[int, int, int]]:
    """Return the ranges of a feature that is on but for some characters."""
    starts = [0, *(at + 1 for at in apart)]
    ends = [*apart, length]
    return [
        *((start, end, 1) for start, end in zip(starts, ends, strict=True) if start < end),
        *((at, at + 1, 0) for at in apart),
    ]


def _concatenate(words: Iterable[ShapedWord]) -> ShapedWord:
    """Return one word for adjacent shaped words, from left to right."""
    clusters: list[Cluster] = []
    ends: list[float] = []
    width = 0.0
    for word in words:
        clusters += word.clusters
        ends += [width + end for end in word.ends]
        width += word.width
    return ShapedWord(tuple(clusters), width, tuple(ends))


def _find_starts(word: str, clusters: set[int]) -> list[int]:
    """Return the indexes at which the clusters of a word start; marks stay with their letter."""
    return (
        [0]
        + [  # what is before the first drawn character belongs to its cluster
            at
            for at in sorted(clusters)[1:]
            if not (word[at] in _JOINERS or unicodedata.category(word[at])[0] == "M")
        ]
    )


def _make_cluster(run: Iterable[tuple[Any, Any]], text: str) -> Cluster:
    parts: list[tuple[int, int, int]] = []
    pen = 0
    for info, at in run:
        parts.append((info.codepoint, pen + at.x_offset, at.y_offset))
        pen += at.x_advance
    return _intern_cluster(tuple(parts), pen, text)


# Equal clusters of all words are one object: a document looks up each code only once.
_intern_cluster = lru_cache(maxsize=_MAX_CACHED_CLUSTERS)(Cluster)
