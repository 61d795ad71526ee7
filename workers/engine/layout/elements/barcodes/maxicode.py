"""MaxiCode (ISO/IEC 16023): hexagons around a bull's eye, as polygons."""

from __future__ import annotations

import re
from math import cos, pi, sin
from typing import Any, Final

from workers.engine.layout.elements.barcodes.symbols import ModulePolygon, Symbol
from workers.engine.units import mm

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
        (
            round((x + radius * cos(angle)) * _GRAIN),
            round((y + radius * sin(angle)) * _GRAIN),
        )
        for angle in angles
    )
