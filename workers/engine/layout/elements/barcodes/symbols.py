"""The symbol of a bar code: its size and dark areas, in modules."""

from __future__ import annotations

from dataclasses import dataclass

ModuleRectangle = tuple[int, int, int, int]
ModulePolygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol with its quiet zone: its size, and its dark rectangles as (x, y, width, height), in
    modules.

    The bars of a linear symbol may have any height; a stack is rows of bars, each of a fixed
    height. `text` is the human-readable interpretation, empty for none. With `subdivisions` all
    coordinates are that fraction of a module. `side` is the only width in points that the standard
    allows, 0 if any. `polygons` are dark areas of other shapes, filled by the even-odd rule.
    """

    columns: int
    rows: int
    rectangles: tuple[ModuleRectangle, ...]
    is_bars: bool = False
    text: str = ""
    subdivisions: int = 1
    side: float = 0.0
    polygons: tuple[ModulePolygon, ...] = ()
    is_stack: bool = False
