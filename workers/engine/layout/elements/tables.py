"""Tables: rows streamed through pieces, heads and feet on each piece they belong to.

A table breaks between rows. How high the rows are is found as they are reached, once; a piece is
the longest run of rows that stands between its heads and its feet. Whether a piece is the last is
decided first: with the heads and feet of a last piece, do all the rows left fit?
A row is split inside its cells only when it is taller than an empty area.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Resume,
    Space,
    in_mm,
    name_in,
)
from workers.engine.layout.elements.grid import Grid, LaidCaption, all_rows, grid_of, height_of
from workers.engine.layout.elements.pieces import TablePiece
from workers.engine.layout.elements.rows import LaidRow, split_row
from workers.engine.layout.elements.spans import Block
from workers.engine.layout.elements.widths import group_rows, measure_columns
from workers.engine.layout.frames import lay_out_framed, outer_widths
from workers.engine.tree.nodes import On, RowGroup, Table
from workers.engine.tree.styles import BreakTo

_FORCING: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


class TableResume(NamedTuple):
    """Where a table goes on: at which body row, and where in its cells when it was split."""

    row: int
    cells: tuple[Resume, ...] | None


def lay_out_table(context: Context, node: Table, space: Space, resume: Resume) -> Piece | None:
    """Lay out as many rows of a table as fit, with the heads and feet that belong there."""

    def content(inner: Space, at: TableResume | None) -> Piece | None:
        context.path.append(node.source)
        grid = grid_of(context, node, inner.width)
        piece = _Filler(context, grid, inner, at).fill()
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_table(context: Context, node: Table) -> tuple[float, float]:
    """Give the narrowest and widest sensible width of a table, box included."""
    widths = measure_columns(context, node.columns, group_rows(all_rows(node)))
    return outer_widths(node.style.box, *widths)


# --- filling ----------------------------------------------------------------------------------------


class _Filler:
    """One attempt at filling a space with rows."""

    def __init__(
        self, context: Context, grid: Grid, space: Space, resume: TableResume | None
    ) -> None:
        self.context = context
        self.grid = grid
        self.node = grid.node
        self.is_start = resume is None
        self.first = resume.row if resume else 0
        self.cells = resume.cells if resume else None
        self.space = space
        self.is_top = space.is_top
        self.sticky = self._find_sticky()
        self.part: LaidRow | None = None  # of the first row, when it is split

    def fill(self) -> TablePiece | None:
        """Give the longest piece that stands in the space, None for none."""
        count = len(self.grid.rows)
        if self.first == count:
            return self._rest_without_rows()
        end, forced = self._fitting(is_last=True)
        if end == count and not forced:
            return self._piece(end, is_last=True)
        if self.node.style.breaks.avoid_inside and self.is_start and not self.is_top:
            return None
        end, forced = self._fitting(is_last=False)
        if forced:
            piece = self._piece(end, is_last=False)
            piece.forced = forced
            return piece
        torn = self._tear(end)
        if torn is not None:
            return torn
        allowed = self._allowed_end(end)
        if allowed > self.first:
            return self._piece(allowed, is_last=False)
        if not self.is_top:
            return None
        # Nothing stands above: wishes are dropped, and what is too tall is split.
        return self._piece_by_force(min(end, count - 1))

    def _piece_by_force(self, end: int) -> TablePiece:
        block = self._joined(self.first)
        if block is not None and end < block.end:  # too tall together: told, and the work goes on
            return self._piece(block.end, is_last=block.end == len(self.grid.rows))
        while end > self.first and self._tears_cell(end):
            end -= 1
        return self._piece(end, is_last=False) if end > self.first else self._split()

    def _tears_cell(self, end: int) -> bool:
        spans = self.grid.spans
        return spans is not None and spans.is_inside(end)

    def _joined(self, index: int) -> Block | None:
        spans = self.grid.spans
        return None if spans is None or index >= len(self.grid.rows) else spans.block_of(index)

    def _rest_without_rows(self) -> TablePiece | None:
        """Place the heads and feet of a table without rows, or feet that found no room before."""
        piece = self._assemble([], None, is_last=True)
        return piece if self.is_top or self._fits(piece) else None

    def _fits(self, piece: TablePiece) -> bool:
        return piece.height <= self.space.height + EPSILON

    def _fitting(self, *, is_last: bool) -> tuple[int, str]:
        """Find the row before which the space is full or a break is forced, and that break's name."""
        room = self.space.height - self._fixed_height(is_last=is_last) + EPSILON
        grid, context, rows = self.grid, self.context, self.grid.rows
        laid = grid.laid
        for index in range(self.first, len(rows)):
            if index > self.first:
                forced = self._forced_before(index)
                if forced:
                    return index, forced
            if index == self.first and self.cells is not None:
                row = self._split_first()
                if row.resumes is not None:
                    return index, ""
            else:
                row = laid[index] or grid.row(context, index)
            room -= row.height
            if room < 0:
                return index, ""
        return len(rows), ""

    def _forced_before(self, index: int) -> str:
        before = self.grid.rows[index - 1].template.style.breaks
        own = self.grid.rows[index].template.style.breaks
        if before.after in _FORCING:
            return before.after.value
        if own.before in _FORCING:
            return own.before.value
        number = self.grid.body_of(index)
        if index == self.grid.starts[number]:
            body = self.node.bodies[number].style.breaks
            last = self.node.bodies[self.grid.body_of(index - 1)].style.breaks
            if last.after in _FORCING:
                return last.after.value
            if body.before in _FORCING:
                return body.before.value
        return ""

    def _allowed_end(self, end: int) -> int:
        """Move a break upwards to where rows are not torn from what they belong to."""
        count = len(self.grid.rows)
        if end == count:  # the rows fit, the last feet do not: they take rows with them
            end = count - 1
        while end > self.first:
            moved = self._moved_up(end)
            if moved == end:
                return end
            end = moved
        return end

    def _moved_up(self, end: int) -> int:
        rows, starts = self.grid.rows, self.grid.starts
        above = rows[end - 1].template
        if above.style.breaks.after is BreakTo.AVOID or above.repeats or self._tears_cell(end):
            return end - 1
        if rows[end].template.style.breaks.before is BreakTo.AVOID:
            return end - 1
        number = self.grid.body_of(end)
        begin, stop = starts[number], starts[number + 1]
        if end == begin:
            return end
        style = self.node.bodies[number].style
        if style.breaks.avoid_inside:
            return max(begin, self.first)
        if stop - end < style.paragraph.widows:
            wanted = stop - style.paragraph.widows
            if wanted < end:
                return max(wanted, begin, self.first)
        if begin >= self.first and end - begin < style.paragraph.orphans:
            return begin
        return end

    def _tear(self, end: int) -> TablePiece | None:
        """Break inside the first row that does not fit, where `break-inside="auto"` lets it."""
        grid = self.grid
        if not self.first < end < len(grid.rows) or self.cells is not None:
            return None
        row = grid.rows[end]
        if row.template.style.breaks.avoid_inside or self._joined(end) is not None:
            return None
        rows = [grid.row(self.context, index) for index in range(self.first, end)]
        room = self.space.height - self._fixed_height(is_last=False) - sum(r.height for r in rows)
        plan = grid.plan(self.context, row.template)
        part = split_row(self.context, plan, row, room, None)
        if part.resumes is None or part.height > room + EPSILON:
            return None
        return self._assemble([*rows, part], TableResume(end, part.resumes), is_last=False)

    def _split(self) -> TablePiece:
        """Put as much of the first row as fits onto the page; at least something of it."""
        grid, part = self.grid, self._split_first()
        end = self.first + 1 if part.resumes is None else self.first
        going_on = self._assemble([part], TableResume(end, part.resumes), is_last=False)
        whole = self._assemble([part], None, is_last=True)
        is_end = end == len(grid.rows) and (self._fits(whole) or whole.height <= going_on.height)
        piece = whole if is_end else going_on
        room = self.space.height - self._fixed_height(is_last=False)
        if room > 0 and not all(isinstance(content, str) for content in part.row.cells):
            piece.misfit = self._too_wide()  # what does not fit in a cell is told by itself
        piece.misfit = piece.misfit or self._unsplittable(part, room)
        return piece

    def _unsplittable(self, part: LaidRow, room: float) -> Misfit | None:
        """Describe a cell whose stated height no area can hold; its content is not the matter."""
        if self.cells is not None:
            return None
        row = part.plan.template
        for source, style in [(row.source, row.style), *((c.source, c.style) for c in row.cells)]:
            stated = max(style.box.height.value, style.box.min_height.value)
            if stated > room + EPSILON:
                self.context.path.append(row.source)
                misfit = self.context.too_tall(source, need=stated, room=room)
                self.context.path.pop()
                return misfit
        return None

    def _split_first(self) -> LaidRow:
        """Lay out as much of the first row as stands here; once, for rows may hold tables again."""
        if self.part is None:
            row = self.grid.rows[self.first]
            plan = self.grid.plan(self.context, row.template)
            room = self.space.height - self._fixed_height(is_last=False)
            self.part = split_row(self.context, plan, row, max(room, 0.0), self.cells)
        return self.part

    def _piece(self, end: int, *, is_last: bool) -> TablePiece:
        rows = [self.grid.row(self.context, index) for index in range(self.first, end)]
        if self.cells is not None and rows:
            rows[0] = self._split_first()
        return self._assemble(rows, None if is_last else TableResume(end, None), is_last=is_last)

    def _assemble(
        self, rows: list[LaidRow], resume: TableResume | None, *, is_last: bool
    ) -> TablePiece:
        node, grid = self.node, self.grid
        height = self._fixed_height(is_last=is_last) + sum(row.height for row in rows)
        piece = TablePiece(
            grid=grid,
            context=self.context,
            heads=self._matching(node.heads, is_last=is_last),
            feet=self._matching(node.feet, is_last=is_last),
            rows=rows,
            first=self.first,
            height=height,
            resume=resume,
            is_start=self.is_start,
            captions=self._captions(is_last=is_last),
            sticky=self.sticky,
        )
        piece.misfit = self._too_wide() or self._too_tall(piece)
        return piece

    def _fixed_height(self, *, is_last: bool) -> float:
        groups = (
            *self._matching(self.node.heads, is_last=is_last),
            *self._matching(self.node.feet, is_last=is_last),
        )
        fixed = sum(height_of(self.grid.group(self.context, group)) for group in groups)
        fixed += sum(caption.height for caption in self._captions(is_last=is_last))
        return fixed + height_of(self.sticky)

    def _captions(self, *, is_last: bool) -> list[LaidCaption]:
        return [
            self.grid.caption(self.context, caption)
            for caption in self.node.captions
            if self._stands(caption.on, is_last=is_last)
        ]

    def _matching(self, groups: Sequence[RowGroup], *, is_last: bool) -> list[RowGroup]:
        return [group for group in groups if self._stands(group.on, is_last=is_last)]

    def _stands(self, on: On, *, is_last: bool) -> bool:
        match on:
            case On.FIRST:
                return self.is_start
            case On.REST:
                return not self.is_start
            case On.LAST:
                return is_last
            case On.NOT_LAST:
                return not is_last
            case _:
                return True

    def _find_sticky(self) -> list[LaidRow]:
        """Find the group head that is printed again because its body goes on: rows in a run."""
        grid = self.grid
        if self.is_start or self.first >= len(grid.rows):
            return []
        begin = grid.starts[grid.body_of(self.first)]
        at = bisect_right(grid.repeating, self.first) - 1
        if at < 0 or not begin <= grid.repeating[at] < self.first:
            return []
        index = grid.repeating[at]
        run = [grid.row(self.context, index)]
        while index > begin and grid.rows[index - 1].template.repeats:
            index -= 1
            run.insert(0, grid.row(self.context, index))
        return run

    def _too_tall(self, piece: TablePiece) -> Misfit | None:
        if not self.is_top or self._fits(piece):
            return None
        room = self.space.height
        block = self._joined(self.first)
        if block is not None and len(piece.rows) == block.end - self.first:
            return self._too_tall_together(block, need=piece.height)
        return self.context.too_tall(self.node.source, need=piece.height, room=room)

    def _too_tall_together(self, block: Block, *, need: float) -> Misfit:
        cell = next(
            cell
            for row in self.grid.rows[block.first : block.end]
            for cell in row.template.cells
            if cell.rowspan > 1
        )
        return self.context.too_tall(cell.source, need=need, room=self.space.height)

    def _too_wide(self) -> Misfit | None:
        if not self.is_start:
            return None
        need, room = self.grid.edges[-1], self.grid.room
        if need <= room + EPSILON:
            return None
        source = self.node.source
        return Misfit(
            code="columns-too-wide",
            what=f"Columns do not fit: the columns of {name_in(source, self.context.path)} need "
            f"{in_mm(need)}, the table gives {in_mm(room)}",
            advice='Make columns narrower, or give one the width "1fr" or "auto".',
            chain=self.context.chain(source),
        )
