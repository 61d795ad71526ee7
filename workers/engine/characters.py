"""Unicode character properties, and extended grapheme clusters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

ELLIPSIS: Final = "…"

# Characters that XML 1.0 forbids (2.2), and so JSON payloads, XMP packets and invoices.
NOT_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

# Right-to-left scripts, and the controls that may set text apart from what is around it (UAX #9).
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_MAX_CHARACTERS: Final = 20_000  # cached of each table


def has_right_to_left(text: str) -> bool:
    """Return whether a text may contain right-to-left characters."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def starts_right_to_left(text: str) -> bool | None:
    """Return whether the first letter of a text is of a right-to-left script; None without letters."""
    found = (unicodedata.bidirectional(char) for char in text)
    first = next((kind for kind in found if kind in ("L", "R", "AL")), None)
    return None if first is None else first != "L"


class CharacterTable(dict[int, str]):
    """A character property as a table for `str.translate`, with one letter per property value.

    The file has one line per value: its name and its ranges in hexadecimal. Characters in no range
    have the letter `rest`.
    """

    def __init__(self, package: str, name: str, letters: Mapping[str, str], *, rest: str) -> None:
        super().__init__()
        self._rest = rest
        ranges = []
        for line in (files(package) / name).read_text(encoding="ascii").splitlines():
            of, *parts = line.split()
            for part in parts:
                first, _, last = part.partition("-")
                ranges.append((int(first, 16), int(last or first, 16), letters[of]))
        self._ranges = sorted(ranges)
        self._firsts = [first for first, _, _ in self._ranges]

    def __missing__(self, code: int) -> str:
        at = bisect_right(self._firsts, code) - 1
        letter = self._rest
        if at >= 0 and code <= self._ranges[at][1]:
            letter = self._ranges[at][2]
        if len(self) >= _MAX_CHARACTERS:
            self.clear()
        self[code] = letter
        return letter


# In text below U+0300 every character is a cluster, except CR LF.
_MAY_JOIN: Final = re.compile("[\u0300-\U0010ffff]|\r\n")

_LETTERS: Final = {
    "CR": "r", "LF": "n", "Control": "C", "Extend": "m", "ZWJ": "z", "Regional_Indicator": "R",
    "Prepend": "P", "SpacingMark": "S", "L": "L", "V": "V", "T": "T", "ExtPict": "X",
}  # fmt: skip
# UAX #29, table 1c; v is a Hangul LV syllable, w an LVT syllable.
_CLUSTER: Final = re.compile(
    "rn|[rnC]|P*(?:RR|X(?:m*zX)*|L*(?:V+|vV*|w)T*|L+|T+|[^rnCP])[mzS]*|P+[mzS]*"
)
_FIRST_SYLLABLE, _LAST_SYLLABLE, _LAST_CONSONANTS = 0xAC00, 0xD7A3, 28


class _Clusters(CharacterTable):
    def __missing__(self, code: int) -> str:
        if _FIRST_SYLLABLE <= code <= _LAST_SYLLABLE:
            return "w" if (code - _FIRST_SYLLABLE) % _LAST_CONSONANTS else "v"
        return super().__missing__(code)


def find_cluster_ends(text: str) -> list[int]:
    """Return the end offset of each extended grapheme cluster of a text (UAX #29)."""
    if not _MAY_JOIN.search(text):
        return list(range(1, len(text) + 1))
    return [match.end() for match in _CLUSTER.finditer(text.translate(_table()))]


def cut_at_cluster(text: str, end: int) -> int:
    """Return the last cluster boundary of a text at or before `end`."""
    if end >= len(text) or not _MAY_JOIN.search(text):
        return min(end, len(text))
    ends = find_cluster_ends(text)
    at = bisect_right(ends, end)
    return ends[at - 1] if at else 0


def cut_to_width(text: str, measure: Callable[[str], float], room: float) -> str:
    """Return as much of a text as fits into a width with an ellipsis, empty if no character does."""
    lengths = range(1, len(text) + 1)
    most = bisect_right(lengths, room, key=lambda end: measure(text[:end].rstrip() + ELLIPSIS))
    kept = text[: cut_at_cluster(text, most)].rstrip()
    return kept + ELLIPSIS if kept else ""


@cache
def _table() -> _Clusters:
    return _Clusters("workers.engine", "cluster_classes.txt", _LETTERS, rest="o")
