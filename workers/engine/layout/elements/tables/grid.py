"""A table at one width: its column edges, row plans, and the rows laid out so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import localcontext
from itertools import accumulate
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.blocks.stacks import margins_of
from workers.engine.layout.context import Fragment, LayoutContext, Region
from workers.engine.layout.elements.tables.row_plans import RowPlan, layout_key, plan_row
from workers.engine.layout.elements.tables.rows import (
    RowBlock,
    cell_height,
    lay_out_lines,
    lay_out_row,
)
from workers.engine.layout.elements.tables.widths import find_widths, group_by_template
from workers.engine.tree.elements.tables.columns import add_all, initial_values, zero_values
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.nodes import Block, Caption, RowGroup, RowTemplate, Table, TableRow
from workers.engine.tree.page_values import FragmentValues, PageValues, Total, TotalValues
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import Border

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
    measured: int = 0  # rows up to here are in a block if their cells are lines of text
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
        """Return the block of a body row; a general row is one by itself."""
        block = self.laid_out[index]
        if block is None:
            joined = self.joined_rows(index)
            if len(joined) > 1:
                rows = self.rows[joined.start : joined.stop]
                self._keep(self.lay_out_all(context, rows, joined.start))
            elif index >= self.measured:
                self._lay_out_lines(context, index)
            block = self.laid_out[index]
        if block is None:
            row = self.rows[index]
            block = lay_out_row(context, self.plan(context, row.template), row, index)
            self.laid_out[index] = block
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

    def _lay_out_lines(self, context: LayoutContext, index: int) -> None:
        """Lay out the lines of text of the next rows of one template and body."""
        template, end = self.rows[index].template, self.starts[self.body_of(index) + 1]
        others = (at for at in range(index, end) if self.rows[at].template is not template)
        self.measured = next(others, end)
        rows = self.rows[index : self.measured]
        self._keep(lay_out_lines(context, self.plan(context, template), rows, index))

    def _keep(self, blocks: Iterable[RowBlock]) -> None:
        for block in blocks:
            self.laid_out[block.first : block.end] = [block] * len(block.rows)

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
            lay_out_row(context, self.plan(context, row.template), row, number)
            for number, row in enumerate(rows, first)
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
