"""Cells that span rows: the columns they cover below, and the heights they require."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workers.engine.layout.elements.tables.decimals import columns_of
from workers.engine.tree.nodes import CellTemplate, TableRow


class SpanningCell(NamedTuple):
    """A cell from a row above in the columns it covers, up to, not including, `last`."""

    cell: CellTemplate
    first: int
    last: int
    continues_below: bool  # below this row too


class JoinedRows(NamedTuple):
    """Rows joined by spanning cells, from `first` up to, not including, `end`; a break separates
    them only where they are taller than an area.
    """

    first: int
    end: int


class RowSpans:
    """The columns covered by spanning cells, by row. The cells stay within their row group."""

    def __init__(self, rows: Sequence[TableRow]) -> None:
        self.covers: dict[int, tuple[SpanningCell, ...]] = {}
        self._blocks: dict[int, JoinedRows] = {}
        reaching: list[tuple[CellTemplate, int, int]] = []  # cell, first column, end row
        first = 0
        for index, row in enumerate(rows):
            reaching = [span for span in reaching if span[2] > index]
            if reaching:
                self.covers[index] = tuple(
                    SpanningCell(cell, column, column + cell.colspan, end > index + 1)
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
            self._blocks.update(dict.fromkeys(range(first, end), JoinedRows(first, end)))

    def joined_rows(self, index: int) -> JoinedRows | None:
        """Return the rows joined with a row, None for a single row."""
        return self._blocks.get(index)

    def is_inside(self, index: int) -> bool:
        """Return whether a break before a row would split a cell."""
        return index in self.covers


def grow_rows(heights: list[float], needs: Sequence[Sequence[tuple[int, float]]]) -> list[float]:
    """Increase row heights for spanning cells; `needs` has a span and height for each such cell, by
    row.

    The last row of a cell gets the missing height.
    """
    spans = [(at + rows, at, need) for at, row in enumerate(needs) for rows, need in row]
    for end, at, need in sorted(spans):
        missing = need - sum(heights[at:end])
        if missing > 0:
            heights[min(end, len(heights)) - 1] += missing
    return heights
