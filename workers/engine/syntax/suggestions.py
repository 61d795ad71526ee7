"""Suggestions of known names for a misspelled one, as the end of a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from workers.engine.diagnostics import Findings

MAX_LENGTH: Final = 40  # of a compared name
MAX_COMPARED: Final = 500
MAX_EDITS: Final = 3
LETTERS_PER_EDIT: Final = 3  # one edit per three letters; shorter names get no suggestion

_MARKS: Final = re.compile(r"[-_ ]")
_REPEATED: Final = re.compile(r"([a-z])\1+")
# Names of equivalent elements in HTML and other languages.
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


def suggest_name(word: str, words: Iterable[str]) -> str:
    """Return a suggestion of the known name nearest to a word, empty if none is near."""
    found = find_nearest(word, words)
    return f'; did you mean "{found}"?' if found else ""


def suggest_if_listed(findings: Findings, word: str, words: Iterable[str]) -> str:
    """Return a suggestion for a message, empty where the error is only counted: it is costly."""
    return suggest_name(word, words) if findings.has_room_for_errors else ""


def suggest_element(tag: str, allowed: Iterable[str]) -> str:
    """Return a suggestion of an allowed element for an unknown tag, empty if none is near."""
    known = frozenset(allowed)
    foreign = _FOREIGN.get(tag.lower())
    if foreign in known:
        return f'; did you mean "{foreign}"?'
    return suggest_name(tag, known)


def find_nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the name with the least edit distance from a word, None beyond one edit per three letters.

    Case, hyphens and repeated letters are ignored. An edit is an insertion, deletion, substitution
    or transposition of two adjacent letters.
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
    """Return the optimal string alignment distance of two words, or any value above `limit` beyond it."""
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


def join_words(words: Sequence[str], conjunction: str) -> str:
    """Return words separated by commas, with a conjunction before the last: a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
