"""Table layout: rows are placed into fragments between the heads and feet that belong there.

A table breaks between rows. Rows are laid out when they are reached, once; a fragment holds the
longest run of rows that fits between its heads and feet. Whether a fragment is the last is decided
first: do all remaining rows fit with the heads and feet of a last fragment? A row is split inside
its cells only if it is taller than an empty area.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    Region,
    Resume,
    describe_element,
    format_mm,
)
from workers.engine.layout.elements.tables.fragments import TableFragment
from workers.engine.layout.elements.tables.grid import (
    FORCING_BREAKS,
    LaidOutCaption,
    TableGrid,
    all_rows,
    find_grid,
    total_height,
)
from workers.engine.layout.elements.tables.rows import LaidOutRow, split_row
from workers.engine.layout.elements.tables.spans import JoinedRows
from workers.engine.layout.elements.tables.widths import group_by_template, measure_columns
from workers.engine.tree.nodes import Occurrence, RowGroup, Table
from workers.engine.tree.styles.computed import BreakTo


class TableResume(NamedTuple):
    """A position in a table: the body row, and the positions in its cells if it was split."""

    row: int
    cells: tuple[Resume, ...] | None


def lay_out_table(
    context: LayoutContext, node: Table, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out as many rows of a table as fit, with their heads and feet."""

    def content(inner: Region, at: TableResume | None) -> Fragment | None:
        context.path.append(node.source)
        references = context.references
        before = 0 if references is None else references.lookups
        grid = find_grid(context, node, inner.width)
        fragment = _TableFiller(context, grid, inner, at).fill()
        if references is not None and references.lookups > before:
            references.affects_widths = True  # the grid keeps rows for all areas
        context.path.pop()
        return fragment

    return lay_out_box(context, node, region, resume, content)


def measure_table(context: LayoutContext, node: Table) -> tuple[float, float]:
    """Return the min-content and max-content widths of a table, box included."""
    widths = measure_columns(context, node.columns, group_by_template(all_rows(node)))
    return outer_widths(node.style.box, *widths)


# --- filling ----------------------------------------------------------------------------------------


class _TableFiller:
    """One attempt to fill a region with rows."""

    def __init__(
        self, context: LayoutContext, grid: TableGrid, region: Region, resume: TableResume | None
    ) -> None:
        self.context = context
        self.grid = grid
        self.node = grid.node
        self.is_start = resume is None
        self.first = resume.row if resume else 0
        self.cells = resume.cells if resume else None
        self.region = region
        self.is_top = region.is_top
        self.repeated_heads = self._find_repeated_heads()
        self.part: LaidOutRow | None = None  # of the first row, when it is split

    def fill(self) -> TableFragment | None:
        """Return the longest fragment that fits into the region, None for none."""
        count = len(self.grid.rows)
        if self.first == count:
            return self._fill_without_rows()
        end, forced = self._fitting(is_last=True)
        if end == count and not forced:
            return self._make_fragment(end, is_last=True)
        if self.node.style.breaks.avoid_inside and self.is_start and not self.is_top:
            return None
        end, forced = self._fitting(is_last=False)
        if forced:
            fragment = self._make_fragment(end, is_last=False)
            fragment.forced = forced
            return fragment
        torn = self._split_at(end)
        if torn is not None:
            return torn
        allowed = self._allowed_end(end)
        if allowed > self.first:
            return self._make_fragment(allowed, is_last=False)
        if not self.is_top:
            return None
        # The area is empty: `avoid` is ignored, and rows that are too tall are split.
        return self._force_fragment(min(end, count - 1))

    def _force_fragment(self, end: int) -> TableFragment:
        block = self._find_joined(self.first)
        if (
            block is not None and end < block.end
        ):  # too tall together: reported, and layout continues
            return self._make_fragment(block.end, is_last=block.end == len(self.grid.rows))
        while end > self.first and self._breaks_spanning_cell(end):
            end -= 1
        return self._make_fragment(end, is_last=False) if end > self.first else self._split()

    def _breaks_spanning_cell(self, end: int) -> bool:
        spans = self.grid.spans
        return spans is not None and spans.is_inside(end)

    def _find_joined(self, index: int) -> JoinedRows | None:
        spans = self.grid.spans
        return None if spans is None or index >= len(self.grid.rows) else spans.joined_rows(index)

    def _fill_without_rows(self) -> TableFragment | None:
        """Return the heads and feet of a table without rows, or feet left over from the area
        before.
        """
        fragment = self._assemble([], None, is_last=True)
        return fragment if self.is_top or self._fits(fragment) else None

    def _fits(self, fragment: TableFragment) -> bool:
        return fragment.height <= self.region.height + EPSILON

    def _fitting(self, *, is_last: bool) -> tuple[int, str]:
        """Return the first row that does not fit or follows a forced break, and that break's name."""
        room = self.region.height - self._fixed_height(is_last=is_last) + EPSILON
        grid, context, rows = self.grid, self.context, self.grid.rows
        laid_out = grid.laid_out
        for index in range(self.first, len(rows)):
            if grid.forces_breaks and index > self.first:
                forced = self._forced_before(index)
                if forced:
                    return index, forced
            if index == self.first and self.cells is not None:
                row = self._split_first()
                if row.resumes is not None:
                    return index, ""
            else:
                row = laid_out[index] or grid.row(context, index)
            room -= row.height
            if room < 0:
                return index, ""
        return len(rows), ""

    def _forced_before(self, index: int) -> str:
        before = self.grid.rows[index - 1].template.style.breaks
        own = self.grid.rows[index].template.style.breaks
        if before.after in FORCING_BREAKS:
            return before.after.value
        if own.before in FORCING_BREAKS:
            return own.before.value
        number = self.grid.body_of(index)
        if index == self.grid.starts[number]:
            body = self.node.bodies[number].style.breaks
            last = self.node.bodies[self.grid.body_of(index - 1)].style.breaks
            if last.after in FORCING_BREAKS:
                return last.after.value
            if body.before in FORCING_BREAKS:
                return body.before.value
        return ""

    def _allowed_end(self, end: int) -> int:
        """Move a break up to the nearest place where it is allowed."""
        count = len(self.grid.rows)
        if end == count:  # the rows fit, the last feet do not: they need rows on their page
            end = count - 1
        while end > self.first:
            moved = self._previous_break(end)
            if moved == end:
                return end
            end = moved
        return end

    def _previous_break(self, end: int) -> int:
        rows, starts = self.grid.rows, self.grid.starts
        above = rows[end - 1].template
        if (
            above.style.breaks.after is BreakTo.AVOID
            or above.repeats
            or self._breaks_spanning_cell(end)
        ):
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

    def _split_at(self, end: int) -> TableFragment | None:
        """Break inside the first row that does not fit, if `break-inside="auto"` allows it."""
        grid = self.grid
        if not self.first < end < len(grid.rows) or self.cells is not None:
            return None
        row = grid.rows[end]
        if row.template.style.breaks.avoid_inside or self._find_joined(end) is not None:
            return None
        rows = [grid.row(self.context, index) for index in range(self.first, end)]
        room = self.region.height - self._fixed_height(is_last=False) - sum(r.height for r in rows)
        plan = grid.plan(self.context, row.template)
        part = split_row(self.context, plan, row, room, None)
        if part.resumes is None or part.height > room + EPSILON:
            return None
        return self._assemble([*rows, part], TableResume(end, part.resumes), is_last=False)

    def _split(self) -> TableFragment:
        """Place the part of the first row that fits on the page, at least some of it."""
        grid, part = self.grid, self._split_first()
        end = self.first + 1 if part.resumes is None else self.first
        continuing = self._assemble([part], TableResume(end, part.resumes), is_last=False)
        whole = self._assemble([part], None, is_last=True)
        is_end = end == len(grid.rows) and (self._fits(whole) or whole.height <= continuing.height)
        fragment = whole if is_end else continuing
        room = self.region.height - self._fixed_height(is_last=False)
        if room > 0 and not all(isinstance(content, str) for content in part.row.cells):
            fragment.problem = self._too_wide()  # overflow inside a cell is reported there
        fragment.problem = fragment.problem or self._describe_unsplittable(part, room)
        return fragment

    def _describe_unsplittable(self, part: LaidOutRow, room: float) -> LayoutProblem | None:
        """Return the problem of a cell whose stated height exceeds every area."""
        if self.cells is not None:
            return None
        row = part.plan.template
        for source, style in [(row.source, row.style), *((c.source, c.style) for c in row.cells)]:
            stated = max(style.box.height.value, style.box.min_height.value)
            if stated > room + EPSILON:
                self.context.path.append(row.source)
                problem = self.context.too_tall(source, needed=stated, available=room)
                self.context.path.pop()
                return problem
        return None

    def _split_first(self) -> LaidOutRow:
        """Return the part of the first row that fits; cached, since rows may hold tables."""
        if self.part is None:
            row = self.grid.rows[self.first]
            plan = self.grid.plan(self.context, row.template)
            room = self.region.height - self._fixed_height(is_last=False)
            self.part = split_row(self.context, plan, row, max(room, 0.0), self.cells)
        return self.part

    def _make_fragment(self, end: int, *, is_last: bool) -> TableFragment:
        rows = [self.grid.row(self.context, index) for index in range(self.first, end)]
        if self.cells is not None and rows:
            rows[0] = self._split_first()
        return self._assemble(rows, None if is_last else TableResume(end, None), is_last=is_last)

    def _assemble(
        self, rows: list[LaidOutRow], resume: TableResume | None, *, is_last: bool
    ) -> TableFragment:
        node, grid = self.node, self.grid
        height = self._fixed_height(is_last=is_last) + sum(row.height for row in rows)
        fragment = TableFragment(
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
            repeated_heads=self.repeated_heads,
        )
        fragment.problem = self._too_wide() or self._too_tall(fragment)
        return fragment

    def _fixed_height(self, *, is_last: bool) -> float:
        groups = (
            *self._matching(self.node.heads, is_last=is_last),
            *self._matching(self.node.feet, is_last=is_last),
        )
        fixed: float = sum(total_height(self.grid.group(self.context, group)) for group in groups)
        fixed += sum(caption.height for caption in self._captions(is_last=is_last))
        return fixed + total_height(self.repeated_heads)

    def _captions(self, *, is_last: bool) -> list[LaidOutCaption]:
        return [
            self.grid.caption(self.context, caption)
            for caption in self.node.captions
            if self._appears_on(caption.on, is_last=is_last)
        ]

    def _matching(self, groups: Sequence[RowGroup], *, is_last: bool) -> list[RowGroup]:
        return [group for group in groups if self._appears_on(group.on, is_last=is_last)]

    def _appears_on(self, on: Occurrence, *, is_last: bool) -> bool:
        match on:
            case Occurrence.FIRST:
                return self.is_start
            case Occurrence.REST:
                return not self.is_start
            case Occurrence.LAST:
                return is_last
            case Occurrence.NOT_LAST:
                return not is_last
            case _:
                return True

    def _find_repeated_heads(self) -> list[LaidOutRow]:
        """Return the group heads that are repeated because their body continues."""
        grid = self.grid
        if self.is_start or self.first >= len(grid.rows):
            return []
        begin = grid.starts[grid.body_of(self.first)]
        at = bisect_right(grid.group_heads, self.first) - 1
        if at < 0 or not begin <= grid.group_heads[at] < self.first:
            return []
        index = grid.group_heads[at]
        run = [grid.row(self.context, index)]
        while index > begin and grid.rows[index - 1].template.repeats:
            index -= 1
            run.insert(0, grid.row(self.context, index))
        return run

    def _too_tall(self, fragment: TableFragment) -> LayoutProblem | None:
        if not self.is_top or self._fits(fragment):
            return None
        room = self.region.height
        block = self._find_joined(self.first)
        if block is not None and len(fragment.rows) == block.end - self.first:
            return self._too_tall_together(block, needed=fragment.height)
        return self.context.too_tall(self.node.source, needed=fragment.height, available=room)

    def _too_tall_together(self, block: JoinedRows, *, needed: float) -> LayoutProblem:
        cell = next(
            cell
            for row in self.grid.rows[block.first : block.end]
            for cell in row.template.cells
            if cell.rowspan > 1
        )
        return self.context.too_tall(cell.source, needed=needed, available=self.region.height)

    def _too_wide(self) -> LayoutProblem | None:
        if not self.is_start:
            return None
        need, room = self.grid.edges[-1], self.grid.room
        if need <= room + EPSILON:
            return None
        source = self.node.source
        return LayoutProblem(
            code="columns-too-wide",
            message=f"Columns do not fit: the columns of {describe_element(source, self.context.path)} need "
            f"{format_mm(need)}, the table allows {format_mm(room)}",
            advice='Make columns narrower, or give one the width "1fr" or "auto".',
            chain=self.context.chain(source),
        )
