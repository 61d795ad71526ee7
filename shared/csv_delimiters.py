"""The delimiter of a CSV text: named by its first line, or detected in its header."""

from __future__ import annotations

import re
from typing import Final

_DELIMITERS: Final = (",", ";", "\t", "|")
_QUOTED: Final = re.compile(r'"[^"]*+"')
_FIRST_LINE: Final = re.compile(r"[^\r\n]*")
# The line with which spreadsheets name the delimiter, which other programs may have quoted.
_NAMED: Final = re.compile(
    r"""\s*"?sep=(?P<delimiter>[^\w\s"']|\t)"?[ ]*(?:\r\n?|\n|\Z)""", re.IGNORECASE
)
_MAX_HEADER: Final = 100_000


def find_named_delimiter(text: str) -> tuple[str, int] | None:
    """Return the delimiter that a `sep=` line at the beginning names, and the end of that line."""
    found = _NAMED.match(text)
    return None if found is None else (found["delimiter"], found.end())


def detect_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in the first line, outside of quotes."""
    bare = _QUOTED.sub("", text.lstrip("\r\n ")[:_MAX_HEADER])
    first = _FIRST_LINE.match(bare)
    assert first is not None
    return max(_DELIMITERS, key=first[0].count)
