"""Hyphenation: soft hyphens are inserted where words of a language may be hyphenated.

The patterns are those of TeX (hyph-utf8), applied by Liang's algorithm: every pattern that matches
puts digits between letters, the highest digit counts, and an odd one allows a hyphen. Each language
has its own minimum of letters before and after a hyphen, and a list of exceptions.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from workers.engine.characters import find_cluster_ends
from workers.engine.syntax.identifiers import find_script

_SOFT_HYPHEN: Final = "\u00ad"
_MIN_WORD: Final = 5  # letters, as in CSS Text 4 §6.3.3
_MAX_WORD: Final = 200  # characters; matching takes time per character
_MAX_CACHED_LENGTH: Final = 60

# Letters with their combining marks, and apostrophes between them.
_MARKS: Final = "".join(
    char for char in map(chr, range(0x300, 0xE00)) if unicodedata.category(char)[0] == "M"
)
_LETTER: Final = rf"[^\W\d_]|[{_MARKS}]"
_APOSTROPHES: Final = "'\u2019\u02bc"
_TOKEN: Final = re.compile(rf"(?:\w|[{_MARKS}]|(?<=\w)[{_APOSTROPHES}](?=\w))+")
# A number may precede a word (20jährige); any other mix of letters and digits is a code.
_WORD: Final = re.compile(rf"(\d*)((?:{_LETTER}|[{_APOSTROPHES}])+)")
# Addresses, file names and words in which the author has set soft hyphens.
_ADDRESS: Final = re.compile(r"[@\\\u00ad]|://|www\.|\w\.\w\w|/.*/|^/")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

_PATTERNS: Final = files("workers.engine.layout") / "lines" / "patterns"

# The patterns of a language tag, by its longest prefix listed here (RFC 4647 lookup).
BY_TAG: Final = {
    "de": "de-1996", "de-1901": "de-1901", "de-at-1901": "de-1901", "de-de-1901": "de-1901",
    "de-ch-1901": "de-ch-1901", "de-li-1901": "de-ch-1901",
    "en": "en-us", "no": "nb", "nn": "nb", "el": "el-monoton", "el-polyton": "el-polyton",
    "mn": "mn-cyrl", "sr": "sh-cyrl", "sr-latn": "sh-latn", "sr-me": "sh-latn", "cnr": "sh-latn",
    "sh": "sh-latn", "sh-cyrl": "sh-cyrl", "bs": "sh-latn", "bs-cyrl": "sh-cyrl", "ku": "kmr",
    "in": "id", "dsb": "hsb", "mo": "ro",
    **{f"en-{region}": "en-gb" for region in ("gb", "ie", "au", "nz", "in", "za", "mt", "001", "150")},
    **{tag: tag for tag in (  # noqa: SIM905
        "af as be bg bn ca cs cy da eo es et eu fi fr fur ga gl grc gu hi hr hsb hu hy ia id is it ka "
        "kmr kn la lt lv ml mr nb nl oc or pa pi pl pms pt rm ro ru sa sk sl sq sv ta te tk tr uk"
    ).split()},
}  # fmt: skip
# Scripts in which no language divides words with a hyphen (Unicode Standard Annex 14, 5.3 to 5.5; CSS Text 3, 6.1).
_WITHOUT_HYPHENS: Final = frozenset(
    {
        *("arab", "aran", "hebr", "hang", "hani", "hans", "hant", "jpan", "kore"),
        *("khmr", "laoo", "mymr", "thai"),
    }
)


Minima = tuple[int | None, int | None, int | None]
AUTO: Final[Minima] = (None, None, None)
_GERMAN_LEAST: Final = 3  # patterns allow 2, which German typography avoids


def hyphenate(text: str, lang: str, minima: Minima = AUTO) -> str:
    """Insert a soft hyphen wherever a word of the text may be hyphenated.

    Words with soft hyphens, addresses, file names and codes stay as they are. The parts of
    hyphenated and camel case words are hyphenated by themselves. A language without patterns leaves
    the text unchanged. `minima` are the least letters of a word, before and after a hyphen.
    """
    name = _find_patterns(lang)
    if name is None:
        return text
    if name.startswith("de-"):
        length, before, after = minima
        minima = (length, before or _GERMAN_LEAST, after or _GERMAN_LEAST)
    return " ".join([
        _hyphenate_word(name, word, minima)
        if len(word) <= _MAX_CACHED_LENGTH
        else word
        if len(word) > _MAX_WORD
        else _hyphenate(name, word, minima)
        for word in text.split(" ")
    ])  # fmt: skip


def can_hyphenate(lang: str) -> bool:
    """Return whether a language has patterns, or a script without hyphens."""
    return _find_patterns(lang) is not None or find_script(lang) in _WITHOUT_HYPHENS


@lru_cache(maxsize=256)
def _find_patterns(lang: str) -> str | None:
    """Return the name of the patterns for a language tag, None for none."""
    parts = lang.lower().replace("_", "-").split("-")[:8]
    for end in range(len(parts), 0, -1):
        name = BY_TAG.get("-".join(parts[:end]))
        if name is not None:
            return name
    return None


def _hyphenate(name: str, word: str, minima: Minima) -> str:
    if len(word) < (minima[0] or _MIN_WORD) or _ADDRESS.search(word):
        return word
    return _TOKEN.sub(lambda match: _hyphenate_token(name, match[0], minima), word)


_hyphenate_word = lru_cache(maxsize=20_000)(_hyphenate)


def _hyphenate_token(name: str, token: str, minima: Minima) -> str:
    match = _WORD.fullmatch(token)
    if match is None or len(match[2]) < (minima[0] or _MIN_WORD):
        return token
    number, letters = match.groups()
    return number + "".join(
        _insert_hyphens(_load(name), part, minima) for part in _split_camel_case(letters)
    )


def _split_camel_case(letters: str) -> list[str]:
    """Return the parts of `camelCase`; most words have one."""
    if letters.islower() or letters[1:].islower() or letters.isupper():
        return [letters]
    parts = [letters[0]]
    for before, letter in pairwise(letters):
        if before.islower() and letter.isupper():
            parts.append("")
        parts[-1] += letter
    return parts


def _insert_hyphens(patterns: _Patterns, letters: str, minima: Minima) -> str:
    length, before, after = minima
    if len(letters) < (length or _MIN_WORD):
        return letters
    segments, start = [], 0
    first, last = before or 0, len(letters) - (after or 0)
    for position in patterns.find_positions(letters):
        if not first <= position <= last:
            continue
        segments.append(letters[start:position])
        start = position
    return _SOFT_HYPHEN.join([*segments, letters[start:]])


class _Patterns:
    """The patterns of one language, loaded on first use.

    The digits of a pattern are parsed when it first matches: a text matches few of some 35,000.
    """

    def __init__(self, name: str) -> None:
        text = (_PATTERNS / f"hyph-{name}.txt").read_text(encoding="utf-8")
        head, _, body = text.partition("\npatterns\n")
        settings, _, exceptions = head.partition("\nexceptions\n")
        self._left_minimum, self._right_minimum = map(
            int, settings.rpartition("\nminima ")[2].split()
        )
        self._exceptions = {word.replace("-", ""): word for word in exceptions.split()}
        letters = body.translate(_NO_DIGITS).split()
        # Prefixes of patterns map to "", so that a search ends where no pattern continues.
        self._patterns = dict.fromkeys(
            (word[:end] for word in letters for end in range(1, len(word))), ""
        )
        self._patterns.update(zip(letters, body.split(), strict=True))
        self._has_apostrophes = "'" in body
        self._digits: dict[str, tuple[tuple[int, int], ...]] = {}

    def find_positions(self, letters: str) -> list[int]:
        """Return the positions at which a word may be hyphenated, in ascending order."""
        if _ACCENTS.search(letters):
            return self._find_in_decomposed(letters)
        word = _lower(letters)
        if "'" not in word:
            return self._find_between(word, 0, len(word))
        if self._has_apostrophes:
            edges = [at for at, char in enumerate(word) if char == "'"]
            return [
                position
                for start, end in zip([-1, *edges], [*edges, len(word)], strict=True)
                for position in self._find_between(word, start + 1, end)
            ]
        return [
            match.start() + position
            for match in _BETWEEN_APOSTROPHES.finditer(word)
            for position in self._find_between(match[0], 0, len(match[0]))
        ]

    def _find_between(self, word: str, start: int, end: int) -> list[int]:
        """Return the positions in a part of a word, which has its own minima at both ends."""
        first, last = start + self._left_minimum, end - self._right_minimum
        if last < first or end - start < _MIN_WORD:
            return []
        exception = self._exceptions.get(word)
        if exception is not None:
            positions = _list_hyphens(exception)
        else:
            values = self._find_values(word)
            positions = [at for at in range(first, last + 1) if values[at] % 2]
        return [at for at in positions if first <= at <= last and not _is_mark(word[at])]

    def _find_values(self, word: str) -> list[int]:
        """Return the highest digit before each letter of a word."""
        dotted = f".{word}."
        values = [0] * (len(dotted) + 2)
        patterns, size = self._patterns, len(dotted)
        for start in range(size):
            for end in range(start + 1, size + 1):
                pattern = patterns.get(dotted[start:end])
                if pattern is None:
                    break
                if pattern:
                    for offset, digit in self._digits.get(pattern) or self._read_digits(pattern):
                        values[start + offset] = max(values[start + offset], digit)
        return values[1:]

    def _read_digits(self, pattern: str) -> tuple[tuple[int, int], ...]:
        found = enumerate(re.finditer("[0-9]", pattern))
        digits = tuple((match.start() - number, int(match[0])) for number, match in found)
        self._digits[pattern] = digits
        return digits

    def _find_in_decomposed(self, letters: str) -> list[int]:
        """Return the positions in a word of decomposed characters, which is looked up composed (NFC)."""
        ends = find_cluster_ends(letters)
        clusters = [letters[start:end] for start, end in pairwise([0, *ends])]
        composed = [unicodedata.normalize("NFC", cluster) for cluster in clusters]
        if any(len(letter) > 1 for letter in composed):
            return []
        return [ends[position - 1] for position in self.find_positions("".join(composed))]


_NO_DIGITS: Final = dict.fromkeys(map(ord, "0123456789"))
_BETWEEN_APOSTROPHES: Final = re.compile("[^']+")
_STRAIGHT: Final = str.maketrans(_APOSTROPHES, "'" * len(_APOSTROPHES))


@cache
def _load(name: str) -> _Patterns:
    return _Patterns(name)


def _lower(letters: str) -> str:
    lowered = letters.translate(_STRAIGHT).lower()
    if len(lowered) == len(letters):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in letters)


def _list_hyphens(exception: str) -> list[int]:
    matches = enumerate(re.finditer("-", exception))
    return [match.start() - number for number, match in matches]


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char)[0] == "M"


_GERMAN: Final = "de"
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
    for part in hyphenate(word, _GERMAN, (None, 2, 2)).split(_SOFT_HYPHEN)[:-1]:
        at += len(part)
        if word[at - 1] == "f" != word[at]:
            seams.add(at)
    return seams
