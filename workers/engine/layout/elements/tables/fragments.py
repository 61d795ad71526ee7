"""A table at one width, and its fragments: captions, heads, rows and feet, with the borders between them.

A row may be broken inside its cells, and so may rows joined by spanning cells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import localcontext
from itertools import accumulate, chain, cycle, repeat
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import StackFragment, lay_out_stack
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
from workers.engine.layout.display import Fill, Item, Stroke, StrokeRows
from workers.engine.layout.elements.tables.rows import (
    DONE,
    PlacedCell,
    RowBlock,
    RowPlan,
    cell_height,
    draw_rows,
    draw_vertical_borders,
    lay_out_cell,
    lay_out_rows,
    layout_key,
    own_height,
    plan_row,
    resolve_borders,
)
from workers.engine.layout.elements.tables.widths import find_widths, group_by_template
from workers.engine.tree.elements.tables.columns import add_all, initial_values, zero_values
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.nodes import (
    Caption,
    Role,
    RowGroup,
    RowTemplate,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues, PageValues, TotalValues
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import Border, Color

FORCING_BREAKS: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


@dataclass(slots=True)
class TableGrid:
    """A table at one width. Rows and groups are laid out once, on demand."""

    node: Table
    edges: list[float]
    fractions: dict[int, float]  # the widest of each column with aligned numbers
    rows: list[TableRow]
    starts: list[int]  # of each body in `rows`, and the end
    group_heads: list[int]  # the indexes of repeated group heads
    room: float  # the width available for the columns
    laid_out: list[RowBlock | None]  # the block of each row
    forces_breaks: bool = False  # whether a row or body forces a break before or after itself
    # By template, which keeps the styles whose ids are in the other keys, and by layout key.
    plans: dict[Hashable, RowPlan] = field(default_factory=dict)
    groups: dict[RowGroup, list[RowBlock]] = field(default_factory=dict)
    captions: dict[Caption, StackFragment] = field(default_factory=dict)
    lines: dict[Hashable, tuple[tuple[float, float, Border], ...]] = field(default_factory=dict)

    def plan(self, context: LayoutContext, template: RowTemplate) -> RowPlan:
        """Return the plan of a template's rows."""
        known = self.plans.get(template)
        if known is None:
            key = layout_key(template)
            known = self.plans.get(key) or plan_row(
                context,
                template,
                self.edges,
                fractions=self.fractions,
                is_rtl=self.node.style.paragraph.is_rtl,
            )
            self.plans[template] = self.plans[key] = known
        return known

    def block(self, context: LayoutContext, index: int) -> RowBlock:
        """Return the block of a body row, laid out with the next rows of its template and body."""
        block = self.laid_out[index]
        if block is None:
            template, joined = self.rows[index].template, self.joined_rows(index)
            if len(joined) > 1:
                rows = self.rows[joined.start : joined.stop]
                blocks = self.lay_out_all(context, rows, joined.start)
            else:
                numbers = range(index, self.starts[self.body_of(index) + 1])
                others = (at for at in numbers if self.rows[at].template is not template)
                rows = self.rows[index : next(others, numbers.stop)]
                blocks = lay_out_rows(context, self.plan(context, template), rows, index)
            for each in blocks:
                self.laid_out[each.first : each.end] = [each] * len(each.rows)
            block = self.laid_out[index]
            assert block is not None
        return block

    def joined_rows(self, index: int) -> range:
        """Return the rows that spanning cells join with a row, or the row alone.

        A break separates them only where they are taller than an area.
        """
        first, end = index, index + 1
        while self.rows[first].template.covers:
            first -= 1
        while end < len(self.rows) and self.rows[end].template.covers:
            end += 1
        return range(first, end)

    def row(self, context: LayoutContext, index: int) -> RowBlock:
        """Return a body row, laid out."""
        return self.block(context, index).between(index, index + 1)

    def group(self, context: LayoutContext, group: RowGroup) -> list[RowBlock]:
        """Return the rows of a head or foot, laid out with placeholder values."""
        known = self.groups.get(group)
        if known is None:
            rows = group.rows.evaluate(_placeholder_values(self.node, self.rows))
            known = self.groups[group] = self.lay_out_all(context, rows)
        return known

    def caption(self, context: LayoutContext, caption: Caption) -> StackFragment:
        """Return a caption, laid out, with the margins above and below it."""
        known = self.captions.get(caption)
        if known is None:
            known = lay_out_stack(context, (caption.block,), Region(self.edges[-1]))
            assert known is not None
            known.height += known.bottom_margin_after
            self.captions[caption] = known
        return known

    def lay_out_all(
        self, context: LayoutContext, rows: Sequence[TableRow], first: int = 0
    ) -> list[RowBlock]:
        """Lay out rows each by itself, those of a head or foot or rows joined by spanning cells.

        The last row of a spanning cell gets the height that its rows lack.
        """
        blocks = [
            block
            for number, row in enumerate(rows, first)
            for block in lay_out_rows(context, self.plan(context, row.template), [row], number)
        ]
        if all(cell.template.rowspan == 1 for block in blocks for cell in block.plan.cells):
            return blocks
        start, end = TableResume(first), first + len(rows)
        return RowBreaker(context, lambda at: blocks[at - first], start).lay_out(end).rows

    def body_of(self, index: int) -> int:
        """Return the number of the body that contains a row."""
        return bisect_right(self.starts, index) - 1


_GRIDS: Final[Kind[tuple[Table, float], TableGrid]] = Kind(Lifetime.WIDTHS)


def find_grid(context: LayoutContext, node: Table, width: float) -> TableGrid:
    """Return the grid of a table at a width, cached."""
    return context.memo.remember(_GRIDS, (node, width), lambda: _make_grid(context, node, width))


def _make_grid(context: LayoutContext, node: Table, width: float) -> TableGrid:
    rows, groups = _body_rows(node), group_by_template(all_rows(node))
    widths, fractions = find_widths(context, node.columns, groups, width)
    if node.style.paragraph.is_rtl:
        widths.reverse()
    return TableGrid(
        node=node,
        edges=[*accumulate(widths, initial=0.0)],
        fractions=fractions,
        rows=rows,
        starts=[*accumulate((len(body.rows) for body in node.bodies), initial=0)],
        group_heads=[index for index, row in enumerate(rows) if row.template.repeats],
        room=width,
        laid_out=[None] * len(rows),
        forces_breaks=any(
            not FORCING_BREAKS.isdisjoint((style.breaks.before, style.breaks.after))
            for style in (*(row.style for row, _ in groups), *(body.style for body in node.bodies))
        ),
    )


def total_height(blocks: Iterable[RowBlock]) -> float:
    """Return the total height of rows, in points."""
    return sum(block.height * len(block.rows) for block in blocks)


# Page values are unknown while widths and heights are measured (the stability rule of page references).
_PLACEHOLDER_PAGE: Final = PageValues(number=99, count=999, index=99, total=999, name="default")


def all_rows(node: Table) -> list[TableRow]:
    """Return the rows of a table, and those of heads and feet with placeholder values."""
    rows = _body_rows(node)
    values, groups = _placeholder_values(node, rows), (*node.heads, *node.feet)
    return [*rows, *[row for group in groups for row in group.rows.evaluate(values)]]


def _body_rows(node: Table) -> list[TableRow]:
    return [row for body in node.bodies for row in body.rows]


def _placeholder_values(node: Table, rows: Sequence[TableRow]) -> FragmentValues:
    """Return the values with which heads and feet are measured."""
    whole = _totals_before(node, rows, len(rows))
    start = initial_values(node.totals)
    return FragmentValues(start, whole, whole, whole, _PLACEHOLDER_PAGE)


def _totals_before(node: Table, rows: Sequence[TableRow], index: int) -> TotalValues:
    """Return the totals before a row, or after the last."""
    return rows[index - 1].carried if index else initial_values(node.totals)


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
    captions: Sequence[StackFragment] = ()
    repeated_heads: Sequence[RowBlock] = ()
    problem: LayoutProblem | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """None: tables are not aligned on a baseline."""
        return None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the captions, the rows with their backgrounds, and the borders."""
        canvas.report(self.problem)
        was_artifact = canvas.is_artifact
        canvas.is_artifact = was_artifact or not self.is_start
        for caption in self.captions:
            caption.draw(canvas, x, y)
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
            lower = None if block.is_cut_above else plan
            self._draw_edge(items, upper, lower, ending + above, x, y)
            draw_vertical_borders(items, plan, x, y, y + height)
            upper, ending = None if block.is_cut_below else plan, below
            tops = [*accumulate(repeat(height, len(block.rows)), initial=y)]
            if plan.has_borders and len(block.rows) > 1:
                lines: list[Item] = []
                self._draw_edge(lines, plan, plan, (), x, 0.0)
                draw_vertical_borders(lines, plan, x, 0.0, height)
                strokes = [line for line in lines if isinstance(line, Stroke)]
                items.append(StrokeRows(strokes, tops[1:-1]))
            y = tops[-1]
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
        grid, bodies, starts = self.grid, self.grid.node.bodies, self.grid.starts
        heads = [(group, self._laid_group(canvas, group)) for group in self.heads]
        # The default rule is drawn once, below the last head that has it.
        ruled = [group for group, blocks in heads if blocks and group.has_built_in_rule]
        is_repeated = not self.is_start
        for group, blocks in heads:
            rows, has_rule = range(len(blocks)), group not in ruled[:-1]
            for block in blocks:
                entry = self._entry(block, group, rows, Role.TABLE_HEAD, is_repeated=is_repeated)
                yield entry if has_rule else entry._replace(below=())
        for block in self.repeated_heads:
            fill = block.plan.template.style.box.background
            yield _Entry(block, (), (), (fill,), True, None, Role.TABLE_BODY)
        for block in self.rows:
            number = grid.body_of(block.first)
            rows = range(starts[number], starts[number + 1])
            yield self._entry(block, bodies[number], rows, Role.TABLE_BODY)
        is_repeated = self.resume is not None
        for group in self.feet:
            blocks = self._laid_group(canvas, group)
            rows = range(len(blocks))
            for block in blocks:
                yield self._entry(block, group, rows, Role.TABLE_FOOT, is_repeated=is_repeated)

    def _entry(
        self,
        block: RowBlock,
        section: RowGroup | TableBody,
        rows: range,
        role: Role,
        *,
        is_repeated: bool = False,
    ) -> _Entry:
        """Return rows with the borders and backgrounds of their section, which has `rows`."""
        box, stripe = section.style.box, self.grid.node.stripe
        starts, ends = block.first == rows.start, block.end == rows.stop
        above = (box.border.top,) if starts and not block.is_cut_above else ()
        below = (box.border.bottom,) if ends and not block.is_cut_below else ()
        fill = block.plan.template.style.box.background or box.background
        fills: Sequence[Color | None] = (fill,)
        if fill is None and stripe and role is Role.TABLE_BODY:
            at = block.first % len(stripe)
            fills = (*stripe[at:], *stripe[:at])
        return _Entry(block, above, below, fills, is_repeated, section, role)

    def _laid_group(self, canvas: PageCanvas, group: RowGroup) -> Sequence[RowBlock]:
        measured = self.grid.group(self.context, group)
        if group.rows.is_static:
            return measured
        rows = group.rows.evaluate(self._find_values(canvas.values))
        laid_out = self.grid.lay_out_all(self.context, rows)
        need, room = total_height(laid_out), total_height(measured)
        if need > room + EPSILON:
            chain = group.source, self.grid.node.source
            problem = LayoutProblem(
                code="page-values-too-long",
                message=f"Page values do not fit: {describe_element(chain[0], chain[1:])} needs {format_mm(need)}, "
                f"{format_mm(room)} were kept free",
                advice='Give the column a width, or the cell white-space="nowrap".',
                chain=chain,
            )
            canvas.report(problem)
        # Reserved space that is not needed stays, so that content below does not move.
        return [
            row._replace(height=max(row.height, kept.height))
            for row, kept in zip(laid_out, measured, strict=False)
        ]

    def _find_values(self, page: PageValues) -> FragmentValues:
        """Return the totals before, in and after the rows of the fragment, and of the table."""
        node, rows = self.grid.node, self.grid.rows
        counted = [row.contributions for row in rows[self.first : self.end]]
        with localcontext(ARITHMETIC):
            here = add_all(node.totals, zero_values(node.totals), counted)
        before, after, whole = (
            _totals_before(node, rows, at) for at in (self.first, self.end, len(rows))
        )
        return FragmentValues(before, here, after, whole, page)


def _fill_backgrounds(entries: Sequence[_Entry], x: float, y: float) -> Iterator[Fill]:
    """Yield the backgrounds of all rows, then those of cells: below all text (CSS 2.2, 17.5.1).

    Those of one colour follow each other and become one path, and the text of all rows one text
    object. No two of them overlap, so that their order is free.
    """
    rows: dict[Color, list[Fill]] = {}
    cells: dict[Color, list[Fill]] = {}
    for block, _, _, fills, *_ in entries:
        plan, height = block.plan, block.height
        for fill, _ in zip(cycle(fills), block.rows):
            if fill is not None:
                rows.setdefault(fill, []).append(Fill(x, y, plan.width, height, fill, None))
            for left, width, color in plan.backgrounds:
                own = Fill(x + left, y, width, height, color, None)
                cells.setdefault(color, []).append(own)
            y += height
    yield from chain.from_iterable((*rows.values(), *cells.values()))


class OpenCell(NamedTuple):
    """Cell number `at` of a body row, which goes on after a break, and where its content resumes."""

    row: int
    at: int
    resume: Resume


class TableResume(NamedTuple):
    """A position in a table: the body row, and the cells that go on in it from above the break.

    Where the row itself is broken, all of its cells are among them.
    """

    row: int
    open_cells: tuple[OpenCell, ...] = ()

    @property
    def is_inside(self) -> bool:
        """Whether the row is broken."""
        return any(cell.row == self.row for cell in self.open_cells)


@dataclass(slots=True)
class RowBreaker:
    """One attempt to fill an area with rows that it may break, of natural heights.

    `resume` is the position after a break, None if the rows end without one.
    At the top of an area it `is_forced` to place something; elsewhere it may place no rows.
    """

    context: LayoutContext
    row_at: Callable[[int], RowBlock]
    start: TableResume
    room: float = inf
    is_forced: bool = True
    rows: list[RowBlock] = field(default_factory=list)
    resume: TableResume | None = None
    tops: list[float] = field(default_factory=lambda: [0.0])  # and the lower edge of the last
    cells: list[PlacedCell] = field(default_factory=list)

    def lay_out(self, end: int) -> RowBreaker:
        """Lay out rows from the start up to row `end`, as many as fit."""
        self.cells = [self._open(*cell) for cell in self.start.open_cells]
        last = self.start.row
        while last < end and self._place(last):
            last += 1
        self._place_cells()
        if last < end:
            rest = [cell for cell in self.cells if cell.end > last]
            open_cells = [OpenCell(cell.number, cell.at, cell.resume) for cell in rest]
            self.resume = TableResume(last, tuple(open_cells))
        return self

    def _open(self, number: int, at: int, resume: Resume = None) -> PlacedCell:
        """Return a cell at the lower edge of the rows so far."""
        row = self.row_at(number)
        return PlacedCell(row.plan, row.rows[0], at, number, resume, self.tops[-1])

    def _place(self, index: int) -> bool:
        """Place a row or the part of it that fits, and return whether nothing of it is left.

        It is as high as the parts of the cells that end with it. Of the rows after the first, only
        those are broken that no area holds.
        """
        block, top = self.row_at(index), self.tops[-1]
        left, height, fits = max(self.room - top, 0.0), 0.0, False
        cells = [*map(copy, self.cells)]
        if index > self.start.row or not self.start.is_inside:
            height = own_height(block.plan, block.contents)
            fits = height <= left + EPSILON
            if not fits and self.rows and height <= self.context.area.height:
                return False
            for at, value in enumerate(block.contents):
                cells.append(self._open(index, at))
                cells[-1].value = value
        is_forced = self.is_forced and not self.rows
        ending = [cell for cell in cells if cell.end == index + 1 and cell.resume is not DONE]
        for cell in ending:
            self._fill(cell, left + top - cell.top, is_forced=is_forced)
        own = [cell for cell in ending if cell.number == index]
        if not (fits or is_forced or any(cell.value for cell in own)):
            return False
        is_whole, is_own_whole = (
            all(cell.resume is DONE for cell in each) for each in (ending, own)
        )
        begun = [cell for cell in ending if cell.value is not None]
        needs = [cell_height(cell.plan, cell.value) - (top - cell.top) for cell in begun]
        # One that spans rows may state a height; own_height has that of others.
        whole = [cell for cell in begun if cell.resume is DONE and cell.number >= self.start.row]
        needs += [cell.plan.line_height - (top - cell.top) for cell in whole if cell.number < index]
        height = max(height if fits else 0.0, *needs, 0.0)
        # Where only cells from above go on, it fills the area beside them.
        if is_own_whole and not is_whole:
            height = left
        self.cells = cells
        is_cut = index == self.start.row and self.start.is_inside
        part = block._replace(height=height, has_lines_only=False, is_cut_above=is_cut)
        self.rows.append(part._replace(is_cut_below=not is_whole))
        self.tops.append(top + height)
        return is_whole

    def _place_cells(self) -> None:
        """Place the cells in their rows, those of rows above in the first."""
        first, after = self.start.row, self.start.row + len(self.rows)
        for cell in self.cells:
            cell.height = self.tops[min(cell.end, after) - first] - cell.top
            if cell.end > after and cell.resume is not DONE:
                is_forced = self.is_forced and cell.height > self.room - EPSILON
                self._fill(cell, cell.height, is_forced=is_forced)
        for at, block in enumerate(self.rows):
            cells = [cell for cell in self.cells if cell.number == first + at]
            self.rows[at] = block._replace(
                contents=[cell.value for cell in cells],
                heights=[cell.height for cell in cells],
                continued=[cell for cell in self.cells if not at and cell.number < first],
            )

    def _fill(self, cell: PlacedCell, height: float, *, is_forced: bool) -> None:
        """Find the next part of a cell that fits, and where it resumes: `DONE` after its end."""
        if cell.value is None or cell_height(cell.plan, cell.value) > height + EPSILON:
            region = Region(0.0, height, is_forced)
            cell.value = lay_out_cell(
                self.context, cell.row_plan, cell.row, cell.at, region, cell.resume
            )
            if cell.value is None:
                return
            cell.resume = cell.value.resume
        cell.resume = DONE if cell.resume is None else cell.resume
