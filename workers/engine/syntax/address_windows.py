"""The windows of envelopes: where standards put the address of a letter, in millimetres of its paper."""

from __future__ import annotations

from typing import Final, NamedTuple


class AddressWindow(NamedTuple):
    """The address field of a standard, from the upper left corner of the paper.

    The upper `remarks` of its height are for the sender and remarks, the rest for the address, which
    has at most `lines`. Text starts `inset` from the left edge of the field. `folds` and the `punch` mark
    are distances from the upper edge.
    """

    left: float
    top: float
    width: float
    height: float
    inset: float
    remarks: float
    lines: int
    folds: tuple[float, float]
    punch: float | None = None


ADDRESS_WINDOWS: Final = {
    # DIN 5008: a field of 85 × 45 mm, 17.7 mm of it for sender and remarks, 27.3 mm for six lines.
    "din5008-b": AddressWindow(20, 45, 85, 45, 5, 17.7, 6, (105, 210), 148.5),
    "din5008-a": AddressWindow(20, 27, 85, 45, 5, 17.7, 6, (87, 192), 148.5),
    # ISO 269, DL: a window of 45 × 90 mm, 20 mm from the left and 15 mm from the lower edge. These and
    # the following envelopes hold the paper loosely: the field is what shows however it has slipped.
    "iso269-dl": AddressWindow(20, 46, 85, 40, 5, 6, 6, (99, 198)),
    # SN 010130: the field begins 45 mm from the top, on the left or on the right side.
    "sn010130-left": AddressWindow(20, 45, 85, 40, 5, 6, 6, (105, 210)),
    "sn010130-right": AddressWindow(115, 45, 85, 40, 5, 6, 6, (105, 210)),
    # BS 4264, DL: a window of 35 × 90 mm, 20 mm from the left and 18 mm from the lower edge.
    "bs-window": AddressWindow(20, 52, 85, 34, 5, 5, 6, (99, 198)),
    # NF Z 11-001: the field on the right; NF Z 10-011 allows six lines.
    "nf-z11": AddressWindow(100, 45, 90, 40, 5, 6, 6, (99, 198)),
    # No. 10: a window of 1 1/8 × 4 1/2 in, 7/8 in from the left and 1/2 in from the lower edge, on
    # Letter folded into thirds. The sender has no place in it.
    "us-10": AddressWindow(22.2, 58, 88.9, 25, 2.8, 0, 5, (93.1, 186.3)),
}
