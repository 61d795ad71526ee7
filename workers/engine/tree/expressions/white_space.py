"""White-space collapsing and text-transform of running text (CSS Text 4, 4.3 and 2.1)."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.tree.expressions.filters import capitalize_words

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
    """Apply the value `how` of CSS `text-transform`."""
    match how:
        case "uppercase":
            return text.upper()
        case "lowercase":
            return text.lower()
        case "capitalize":
            return capitalize_words(text)
        case _:
            return text
