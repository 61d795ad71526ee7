"""The fragment of a table: captions, heads, rows and feet, with the borders between them.

A row may be broken inside its cells, and so may rows joined by spanning cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, cycle, groupby, repeat
from operator import itemgetter
from typing import NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.context import (
    EPSILON,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
    describe_element,
    format_mm,
)
from workers.engine.layout.display import Bands, Item, Stroke, StrokeRows
from workers.engine.layout.elements.tables.grid import LaidOutCaption, TableGrid, total_height
from workers.engine.layout.elements.tables.row_plans import CellPlan, RowPlan, resolve_borders
from workers.engine.layout.elements.tables.rows import (
    DONE,
    CellLayout,
    ContinuedCell,
    RowBlock,
    cell_height,
    draw_rows,
    draw_vertical_borders,
    lay_out_cell,
    own_height,
)
from workers.engine.tree.nodes import Role, RowGroup, Table, TableBody
from workers.engine.units import Border, Color

_Background = tuple[float, float, tuple[float, float]]  # left, width, and place in its band


class _Entry(NamedTuple):
    """Rows of a fragment, with the row groups whose border starts or ends at their edges.

    `fills` are their backgrounds in turn.
    """

    block: RowBlock
    above: tuple[Border, ...]
    below: tuple[Border, ...]
    fills: Sequence[Color | None]
    is_repeated: bool
    section: RowGroup | TableBody | None  # None for repeated rows
    role: Role


@dataclass(slots=True)
class TableFragment(WholeFragment):
    """A fragment of a table: heads, rows and feet."""

    grid: TableGrid
    context: LayoutContext
    heads: Sequence[RowGroup]
    feet: Sequence[RowGroup]
    rows: Sequence[RowBlock]
    first: int
    end: int
    height: float
    resume: Resume
    is_start: bool
    captions: Sequence[LaidOutCaption] = ()
    repeated_heads: Sequence[RowBlock] = ()
    problem: LayoutProblem | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """None: tables are not aligned on a baseline."""
        return None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the captions, the rows with their backgrounds, and the borders."""
        if self.problem is not None:
            canvas.report(self.problem)
        was_artifact = canvas.is_artifact
        canvas.is_artifact = was_artifact or not self.is_start
        for caption in self.captions:
            canvas.draw_block(caption.block, caption.fragment, x, y + caption.above)
            y += caption.height
        canvas.is_artifact = was_artifact
        entries = list(self._entries(canvas))
        self._draw_rows(canvas, entries, x, y)
        if not canvas.is_dry_run:
            self._draw_lines(canvas.items, entries, x, y)

    def _draw_rows(self, canvas: PageCanvas, entries: Sequence[_Entry], x: float, y: float) -> None:
        was_artifact = canvas.is_artifact
        if not canvas.is_dry_run:
            canvas.items += _fill_backgrounds(entries, x, y)
        for block, _, _, _, is_repeated, section, role in entries:
            canvas.is_artifact = was_artifact or is_repeated
            cells = None
            if canvas.tree is not None and section is not None:
                cells = canvas.tree.cells_of(section, role, block.rows)
            draw_rows(canvas, block, x, y, cells)
            y += block.height * len(block.rows)
        canvas.is_artifact = was_artifact

    def _draw_lines(self, items: list[Item], entries: Sequence[_Entry], x: float, y: float) -> None:
        upper: RowPlan | None = None
        ending: tuple[Border, ...] = ()
        for block, above, below, *_ in entries:
            plan, height = block.plan, block.height
            self._draw_edge(items, upper, plan, ending + above, x, y)
            draw_vertical_borders(items, plan, x, y, y + height)
            upper, ending = plan, below
            tops = [*accumulate(repeat(height, len(block.rows)), initial=y)]
            if plan.has_borders and len(block.rows) > 1:
                lines: list[Item] = []
                self._draw_edge(lines, plan, plan, (), x, 0.0)
                draw_vertical_borders(lines, plan, x, 0.0, height)
                strokes = [line for line in lines if isinstance(line, Stroke)]
                items.append(StrokeRows(strokes, tops[1:-1]))
            y = tops[-1]
        if upper is not None:
            self._draw_edge(items, upper, None, ending, x, y)

    def _draw_edge(
        self,
        items: list[Item],
        upper: RowPlan | None,
        lower: RowPlan | None,
        extra: tuple[Border, ...],
        x: float,
        y: float,
    ) -> None:
        grid = self.grid
        key = (upper, lower, extra)
        lines = grid.lines.get(key)
        if lines is None:
            lines = grid.lines[key] = resolve_borders(upper, lower, grid.edges, extra)
        for left, right, border in lines:
            draw_border(items, border, (x + left, y), (x + right, y), None)

    def _entries(self, canvas: PageCanvas) -> Iterator[_Entry]:
        yield from self._head_entries(canvas)
        for row in self.repeated_heads:
            fill = row.plan.template.style.box.background
            yield _Entry(row, (), (), (fill,), True, None, Role.TABLE_BODY)
        yield from self._body_entries()
        for group in self.feet:
            is_repeated = self.resume is not None
            yield from self._group_entries(canvas, group, Role.TABLE_FOOT, is_repeated=is_repeated)

    def _head_entries(self, canvas: PageCanvas) -> Iterator[_Entry]:
        """Yield the head rows; the default rule is drawn once, below the last head that has it."""
        heads = [
            list(self._group_entries(canvas, group, Role.TABLE_HEAD, is_repeated=not self.is_start))
            for group in self.heads
        ]
        ruled = [
            entries
            for group, entries in zip(self.heads, heads, strict=True)
            if entries and group.has_built_in_rule
        ]
        for entries in ruled[:-1]:
            entries[-1] = entries[-1]._replace(below=())
        for entries in heads:
            yield from entries

    def _group_entries(
        self, canvas: PageCanvas, group: RowGroup, role: Role, *, is_repeated: bool
    ) -> Iterator[_Entry]:
        laid_out = self._laid_group(canvas, group)
        border = group.style.box.border
        for index, row in enumerate(laid_out):
            yield _Entry(
                row,
                (border.top,) if index == 0 else (),
                (border.bottom,) if index == len(laid_out) - 1 else (),
                (row.plan.template.style.box.background or group.style.box.background,),
                is_repeated,
                group,
                role,
            )

    def _laid_group(self, canvas: PageCanvas, group: RowGroup) -> Sequence[RowBlock]:
        measured = self.grid.group(self.context, group)
        if group.rows.is_static:
            return measured
        values = self.grid.carried.fragment_values(self.first, self.end, canvas.values)
        rows = group.rows.evaluate(values)
        laid_out = self.grid.lay_out_all(self.context, rows)
        need, room = total_height(laid_out), total_height(measured)
        if need > room + EPSILON:
            canvas.report(
                _describe_outgrown(self.context, self.grid.node, group, needed=need, available=room)
            )
        # Reserved space that is not needed stays, so that content below does not move.
        return [
            row._replace(height=max(row.height, kept.height))
            for row, kept in zip(laid_out, measured, strict=False)
        ]

    def _body_entries(self) -> Iterator[_Entry]:
        grid = self.grid
        bodies, starts, stripe = grid.node.bodies, grid.starts, grid.node.stripe
        for block in self.rows:
            number = grid.body_of(block.first)
            body = bodies[number].style.box
            fill = block.plan.template.style.box.background or body.background
            above = (body.border.top,) if block.first == starts[number] else ()
            below = (body.border.bottom,) if block.end == starts[number + 1] else ()
            fills: Sequence[Color | None] = (fill,)
            if fill is None and stripe:
                at = block.first % len(stripe)
                fills = (*stripe[at:], *stripe[:at])
            rest = False, bodies[number], Role.TABLE_BODY
            yield _Entry(block, above, below, fills, *rest)


def _fill_backgrounds(entries: Sequence[_Entry], x: float, y: float) -> Iterator[Bands]:
    """Yield the backgrounds of all rows, then those of cells: below all text (CSS 2.2, 17.5.1).

    Those of one colour follow each other and become one path, and the text of all rows one text
    object. No two of them overlap, so that their order is free.
    """
    rows: dict[Color, list[_Background]] = {}
    cells: dict[Color, list[_Background]] = {}
    for block, _, _, fills, *_ in entries:
        plan, height = block.plan, block.height
        for fill, _ in zip(cycle(fills), block.rows):
            if fill is not None:
                rows.setdefault(fill, []).append((x, plan.width, (y, height)))
            for left, width, color in plan.backgrounds:
                cells.setdefault(color, []).append((x + left, width, (y, height)))
            y += height
    for color, backgrounds in chain(rows.items(), cells.items()):
        for (left, width), alike in groupby(backgrounds, itemgetter(0, 1)):
            yield Bands(left, width, [place for _, _, place in alike], color)


def _describe_outgrown(
    context: LayoutContext, node: Table, group: RowGroup, *, needed: float, available: float
) -> LayoutProblem:
    return LayoutProblem(
        code="page-values-too-long",
        message=f"Page values do not fit: {describe_element(group.source, [node.source])} needs {format_mm(needed)}, "
        f"{format_mm(available)} were kept free",
        advice='Give the column a width, or the cell white-space="nowrap".',
        chain=(group.source, node.source),
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
