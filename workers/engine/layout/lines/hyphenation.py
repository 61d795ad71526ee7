"""Hyphenation: where words of a language may be broken, as soft hyphens put into the text.

The patterns are those of LibreOffice, from pyphen, read when a language first asks for them.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final

_SOFT_HYPHEN: Final = "\u00ad"
_LEAST_WORD: Final = 5  # letters; CSS Text 4, 6.3.3 has the same
_BEFORE: Final = 2  # letters on the line that ends, and on the one that begins: TeX's 2 and 3
_AFTER: Final = 3
_LONGEST_WORD: Final = 60  # what is longer is no word, and patterns take time for each letter
_MAX_POINTS: Final = 20_000  # words that pyphen itself keeps for a language

_LETTERS: Final = re.compile(rf"[^\W\d_]{{{_LEAST_WORD},{_LONGEST_WORD}}}")
_ADDRESS: Final = re.compile(r"[@/\\]|www\.|\u00ad")  # breaks where it is told to, or not at all


def hyphenate(text: str, lang: str) -> str:
    """Put a soft hyphen wherever a word of the text may be broken.

    Words that have soft hyphens already keep to those, and addresses get none. A language without
    patterns leaves the text as it is.
    """
    name = _find_language(lang)
    if name is None:
        return text
    words = text.split(" ")
    return " ".join([w if len(w) > _LONGEST_WORD else _hyphenate_word(name, w) for w in words])


def can_hyphenate(lang: str) -> bool:
    """Tell whether there are patterns for a language."""
    return _find_language(lang) is not None


@lru_cache(maxsize=20_000)
def _hyphenate_word(name: str, word: str) -> str:
    if len(word) < _LEAST_WORD or _ADDRESS.search(word):
        return word
    return _LETTERS.sub(lambda match: _cut(name, match[0]), word)


def _cut(name: str, letters: str) -> str:
    patterns = _load(name)
    if len(patterns.cache) >= _MAX_POINTS:
        patterns.cache.clear()
    last = len(letters) - _AFTER
    pieces, start = [], 0
    for point in patterns.positions(letters):
        # A point with data would change the spelling, which is then not what the author wrote.
        if point.data is None and _BEFORE <= point <= last:
            pieces.append(letters[start:point])
            start = point
    return _SOFT_HYPHEN.join([*pieces, letters[start:]])


@cache
def _load(name: str) -> Any:
    from pyphen import Pyphen  # most documents ask for no hyphens, and need not wait for them

    return Pyphen(lang=name).hd


@lru_cache(maxsize=256)
def _find_language(lang: str) -> str | None:
    from pyphen import language_fallback

    found: str | None = language_fallback(lang)
    return found
