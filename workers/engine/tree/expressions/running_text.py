"""Running text: white space and text-transform (CSS Text 4, 4.3 and 2.1), and isolation of inserted values.

Whatever a value contains, the text around it stays in place (UAX #9).
"""

from __future__ import annotations

import re
from typing import Final

from workers.engine.characters import has_right_to_left
from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.tree.expressions.letter_case import capitalize_words, to_lower, to_upper

MAX_TEXT: Final = 5_000_000  # characters of one paragraph; 90 bytes each while it is broken

# CSS collapses these and no other: a no-break space is a character.
SPACES: Final = re.compile(r"[ \t\n\r\f]+")
SPACES_IN_LINE: Final = re.compile(r"[ \t\f]+")


def check_length(text: str, location: SourceLocation, findings: Findings) -> None:
    """Report a text that is too long for one paragraph."""
    if len(text) > MAX_TEXT:
        findings.error("too-long", too_long_message(len(text)), location)


def too_long_message(length: int) -> str:
    """Return the message about a text that is too long for one paragraph."""
    return (
        f"The text of one paragraph has {length:,} characters, accepted are at most "
        f"{MAX_TEXT:,}. Split it into several paragraphs"
    )


def collapse_and_trim(text: str) -> str:
    """Collapse the white space of a text, and remove it at its ends."""
    if text.isprintable() and "  " not in text and text.strip(" ") is text:
        return text
    return SPACES.sub(" ", text).strip(" ")


def collapse(text: str) -> str:
    """Collapse white space, keeping one space at an end that has some."""
    return SPACES.sub(" ", text)


def apply_text_transform(text: str, how: str) -> str:
    """Apply a value of CSS `text-transform`, which its language follows after a space."""
    name, _, lang = how.partition(" ")
    match name:
        case "uppercase":
            return to_upper(text, lang)
        case "lowercase":
            return to_lower(text, lang)
        case "capitalize":
            return capitalize_words(text, lang)
        case _:
            return text


# The direction inside is stated, or that of the first strong character (FSI).
LEFT_TO_RIGHT: Final = "\u2066"
RIGHT_TO_LEFT: Final = "\u2067"
BY_FIRST_STRONG: Final = "\u2068"
END_ISOLATE: Final = "\u2069"

_INITIATORS: Final = frozenset((LEFT_TO_RIGHT, RIGHT_TO_LEFT, BY_FIRST_STRONG))
_CONTROLS: Final = re.compile("([\u2066-\u2069])")
# Letters, numbers such as 2026-0042 and 100×50, or one with a sign, as +4930123456.
_ORDERED: Final = re.compile(r"[^\W\d_]|\d[^\d.,:٫٬\u202f\xa0]+\d|^\s*[+-]\d")


def isolate(text: str, *, is_mixed: bool) -> str:
    """Return a value set apart from the text around it.

    `is_mixed` means that the text around may be right-to-left, so that left-to-right letters, and
    numbers of several parts, are set apart too. Plain numbers are not: `{{ from }}-{{ to }}` stays one range.
    """
    if not (has_right_to_left(text) or (is_mixed and _ORDERED.search(text))):
        return text
    before, inner, after = text.partition(text.strip())  # spaces collapse with those around
    return f"{before}{BY_FIRST_STRONG}{_balance(inner)}{END_ISOLATE}{after}"


def remove_isolates(text: str) -> str:
    """Return a text without isolates."""
    return text if text.isascii() else _CONTROLS.sub("", text)


def continue_in_lines(lines: list[str]) -> list[str]:
    """Return the lines of a text with isolates that end with each line and start again in the next."""
    opened, continued = "", []
    for line in lines:
        whole = opened + line
        opened = "".join(_find_open(whole))
        continued.append(whole + END_ISOLATE * len(opened))
    return continued


def _balance(text: str) -> str:
    """Return a text without ends of isolates that it does not start; those it starts are ended."""
    if not _CONTROLS.search(text):
        return text
    depth, kept = 0, []
    for part in _CONTROLS.split(text):
        if part == END_ISOLATE and not depth:
            continue
        depth += (part in _INITIATORS) - (part == END_ISOLATE)
        kept.append(part)
    return "".join(kept) + END_ISOLATE * depth


def _find_open(text: str) -> list[str]:
    """Return the initiators of isolates that a text does not end."""
    opened: list[str] = []
    for control in _CONTROLS.findall(text):
        if control != END_ISOLATE:
            opened.append(control)
        elif opened:
            opened.pop()
    return opened
