"""Corrections of misspelled names, read from the suggestions of findings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A message ends with the suggestion; the name it replaces is the last quoted one before it.
_SUGGESTION: Final = re.compile(r'["`]([^"`]{1,60})["`][^"`]*; did you mean "([^"]+)"\?')


@dataclass(frozen=True, slots=True)
class Correction:
    """A misspelled name, the known name that is meant, and its offsets in the text of its element."""

    written: str
    meant: str
    offsets: tuple[int, ...]


def find_correction(message: str, element: str, tag_name: str) -> Correction | None:
    """Return the correction that a finding suggests; None if it has none, or the name is not in the element."""
    found = _SUGGESTION.search(message)
    if found is None:
        return None
    written, meant = found[1], found[2]
    offsets = _find_offsets(element, tag_name, written)
    return Correction(written, meant, offsets) if offsets else None


def _find_offsets(element: str, tag_name: str, name: str) -> tuple[int, ...]:
    """Return the places of both tags, or that of an attribute or a word."""
    if name == tag_name:
        end = element.rfind(f"</{tag_name}")
        return (1,) if end < 0 else (1, end + 2)
    word = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", element)
    return () if word is None else (word.start(),)
