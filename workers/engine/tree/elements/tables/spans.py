"""Rows while they are built: the column each cell begins at, below cells that span rows."""

from __future__ import annotations

from dataclasses import replace

from workers.engine.diagnostics import SourceLocation, format_count
from workers.engine.tree.build_state import Scope
from workers.engine.tree.nodes import CellContent, CellTemplate, SpanningCell


class SpannedColumns:
    """The cells of rows above that span the next row, while the rows of a section are built."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: tuple[SpanningCell, ...] = ()

    def next_row(self, row: RowBuilder) -> None:
        """Advance to the row below."""
        above = [replace(each, rows=each.rows - 1) for each in self.cells if each.rows > 1]
        own = [
            SpanningCell(cell, start, cell.rowspan - 1)
            for start, cell in zip(row.starts, row.cells, strict=True)
            if cell.rowspan > 1
        ]
        self.cells = (*above, *own)

    def finish(self, scope: Scope) -> None:
        """Report cells that span more rows than their section has."""
        for each in self.cells:
            scope.state.findings.error(
                "rowspan",
                f"The cell spans {format_count(each.rows, 'row')} more than its section has. "
                "Make its rowspan smaller, or add rows",
                each.cell.source.location,
            )


class RowBuilder:
    """The cells of one row so far, and the column each begins at."""

    __slots__ = ("_covered", "_next", "_overlaps", "_spanned", "cells", "contents", "starts")

    def __init__(self, spanned: SpannedColumns) -> None:
        self.cells: list[CellTemplate] = []
        self.contents: list[CellContent] = []
        self.starts: list[int] = []
        self._spanned = spanned
        self._covered = {column for each in self.covers for column in range(each.first, each.last)}
        self._next = 0
        self._overlaps = False

    @property
    def covers(self) -> tuple[SpanningCell, ...]:
        """The cells of rows above that span the row."""
        return self._spanned.cells

    def next_column(self) -> int:
        """Return the next column that no cell covers."""
        while self._next in self._covered:
            self._next += 1
        return self._next

    def add(self, cell: CellTemplate, content: CellContent) -> None:
        """Add a cell in the next free columns."""
        start = self.next_column()
        self._next = start + cell.colspan
        if not self._covered.isdisjoint(range(start, self._next)):
            self._overlaps = True
        self.cells.append(cell)
        self.contents.append(content)
        self.starts.append(start)

    def finish(
        self, columns: int, scope: Scope, location: SourceLocation, *, repeats: bool
    ) -> None:
        """Report cells that do not fill the columns, and advance to the row below."""
        findings = scope.state.findings
        own = sum(cell.colspan for cell in self.cells)
        above = len(self._covered)
        if own + above != columns or self._overlaps:
            findings.error("cell-count", cell_count_message(own, columns, above), location)
        if repeats and (above or any(cell.rowspan > 1 for cell in self.cells)):
            findings.error(
                "rowspan",
                'A row with repeat="true" is printed alone on later fragments; no cell may span '
                "into it or out of it",
                location,
            )
        self._spanned.next_row(self)


def cell_count_message(count: int, wanted: int, above: int = 0) -> str:
    """Return the message about a row that does not fill the columns, with `above` cells covering it."""
    spanned = f" and {above} covered by cells above" if above else ""
    advice = "Add or remove cells, or change a colspan"
    if not wanted:
        advice = "Data decide the cells of every row: declare the columns with `col`"
    return f"The row has cells for {format_count(count, 'column')}{spanned}, the table has {wanted}. {advice}"
