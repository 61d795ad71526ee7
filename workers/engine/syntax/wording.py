"""Wording of messages: lists of words."""

from __future__ import annotations

from collections.abc import Sequence


def join_words(words: Sequence[str], conjunction: str) -> str:
    """Return words separated by commas, with a conjunction before the last: a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
