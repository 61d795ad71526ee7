"""A bar code as it is drawn: its size and its dark parts, in modules."""

from __future__ import annotations

from dataclasses import dataclass

Rectangle = tuple[int, int, int, int]
Polygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bar code in modules, quiet zone included: its size, and its dark parts as (x, y, w, h).

    Bars may be drawn of any height; a stack is rows of bars, each of its own height. `text` is what people read below, empty where there is none.
    With a `grain` all is counted in that part of a module. `side` is the one width in points that a
    standard allows, 0 where it leaves that open. `polygons` are dark parts of another shape, filled
    by the even-odd rule.
    """

    columns: int
    rows: int
    rectangles: tuple[Rectangle, ...]
    is_bars: bool = False
    text: str = ""
    grain: int = 1
    side: float = 0.0
    polygons: tuple[Polygon, ...] = ()
    is_stack: bool = False
