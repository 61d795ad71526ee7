"""Common ligatures of a face as characters of its own, so that text with them is encoded by characters.

Text with a ligature would have to be shaped as a whole and encoded by glyphs, at half as much again as
by characters. Instead each ligature is a stand-in: a private character that is measured, kerned and encoded
as any other. Stand-ins exist between layout and encoding only, never in the text of a document.
"""

from __future__ import annotations

import re
from codecs import utf_16_be_encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from workers.engine.caches import BoundedCache

# Stand-ins are of Unicode's last private plane. Text with such characters is shaped, so they are never
# in text that is encoded by characters. Their codes are those of surrogates, which no character has.
_FIRST: Final = 0x10F000
_MAX_LIGATURES: Final = 0x400
_FIRST_CODE: Final = 0xDC00
STAND_INS: Final = f"{chr(_FIRST)}-{chr(_FIRST + _MAX_LIGATURES - 1)}"  # of a character class
_STAND_IN: Final = re.compile(f"[{STAND_INS}]")
_CODES: Final = {_FIRST + at: _FIRST_CODE + at for at in range(_MAX_LIGATURES)}

SOFT_HYPHEN: Final = "\u00ad"
_MAX_CACHED_TEXTS: Final = 20_000  # per face, some 3 MB
_MAX_CACHED_LENGTH: Final = 40  # characters: words, not lines

# Returns the indexes in a word whose characters are in no ligature.
FindUnligated = Callable[[str], Sequence[int]]


class Ligatures:
    """The ligatures of a face that differ from their letters; `letters` are those of each stand-in.

    `is_contextual` means that the font has more than those, by the text around them.
    """

    def __init__(self, found: Mapping[str, int], *, is_contextual: bool) -> None:
        ordered = sorted(found, key=lambda letters: (-len(letters), letters))[:_MAX_LIGATURES]
        self._stand_ins = {letters: chr(_FIRST + at) for at, letters in enumerate(ordered)}
        self.letters = {stand_in: letters for letters, stand_in in self._stand_ins.items()}
        self.glyphs = {self._stand_ins[letters]: found[letters] for letters in ordered}
        self.is_contextual = is_contextual
        self._pattern = re.compile("|".join(_write_patterns(ordered)))
        self._joined: dict[FindUnligated | None, JoinedTexts] = {}

    def are_in(self, text: str) -> bool:
        """Return whether a text has letters that are drawn as a ligature."""
        return self._pattern.search(text) is not None

    def join(self, find_unligated: FindUnligated | None = None) -> JoinedTexts:
        """Return the texts with stand-ins for the letters of ligatures, but for those `find_unligated` names."""
        joined = self._joined.get(find_unligated)
        if joined is None:
            joined = self._joined[find_unligated] = JoinedTexts(self, find_unligated)
        return joined

    def replace(self, text: str) -> str:
        """Return a text with stand-ins for all ligatures."""
        return self._pattern.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        return self._stand_ins[match[0]]


class JoinedTexts(dict[str, str]):
    """Texts with stand-ins for ligatures, by the text as written."""

    def __init__(self, ligatures: Ligatures, find_unligated: FindUnligated | None) -> None:
        super().__init__()
        self.ligatures = ligatures
        # Whether each word has ligatures, possibly across a soft hyphen.
        self.are_in = BoundedCache(
            self._has_ligatures, max_entries=_MAX_CACHED_TEXTS, max_length=_MAX_CACHED_LENGTH
        )
        self._extents: dict[tuple[str, ...], tuple[list[float], list[float]]] = {}
        self._find_unligated = find_unligated

    # A part of the keys of glyph styles, and one object per face and rule: compared by identity.

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __missing__(self, text: str) -> str:
        if " " in text:  # words recur, lines do not
            joined = " ".join(map(self.__getitem__, text.split(" ")))
        elif self._find_unligated is None or not self.ligatures.are_in(text):
            joined = self.ligatures.replace(text)
        else:
            joined = self._join_word(text, self._find_unligated)
        if len(text) <= _MAX_CACHED_LENGTH:
            if len(self) >= _MAX_CACHED_TEXTS:
                self.clear()
            self[text] = joined
        return joined

    def find_extents(
        self, parts: tuple[str, ...], measure: Callable[[str], float]
    ) -> tuple[list[float], list[float]]:
        """Return the left and right ends of the parts of a word, in em from its start.

        They are those in the whole word: a ligature may stand across two parts. `measure` is that
        of the face with these ligatures.
        """
        found = self._extents.get(parts)
        if found is None:
            whole = accumulate(part.removesuffix(SOFT_HYPHEN) for part in parts)
            rights = [measure(self[text]) for text in whole]
            lefts = [right - measure(self[part]) for right, part in zip(rights, parts, strict=True)]
            found = lefts, rights
            if sum(map(len, parts)) <= _MAX_CACHED_LENGTH:
                if len(self._extents) >= _MAX_CACHED_TEXTS:
                    self._extents.clear()
                self._extents[parts] = found
        return found

    def _has_ligatures(self, word: str) -> bool:
        bare = word.replace(SOFT_HYPHEN, "")
        return self[bare] != bare

    def _join_word(self, word: str, find_unligated: FindUnligated) -> str:
        start, parts = 0, []
        for at in (*find_unligated(word), len(word)):
            parts += [self.ligatures.replace(word[start:at]), word[at : at + 1]]
            start = at + 1
        return "".join(parts)


def _write_patterns(ligatures: Sequence[str]) -> Iterator[str]:
    """Yield a pattern for each first letter, which regular expressions find faster; the longest first."""
    for first in dict.fromkeys(letters[0] for letters in ligatures):
        rests = [re.escape(letters[1:]) for letters in ligatures if letters[0] == first]
        yield f"{re.escape(first)}(?:{'|'.join(rests)})"


def expand(text: str, ligatures: Ligatures | None) -> str:
    """Return the letters of a text with stand-ins."""
    letters = ligatures.letters if ligatures is not None else {}
    return "".join(letters.get(char, char) for char in text)


def code_of(char: str) -> int:
    """Return the code of a character or stand-in: two bytes, those of the character in UTF-16."""
    code = ord(char)
    return _CODES.get(code, code)


def write_codes(text: str) -> bytes:
    """Return the codes of a text, which may have stand-ins."""
    if not text.isascii() and _STAND_IN.search(text):
        return text.translate(_CODES).encode("utf-16-be", "surrogatepass")
    return utf_16_be_encode(text)[0]  # `str.encode` takes three times as long
