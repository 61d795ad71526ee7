"""Word segmentation of Thai, Lao, Khmer and Myanmar, which are written without spaces, by dictionaries.

Thai words come from the package newmm-tokenizer, the others from pressroom-fonts; without it lines
of those scripts break at spaces only. A dictionary is read when the first text of its script is
set. A text is split into the fewest words with the fewest unknown clusters; no orthographic cluster
is split.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from importlib.resources import files
from sys import intern
from typing import Final

from workers.engine.fonts import find_extra_fonts

_MAX_WORD: Final = 20  # characters; longer entries are compounds of other words
_MAX_TEXT: Final = 2_000  # characters segmented at once
_MAX_CACHED: Final = 4_000  # texts per dictionary
_UNKNOWN_COST: Final = 10  # cost of an unknown cluster, in words

# A trie of clusters. A branch with a single continuation is a tuple, the
# rest of its word; the end of a word inside a longer one is the empty cluster.
_Suffix = tuple[str, ...]
_Trie = dict[str, "_Trie | _Suffix | None"]


class Dictionary:
    """The words of one script.

    `letters` is the character class of its words, `cluster` the pattern of one orthographic
    cluster: a letter with all that is written around it.
    """

    def __init__(self, letters: str, cluster: str, read: Callable[[], str]) -> None:
        self._read = read
        self._run = re.compile(f"[{letters}]{{2,}}")
        self._cluster = re.compile(f"{cluster}|.")
        self._segment_cached = lru_cache(maxsize=_MAX_CACHED)(self._segment)

    def has_words(self, text: str) -> bool:
        """Return whether a text contains words to segment."""
        return self._run.search(text) is not None

    def matches_all(self, text: str) -> bool:
        """Return whether all of a text is of this script."""
        return self._run.fullmatch(text) is not None

    def segment(self, text: str) -> list[str]:
        """Return the segments of a text, split between words; other text stays with the word before it."""
        segments: list[str] = []
        at = 0
        for match in self._run.finditer(text):
            if match.start() > at:
                segments.append(text[at : match.start()])
            for start in range(match.start(), match.end(), _MAX_TEXT):
                segments += self._segment_cached(text[start : min(start + _MAX_TEXT, match.end())])
            at = match.end()
        if at < len(text):
            if segments:
                segments[-1] += text[at:]
            else:
                segments.append(text[at:])
        return segments

    def _segment(self, text: str) -> tuple[str, ...]:
        """Find the path of least cost through the clusters of a text."""
        if not self._trie:
            return (text,)
        clusters = (*self._cluster.findall(text), "")
        count = len(clusters) - 1
        # The least cost up to each cluster, and the start of its last word. Entries past the end cost -1,
        # so that no word is matched beyond it.
        costs = [0] + [(count + 1) * _UNKNOWN_COST] * count + [-1] * _MAX_WORD
        before = [0] * (count + 1)
        for start, trie in enumerate(map(self._trie.get, clusters)):
            node = trie
            cost = costs[start] + 1
            end = start + 1
            if cost - 1 + _UNKNOWN_COST < costs[end]:
                costs[end], before[end] = cost - 1 + _UNKNOWN_COST, start
            while node is not None:
                if isinstance(node, tuple):
                    rest = end
                    end += len(node)
                    if cost < costs[end] and clusters[rest:end] == node:
                        costs[end], before[end] = cost, start
                    break
                if cost < costs[end] and "" in node:
                    costs[end], before[end] = cost, start
                node = node.get(clusters[end])
                end += 1
        segments: list[str] = []
        end = count
        while end:
            segments.append("".join(clusters[before[end] : end]))
            end = before[end]
        return tuple(reversed(segments))

    @cached_property
    def _trie(self) -> _Trie:
        root: _Trie = {}
        for word in self._read().split("\n"):
            if 0 < len(word) <= _MAX_WORD:
                _add_word(root, tuple(map(intern, self._cluster.findall(word))))
        return root


def _add_word(trie: _Trie, word: _Suffix) -> None:
    for at, cluster in enumerate(word, start=1):
        if cluster not in trie:
            trie[cluster] = word[at:]
            return
        subtree = trie[cluster]
        if isinstance(subtree, tuple):
            subtree = trie[cluster] = {subtree[0]: subtree[1:]} if subtree else {"": None}
        assert subtree is not None
        trie = subtree
    trie[""] = None


def _read_thai() -> str:
    return (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")


def _read_extra(name: str) -> Callable[[], str]:
    def read() -> str:
        folder = find_extra_fonts()
        if folder is None:
            return ""
        return lzma.decompress((folder / "words" / f"{name}.txt.xz").read_bytes()).decode()

    return read


THAI: Final = Dictionary(
    "\u0e01-\u0e4e",
    "[\u0e40-\u0e44]?[\u0e01-\u0e2e\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*",
    _read_thai,
)
LAO: Final = Dictionary(
    "\u0e81-\u0ece\u0edc-\u0edf",
    "[\u0ec0-\u0ec4]?[\u0e81-\u0eaf\u0edc-\u0edf][\u0eb0-\u0ebd\u0ec6\u0ec8-\u0ece]*",
    _read_extra("lao"),
)
# A letter with the consonants below it, its vowels and signs, and the mark that repeats a word.
KHMER: Final = Dictionary(
    "\u1780-\u17d3\u17d7\u17dc\u17dd",
    "[\u1780-\u17b3\u17dc](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3\u17d7\u17dd])*",
    _read_extra("khmer"),
)
# A letter with what is stacked on it, its vowels and signs, and the consonants that end its syllable,
# which carry an asat (U+103A).
MYANMAR: Final = Dictionary(
    "\u1000-\u103f\u104c-\u109d\uaa60-\uaa7f",
    "[\u1000-\u102a\u103f\u104c-\u1055\u105a-\u109d\uaa60-\uaa7a]"
    "(?:\u1039[\u1000-\u102a]|[\u102b-\u1038\u103a-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\uaa7b-\uaa7d]"
    "|[\u1000-\u102a\u1075-\u1081][\u1037]?\u103a)*",
    _read_extra("myanmar"),
)
DICTIONARIES: Final = (THAI, LAO, KHMER, MYANMAR)


def has_words(text: str) -> bool:
    """Return whether a text contains words of a script without spaces."""
    return any(dictionary.has_words(text) for dictionary in DICTIONARIES)


def segment_words(segments: Iterable[str]) -> list[str]:
    """Split parts of a word further, between the words of scripts without spaces."""
    found = list(segments)
    for dictionary in DICTIONARIES:
        if any(map(dictionary.has_words, found)):
            found = [cut for segment in found for cut in dictionary.segment(segment)]
    return found
