"""Line break opportunities (UAX #14): inside words, at spaces, and between texts of different styles.

ICU finds them, between the words of Thai, Lao, Khmer and Burmese by its dictionaries. Within a word
some of them are no opportunities here:

- no line begins with an em dash;
- a dash, exclamation mark or ellipsis at the start of a word stays with it (LB20a, for hyphens);
- a slash allows a break only between words of at least two letters;
- a minus sign stays with the currency sign after it;
- Korean breaks at spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Final

from icu4py.breakers import LineBreaker
from icu4py.locale import Locale

from workers.engine.data_tables import read_table

OBJECT_REPLACEMENT: Final = "\ufffc"  # stands for an atomic inline

# `line-break` of CSS Text 3, 5.2.
_STRICT: Final = Locale("en", "", None, {"lb": "strict"})
_NORMAL: Final = Locale("ja", "", None, {"lb": "normal"})

# Letters and digits of alphabets, between which no line breaks: quicker than `\w`, and without ideographs.
_LETTERS: Final = (
    "0-9A-Z_a-z\u00c0-\u02c7\u02c9-\u02cb\u02cd-\u02de\u02e0-\u02ff\u0370-\u037d\u037f-\u0588\u058b-\u05bd\u05bf-\u05c5\u05c7-\u060b\u060e-\u061a"
    "\u0620-\u06d3\u06d5-\u07f7\u07fa-\u0963\u0966-\u0c76\u0c78-\u0c83\u0c85-\u0dff"
)
_MAY_BREAK: Final = re.compile(f"[^ \"',.:;{_LETTERS}]")
_MAY_PROHIBIT: Final = re.compile(f" (?:(?=[^\"'({_LETTERS}-])|(?<=[^\"'),.:;!?%{_LETTERS}-] ))")
_HANGUL: Final = "[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7ff]"
_NO_OPPORTUNITY: Final = re.compile(
    f"(?=[\u2014\u2e3a])|(?<={_HANGUL})(?={_HANGUL})|(?<=[-\u2212])(?=[$\u00a2-\u00a5\u20a0-\u20cf])"
    "|(?<=/)(?!(?<=[^\\W\\d_]{2}/)[^\\W\\d_]{2})"
)
_BEGINNING: Final = re.compile("[\"'(\\[{¡¿«‘“‹„‚»›”’]*[-\u2010\u2012-\u2014!?\u2024-\u2026]+")
_MAX_CACHED_LENGTH: Final = 40
_CONTEXT_LENGTH: Final = 20  # characters considered on each side


def may_break_inside(text: str) -> bool:
    """Return quickly whether words of a text may have opportunities inside; false positives occur."""
    return _MAY_BREAK.search(text) is not None


def split_at_opportunities(word: str, *, before_kana: bool = False) -> list[str]:
    """Split a word at every opportunity inside it; `before_kana` of any size."""
    if not _MAY_BREAK.search(word):
        return [word]
    if len(word) > _MAX_CACHED_LENGTH:
        return _split(word, before_kana)
    return list(_split_cached(word, before_kana))


def _split(word: str, before_kana: bool) -> list[str]:
    breaks = _find_breaks(word, before_kana)
    return [word[start:end] for start, end in pairwise((0, *breaks, len(word)))]


_split_cached = lru_cache(maxsize=10_000)(_split)


def may_break_between(before: str, after: str, *, before_kana: bool = False) -> bool:
    """Return whether a break is allowed between two adjacent texts of different styles."""
    before, after = before[-_CONTEXT_LENGTH:], after[:_CONTEXT_LENGTH]
    return len(before) in _find_breaks(before + after, before_kana)


def _find_breaks(word: str, before_kana: bool) -> list[int]:
    """Return the positions of the opportunities inside a word."""
    beginning = _BEGINNING.match(word)
    first = beginning.end() if beginning else 0
    prohibited = {match.start() for match in _NO_OPPORTUNITY.finditer(word)}
    found = _find_all_breaks(word, _NORMAL if before_kana else _STRICT)
    return [at for at in found if first < at < len(word) and at not in prohibited]


def _find_all_breaks(text: str, locale: Locale) -> Iterable[int]:
    return accumulate(map(len, LineBreaker(text, locale)))


def may_prohibit_break(text: str) -> bool:
    """Return quickly whether a break may be prohibited at a space of a text; false positives occur."""
    return _MAY_PROHIBIT.search(text) is not None


def find_no_break_spaces(words: Sequence[str]) -> list[int]:
    """Return the indexes of the words after whose space a break is prohibited."""
    breaks = frozenset(_find_all_breaks(" ".join(words), _STRICT))
    ends = accumulate(len(word) + 1 for word in words[:-1])
    return [number for number, end in enumerate(ends) if end not in breaks]


# --- expressions whose spaces hold them together: 10 km, § 5, Nr. 3, 24. Dezember, 12 345,60 --------


_WORDS: Final = {
    name: words.split() for name, words in read_table(__package__, "bound_spaces.txt").items()
}
_UNITS: Final = _WORDS["units"]
_SOFT_HYPHEN: Final = "\u00ad"
# No expression has neither a digit nor an abbreviation of one letter.
_MAY_BIND: Final = re.compile(r"\d|\b[^\W\d_]\. ")
_DIGIT: Final = re.compile(r"\d")
# Numbers of groups of three digits, not lists of such, and IBANs in their printed form (ISO 13616).
_GROUPED: Final = re.compile(
    r"(?<![\w.,])(?<!\d )\d{1,3}(?: \d{3}){1,4}(?!\w| \d)|\b[A-Z]{2}\d\d(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?\b"
)
_SPACE: Final = re.compile(" ")


def may_bind_spaces(text: str) -> bool:
    """Return quickly whether spaces of a text may belong to expressions; false positives occur."""
    return ". " in text or _DIGIT.search(text) is not None


def find_bound_spaces(words: Sequence[str], lang: str) -> list[int]:
    """Return the indexes of the words after whose space no line ends, by the rules of a language."""
    text = " ".join(words)
    if not _MAY_BIND.search(text):
        return []
    text = text.replace(_SOFT_HYPHEN, "")
    spaces = {match.start() for match in _find_pattern(lang[:2].lower()).finditer(text)}
    for match in _GROUPED.finditer(text):
        spaces.update(space.start() for space in _SPACE.finditer(text, *match.span()))
    bound = []
    number = at = 0
    for space in sorted(spaces):
        number += text.count(" ", at, space)
        at = space
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
