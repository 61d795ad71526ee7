"""The Swiss cross in the middle of a Swiss QR code (SIX, Implementation Guidelines QR-bill, 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from workers.engine.layout.elements.barcodes.symbols import ModuleRectangle

SIDE: Final = 46  # millimetres, for any content (6.4)
QUIET: Final = 5  # millimetres around it (3.5.2)
GRAIN: Final = 92  # parts of a module: with n modules on 46 mm, a millimetre is 2n parts

_SLIVER: Final = GRAIN // 3
_CROSS: Final = 7  # millimetres, with its white edge (6.4.2)


def place_cross(
    rectangles: Iterable[ModuleRectangle], modules: int, *, quiet: int, edge: int
) -> list[ModuleRectangle]:
    """Return the modules of a code in fractions of a module, with the Swiss cross in their middle.

    The quiet zone is `quiet` modules wide in what is given, and `edge` fractions in what is returned.
    """
    origin = edge - GRAIN * quiet
    half = edge + GRAIN * modules // 2
    reach = _CROSS * modules  # half of the cross, in parts
    low, high = half - reach, half + reach
    placed: list[ModuleRectangle] = []
    for column, row, columns, rows in rectangles:
        x, y = origin + GRAIN * column, origin + GRAIN * row
        width, height = GRAIN * columns, GRAIN * rows
        if x + width <= low or x >= high or y + height <= low or y >= high:
            placed.append((x, y, width, height))
        else:
            placed += _outside(x, y, x + width, y + height, low, high)
    for x1, y1, x2, y2 in _DRAWN_CROSS:
        left, top, right, bottom = (
            low + round(2 * reach * at / _CROSS_SIDE) for at in (x1, y1, x2, y2)
        )
        placed.append((left, top, right - left, bottom - top))
    return placed


# The black area of the cross as published by SIX, in a square of 19.8 units.
_CROSS_SIDE: Final = 19.8
_FIELD, _FIELD_END = 1.4, 18.4
_ARMS, _ARMS_END = 4.4, 15.4  # of the horizontal arm; the vertical one is as long
_ARM, _ARM_END = 8.25, 11.55
_DRAWN_CROSS: Final = (
    (_FIELD, _FIELD, _FIELD_END, _ARMS),
    (_FIELD, _ARMS_END, _FIELD_END, _FIELD_END),
    (_FIELD, _ARMS, _ARMS, _ARMS_END),
    (_ARMS_END, _ARMS, _FIELD_END, _ARMS_END),
    (_ARMS, _ARMS, _ARM, _ARM),
    (_ARM_END, _ARMS, _ARMS_END, _ARM),
    (_ARMS, _ARM_END, _ARM, _ARMS_END),
    (_ARM_END, _ARM_END, _ARMS_END, _ARMS_END),
)


def _outside(
    left: int, top: int, right: int, bottom: int, low: int, high: int
) -> Iterator[ModuleRectangle]:
    """Yield the parts of a rectangle outside the square from `low` to `high`, without slivers."""
    between = max(top, low), min(bottom, high)
    for x1, y1, x2, y2 in (
        (left, top, right, low),
        (left, high, right, bottom),
        (left, between[0], low, between[1]),
        (high, between[0], right, between[1]),
    ):
        if x2 - x1 >= _SLIVER and y2 - y1 >= _SLIVER:
            yield x1, y1, x2 - x1, y2 - y1
