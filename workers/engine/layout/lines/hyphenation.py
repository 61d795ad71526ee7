"""Hyphenation: where words of a language may be broken, as soft hyphens put into the text.

The patterns are those of TeX (hyph-utf8), applied with Liang's algorithm: every pattern found in a
word puts a digit between two letters, the highest wins, and odd digits are where it may break.
Each language has its own fewest letters before and behind a hyphen, and exceptions of its patterns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

_SOFT_HYPHEN: Final = "\u00ad"
_LEAST_WORD: Final = 5  # letters; CSS Text 4, 6.3.3 has the same
_LONGEST_WORD: Final = 200  # characters: what is longer is no word, and patterns take time for each
_LONGEST_KEPT: Final = 60

# Letters with the vowel signs and accents that stand on them, and apostrophes between them.
_MARKS: Final = "".join(
    char for char in map(chr, range(0x300, 0xE00)) if unicodedata.category(char)[0] == "M"
)
_LETTER: Final = rf"[^\W\d_]|[{_MARKS}]"
_APOSTROPHES: Final = "'\u2019\u02bc"
_TOKEN: Final = re.compile(rf"(?:\w|[{_MARKS}]|(?<=\w)[{_APOSTROPHES}](?=\w))+")
# A number may stand before a word (20jährige); what mixes letters and digits otherwise is a code.
_WORD: Final = re.compile(rf"(\d*)((?:{_LETTER}|[{_APOSTROPHES}])+)")
# Addresses and file names break where they are told to, or not at all; soft hyphens are the author's.
_ADDRESS: Final = re.compile(r"[@\\\u00ad]|://|www\.|\w\.\w\w|/.*/|^/")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

_PATTERNS: Final = files("workers.engine.layout") / "lines" / "patterns"

# The patterns of a language tag, by its longest beginning that is named here.
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
# Thai breaks between its words, by a dictionary and without hyphens (lines/thai.py).
_NEEDS_NONE: Final = frozenset({"th"})


def hyphenate(text: str, lang: str) -> str:
    """Put a soft hyphen wherever a word of the text may be broken.

    Words that have soft hyphens already keep to those, and addresses, file names and codes get
    none. The parts of a word that is written with hyphens or in camel case are words of their own.
    A language without patterns leaves the text as it is.
    """
    name = _find_patterns(lang)
    if name is None:
        return text
    return " ".join([
        _hyphenate_word(name, word)
        if len(word) <= _LONGEST_KEPT
        else word
        if len(word) > _LONGEST_WORD
        else _hyphenate(name, word)
        for word in text.split(" ")
    ])  # fmt: skip


def can_hyphenate(lang: str) -> bool:
    """Check whether there are patterns for a language, or it needs none."""
    return _find_patterns(lang) is not None or lang.lower().split("-")[0] in _NEEDS_NONE


@lru_cache(maxsize=256)
def _find_patterns(lang: str) -> str | None:
    """Return the name of the patterns of a language tag, None where there are none."""
    parts = lang.lower().replace("_", "-").split("-")[:8]
    for end in range(len(parts), 0, -1):
        name = BY_TAG.get("-".join(parts[:end]))
        if name is not None:
            return name
    return None


def _hyphenate(name: str, word: str) -> str:
    if len(word) < _LEAST_WORD or _ADDRESS.search(word):
        return word
    return _TOKEN.sub(lambda match: _hyphenate_token(name, match[0]), word)


_hyphenate_word = lru_cache(maxsize=20_000)(_hyphenate)


def _hyphenate_token(name: str, token: str) -> str:
    match = _WORD.fullmatch(token)
    if match is None or len(match[2]) < _LEAST_WORD:
        return token
    number, letters = match.groups()
    return number + "".join(_cut(_load(name), hump) for hump in _split_humps(letters))


def _split_humps(letters: str) -> list[str]:
    """Split `camelCase`; most words have capitals at their beginning alone, or nothing else."""
    if letters.islower() or letters[1:].islower() or letters.isupper():
        return [letters]
    humps = [letters[0]]
    for before, letter in pairwise(letters):
        if before.islower() and letter.isupper():
            humps.append("")
        humps[-1] += letter
    return humps


def _cut(patterns: _Patterns, letters: str) -> str:
    if len(letters) < _LEAST_WORD:
        return letters
    pieces, start = [], 0
    for point in patterns.find_points(letters):
        pieces.append(letters[start:point])
        start = point
    return _SOFT_HYPHEN.join([*pieces, letters[start:]])


class _Patterns:
    """The patterns of one language, read when a document first asks for them.

    Digits of a pattern are worked out when it is first found in a word: of some 35,000 patterns a
    text finds few.
    """

    def __init__(self, name: str) -> None:
        text = (_PATTERNS / f"hyph-{name}.txt").read_text(encoding="utf-8")
        head, _, body = text.partition("\npatterns\n")
        settings, _, exceptions = head.partition("\nexceptions\n")
        self._before, self._after = map(int, settings.rpartition("\nminima ")[2].split())
        self._exceptions = {word.replace("-", ""): word for word in exceptions.split()}
        letters = body.translate(_NO_DIGITS).split()
        # Beginnings of patterns stand for nothing, so that a look-up ends where none goes on.
        self._patterns = dict.fromkeys(
            (word[:end] for word in letters for end in range(1, len(word))), ""
        )
        self._patterns.update(zip(letters, body.split(), strict=True))
        self._has_apostrophes = "'" in body
        self._digits: dict[str, tuple[tuple[int, int], ...]] = {}

    def find_points(self, letters: str) -> list[int]:
        """Return the places at which a word may be broken, from left to right."""
        if _ACCENTS.search(letters):
            return self._find_in_decomposed(letters)
        word = _lower(letters)
        if "'" not in word:
            return self._find_between(word, 0, len(word))
        if self._has_apostrophes:
            edges = [at for at, char in enumerate(word) if char == "'"]
            return [
                point
                for start, end in zip([-1, *edges], [*edges, len(word)], strict=True)
                for point in self._find_between(word, start + 1, end)
            ]
        return [
            match.start() + point
            for match in _BETWEEN_APOSTROPHES.finditer(word)
            for point in self._find_between(match[0], 0, len(match[0]))
        ]

    def _find_between(self, word: str, start: int, end: int) -> list[int]:
        """Return the places in a part of a word, which has its own fewest letters at both ends."""
        first, last = start + self._before, end - self._after
        if last < first or end - start < _LEAST_WORD:
            return []
        exception = self._exceptions.get(word)
        if exception is not None:
            points = _list_hyphens(exception)
        else:
            values = self._find_values(word)
            points = [at for at in range(first, last + 1) if values[at] % 2]
        return [at for at in points if first <= at <= last and not _is_mark(word[at])]

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
        """Look up letters with their accents, and return places in what was written."""
        clusters = list(_clusters(letters))
        composed = [unicodedata.normalize("NFC", cluster) for cluster in clusters]
        if any(len(letter) > 1 for letter in composed):
            return []
        ends: list[int] = []
        for cluster in clusters:
            ends.append((ends[-1] if ends else 0) + len(cluster))
        return [ends[point - 1] for point in self.find_points("".join(composed))]


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


def _clusters(letters: str) -> Iterator[str]:
    """Yield each letter with the accents behind it."""
    start = 0
    for at in range(1, len(letters)):
        if not _ACCENTS.match(letters[at]):
            yield letters[start:at]
            start = at
    yield letters[start:]
