"""Unicode character properties, and extended grapheme clusters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final

from icu4py.breakers import CharacterBreaker

ELLIPSIS: Final = "…"

# Characters that XML 1.0 forbids (2.2), and so JSON payloads, XMP packets and invoices.
NOT_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

# Right-to-left scripts, and the controls that may set text apart from what is around it (UAX #9).
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def has_right_to_left(text: str) -> bool:
    """Return whether a text may contain right-to-left characters."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def starts_right_to_left(text: str) -> bool | None:
    """Return whether the first letter of a text is of a right-to-left script; None without letters."""
    found = (unicodedata.bidirectional(char) for char in text)
    first = next((kind for kind in found if kind in ("L", "R", "AL")), None)
    return None if first is None else first != "L"


# In text below U+0300 every character is a cluster, except CR LF.
_MAY_JOIN: Final = re.compile("[\u0300-\U0010ffff]|\r\n")


def find_cluster_ends(text: str) -> list[int]:
    """Return the end offset of each extended grapheme cluster of a text (UAX #29)."""
    if not _MAY_JOIN.search(text):
        return list(range(1, len(text) + 1))
    return list(accumulate(map(len, CharacterBreaker(text, "en"))))


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
