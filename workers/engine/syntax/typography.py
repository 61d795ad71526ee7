"""Values of `hanging-punctuation`, `initial-letter` and `line-grid`."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.syntax.values import RelativeLength, ValueType, length
from workers.engine.units import Length

OPTICAL: Final = "optical"
MAX_INITIAL_LINES: Final = 20
MIN_GRID_STEP: Final = 4.0  # points
_GRID_STEP: Final = length(low=MIN_GRID_STEP, high=200)
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


_INITIAL: Final = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)(?:\s+(\d{1,2}|drop|raise))?", re.ASCII)


def read_initial_letter(text: str) -> tuple[float, int] | tuple[()]:
    """Parse `initial-letter` (CSS Inline 3 §7.3) into its size and its sink in lines, () for `normal`.

    Raises:
        ValueError: it is neither `normal` nor a size with a sink, or one is out of range.
    """
    if text == "normal":
        return ()
    match = _INITIAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    size = float(match[1])
    sink = {None: int(size), "drop": int(size), "raise": 1}.get(match[2])
    sink = int(match[2]) if sink is None else sink
    if not (1 <= size <= MAX_INITIAL_LINES and 1 <= sink <= MAX_INITIAL_LINES):
        raise ValueError(text)
    return size, sink


INITIAL_LETTER_KIND: Final = ValueType(
    f"normal, or a height in lines from 1 to {MAX_INITIAL_LINES} and the line that the letter stands on: a number, drop or raise",
    read_initial_letter,
)


def read_line_grid(text: str) -> Length | RelativeLength:
    """Parse `line-grid` into the distance of its lines, 0 for `none`.

    Raises:
        ValueError: it is neither `none` nor a length in the range of a grid.
    """
    if text == "none":
        return Length(0.0)
    step = _GRID_STEP.parse(text)
    if step is None:
        raise ValueError(text)
    return step


LINE_GRID_KIND: Final = ValueType("none, or {}", read_line_grid, parts=(_GRID_STEP,))
