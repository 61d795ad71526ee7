"""What one table at one width knows: column edges, plans of rows, and the rows laid out so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from workers.engine.layout.context import Context, Piece, Space
from workers.engine.layout.elements.carried import CarriedTotals
from workers.engine.layout.elements.rowplans import RowPlan, look_key, plan_row
from workers.engine.layout.elements.rows import LaidRow, lay_out_row, span_needs, with_heights
from workers.engine.layout.elements.spans import Cover, Spans, raise_heights
from workers.engine.layout.elements.widths import find_widths, group_rows
from workers.engine.layout.stacks import margins_of
from workers.engine.tree.nodes import (
    Caption,
    RowGroup,
    RowTemplate,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.units import Border


class LaidCaption(NamedTuple):
    """A caption, with the margins above and below it."""

    piece: Piece
    above: float
    below: float

    @property
    def height(self) -> float:
        """Give the height it takes, margins included."""
        return self.above + self.piece.height + self.below


@dataclass(slots=True)
class Grid:
    """One table at one width. Rows and groups are laid out once, when they are first asked for."""

    node: Table
    edges: list[float]
    fractions: dict[int, float]  # of each column of aligned numbers, the widest
    rows: list[TableRow]
    starts: list[int]  # of each body, in `rows`; and the end
    repeating: list[int]  # the sticky rows
    room: float  # what the table has for its columns
    carried: CarriedTotals
    spans: Spans | None  # None where no cell spans rows
    laid: list[LaidRow | None]
    plans: dict[Hashable, RowPlan] = field(default_factory=dict)
    templates: list[RowTemplate] = field(default_factory=list)  # kept: their ids are keys
    groups: dict[int, tuple[LaidRow, ...]] = field(default_factory=dict)
    captions: dict[int, LaidCaption] = field(default_factory=dict)
    lines: dict[tuple[int, ...], tuple[tuple[float, float, Border], ...]] = field(
        default_factory=dict
    )

    def plan(
        self, context: Context, template: RowTemplate, covers: tuple[Cover, ...] = ()
    ) -> RowPlan:
        """Give the plan of a template's rows, where cells above cover some of their columns."""
        own_key = (id(template), covers) if covers else id(template)
        known = self.plans.get(own_key)
        if known is None:
            key = (*look_key(template), covers)
            known = self.plans.get(key) or plan_row(
                context,
                template,
                self.edges,
                fractions=self.fractions,
                covers=covers,
                is_rtl=self.node.style.paragraph.is_rtl,
            )
            self.plans[own_key] = self.plans[key] = known
            self.templates.append(template)
        return known

    def row(self, context: Context, index: int) -> LaidRow:
        """Give a body row, laid out."""
        laid = self.laid[index]
        if laid is None:
            block = self.spans.block_of(index) if self.spans else None
            if self.spans is not None and block is not None:
                rows = self.rows[block.first : block.end]
                made = self._lay_out_joined(context, rows, self.spans, block.first)
                self.laid[block.first : block.end] = made
                return made[index - block.first]
            row = self.rows[index]
            laid = self.laid[index] = lay_out_row(context, self.plan(context, row.template), row)
        return laid

    def group(self, context: Context, group: RowGroup) -> tuple[LaidRow, ...]:
        """Give the rows of a head or foot, measured with stand-ins."""
        known = self.groups.get(id(group))
        if known is None:
            rows = group.rows.evaluate(self.carried.stand_ins())
            known = self.groups[id(group)] = self.lay_out_all(context, rows)
        return known

    def caption(self, context: Context, caption: Caption) -> LaidCaption:
        """Give a caption, laid out."""
        known = self.captions.get(id(caption))
        if known is None:
            width = self.edges[-1]
            piece = context.lay_out(caption.block, Space(width, inf, True))
            assert piece is not None
            known = LaidCaption(piece, *margins_of(caption.block, width))
            self.captions[id(caption)] = known
        return known

    def lay_out_all(self, context: Context, rows: Sequence[TableRow]) -> tuple[LaidRow, ...]:
        """Lay out rows of a head or foot."""
        if _has_spans(rows):
            return tuple(self._lay_out_joined(context, rows, Spans(rows), 0))
        return tuple(lay_out_row(context, self.plan(context, row.template), row) for row in rows)

    def body_of(self, index: int) -> int:
        """Give the number of the body that a row is in."""
        return bisect_right(self.starts, index) - 1

    def _lay_out_joined(
        self, context: Context, rows: Sequence[TableRow], spans: Spans, first: int
    ) -> list[LaidRow]:
        laid = [
            lay_out_row(
                context,
                self.plan(context, row.template, spans.covers.get(index, ())),
                row,
            )
            for index, row in enumerate(rows, first)
        ]
        heights = raise_heights([row.height for row in laid], [span_needs(row) for row in laid])
        return [with_heights(row, heights, at) for at, row in enumerate(laid)]


def grid_of(context: Context, node: Table, width: float) -> Grid:
    """Give the grid of a table at a width; made once."""
    key = ("grid", id(node), width)
    known: Grid | None = context.memory.get(key)
    if known is not None and known.node is node:
        return known
    rows = [row for body in node.bodies for row in body.rows]
    carried = CarriedTotals(node.totals, rows)
    groups = group_rows([*rows, *_outer_rows(node, carried)])
    widths, fractions = find_widths(context, node.columns, groups, width)
    edges = [0.0]
    for column in reversed(widths) if node.style.paragraph.is_rtl else widths:
        edges.append(edges[-1] + column)
    grid = Grid(
        node=node,
        edges=edges,
        fractions=fractions,
        rows=rows,
        starts=_starts(node.bodies),
        repeating=[index for index, row in enumerate(rows) if row.template.repeats],
        room=width,
        carried=carried,
        spans=Spans(rows) if any(_spans_rows(template) for template, _ in groups) else None,
        laid=[None] * len(rows),
    )
    context.memory[key] = grid
    return grid


def all_rows(node: Table) -> list[TableRow]:
    """Give the rows of a table, heads and feet with stand-ins."""
    rows = [row for body in node.bodies for row in body.rows]
    return [*rows, *_outer_rows(node, CarriedTotals(node.totals, rows))]


def height_of(rows: Sequence[LaidRow]) -> float:
    """Give the height of rows below each other."""
    return sum(row.height for row in rows)


def _starts(bodies: Sequence[TableBody]) -> list[int]:
    starts = [0]
    for body in bodies:
        starts.append(starts[-1] + len(body.rows))
    return starts


def _outer_rows(node: Table, carried: CarriedTotals) -> list[TableRow]:
    values = carried.stand_ins()
    return [row for group in (*node.heads, *node.feet) for row in group.rows.evaluate(values)]


def _has_spans(rows: Sequence[TableRow]) -> bool:
    return any(_spans_rows(row.template) for row in rows)


def _spans_rows(template: RowTemplate) -> bool:
    return any(cell.rowspan > 1 for cell in template.cells)
