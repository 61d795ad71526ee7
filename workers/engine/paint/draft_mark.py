"""The word DRAFT across each page of a draft, above all content, which templates cannot affect."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from typing import Final

NAME: Final = "PressroomDraft"  # of the form that draws the word
# The word as outlines of Noto Sans Bold in em/1000, so that the mark needs no font.
_WORD: Final = b"""\
682 364 m 682 243 648 152 579 91 c 511 30 415 0 292 0 c 90 0 l 90 714 l 314 714 l
389 714 454 701 508 674 c 564 647 606 608 636 556 c 667 505 682 441 682 364 c h
525 360 m 525 439 508 498 473 534 c 438 572 388 590 322 590 c 241 590 l 241 125 l 306 125 l
452 125 525 203 525 360 c h
1038 714 m 1135 714 1207 696 1253 661 c 1300 626 1323 572 1323 500 c 1323 467 1317 439 1304 414 c
1292 390 1276 370 1255 352 c 1235 336 1213 322 1190 311 c 1400 0 l 1232 0 l 1062 274 l 981 274 l
981 0 l 830 0 l 830 714 l 1038 714 l h
1027 590 m 981 590 l 981 397 l 1030 397 l 1080 397 1116 405 1137 422 c
1159 439 1170 463 1170 496 c 1170 530 1158 554 1135 568 c 1112 583 1076 590 1027 590 c h
1927 0 m 1875 170 l 1615 170 l 1563 0 l 1400 0 l 1652 717 l 1837 717 l 2090 0 l 1927 0 l h
1787 463 m 1784 474 1779 489 1774 506 c 1769 523 1763 541 1758 559 c 1753 577 1748 593 1745 606 c
1742 593 1737 576 1731 556 c 1726 537 1720 518 1715 500 c 1710 483 1707 470 1704 463 c
1653 297 l 1839 297 l 1787 463 l h
2329 0 m 2180 0 l 2180 714 l 2589 714 l 2589 590 l 2329 590 l 2329 406 l 2571 406 l 2571 282 l
2329 282 l 2329 0 l h
3004 0 m 2853 0 l 2853 588 l 2659 588 l 2659 714 l 3198 714 l 3198 588 l 3004 588 l 3004 0 l h
f
"""
_LEFT, _RIGHT, _HEIGHT = 90, 3198, 717
_SHARE_OF_DIAGONAL: Final = 0.44  # clearly visible, and most figures remain beside it
_SHARE_OF_PAPER: Final = 0.95  # in both directions, so that no letter is clipped
_COLOR: Final = b"0.28 0.36 0.46 rg\n"  # grey-blue: red would look like a warning about the figures
_INK: Final = b"0 0 0 0.65 k\n"  # of a file for print
# Black text under the word keeps its contrast.
ENTRIES: Final = (
    b"/Type /XObject /Subtype /Form /BBox [0 0 %d %d]"
    b" /Resources << /ExtGState << /Mark << /ca 0.14 >> >> >>" % (_RIGHT + _LEFT, _HEIGHT)
)


def write_word(*, is_print: bool) -> bytes:
    """Return the content of the form, whose dictionary has `ENTRIES`."""
    return b"/Mark gs\n" + (_INK if is_print else _COLOR) + _WORD


def mark_page(content: bytes, width: float, height: float, call: bytes) -> bytes:
    """Return the content of a page with the word centred on it, along the rising diagonal, as an artifact.

    `call` is the operator that draws the form. The graphics state of the content does not affect it.
    """
    angle = atan2(height, width)
    scale = _fitting_scale(width, height, angle)
    across, up = scale * cos(angle), scale * sin(angle)
    middle_x, middle_y = (_LEFT + _RIGHT) / 2, _HEIGHT / 2
    x = width / 2 - across * middle_x + up * middle_y
    y = height / 2 - up * middle_x - across * middle_y
    placed = b"q %.5f %.5f %.5f %.5f %.3f %.3f cm %bQ\n" % (across, up, -up, across, x, y, call)
    mark = b"/Artifact << /Type /Pagination /Subtype /Watermark >> BDC\n%bEMC\n" % placed
    return b"q\n%b\nQ\n%b" % (content, mark)


def _fitting_scale(width: float, height: float, angle: float) -> float:
    """Return the scale at which the rotated word has its share of the diagonal and fits on the paper."""
    length = _RIGHT - _LEFT
    wide = length * cos(angle) + _HEIGHT * sin(angle)
    high = length * sin(angle) + _HEIGHT * cos(angle)
    share = hypot(width, height) * _SHARE_OF_DIAGONAL / length
    return min(share, _SHARE_OF_PAPER * width / wide, _SHARE_OF_PAPER * height / high)
