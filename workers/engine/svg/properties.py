"""The supported style properties of SVG, with their initial values."""

from __future__ import annotations

from typing import Final

from workers.engine.data_tables import read_groups

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
