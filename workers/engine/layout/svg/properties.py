"""The supported style properties of SVG, with their initial values."""

from __future__ import annotations

from typing import Final

INHERITED: Final[dict[str, str]] = {
    "clip-rule": "nonzero",
    "color": "black",
    "direction": "ltr",
    "dominant-baseline": "auto",
    "fill": "black",
    "fill-opacity": "1",
    "fill-rule": "nonzero",
    "font-family": "",
    "font-size": "16",
    "font-style": "normal",
    "font-weight": "400",
    "letter-spacing": "normal",
    "marker-end": "none",
    "marker-mid": "none",
    "marker-start": "none",
    "paint-order": "normal",
    "stroke": "none",
    "stroke-dasharray": "none",
    "stroke-dashoffset": "0",
    "stroke-linecap": "butt",
    "stroke-linejoin": "miter",
    "stroke-miterlimit": "4",
    "stroke-opacity": "1",
    "stroke-width": "1",
    "text-anchor": "start",
    "visibility": "visible",
    "white-space": "normal",
}
NON_INHERITED: Final[dict[str, str]] = {
    "alignment-baseline": "auto",
    "baseline-shift": "baseline",
    "clip-path": "none",
    "display": "inline",
    "filter": "none",
    "mask": "none",
    "mix-blend-mode": "normal",
    "opacity": "1",
    "overflow": "",
    "stop-color": "black",
    "stop-opacity": "1",
    "transform": "",
    "transform-box": "view-box",
    "transform-origin": "",
    "vector-effect": "none",
}
KNOWN: Final = frozenset(INHERITED) | frozenset(NON_INHERITED)
# Unsupported properties, with prefixes of the values that have no effect.
UNSUPPORTED: Final[dict[str, tuple[str, ...]]] = {
    "font-variant": ("normal", "none"),
    "offset-path": ("none",),
    "rotate": ("none",),
    "scale": ("none",),
    "text-decoration": ("none",),
    "text-decoration-line": ("none",),
    "translate": ("none",),
    "word-spacing": ("normal", "0"),
    "writing-mode": ("horizontal", "lr", "rl"),
}
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
