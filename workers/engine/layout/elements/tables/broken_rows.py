"""Breaks inside rows: a row that is split inside its cells, or rows joined by spanning cells.

Joined rows break between each other, and a row that is too tall alone breaks inside its cells. A cell
that spans over the break continues at the top of the next area.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from workers.engine.layout.context import EPSILON, LayoutContext, Region, Resume
from workers.engine.layout.elements.tables.grid import TableGrid
from workers.engine.layout.elements.tables.row_plans import CellPlan
from workers.engine.layout.elements.tables.rows import (
    DONE,
    CellLayout,
    ContinuedCell,
    RowBlock,
    cell_height,
    lay_out_cell,
    own_height,
)


class OpenCell(NamedTuple):
    """Cell number `at` of a body row, which spans over a break, and where its content resumes."""

    row: int
    at: int
    resume: Resume


class TableResume(NamedTuple):
    """A position in a table: the body row, the positions in its cells if it was split, and the cells
    that span into it from above the break.
    """

    row: int
    cells: tuple[Resume, ...] | None = None
    open_cells: tuple[OpenCell, ...] = ()


class BrokenRows(NamedTuple):
    """Rows up to a break, and the position after it, None if the rows end without one."""

    rows: list[RowBlock]
    height: float
    resume: TableResume | None


@dataclass(slots=True)
class _Span:
    """A cell that spans rows of the area: its top, and the number of its row, -1 above them."""

    cell: OpenCell
    top: float = 0.0
    number: int = -1
    rest: CellLayout = None  # all of it, if that is known


@dataclass(slots=True)
class RowBreaker:
    """One attempt to fill an area with rows that it may break.

    At the top of an area it `is_forced` to place something; elsewhere it may place no rows.
    """

    context: LayoutContext
    grid: TableGrid
    start: TableResume
    room: float
    is_forced: bool
    rows: list[RowBlock] = field(default_factory=list)
    tops: list[float] = field(default_factory=lambda: [0.0])  # and the lower edge of the last
    spans: list[_Span] = field(default_factory=list)

    def lay_out(self, end: int) -> BrokenRows:
        """Lay out rows from the start up to row `end`, as many as fit."""
        self.spans += map(_Span, self.start.open_cells)
        resume = None
        for index in range(self.start.row, end):
            starts = self.start.cells if index == self.start.row else None
            placed = self._place(index, starts)
            if placed is None:
                resume = TableResume(index)
                break
            self.rows.append(placed)
            self.tops.append(self.tops[-1] + placed.height)
            if placed.resumes is not None:
                resume = TableResume(index, placed.resumes)
                break
        open_cells = self._place_spans(end if resume is None else resume.row)
        if resume is not None:
            resume = resume._replace(open_cells=open_cells)
        return BrokenRows(self.rows, self.tops[-1], resume)

    def _place(self, index: int, starts: tuple[Resume, ...] | None) -> RowBlock | None:
        """Return a row or the part of it that fits, None if it goes to the next area as a whole."""
        whole = self.grid.row(self.context, index)
        left = max(self.room - self.tops[-1], 0.0)
        height = own_height(whole.plan, whole.contents)
        placed = whole._replace(height=height, contents=[*whole.contents], heights=None)
        if starts is not None or height > left + EPSILON:
            if self.rows:
                return None
            placed = self._split(whole, left, starts)
            if not self.is_forced and not any(placed.contents):
                return None
        if starts is None:
            self.spans += [
                _Span(OpenCell(index, at, None), self.tops[-1], len(self.rows), whole.contents[at])
                for at, cell in enumerate(whole.plan.cells)
                if cell.template.rowspan > 1
            ]
        if placed.resumes is not None:
            return placed
        height = self._grow(index, placed.height)
        if height <= left + EPSILON:
            return placed._replace(height=height)
        # Cells that end with it need more: it fills the area and continues beside them.
        return placed._replace(height=left, resumes=(DONE,) * len(whole.plan.cells))

    def _split(self, whole: RowBlock, room: float, starts: tuple[Resume, ...] | None) -> RowBlock:
        """Return the part that fits of the cells that do not span rows."""
        region = Region(0.0, room, self.is_forced)
        contents: list[CellLayout] = []
        resumes: list[Resume] = []
        height = 0.0
        for at, cell in enumerate(whole.plan.cells):
            start = None if starts is None else starts[at]
            if cell.template.rowspan > 1:
                start = DONE
            value, resume = self._fill(OpenCell(whole.first, at, start), region)
            if start is not DONE:
                height = max(height, cell_height(cell, value))
            contents.append(value)
            resumes.append(resume)
        is_whole = all(resume is DONE for resume in resumes)
        rest = None if is_whole else tuple(resumes)
        return RowBlock(whole.plan, whole.first, whole.rows, height, contents, resumes=rest)

    def _grow(self, index: int, height: float) -> float:
        """Return the height of a row with what the spanning cells that end with it need."""
        for span in self.spans:
            if self._end_of(span.cell) == index + 1 and span.cell.resume is not DONE:
                if span.rest is None:
                    span.rest, _ = self._fill(span.cell, Region(0.0))
                need = cell_height(self._plan_of(span.cell), span.rest)
                height = max(height, need - (self.tops[-1] - span.top))
        return height

    def _place_spans(self, last: int) -> tuple[OpenCell, ...]:
        """Place the spanning cells; return those that go on in row `last`, where the area ends."""
        open_cells: list[OpenCell] = []
        continued: list[ContinuedCell] = []
        for span in self.spans if self.rows else ():
            cell, end = span.cell, self._end_of(span.cell)
            bottom = self.tops[min(end - self.start.row, len(self.rows))]
            plan, height = self._plan_of(cell), bottom - span.top
            value, resume = span.rest, DONE
            is_over = end <= last
            if not is_over and (value is None or cell_height(plan, value) > height + EPSILON):
                is_forced = self.is_forced and height > self.room - EPSILON
                value, resume = self._fill(cell, Region(0.0, height, is_forced))
            if not is_over:
                open_cells.append(cell._replace(resume=resume))
            row = self.rows[max(span.number, 0)]
            if span.number < 0:
                continued.append(
                    ContinuedCell(plan, self.grid.rows[cell.row], cell.at, value, height)
                )
            else:
                row.contents[cell.at] = value
                heights = [*(row.heights or [row.height] * len(row.contents))]
                heights[cell.at] = height
                self.rows[span.number] = row._replace(heights=tuple(heights))
        if continued:
            self.rows[0] = self.rows[0]._replace(continued=tuple(continued), has_lines_only=False)
        return tuple(open_cells)

    def _fill(self, cell: OpenCell, region: Region) -> tuple[CellLayout, Resume]:
        """Return the next part of a cell that fits, and where it resumes: `DONE` after its end."""
        if cell.resume is DONE:
            return None, DONE
        row = self.grid.rows[cell.row]
        plan = self.grid.row(self.context, cell.row).plan
        fragment = lay_out_cell(self.context, plan, row, cell.at, region, cell.resume)
        if fragment is None:
            return None, cell.resume
        return fragment, DONE if fragment.resume is None else fragment.resume

    def _plan_of(self, cell: OpenCell) -> CellPlan:
        return self.grid.row(self.context, cell.row).plan.cells[cell.at]

    def _end_of(self, cell: OpenCell) -> int:
        return cell.row + self.grid.rows[cell.row].template.cells[cell.at].rowspan
