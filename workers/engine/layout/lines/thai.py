"""Thai: words are written without spaces, so a list of words says where lines may break.

The words are those of the package newmm-tokenizer, read when the first Thai text is set. Text is cut
into as few words as it can be, of what is no word as little as it can be; cuts never part a syllable.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_THAI: Final = re.compile("[\u0e01-\u0e4e]{2,}")
# A consonant with the vowels before it and all that is written on, below or behind it.
_CLUSTER: Final = re.compile(
    "[\u0e40-\u0e44]?[\u0e01-\u0e2e\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*|."
)
_LONGEST: Final = 20  # characters of a word; longer entries are made of other words
_LONGEST_TEXT: Final = 2_000  # characters that are cut at once
_UNKNOWN: Final = 10  # what a cluster that is no word costs, in words


def has_thai(text: str) -> bool:
    """Tell whether a text has Thai words to cut."""
    return _THAI.search(text) is not None


def cut_thai(text: str) -> list[str]:
    """Cut a text between its Thai words; what is not Thai stays with the word before it."""
    pieces: list[str] = []
    at = 0
    for match in _THAI.finditer(text):
        if match.start() > at:
            pieces.append(text[at : match.start()])
        for start in range(match.start(), match.end(), _LONGEST_TEXT):
            pieces += _cut_words(text[start : min(start + _LONGEST_TEXT, match.end())])
        at = match.end()
    if at < len(text):
        if pieces:
            pieces[-1] += text[at:]
        else:
            pieces.append(text[at:])
    return pieces


@lru_cache(maxsize=4_000)
def _cut_words(text: str) -> tuple[str, ...]:
    """Find the cheapest way through the text, from cluster to cluster."""
    words, longest = _load_words()
    borders = [0, *(match.end() for match in _CLUSTER.finditer(text))]
    count = len(borders)
    costs = [len(text) * _UNKNOWN] * count
    costs[0] = 0
    before = [0] * count
    for start in range(count - 1):
        at, cost = borders[start], costs[start]
        last = at + longest.get(text[at : at + 2], 0)
        end = start + 1
        if cost + _UNKNOWN < costs[end]:
            costs[end], before[end] = cost + _UNKNOWN, start
        while end < count and borders[end] <= last:
            if cost + 1 < costs[end] and text[at : borders[end]] in words:
                costs[end], before[end] = cost + 1, start
            end += 1
    pieces: list[str] = []
    at = len(borders) - 1
    while at:
        pieces.append(text[borders[before[at]] : borders[at]])
        at = before[at]
    return tuple(reversed(pieces))


@cache
def _load_words() -> tuple[frozenset[str], dict[str, int]]:
    """Read the words, and how long those are that begin with the same two characters."""
    text = (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")
    words = frozenset(word for word in text.split("\n") if 0 < len(word) <= _LONGEST)
    longest: dict[str, int] = {}
    for word in words:
        longest[word[:2]] = max(longest.get(word[:2], 0), len(word))
    return words, longest
