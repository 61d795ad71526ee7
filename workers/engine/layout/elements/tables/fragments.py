"""A table at one width, and its fragments: captions, heads, rows and feet, with the borders between them.

A row may be broken inside its cells, and so may rows joined by spanning cells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import localcontext
from itertools import accumulate, chain, cycle, groupby, repeat
from math import inf
from operator import itemgetter
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import margins_of
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
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
from workers.engine.layout.elements.tables.rows import (
    DONE,
    CellLayout,
    CellPlan,
    ContinuedCell,
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
    Block,
    Caption,
    Role,
    RowGroup,
    RowTemplate,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues, PageValues, Total, TotalValues
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import Border, Color

FORCING_BREAKS: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


class LaidOutCaption(NamedTuple):
    """A caption with the margins above and below it."""

    fragment: Fragment
    above: float
    below: float
    block: Block

    @property
    def height(self) -> float:
        """The height including margins, in points."""
        return self.above + self.fragment.height + self.below


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
    carried: CarriedTotals
    laid_out: list[RowBlock | None]  # the block of each row
    forces_breaks: bool = False  # whether a row or body forces a break before or after itself
    # By template, which keeps the styles whose ids are in the other keys, and by layout key.
    plans: dict[Hashable, RowPlan] = field(default_factory=dict)
    groups: dict[RowGroup, list[RowBlock]] = field(default_factory=dict)
    captions: dict[Caption, LaidOutCaption] = field(default_factory=dict)
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
            rows = group.rows.evaluate(self.carried.placeholder_values())
            known = self.groups[group] = self.lay_out_all(context, rows)
        return known

    def caption(self, context: LayoutContext, caption: Caption) -> LaidOutCaption:
        """Return a caption, laid out."""
        known = self.captions.get(caption)
        if known is None:
            width = self.edges[-1]
            fragment = context.lay_out(caption.block, Region(width, inf, True))
            assert fragment is not None
            known = LaidOutCaption(fragment, *margins_of(caption.block, width), caption.block)
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
        heights = [block.height for block in blocks]
        needs = [
            (at + cell.template.rowspan, at, max(cell.line_height, cell_height(cell, value)))
            for at, block in enumerate(blocks)
            for cell, value in zip(block.plan.cells, block.contents, strict=True)
            if cell.template.rowspan > 1
        ]
        if not needs:
            return blocks
        for end, at, needed in sorted(needs):
            heights[min(end, len(heights)) - 1] += max(needed - sum(heights[at:end]), 0.0)
        return [
            block._replace(
                height=heights[at],
                heights=tuple(
                    sum(heights[at : at + cell.template.rowspan]) for cell in block.plan.cells
                ),
            )
            for at, block in enumerate(blocks)
        ]

    def body_of(self, index: int) -> int:
        """Return the number of the body that contains a row."""
        return bisect_right(self.starts, index) - 1


_GRIDS: Final[Kind[tuple[Table, float], TableGrid]] = Kind(Lifetime.WIDTHS)


def find_grid(context: LayoutContext, node: Table, width: float) -> TableGrid:
    """Return the grid of a table at a width, cached."""
    return context.memo.remember(_GRIDS, (node, width), lambda: _make_grid(context, node, width))


def _make_grid(context: LayoutContext, node: Table, width: float) -> TableGrid:
    rows = [row for body in node.bodies for row in body.rows]
    carried = CarriedTotals(node.totals, rows)
    groups = group_by_template([*rows, *_outer_rows(node, carried)])
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
        carried=carried,
        laid_out=[None] * len(rows),
        forces_breaks=any(
            not FORCING_BREAKS.isdisjoint((style.breaks.before, style.breaks.after))
            for style in (*(row.style for row, _ in groups), *(body.style for body in node.bodies))
        ),
    )


def all_rows(node: Table) -> list[TableRow]:
    """Return all rows of a table, heads and feet with placeholder values."""
    rows = [row for body in node.bodies for row in body.rows]
    return [*rows, *_outer_rows(node, CarriedTotals(node.totals, rows))]


def total_height(blocks: Iterable[RowBlock]) -> float:
    """Return the total height of rows, in points."""
    return sum(block.height * len(block.rows) for block in blocks)


def _outer_rows(node: Table, carried: CarriedTotals) -> list[TableRow]:
    values = carried.placeholder_values()
    return [row for group in (*node.heads, *node.feet) for row in group.rows.evaluate(values)]


# Page values are unknown while widths and heights are measured (the stability rule of page references).
_PLACEHOLDER_PAGE: Final = PageValues(number=99, count=999, index=99, total=999, name="default")


class CarriedTotals:
    """The totals of one table, computed on demand."""

    def __init__(self, totals: Sequence[Total], rows: Sequence[TableRow]) -> None:
        self._totals = totals
        self._rows = rows
        # By the index of the next row.
        self._before: dict[int, TotalValues] = {0: initial_values(totals)}
        self._by_rows: dict[tuple[int, int], tuple[TotalValues, TotalValues, TotalValues]] = {}
        self._whole = self._find_before(len(rows))

    def fragment_values(self, first: int, end: int, page: PageValues) -> FragmentValues:
        """Return the totals for the rows from `first` up to, not including, `end`."""
        known = self._by_rows.get((first, end))
        if known is None:  # each head and foot of a fragment needs them
            before = self._find_before(first)
            here = self._add(zero_values(self._totals), first, end)
            with localcontext(ARITHMETIC):
                after = self._before[end] = add_all(self._totals, before, [here])
            known = self._by_rows[first, end] = before, here, after
        return FragmentValues(*known, self._whole, page)

    def placeholder_values(self) -> FragmentValues:
        """Return the values with which heads and feet are measured."""
        return FragmentValues(
            self._before[0], self._whole, self._whole, self._whole, _PLACEHOLDER_PAGE
        )

    def _find_before(self, index: int) -> TotalValues:
        known = self._before.get(index)
        if known is None:
            nearest = max(before for before in self._before if before < index)
            known = self._before[index] = self._add(self._before[nearest], nearest, index)
        return known

    def _add(self, carried: TotalValues, first: int, end: int) -> TotalValues:
        if not self._totals:
            return ()
        counted = [row.contributions for row in self._rows[first:end]]
        with localcontext(ARITHMETIC):
            return add_all(self._totals, carried, counted)


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
        above = (box.border.top,) if block.first == rows.start else ()
        below = (box.border.bottom,) if block.end == rows.stop else ()
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
        """Return a row or the part of it that fits, None if it goes to the next area as a whole.

        Of the rows after the first, only those are broken that no area holds.
        """
        whole = self.grid.row(self.context, index)
        left = max(self.room - self.tops[-1], 0.0)
        height = own_height(whole.plan, whole.contents)
        placed = whole._replace(height=height, contents=[*whole.contents], heights=None)
        if starts is not None or height > left + EPSILON:
            if self.rows and height <= self.context.area.height:
                return None
            is_forced = self.is_forced and not self.rows
            placed = self._split(whole, Region(0.0, left, is_forced), starts)
            if not is_forced and not any(placed.contents):
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

    def _split(
        self, whole: RowBlock, region: Region, starts: tuple[Resume, ...] | None
    ) -> RowBlock:
        """Return the part that fits of the cells that do not span rows."""
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
