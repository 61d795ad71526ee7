"""Ids of Markdown headings as GitHub generates them, and the fragments that refer to them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

# Symbols with the property Other_Alphabetic: circled and squared letters.
_SIGNED_LETTERS: Final = (
    (0x24B6, 0x24E9),
    (0x1F130, 0x1F149),
    (0x1F150, 0x1F169),
    (0x1F170, 0x1F189),
)
_SLUG_CATEGORIES: Final = frozenset(
    {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}
)


class Slugs:
    """The slugs of one text; repeated ones get `-1`, `-2` and so on (github-slugger 2)."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def add(self, heading: str) -> str:
        """Return a unique slug for a heading, empty if the heading has no letter, mark or digit."""
        plain = slug = make_slug(heading)
        if not plain:
            return ""
        while slug in self._taken:
            self._taken[plain] += 1
            slug = f"{plain}-{self._taken[plain]}"
        self._taken[slug] = 0
        return slug

    def find(self, fragment: str) -> str:
        """Return the id that a link's fragment names, in lower case if only that exists."""
        name = unquote(fragment)
        return name.lower() if name not in self._taken and name.lower() in self._taken else name


def make_slug(heading: str) -> str:
    """Return a text in lower case with `-` for spaces, and only letters, marks, digits, `-` and `_`."""
    kept = (char for char in heading.lower() if char in "- " or _is_kept(char))
    return "".join(kept).replace(" ", "-")


@lru_cache(maxsize=1024)
def _is_kept(char: str) -> bool:
    if unicodedata.category(char) in _SLUG_CATEGORIES:
        return True
    return any(first <= ord(char) <= last for first, last in _SIGNED_LETTERS)
