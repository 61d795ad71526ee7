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
_LONGEST: Final = 30  # characters of a word; longer entries are phrases of other words
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
    words = _load_words()
    borders = [0, *(match.end() for match in _CLUSTER.finditer(text))]
    costs = [0] + [len(text) * _UNKNOWN] * (len(borders) - 1)
    before = [0] * len(borders)
    for end in range(1, len(borders)):
        for start in range(end - 1, -1, -1):
            if borders[end] - borders[start] > _LONGEST:
                break
            is_word = text[borders[start] : borders[end]] in words
            if not is_word and start < end - 1:
                continue
            cost = costs[start] + (1 if is_word else _UNKNOWN)
            if cost < costs[end]:
                costs[end], before[end] = cost, start
    pieces: list[str] = []
    at = len(borders) - 1
    while at:
        pieces.append(text[borders[before[at]] : borders[at]])
        at = before[at]
    return tuple(reversed(pieces))


@cache
def _load_words() -> frozenset[str]:
    text = (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")
    return frozenset(word for word in text.split("\n") if 0 < len(word) <= _LONGEST)
