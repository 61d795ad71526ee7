"""Values of `hanging-punctuation`."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax.values import ValueType

OPTICAL: Final = "optical"
_ENDS: Final = ("allow-end", "force-end")
_WORDS: Final = ("first", *_ENDS, "last")


def read_hanging(text: str) -> tuple[str, ...]:
    """Parse `hanging-punctuation` (CSS Text 4 §9.2), or `optical`, into sorted keywords.

    Raises:
        ValueError: a keyword is unknown or repeated, or two are mutually exclusive.
    """
    if text == "none":
        return ()
    if text == OPTICAL:
        return (OPTICAL,)
    words = text.split()
    if not words or len(set(words)) != len(words) or not set(words) <= set(_WORDS):
        raise ValueError(text)
    if set(words) >= set(_ENDS):
        raise ValueError(text)
    return tuple(sorted(words))


HANGING_KIND: Final = ValueType(
    f"none, optical, or some of {', '.join(_WORDS)} (one of {' and '.join(_ENDS)})", read_hanging
)
