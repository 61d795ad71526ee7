"""Thai: words are written without spaces, so a list of words says where lines may break.

The words are those of the package newmm-tokenizer, read when the first Thai text is set. Text is cut
into as few words as it can be, of what is no word as little as it can be; cuts never part a syllable.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from sys import intern
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


def is_thai(text: str) -> bool:
    """Tell whether a text is Thai from end to end."""
    return _THAI.fullmatch(text) is not None


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
    clusters = (*_CLUSTER.findall(text), "")
    count = len(clusters) - 1
    # What the cheapest way to each cluster costs, and where its last word begins; nothing is cheaper
    # than what lies behind the text.
    costs = [0] + [(count + 1) * _UNKNOWN] * count + [-1] * _LONGEST
    before = [0] * (count + 1)
    for start, branch in enumerate(map(_load_words().get, clusters)):
        node = branch
        cost = costs[start] + 1
        end = start + 1
        if cost - 1 + _UNKNOWN < costs[end]:
            costs[end], before[end] = cost - 1 + _UNKNOWN, start
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
    pieces: list[str] = []
    end = count
    while end:
        pieces.append("".join(clusters[before[end] : end]))
        end = before[end]
    return tuple(reversed(pieces))


# The words by their clusters, one after the other. What only one word goes on with is a tuple, the
# rest of the word; a word that others begin with has an empty cluster of its own.
_Rest = tuple[str, ...]
_Branch = dict[str, "_Branch | _Rest | None"]


@cache
def _load_words() -> _Branch:
    text = (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")
    root: _Branch = {}
    for word in text.split("\n"):
        if 0 < len(word) <= _LONGEST:
            _add_word(root, tuple(map(intern, _CLUSTER.findall(word))))
    return root


def _add_word(branch: _Branch, word: _Rest) -> None:
    for at, cluster in enumerate(word, start=1):
        if cluster not in branch:
            branch[cluster] = word[at:]
            return
        below = branch[cluster]
        if isinstance(below, tuple):
            below = branch[cluster] = {below[0]: below[1:]} if below else {"": None}
        assert below is not None
        branch = below
    branch[""] = None
