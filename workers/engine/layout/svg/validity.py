"""Which declarations are valid: one that is not is as if it were not there (CSS Syntax 3, 2.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from workers.engine.layout.svg.values import read_fallback, to_color, to_length

PAINTS: Final = frozenset({"fill", "stroke"})
COLORS: Final = frozenset({"color", "stop-color"})
OF_CSS: Final = frozenset({"inherit", "initial", "unset", "revert"})
_PAINT_WORDS: Final = frozenset({"none", "currentcolor", "context-fill", "context-stroke"})
_WORDS: Final = {
    "clip-rule": frozenset({"nonzero", "evenodd"}),
    "fill-rule": frozenset({"nonzero", "evenodd"}),
    "stroke-linecap": frozenset({"butt", "round", "square"}),
    "stroke-linejoin": frozenset({"miter", "miter-clip", "round", "bevel", "arcs"}),
    "text-anchor": frozenset({"start", "middle", "end"}),
    "visibility": frozenset({"visible", "hidden", "collapse"}),
}
_OPACITIES: Final = frozenset({"fill-opacity", "opacity", "stop-opacity", "stroke-opacity"})
_CHECKED: Final = PAINTS | COLORS | _WORDS.keys() | _OPACITIES | {"stroke-width"}
_LONGEST: Final = 1000  # characters of a value that is looked at


def is_valid(name: str, value: str) -> bool:
    """Tell whether a property may have a value; those that are not checked may have any."""
    return name not in _CHECKED or (len(value) <= _LONGEST and _is_valid(name, value))


@lru_cache(maxsize=1024)
def _is_valid(name: str, value: str) -> bool:
    if value in OF_CSS:
        return True
    if name in PAINTS:
        return _is_paint(value)
    if name in COLORS:
        return value.lower() == "currentcolor" or to_color(value) is not None
    words = _WORDS.get(name)
    if words is not None:
        return value.lower() in words
    length = to_length(value, 1.0)
    return length is not None and (name in _OPACITIES or length >= 0)


def _is_paint(value: str) -> bool:
    fallback = read_fallback(value)
    if fallback is not None:
        value = fallback or "none"
    return value.lower() in _PAINT_WORDS or to_color(value) is not None
