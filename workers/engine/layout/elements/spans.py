"""Cells over several rows: which columns they cover below, and how high their rows must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workers.engine.layout.elements.decimals import columns_of
from workers.engine.tree.nodes import CellTemplate, TableRow


class Cover(NamedTuple):
    """A cell of a row above, in the columns it covers of this row; `last` is not included."""

    cell: CellTemplate
    first: int
    last: int
    goes_on: bool  # below this row too


class Block(NamedTuple):
    """Rows that cells join: from `first` up to, not including, `end`; they do not break apart."""

    first: int
    end: int


class Spans:
    """What the cells of a table's rows cover. Rows of one section only: build keeps cells in theirs."""

    def __init__(self, rows: Sequence[TableRow]) -> None:
        self.covers: dict[int, tuple[Cover, ...]] = {}
        self._blocks: dict[int, Block] = {}
        reaching: list[tuple[CellTemplate, int, int]] = []  # cell, its first column, its end row
        first = 0
        for index, row in enumerate(rows):
            reaching = [span for span in reaching if span[2] > index]
            if reaching:
                self.covers[index] = tuple(
                    Cover(cell, column, column + cell.colspan, end > index + 1)
                    for cell, column, end in reaching
                )
            else:
                self._join(first, index)
                first = index
            reaching += [
                (cell, column, index + cell.rowspan)
                for cell, column in zip(row.template.cells, columns_of(row.template), strict=True)
                if cell.rowspan > 1
            ]
        self._join(first, len(rows))

    def _join(self, first: int, end: int) -> None:
        if end > first + 1:
            self._blocks.update(dict.fromkeys(range(first, end), Block(first, end)))

    def block_of(self, index: int) -> Block | None:
        """Give the rows that a row is joined with, None for a row by itself."""
        return self._blocks.get(index)

    def is_inside(self, index: int) -> bool:
        """Tell whether a break before a row would tear a cell."""
        return index in self.covers


def raise_heights(
    heights: list[float], needs: Sequence[Sequence[tuple[int, float]]]
) -> list[float]:
    """Make rows high enough for the cells over them; `needs` are, for each row, rows and height.

    What is missing is added to the last row of a cell.
    """
    spans = [(at + rows, at, need) for at, row in enumerate(needs) for rows, need in row]
    for end, at, need in sorted(spans):
        missing = need - sum(heights[at:end])
        if missing > 0:
            heights[min(end, len(heights)) - 1] += missing
    return heights
