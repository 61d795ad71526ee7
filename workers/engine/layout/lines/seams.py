"""Seams of German words: no ligature stands across the parts of a compound, or before a suffix.

By the rules of German typesetting Schiff and Flug have ligatures, Auflage and höflich have none
(Duden, Hinweise für den Schriftsatz).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from workers.engine.layout.lines.hyphenation import hyphenate

_GERMAN: Final = "de"
_SOFT_HYPHEN: Final = "\u00ad"
_LIGATED: Final = re.compile("f[a-zäöüß]")
# A stem has ff after a short vowel alone, so the second one begins a part: Auffahrt, fünffach.
_DOUBLE: Final = re.compile("(?:[aeä]u|[ae]i|ie|aa|ee|oo|[bcdghj-np-tvwxz])f(?=f)")
_STEMS: Final = re.compile("straf(?=fr|fä)|schlaf(?=fä)|schaf(?=fell)|hof(?=fes)|beruf(?=f)")


@lru_cache(maxsize=5_000)
def find_unligated(word: str) -> tuple[int, ...]:
    """Return the indexes of the letters that are in no ligature."""
    lower = word.lower()
    if len(lower) != len(word) or not _LIGATED.search(lower.replace(_SOFT_HYPHEN, "")):
        return ()
    letters = [at for at, char in enumerate(lower) if char != _SOFT_HYPHEN]
    bare = "".join(lower[at] for at in letters)
    # Of ff before a seam both stay a ligature, so it is the letter behind the seam that is in none.
    apart = {seam if bare[seam - 2 : seam] == "ff" else seam - 1 for seam in _find_seams(bare)}
    return tuple(letters[at] for at in sorted(apart))


def _find_seams(word: str) -> set[int]:
    """Return the positions between an f and the next letter that are seams.

    Where a word may be hyphenated between an f and another letter, a part begins with that: inside
    a stem the f would begin the syllable. Between two f a hyphen may be inside a stem: Schif-fe.
    """
    seams = {match.end() for pattern in (_DOUBLE, _STEMS) for match in pattern.finditer(word)}
    at = 0
    for part in hyphenate(word, _GERMAN).split(_SOFT_HYPHEN)[:-1]:
        at += len(part)
        if word[at - 1] == "f" != word[at]:
            seams.add(at)
    return seams
