"""The ids of headings in Markdown, made as GitHub makes them, and the fragments that lead to them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

# Alphabetic signs among the symbols: circled and squared letters (Unicode, Other_Alphabetic).
_SIGNED_LETTERS: Final = (
    (0x24B6, 0x24E9),
    (0x1F130, 0x1F149),
    (0x1F150, 0x1F169),
    (0x1F170, 0x1F189),
)
_KEPT: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})


class Slugs:
    """The slugs of one text; one that is taken gets `-1`, `-2` and so on (github-slugger 2)."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def add(self, heading: str) -> str:
        """Return the slug of a heading, empty where no character of it is kept."""
        plain = slug = make_slug(heading)
        if not plain:
            return ""
        while slug in self._taken:
            self._taken[plain] += 1
            slug = f"{plain}-{self._taken[plain]}"
        self._taken[slug] = 0
        return slug

    def find(self, fragment: str) -> str:
        """Return the id that the fragment of a link names, in lower case where only that is one."""
        name = unquote(fragment)
        return name.lower() if name not in self._taken and name.lower() in self._taken else name


def make_slug(heading: str) -> str:
    """Write a text in lower case, spaces as `-`, without all but letters, marks, digits, `-` and `_`."""
    kept = (char for char in heading.lower() if char in "- " or _is_kept(char))
    return "".join(kept).replace(" ", "-")


@lru_cache(maxsize=1024)
def _is_kept(char: str) -> bool:
    if unicodedata.category(char) in _KEPT:
        return True
    return any(first <= ord(char) <= last for first, last in _SIGNED_LETTERS)
