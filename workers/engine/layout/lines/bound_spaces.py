"""Spaces that belong to one expression, at which no line ends: 10 km, § 5, Nr. 3, 24. Dezember.

The characters stay as the author wrote them; only the break is prohibited, and only while the
expression fits on a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from workers.engine.data_tables import read_table

_WORDS: Final = {
    name: words.split() for name, words in read_table(__package__, "bound_spaces.txt").items()
}
_UNITS: Final = _WORDS["units"]
_SOFT_HYPHEN: Final = "\u00ad"
# No expression has neither a digit nor an abbreviation of one letter.
_MAY_BIND: Final = re.compile(r"\d|\b[^\W\d_]\. ")
_DIGIT: Final = re.compile(r"\d")


def may_bind_spaces(text: str) -> bool:
    """Return quickly whether spaces of a text may belong to expressions; false positives occur."""
    return ". " in text or _DIGIT.search(text) is not None


def find_bound_spaces(words: Sequence[str], lang: str) -> list[int]:
    """Return the indexes of the words after whose space no line ends, by the rules of a language."""
    text = " ".join(words)
    if not _MAY_BIND.search(text):
        return []
    text = text.replace(_SOFT_HYPHEN, "")
    bound = []
    number = at = 0
    for match in _find_pattern(lang[:2].lower()).finditer(text):
        number += text.count(" ", at, match.start())
        at = match.start()
        bound.append(number)
    return bound


@cache
def _find_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern that matches the spaces of expressions in a language.

    It starts with what is quick to look for: a space, then a number after it.
    """
    words = [*_WORDS["signs"], *_WORDS.get(f"before {language}", ())]
    before = [rf"(?<=(?<!\w){re.escape(word)} )" for word in words]
    after = [rf"(?<=\d )(?=(?:{_any_of(_UNITS)})(?![\w/²³]))"]
    if months := _WORDS.get(f"months {language}", []):
        after += [
            rf"(?<=\d{re.escape(ending)} )(?=(?:{_any_of(months)})(?!\w))"
            for ending in ("", ".", *_WORDS.get(f"ordinals {language}", ()))
        ]
    if language == "en":  # 24 after its month
        before += [rf"(?<=\b{month} )(?=\d{{1,2}}\b)" for month in months]
    if language in ("de", "nl"):  # z. B., u. a. O.
        after.append(r"(?<=\b[^\W\d_]\. )(?=[^\W\d_]\.)")
    return re.compile(f" (?:(?=\\d)(?:{'|'.join(before)})|{'|'.join(after)})")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
