"""The right name near a wrong one, for the end of a message; none is better than a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

MAX_LENGTH: Final = 40  # of a name that is compared
MAX_COMPARED: Final = 500
MAX_EDITS: Final = 3
LETTERS_PER_EDIT: Final = 3  # so many letters for each that is wrong; shorter names are not guessed

_MARKS: Final = re.compile(r"[-_ ]")
_REPEATED: Final = re.compile(r"([a-z])\1+")
# What other languages call an element of ours.
_FOREIGN: Final = {
    **dict.fromkeys(("para", "paragraph"), "p"),
    **dict.fromkeys(("article", "main", "section"), "div"),
    **dict.fromkeys(("bold", "strong"), "b"),
    **dict.fromkeys(("em", "italic"), "i"),
    **dict.fromkeys(("del", "strike"), "s"),
    **dict.fromkeys(("ins", "underline"), "u"),
    **dict.fromkeys(("linebreak", "newline"), "br"),
    **dict.fromkeys(("image", "picture"), "img"),
    "anchor": "a",
    "include": "insert",
    "link": "a",
    "pagebreak": "break",
    "list": "ul",
    "item": "li",
    "cell": "td",
    "column": "col",
    "qrcode": "barcode",
}


def nearest(word: str, words: Iterable[str]) -> str:
    """Suggest the right name nearest to a wrong one; empty if none is near."""
    found = find_nearest(word, words)
    return f'; did you mean "{found}"?' if found else ""


def nearest_element(tag: str, allowed: Iterable[str]) -> str:
    """Suggest an element that may stand where a tag does that the language does not have."""
    known = frozenset(allowed)
    foreign = _FOREIGN.get(tag.lower())
    if foreign in known:
        return f'; did you mean "{foreign}"?'
    return nearest(tag, known)


def find_nearest(word: str, words: Iterable[str]) -> str | None:
    """Find the name that fewest edits make of a word, at most one for every three of its letters.

    Case, hyphens and repeated letters do not count. An edit is a letter added, left out or
    replaced, or two that are exchanged.
    """
    if not word or len(word) > MAX_LENGTH:
        return None
    plain = _plain(word)
    limit = min(len(plain) // LETTERS_PER_EDIT, MAX_EDITS)
    near = (name for name in sorted(words) if abs(len(name) - len(word)) <= MAX_EDITS + 2)
    best, fewest = None, limit + 1
    for name in islice(near, MAX_COMPARED):
        other = _plain(name)
        if other == plain:
            return name
        edits = _count_edits(plain, other, min(limit, len(other) // LETTERS_PER_EDIT, fewest - 1))
        if edits < fewest:
            best, fewest = name, edits
    return best


def _plain(word: str) -> str:
    return _REPEATED.sub(r"\1", _MARKS.sub("", word.lower()))


def _count_edits(one: str, other: str, limit: int) -> int:
    """Count the edits between two words (optimal string alignment); above the limit, more than it."""
    if abs(len(one) - len(other)) > limit or limit < 1:
        return MAX_EDITS + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                edits = min(edits, older[j - 2] + 1)
            row.append(edits)
        if min(row) > limit:
            return MAX_EDITS + 1
    return row[-1] if row[-1] <= limit else MAX_EDITS + 1
