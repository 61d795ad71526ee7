"""Symbols of bar codes: their size and dark areas in modules, and those that are drawn here.

MaxiCode (ISO/IEC 16023) is hexagons around a bull's eye; postal codes are bars of four states in the one
size of their standard; a Swiss QR code has a cross in its middle (SIX,
Implementation Guidelines QR-bill, 6.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any, Final

from workers.engine.barcodes import BarcodeValue, StateBars
from workers.engine.units import mm

ModuleRectangle = tuple[int, int, int, int]
ModulePolygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol with its quiet zone: its size, and its dark rectangles as (x, y, width, height), in
    modules.

    The bars of a linear symbol may have any height; a stack is rows of bars, each of a fixed
    height. `text` is the human-readable interpretation, empty for none. With `subdivisions` all
    coordinates are that fraction of a module. `side` is the width in points that the standard
    prescribes, 0 if any, and `spare` how much it may differ. `polygons` are dark areas of other shapes, filled by the even-odd rule.
    """

    columns: int
    rows: int
    rectangles: tuple[ModuleRectangle, ...]
    is_bars: bool = False
    text: str = ""
    subdivisions: int = 1
    side: float = 0.0
    spare: float = 0.0
    polygons: tuple[ModulePolygon, ...] = ()
    is_stack: bool = False


SWISS_SIDE: Final = 46  # millimetres, for any content (6.4)
SWISS_QUIET: Final = 5  # millimetres around it (3.5.2)
SWISS_GRAIN: Final = 92  # parts of a module: with n modules on 46 mm, a millimetre is 2n parts

_SLIVER: Final = SWISS_GRAIN // 3
_CROSS: Final = 7  # millimetres, with its white edge (6.4.2)


def place_swiss_cross(
    rectangles: Iterable[ModuleRectangle], modules: int, *, quiet: int, edge: int
) -> list[ModuleRectangle]:
    """Return the modules of a code in fractions of a module, with the Swiss cross in their middle.

    The quiet zone is `quiet` modules wide in what is given, and `edge` fractions in what is returned.
    """
    origin = edge - SWISS_GRAIN * quiet
    half = edge + SWISS_GRAIN * modules // 2
    reach = _CROSS * modules  # half of the cross, in parts
    low, high = half - reach, half + reach
    placed: list[ModuleRectangle] = []
    for column, row, columns, rows in rectangles:
        x, y = origin + SWISS_GRAIN * column, origin + SWISS_GRAIN * row
        width, height = SWISS_GRAIN * columns, SWISS_GRAIN * rows
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


_GRAIN: Final = 200  # parts of a module
_WIDTH: Final = 28.14  # mm, quiet zone included, of 32 modules (ISO/IEC 16023, 4.11)
_COLUMNS, _ROWS, _QUIET = 32.0, 30.87, 1.0
_CENTRES: Final = re.compile(r"M([\d.]+) ([\d.]+)L")
_DOWN_TO_CENTRE: Final = 0.5  # a path starts at the lower corner of its hexagon
_BULLSEYE: Final = (15.5, 15.43)
_RINGS: Final = (
    (4.108, 0.785),
    (2.539, 0.785),
    (0.97, 0.785),
)  # radius and width of the dark rings
_SIDES_OF_RING: Final = 96


def make_maxicode(code: Any, text: str, *, has_quiet_zone: bool) -> Symbol:
    """Return the hexagons and rings of a MaxiCode symbol in its fixed size."""
    moved = 0.0 if has_quiet_zone else -_QUIET
    centres = [
        (float(x) + moved, float(y) - _DOWN_TO_CENTRE + moved)
        for x, y in _CENTRES.findall(code.to_svg(scale=1, add_quiet_zones=True))
    ]
    polygons = [_polygon(x, y, 0.5, 6, turned=pi / 2) for x, y in centres]
    for radius, width in _RINGS:
        for edge in (radius + width / 2, radius - width / 2):
            x, y = _BULLSEYE
            polygons.append(_polygon(x + moved, y + moved, edge, _SIDES_OF_RING))
    columns, rows = (round((side + 2 * moved) * _GRAIN) for side in (_COLUMNS, _ROWS))
    side = mm(_WIDTH * (_COLUMNS + 2 * moved) / _COLUMNS)
    return Symbol(
        columns, rows, (), text=text, subdivisions=_GRAIN, side=side, polygons=tuple(polygons)
    )


def _polygon(
    x: float, y: float, radius: float, corners: int, *, turned: float = 0.0
) -> ModulePolygon:
    angles = [turned + 2 * pi * corner / corners for corner in range(corners)]
    return tuple(
        (round((x + radius * cos(angle)) * _GRAIN), round((y + radius * sin(angle)) * _GRAIN))
        for angle in angles
    )


_TRACKING: Final = 20  # digits before the ZIP code


def draw_states(encodable: BarcodeValue, size: StateBars, *, has_quiet_zone: bool) -> Symbol:
    """Return a bar for each state of a content; digits are those of an Intelligent Mail barcode."""
    states = encodable.content
    if states.isdigit():
        from reportlab.graphics.barcode.usps4s import USPS_4State  # loads its graphics

        states = USPS_4State(states[:_TRACKING], states[_TRACKING:]).barcodes
    left, above = (size.beside, size.above) if has_quiet_zone else (0, 0)
    reaches = {"T": (0, 0), "A": (1, 0), "D": (0, 1), "F": (1, 1)}  # above and below the tracker
    bars = tuple(
        (
            left + size.pitch * at,
            above + size.reach * (1 - up),
            size.width,
            size.tracker + size.reach * (up + down),
        )
        for at, (up, down) in enumerate(reaches[state] for state in states)
    )
    columns = size.pitch * (len(bars) - 1) + size.width + 2 * left
    return Symbol(
        columns,
        size.tracker + 2 * size.reach + 2 * above,
        bars,
        text=encodable.text,
        subdivisions=size.pitch,
        side=mm(columns * size.part),
    )
