"""The number of tiles of a pattern (ISO 32000-1, 8.7.3), for the cost of painting with it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, hypot
from typing import Final

from workers.engine.pdf_pages.objects import SIMPLIFY, UnusablePdfError

_UPRIGHT: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_MAX_TILES: Final = 1_000_000  # of one pattern on its content


def count_tiles(
    steps: tuple[float, float], cell: Sequence[float], matrix: Sequence[float], diagonal: float
) -> int:
    """Return how many cells cover content of a diagonal, both in the units of the content.

    Counted across the distance between parallel rows, so that sheared and overlapping cells count.

    Raises:
        UnusablePdfError: there are too many, or the cells have no size.
    """
    a, b, c, d = (matrix if len(matrix) == 6 else _UPRIGHT)[:4]
    along, up = hypot(a, b), hypot(c, d)
    area = abs(a * d - b * c)
    across, down = abs(steps[0]), abs(steps[1])
    if not (area and across and down):
        raise _too_fine()
    reach = diagonal + (along * abs(cell[2] - cell[0]) + up * abs(cell[3] - cell[1]))
    columns, rows = reach * up / (across * area), reach * along / (down * area)
    if not columns * rows < _MAX_TILES:
        raise _too_fine()
    return ceil(columns + 1) * ceil(rows + 1)


def _too_fine() -> UnusablePdfError:
    return UnusablePdfError("The PDF has a pattern that is repeated too often", advice=SIMPLIFY)
