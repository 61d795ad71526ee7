"""Rows while they are built: the column each cell begins at, below cells that span rows."""

from __future__ import annotations

from workers.engine.diagnostics import SourceLocation, format_count
from workers.engine.tree.build_state import Scope
from workers.engine.tree.nodes import CellContent, CellTemplate


class SpannedColumns:
    """The columns that cells of rows above span, while the rows of a section are built."""

    __slots__ = ("_by", "left")

    def __init__(self, columns: int) -> None:
        self.left = [0] * columns  # for each column the rows still to be covered
        self._by: list[SourceLocation | None] = [None] * columns

    def next_row(self, row: RowBuilder) -> None:
        """Advance to the row below."""
        self.left = [max(rows - 1, 0) for rows in self.left]
        for start, cell in zip(row.begins, row.cells, strict=True):
            for column in range(start, min(start + cell.colspan, len(self.left))):
                if cell.rowspan > 1:
                    self.left[column] = cell.rowspan - 1
                    self._by[column] = cell.source.location

    def finish(self, scope: Scope) -> None:
        """Report cells that span more rows than their section has."""
        for rows, location in zip(self.left, self._by, strict=True):
            if rows and location is not None:
                scope.state.findings.error(
                    "rowspan",
                    f"The cell spans {format_count(rows, 'row')} more than its section has. "
                    "Make its rowspan smaller, or add rows",
                    location,
                )


class RowBuilder:
    """The cells of one row so far, and the column each begins at."""

    __slots__ = ("_covered", "_next", "_overlaps", "begins", "cells", "contents")

    def __init__(self, covered: SpannedColumns | None) -> None:
        self.cells: list[CellTemplate] = []
        self.contents: list[CellContent] = []
        self.begins: list[int] = []
        self._covered = covered
        self._next = 0
        self._overlaps = False

    @property
    def starts(self) -> tuple[int, ...]:
        """The columns the cells begin at, empty if they follow one another."""
        return tuple(self.begins) if self._covered and any(self._covered.left) else ()

    def next_column(self) -> int:
        """Return the next column that no cell covers."""
        if self._covered is not None:
            left = self._covered.left
            while self._next < len(left) and left[self._next]:
                self._next += 1
        return self._next

    def add(self, cell: CellTemplate, content: CellContent) -> None:
        """Add a cell in the next free columns."""
        start = self.next_column()
        self._next = start + cell.colspan
        if self._covered is not None and any(self._covered.left[start : self._next]):
            self._overlaps = True
        self.cells.append(cell)
        self.contents.append(content)
        self.begins.append(start)

    def finish(
        self, columns: int, scope: Scope, location: SourceLocation, *, repeats: bool
    ) -> None:
        """Report cells that do not fill the columns, and advance to the row below."""
        findings = scope.state.findings
        own = sum(cell.colspan for cell in self.cells)
        above = sum(1 for rows in self._covered.left if rows) if self._covered else 0
        if own + above != columns or self._overlaps:
            spanned = f" and {above} covered by cells above" if above else ""
            message = f"The row has cells for {format_count(own, 'column')}{spanned}, the table has {columns}. "
            advice = "Add or remove cells, or change a colspan"
            if not columns:
                advice = "Data decide the cells of every row: declare the columns with `col`"
            findings.error("cell-count", message + advice, location)
        if repeats and (above or any(cell.rowspan > 1 for cell in self.cells)):
            findings.error(
                "rowspan",
                'A row with repeat="true" is printed alone on later fragments; no cell may span '
                "into it or out of it",
                location,
            )
        if self._covered is not None:
            self._covered.next_row(self)
