"""Table layout: rows are placed into fragments between the heads and feet that belong there.

A table breaks between rows. Rows are laid out when they are reached, once; a fragment holds the
longest run of rows that fits between its heads and feet. Whether a fragment is the last is decided
first: do all remaining rows fit with the heads and feet of a last fragment? A row is split inside
its cells, and rows joined by a cell are separated, only if they are taller than an empty area; they
begin below what is above them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import TypeVar

from workers.engine.layout.blocks.stacks import StackFragment
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
from workers.engine.layout.elements.tables.fragments import (
    FORCING_BREAKS,
    RowBreaker,
    TableFragment,
    TableGrid,
    TableResume,
    all_rows,
    find_grid,
    total_height,
)
from workers.engine.layout.elements.tables.rows import RowBlock
from workers.engine.layout.elements.tables.widths import group_by_template, measure_columns
from workers.engine.tree.nodes import Caption, Occurrence, RowGroup, Table
from workers.engine.tree.styles.computed import BreakTo


def lay_out_table(
    context: LayoutContext, node: Table, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out as many rows of a table as fit, with their heads and feet."""
    own = context.inside(node.source)
    references = context.references
    before = 0 if references is None else references.lookups
    grid = find_grid(own, node, region.width)
    fragment = _TableFiller(own, grid, region, resume).fill()
    if references is not None and references.lookups > before:
        references.affects_widths = True  # the grid keeps rows for all areas
    return fragment


def measure_table(context: LayoutContext, node: Table) -> tuple[float, float]:
    """Return the min-content and max-content widths of a table."""
    return measure_columns(context, node.columns, group_by_template(all_rows(node)))


_Part = TypeVar("_Part", RowGroup, Caption)


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
        self.at = resume or TableResume(0)
        self.first = self.at.row
        self.region = region
        self.is_top = region.is_top
        self.repeated_heads = self._find_repeated_heads()
        self.begun: list[RowBlock] = []  # the end of rows that are broken
        self.surroundings_problem: LayoutProblem | None = None  # of heads and feet: left out

    def fill(self) -> TableFragment | None:
        """Return the longest fragment that fits into the region, None for none."""
        count = len(self.grid.rows)
        if self.first == count:  # heads and feet alone, or left over from the area before
            fragment = self._assemble([], None)
            return fragment if self.is_top or self._fits(fragment) else None
        if self.is_top:
            self._check_surroundings()
        if self.at.open_cells:
            broken = self._break_rows(self.at, self._room(is_last=False))
            if broken.resume is not None or not broken.rows:
                return self._place_broken([], broken) if broken.rows else None
            self.begun = broken.rows
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
        torn = self._break_inside(end)
        if torn is not None:
            return torn
        allowed = self._allowed_end(end)
        if allowed > self.first:
            return self._make_fragment(allowed, is_last=False)
        if not self.is_top:
            return None
        # The area is empty: `avoid` is ignored, and rows that are too tall are broken.
        return self._force_fragment(min(end, count - 1))

    def _force_fragment(self, end: int) -> TableFragment:
        while end > self.first and self.grid.rows[end].template.covers:
            end -= 1
        if end > self.first:
            return self._make_fragment(end, is_last=False)
        return self._place_broken([], self._break_rows(self.at, self._room(is_last=False)))

    def _blocks(self, end: int) -> Iterator[RowBlock]:
        """Yield the rows of the fragment up to, not including, `end`, in as few blocks as there are."""
        yield from self.begun[: end - self.first]
        index = self.first + len(self.begun)
        while index < end:
            block = self.grid.block(self.context, index).between(index, end)
            index = block.end
            yield block

    def _fits(self, fragment: TableFragment) -> bool:
        return fragment.height <= self.region.height + EPSILON

    def _room(self, *, is_last: bool) -> float:
        return self.region.height - self._fixed_height(is_last=is_last)

    def _fitting(self, *, is_last: bool) -> tuple[int, str]:
        """Return the first row that does not fit or follows a forced break, and that break's name."""
        room = self._room(is_last=is_last) + EPSILON
        grid, index, count = self.grid, self.first, len(self.grid.rows)
        forces_breaks = grid.forces_breaks and self.region.height < inf  # a cell has one area only
        while index < count:
            forced = forces_breaks and index > self.first and self._forced_before(index)
            if forced:
                return index, forced
            number = index - self.first
            is_begun = number < len(self.begun)
            block = self.begun[number] if is_begun else grid.block(self.context, index)
            end = index + 1 if forces_breaks else block.end
            needed = block.height * (end - index)
            if needed > room:
                return index + (int(room // block.height) if room > 0 else 0), ""
            room -= needed
            index = end
        return index, ""

    def _forced_before(self, index: int) -> str:
        grid, bodies = self.grid, self.node.bodies
        if grid.rows[index].template.covers:
            return ""  # joined rows are separated only where they are taller than an area
        neighbours = [grid.rows[index - 1].template.style, grid.rows[index].template.style]
        number = grid.body_of(index)
        if index == grid.starts[number]:
            neighbours += [bodies[grid.body_of(index - 1)].style, bodies[number].style]
        breaks = [
            style.breaks.before if at % 2 else style.breaks.after
            for at, style in enumerate(neighbours)
        ]
        return next((each.value for each in breaks if each in FORCING_BREAKS), "")

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
        below = rows[end].template
        if BreakTo.AVOID in (above.style.breaks.after, below.style.breaks.before):
            return end - 1
        if above.repeats or below.covers:
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

    def _break_inside(self, end: int) -> TableFragment | None:
        """Break inside the rows that do not fit, if `break-inside="auto"` allows it, or if they are
        taller than an empty area.
        """
        if end == len(self.grid.rows) or end < self.first + len(self.begun):
            return None
        joined = self.grid.joined_rows(end)
        if not self._may_break(joined):
            return None
        rows = [*self._blocks(joined.start)]
        room = self._room(is_last=False) - total_height(rows)
        broken = self._break_rows(TableResume(joined.start), room)
        fits = total_height(broken.rows) <= room + EPSILON
        if not broken.rows or broken.resume is None or not fits:
            return None
        return self._place_broken(rows, broken)

    def _may_break(self, joined: range) -> bool:
        rows = [self.grid.row(self.context, index) for index in joined]
        if len(rows) == 1 and not rows[0].plan.template.style.breaks.avoid_inside:
            return True
        empty = self.context.area.height - self._fixed_height(is_last=False)
        return total_height(rows) > empty + EPSILON

    def _break_rows(self, start: TableResume, room: float) -> RowBreaker:
        """Return the part of the rows kept together from a position that fits."""
        is_forced = self.is_top and start.row == self.first
        end = self.grid.joined_rows(start.row).stop
        row_at = partial(self.grid.row, self.context)
        return RowBreaker(self.context, row_at, start, max(room, 0.0), is_forced).lay_out(end)

    def _place_broken(self, above: list[RowBlock], broken: RowBreaker) -> TableFragment:
        """Return the fragment that ends with broken rows, at least some of the first."""
        rows = [*above, *broken.rows]
        end = broken.rows[-1].end
        resume = broken.resume or TableResume(end)
        fragment = self._assemble(rows, resume)
        if broken.resume is None and end == len(self.grid.rows):
            whole = self._assemble(rows, None)
            if self._fits(whole) or whole.height <= fragment.height:
                fragment = whole
        room = self._room(is_last=False)
        if room > 0 and any(not isinstance(each, str) for each in broken.rows[-1].rows[0].cells):
            fragment.problem = self._too_wide()  # overflow inside a cell is reported there
        fragment.problem = fragment.problem or self._describe_unsplittable(broken.rows[0], room)
        return fragment

    def _describe_unsplittable(self, part: RowBlock, room: float) -> LayoutProblem | None:
        """Return the problem of a cell whose stated height exceeds every area."""
        if self.at.is_inside:
            return None
        row = part.plan.template
        for source, style in [(row.source, row.style), *((c.source, c.style) for c in row.cells)]:
            stated = max(style.box.height.value, style.box.min_height.value)
            if stated > room + EPSILON:
                context = self.context.inside(row.source)
                return context.too_tall(source, needed=stated, available=room)
        return None

    def _make_fragment(self, end: int, *, is_last: bool) -> TableFragment:
        return self._assemble([*self._blocks(end)], None if is_last else TableResume(end))

    def _assemble(self, rows: list[RowBlock], resume: TableResume | None) -> TableFragment:
        """Return the fragment with some rows; it is the last if there is no position after it."""
        node, is_last = self.node, resume is None
        fragment = TableFragment(
            grid=self.grid,
            context=self.context,
            heads=self._shown(node.heads, is_last=is_last),
            feet=self._shown(node.feet, is_last=is_last),
            rows=rows,
            first=self.first,
            end=rows[-1].end if rows else self.first,
            height=self._fixed_height(is_last=is_last) + total_height(rows),
            resume=resume,
            is_start=self.is_start,
            captions=self._captions(is_last=is_last),
            repeated_heads=self.repeated_heads,
        )
        fragment.problem = self.surroundings_problem or self._too_wide() or self._too_tall(fragment)
        return fragment

    def _fixed_height(self, *, is_last: bool) -> float:
        groups = self._shown((*self.node.heads, *self.node.feet), is_last=is_last)
        fixed: float = sum(total_height(self.grid.group(self.context, group)) for group in groups)
        fixed += sum(caption.height for caption in self._captions(is_last=is_last))
        return fixed + total_height(self.repeated_heads)

    def _captions(self, *, is_last: bool) -> list[StackFragment]:
        captions = self._shown(self.node.captions, is_last=is_last)
        return [self.grid.caption(self.context, caption) for caption in captions]

    def _shown(self, parts: Sequence[_Part], *, is_last: bool) -> list[_Part]:
        """Return the heads, feet or captions that the fragment has."""
        if self.surroundings_problem is not None:
            return []
        shows = {
            Occurrence.FIRST: self.is_start,
            Occurrence.REST: not self.is_start,
            Occurrence.LAST: is_last,
            Occurrence.NOT_LAST: not is_last,
        }
        return [part for part in parts if shows.get(part.on, True)]

    def _find_repeated_heads(self) -> list[RowBlock]:
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

    def _check_surroundings(self) -> None:
        """Leave out heads and feet that take the room of every row, which is an error."""
        sources = [group.source for group in (*self.node.heads, *self.node.feet)]
        sources += [caption.block.source for caption in self.node.captions]
        plan = self.grid.plan(self.context, self.grid.rows[self.first].template)
        fixed, room = self._fixed_height(is_last=False), self.region.height
        needed = fixed + plan.line_height
        if sources and fixed > plan.line_height and needed > room + EPSILON:
            problem = self.context.too_tall(sources[0], needed=needed, available=room)
            self.surroundings_problem = problem

    def _too_tall(self, fragment: TableFragment) -> LayoutProblem | None:
        if not self.is_top or self._fits(fragment):
            return None
        room = self.region.height
        return self.context.too_tall(self.node.source, needed=fragment.height, available=room)

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
