"""Intelligent Mail barcodes of the US Postal Service (USPS-B-3200): 65 bars of four states."""

from __future__ import annotations

from typing import Final

from workers.engine.barcodes import BarcodeValue
from workers.engine.layout.elements.barcodes.symbols import Symbol
from workers.engine.units import mm

_TRACKING: Final = 20  # digits
# In parts of a 25th of the pitch, of 22 bars an inch: bars are 0.51 mm wide, of 1.25, 2.5 or 3.7 mm.
_PITCH, _BAR, _THIRD = 25, 11, 27
_SIDE, _ABOVE = (
    69,
    16,
)  # of the quiet zone: an eighth of an inch beside, 0.028 inches above and below
_PART: Final = 25.4 / 22 / _PITCH  # mm
_STATES: Final = {"T": (1, 1), "A": (0, 2), "D": (1, 2), "F": (0, 3)}  # top and height, in thirds


def make_intelligent_mail(encodable: BarcodeValue, *, has_quiet_zone: bool) -> Symbol:
    """Return the bars of a tracking code and ZIP code in their fixed size."""
    from reportlab.graphics.barcode.usps4s import USPS_4State  # loads its graphics

    digits = encodable.content
    states = USPS_4State(digits[:_TRACKING], digits[_TRACKING:]).barcodes
    left, above = (_SIDE, _ABOVE) if has_quiet_zone else (0, 0)
    bars = tuple(
        (left + _PITCH * at, above + _THIRD * top, _BAR, _THIRD * height)
        for at, (top, height) in enumerate(_STATES[state] for state in states)
    )
    columns = _PITCH * (len(states) - 1) + _BAR + 2 * left
    rows = 3 * _THIRD + 2 * above
    return Symbol(
        columns, rows, bars, text=encodable.text, subdivisions=_PITCH, side=mm(columns * _PART)
    )
