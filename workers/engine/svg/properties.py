"""The supported style properties of SVG, with their initial values and what is valid for them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from workers.engine.data_tables import read_groups
from workers.engine.svg.values import to_color, to_length, to_reference

_TABLE: Final = read_groups(__package__, "properties.txt")
INHERITED: Final = _TABLE["inherited"]
NON_INHERITED: Final = _TABLE["other"]
KNOWN: Final = frozenset(INHERITED) | frozenset(NON_INHERITED)
UNSUPPORTED: Final = {name: tuple(values.split()) for name, values in _TABLE["unsupported"].items()}
# Shorthands are expanded.
ACCEPTED: Final = KNOWN | UNSUPPORTED.keys() | {"font", "marker"}
# `transform` is not a presentation attribute of every element, so it is read separately.
ATTRIBUTES: Final = (KNOWN - {"transform"}) | {"font-variant", "writing-mode"}
FONT_SIZES: Final = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}


# --- validity ---------------------------------------------------------------------------------

PAINTS: Final = frozenset({"fill", "stroke"})
COLORS: Final = frozenset({"color", "stop-color"})
CSS_WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert"})
_PAINT_KEYWORDS: Final = frozenset({"none", "currentcolor", "context-fill", "context-stroke"})
_KEYWORDS: Final = {
    "clip-rule": frozenset({"nonzero", "evenodd"}),
    "fill-rule": frozenset({"nonzero", "evenodd"}),
    "stroke-linecap": frozenset({"butt", "round", "square"}),
    "stroke-linejoin": frozenset({"miter", "miter-clip", "round", "bevel", "arcs"}),
    "text-anchor": frozenset({"start", "middle", "end"}),
    "visibility": frozenset({"visible", "hidden", "collapse"}),
}
_OPACITIES: Final = frozenset({"fill-opacity", "opacity", "stop-opacity", "stroke-opacity"})
_CHECKED: Final = PAINTS | COLORS | _KEYWORDS.keys() | _OPACITIES | {"stroke-width"}
_MAX_LENGTH: Final = 1000  # characters; a longer value is invalid


def is_valid(name: str, value: str) -> bool:
    """Return whether a value is valid for a property; unchecked properties accept any value."""
    return name not in _CHECKED or (len(value) <= _MAX_LENGTH and _is_valid(name, value))


@lru_cache(maxsize=1024)
def _is_valid(name: str, value: str) -> bool:
    if value in CSS_WIDE_KEYWORDS:
        return True
    if name in PAINTS:
        return _is_paint(value)
    if name in COLORS:
        return value.lower() == "currentcolor" or to_color(value) is not None
    keywords = _KEYWORDS.get(name)
    if keywords is not None:
        return value.lower() in keywords
    length = to_length(value, 1.0)
    return length is not None and (name in _OPACITIES or length >= 0)


def _is_paint(value: str) -> bool:
    reference = to_reference(value)
    if reference is not None:
        value = reference[1] or "none"
    return value.lower() in _PAINT_KEYWORDS or to_color(value) is not None
