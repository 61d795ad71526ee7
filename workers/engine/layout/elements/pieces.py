"""One piece of a table as it is drawn: captions, heads, rows and feet, with the lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workers.engine.layout.context import EPSILON, Context, Misfit, Resume, Sheet, in_mm, name_in
from workers.engine.layout.elements.grid import Grid, LaidCaption, height_of
from workers.engine.layout.elements.rowplans import RowPlan, find_edges
from workers.engine.layout.elements.rows import LaidRow, draw_cells, draw_fills, draw_uprights
from workers.engine.layout.frames import draw_border
from workers.engine.tree.nodes import RowGroup, Table
from workers.engine.units import Border, Color


class _Entry(NamedTuple):
    """A row in a piece, with the groups whose border begins or ends at its edges."""

    laid: LaidRow
    above: tuple[Border, ...]
    below: tuple[Border, ...]
    fill: Color | None
    is_repeated: bool


@dataclass(slots=True)
class TablePiece:
    """Heads, some rows, feet."""

    grid: Grid
    context: Context
    heads: Sequence[RowGroup]
    feet: Sequence[RowGroup]
    rows: Sequence[LaidRow]
    first: int
    height: float
    resume: Resume
    is_start: bool
    captions: Sequence[LaidCaption] = ()
    sticky: Sequence[LaidRow] = ()
    misfit: Misfit | None = None
    forced: str = ""

    @property
    def has_spans(self) -> bool:
        """Tell whether a cell of the table spans rows."""
        return self.grid.spans is not None

    @property
    def first_baseline(self) -> float | None:
        """Give nothing: a table stands beside other things by its top."""
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the rows with their backgrounds, then the lines between them."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        was_furniture = sheet.is_furniture
        sheet.is_furniture = was_furniture or not self.is_start
        for caption in self.captions:
            caption.piece.draw(sheet, x, y + caption.above)
            y += caption.height
        sheet.is_furniture = was_furniture
        entries = list(self._entries(sheet))
        self._draw_rows(sheet, entries, x, y)
        self._draw_lines(sheet, entries, x, y)

    def _draw_rows(self, sheet: Sheet, entries: Sequence[_Entry], x: float, y: float) -> None:
        was_furniture = sheet.is_furniture
        # A cell over several rows stands on the backgrounds of all of them.
        if self.has_spans:
            self._draw_fills(sheet, entries, x, y)
        for laid, _, _, fill, is_repeated in entries:
            sheet.is_furniture = was_furniture or is_repeated
            if not self.has_spans:
                draw_fills(sheet, laid, x, y, fill)
            draw_cells(sheet, laid, x, y)
            y += laid.height
        sheet.is_furniture = was_furniture

    def _draw_fills(self, sheet: Sheet, entries: Sequence[_Entry], x: float, y: float) -> None:
        for laid, _, _, fill, _ in entries:
            draw_fills(sheet, laid, x, y, fill)
            y += laid.height

    def _draw_lines(self, sheet: Sheet, entries: Sequence[_Entry], x: float, y: float) -> None:
        upper: RowPlan | None = None
        ending: tuple[Border, ...] = ()
        for laid, above, below, _, _ in entries:
            self._draw_edge(sheet, upper, laid.plan, ending + above, x, y)
            if laid.plan.uprights:
                draw_uprights(sheet, laid.plan, x, y, y + laid.height)
            y += laid.height
            upper, ending = laid.plan, below
        if upper is not None:
            self._draw_edge(sheet, upper, None, ending, x, y)

    def _draw_edge(
        self,
        sheet: Sheet,
        upper: RowPlan | None,
        lower: RowPlan | None,
        extra: tuple[Border, ...],
        x: float,
        y: float,
    ) -> None:
        grid = self.grid
        key = (id(upper), id(lower), *map(id, extra))
        lines = grid.lines.get(key)
        if lines is None:
            lines = grid.lines[key] = find_edges(upper, lower, grid.edges, extra)
        for left, right, border in lines:
            draw_border(sheet.items, border, (x + left, y), (x + right, y), None)

    def _entries(self, sheet: Sheet) -> Iterator[_Entry]:
        yield from self._head_entries(sheet)
        for row in self.sticky:
            yield _Entry(row, (), (), row.plan.template.style.box.background, True)
        yield from self._body_entries()
        for group in self.feet:
            yield from self._group_entries(sheet, group, is_repeated=self.resume is not None)

    def _head_entries(self, sheet: Sheet) -> Iterator[_Entry]:
        """Give the head rows; the built-in rule stands once, below the last that has it."""
        heads = [
            list(self._group_entries(sheet, group, is_repeated=not self.is_start))
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
        self, sheet: Sheet, group: RowGroup, *, is_repeated: bool
    ) -> Iterator[_Entry]:
        laid = self._laid_group(sheet, group)
        border = group.style.box.border
        for index, row in enumerate(laid):
            yield _Entry(
                row,
                (border.top,) if index == 0 else (),
                (border.bottom,) if index == len(laid) - 1 else (),
                row.plan.template.style.box.background or group.style.box.background,
                is_repeated,
            )

    def _laid_group(self, sheet: Sheet, group: RowGroup) -> tuple[LaidRow, ...]:
        measured = self.grid.group(self.context, group)
        if group.rows.is_static:
            return measured
        end = self.first + len(self.rows)
        rows = group.rows.evaluate(self.grid.carried.piece(self.first, end, sheet.values))
        laid = self.grid.lay_out_all(self.context, rows)
        need, room = height_of(laid), height_of(measured)
        if need > room + EPSILON:
            sheet.report(_outgrown(self.context, self.grid.node, group, need=need, room=room))
        # Room that was kept free and is not needed stays: what stands below does not move.
        return tuple(
            row._replace(height=max(row.height, kept.height))
            for row, kept in zip(laid, measured, strict=False)
        )

    def _body_entries(self) -> Iterator[_Entry]:
        grid = self.grid
        bodies, starts, stripe = grid.node.bodies, grid.starts, grid.node.stripe
        if not self.rows:
            return
        number = grid.body_of(self.first)
        for offset, laid in enumerate(self.rows):
            index = self.first + offset
            while index >= starts[number + 1]:
                number += 1
            style = bodies[number].style.box
            fill = laid.plan.template.style.box.background or style.background
            if fill is None and stripe:
                fill = stripe[index % len(stripe)]
            above = (style.border.top,) if index == starts[number] else ()
            below = (style.border.bottom,) if index == starts[number + 1] - 1 else ()
            yield _Entry(laid, above, below, fill, False)


def _outgrown(
    context: Context, node: Table, group: RowGroup, *, need: float, room: float
) -> Misfit:
    return Misfit(
        code="page-values-too-long",
        what=f"Page values do not fit: {name_in(group.source, [node.source])} needs {in_mm(need)}, "
        f"{in_mm(room)} were kept free",
        advice='Give the column a width, or the cell white-space="nowrap".',
        chain=(group.source, node.source),
    )
