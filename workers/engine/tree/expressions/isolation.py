"""Isolation of inserted values: whatever a value contains, the text around it stays in place (UAX #9)."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.characters import has_right_to_left

# The direction inside is stated, or that of the first strong character (FSI).
LEFT_TO_RIGHT: Final = "\u2066"
RIGHT_TO_LEFT: Final = "\u2067"
BY_FIRST_STRONG: Final = "\u2068"
END: Final = "\u2069"

_INITIATORS: Final = frozenset((LEFT_TO_RIGHT, RIGHT_TO_LEFT, BY_FIRST_STRONG))
_CONTROLS: Final = re.compile("([\u2066-\u2069])")
_LETTER: Final = re.compile(r"[^\W\d_]")


def isolate(text: str, *, is_mixed: bool) -> str:
    """Return a value set apart from the text around it.

    `is_mixed` means that the text around may be right-to-left, so that left-to-right letters are
    set apart too. Numbers are not: `{{ from }}-{{ to }}` stays one range.
    """
    if not (has_right_to_left(text) or (is_mixed and _LETTER.search(text))):
        return text
    before, inner, after = text.partition(text.strip())  # spaces collapse with those around
    return f"{before}{BY_FIRST_STRONG}{_balance(inner)}{END}{after}"


def remove(text: str) -> str:
    """Return a text without isolates."""
    return text if text.isascii() else _CONTROLS.sub("", text)


def continue_in_lines(lines: list[str]) -> list[str]:
    """Return the lines of a text with isolates that end with each line and start again in the next."""
    opened, continued = "", []
    for line in lines:
        whole = opened + line
        opened = "".join(_find_open(whole))
        continued.append(whole + END * len(opened))
    return continued


def _balance(text: str) -> str:
    """Return a text without ends of isolates that it does not start; those it starts are ended."""
    if not _CONTROLS.search(text):
        return text
    depth, kept = 0, []
    for part in _CONTROLS.split(text):
        if part == END and not depth:
            continue
        depth += (part in _INITIATORS) - (part == END)
        kept.append(part)
    return "".join(kept) + END * depth


def _find_open(text: str) -> list[str]:
    """Return the initiators of isolates that a text does not end."""
    opened: list[str] = []
    for control in _CONTROLS.findall(text):
        if control != END:
            opened.append(control)
        elif opened:
            opened.pop()
    return opened
