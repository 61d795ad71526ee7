"""Typographic quotation marks and apostrophes in place of straight ones."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from workers.engine.data_tables import read_table

_APOSTROPHE: Final = "\u2019"
_NARROW_SPACE: Final = "\u202f"
_PIECES: Final = re.compile("[\"']|[^\"']+")
_BEFORE_OPENING: Final = frozenset("([{\u00a1\u00bf\u2013\u2014/-")


@cache
def find_marks(lang: str) -> tuple[str, ...]:
    """Return the opening and closing marks of a language, outer before inner; those of English for others."""
    table = read_table(__package__, "quotes.txt")
    tag = lang.lower()
    while tag not in table and "-" in tag:
        tag = tag.rpartition("-")[0]
    return tuple(table.get(tag, table["en"]).replace(".", _NARROW_SPACE).split(" "))


class QuotationMarks:
    """Replaces the straight quotes in the texts of one block, which are given in their order."""

    def __init__(self, lang: str) -> None:
        self._marks = find_marks(lang)
        self._is_open = [False, False]
        self._before = " "

    def skip(self, text: str) -> None:
        """Note a text that keeps its quotes."""
        self._before = text[-1:] or self._before

    def replace(self, text: str) -> str:
        """Return a text with the marks of the language; after a digit alone they are feet and inches."""
        pieces = []
        for match in _PIECES.finditer(text):
            piece, after = match[0], text[match.end() : match.end() + 1]
            if piece in "\"'":
                pieces.append(self._choose(piece, after))
            else:
                pieces.append(piece)
                self._before = piece[-1]
        return "".join(pieces)

    def _choose(self, quote: str, after: str) -> str:
        is_inner, before = quote == "'", self._before
        is_start = before.isspace() or before in _BEFORE_OPENING
        if is_start and not after.isspace() and not (is_inner and after.isdigit()):
            self._is_open[is_inner] = True
            self._before = " "  # a quote after this one opens, too
            return self._marks[2 * is_inner]
        self._before = quote
        is_in_word = before.isalnum() and after.isalnum()
        if self._is_open[is_inner] and not (is_inner and is_in_word):
            self._is_open[is_inner] = False
            return self._marks[2 * is_inner + 1]
        if not is_inner or (before.isdigit() and not after.isalnum()):
            return quote
        return _APOSTROPHE
