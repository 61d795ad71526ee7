"""Thai: words are written without spaces, so a list of words says where lines may break.

The words are those of the package newmm-tokenizer, read when the first Thai text is set. Text is cut
into as few words as it can be, of what is no word as little as it can be; cuts never part a syllable.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate
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
    root = _load_words()
    clusters = [*_CLUSTER.findall(text), ""]
    # By character: nothing is cheaper than what is no end of a cluster, or lies behind the text.
    costs = [-1] * (len(text) + _LONGEST + 1)
    for end in accumulate(map(len, clusters)):
        costs[end] = (len(text) + 1) * _UNKNOWN
    before = [0] * (len(text) + 1)
    costs[0] = start = 0
    for number, cluster in enumerate(clusters[:-1], start=1):
        end = start + len(cluster)
        cost = costs[start] + 1
        if cost - 1 + _UNKNOWN < costs[end]:
            costs[end], before[end] = cost - 1 + _UNKNOWN, start
        node = root.get(cluster)
        at = number
        while node is not None:
            if isinstance(node, str):
                ahead = end + len(node)
                if cost < costs[ahead] and text.startswith(node, end):
                    costs[ahead], before[ahead] = cost, start
                break
            if cost < costs[end] and "" in node:
                costs[end], before[end] = cost, start
            node = node.get(clusters[at])
            end += len(clusters[at])
            at += 1
        start += len(cluster)
    pieces: list[str] = []
    while start:
        pieces.append(text[before[start] : start])
        start = before[start]
    return tuple(reversed(pieces))


# The words by their clusters, one after the other. What only one word goes on with is a string, the
# rest of the word; a word that others begin with has an empty cluster of its own.
_Branch = dict[str, "_Branch | str | None"]


@cache
def _load_words() -> _Branch:
    text = (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")
    root: _Branch = {}
    for word in text.split("\n"):
        if 0 < len(word) <= _LONGEST:
            _add_word(root, word)
    return root


def _add_word(branch: _Branch, word: str) -> None:
    at = 0
    for cluster in map(intern, _CLUSTER.findall(word)):
        at += len(cluster)
        if cluster not in branch:
            branch[cluster] = intern(word[at:])
            return
        below = branch[cluster]
        if isinstance(below, str):
            below = branch[cluster] = _grow(below)
        assert below is not None
        branch = below
    branch[""] = None


def _grow(rest: str) -> _Branch:
    """Give the branch that holds the rest of one word."""
    match = _CLUSTER.match(rest)
    return {intern(match[0]): intern(rest[match.end() :])} if match else {"": None}
