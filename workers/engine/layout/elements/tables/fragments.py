"""The fragment of a table: captions, heads, rows and feet, with the borders between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.context import (
    EPSILON,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Resume,
    describe_element,
    format_mm,
)
from workers.engine.layout.display import Bands
from workers.engine.layout.elements.tables.grid import LaidOutCaption, TableGrid, total_height
from workers.engine.layout.elements.tables.row_plans import RowPlan, resolve_borders
from workers.engine.layout.elements.tables.rows import (
    LaidOutRow,
    draw_rows,
    draw_vertical_borders,
)
from workers.engine.tree.nodes import Role, RowGroup, Table, TableBody
from workers.engine.units import Border, Color

# Making a named tuple from a tuple takes half the time.
_new: Final = tuple.__new__

_Background = tuple[float, float, tuple[float, float]]  # left, width, and place in its band


class _Entry(NamedTuple):
    """A row of a fragment, with the row groups whose border starts or ends at its edges."""

    laid_out: LaidOutRow
    above: tuple[Border, ...]
    below: tuple[Border, ...]
    fill: Color | None
    is_repeated: bool
    section: RowGroup | TableBody | None  # None for repeated rows
    role: Role


@dataclass(slots=True)
class TableFragment:
    """A fragment of a table: heads, rows and feet."""

    grid: TableGrid
    context: LayoutContext
    heads: Sequence[RowGroup]
    feet: Sequence[RowGroup]
    rows: Sequence[LaidOutRow]
    first: int
    height: float
    resume: Resume
    is_start: bool
    captions: Sequence[LaidOutCaption] = ()
    repeated_heads: Sequence[LaidOutRow] = ()
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
        tree = canvas.tree
        for caption in self.captions:
            if tree is not None:
                tree.enter(caption.block)
            caption.fragment.draw(canvas, x, y + caption.above)
            if tree is not None:
                tree.leave()
            y += caption.height
        canvas.is_artifact = was_artifact
        entries = list(self._entries(canvas))
        self._draw_rows(canvas, entries, x, y)
        if not canvas.is_dry_run:
            self._draw_lines(canvas, entries, x, y)

    def _draw_rows(self, canvas: PageCanvas, entries: Sequence[_Entry], x: float, y: float) -> None:
        was_artifact = canvas.is_artifact
        if not canvas.is_dry_run:
            canvas.items += _fill_backgrounds(entries, x, y)
        for _, alike in groupby(entries, _row_key):
            members = list(alike)
            *_, is_repeated, section, role = members[0]
            rows = [entry.laid_out for entry in members]
            canvas.is_artifact = was_artifact or is_repeated
            tree = canvas.tree
            cells = None
            if tree is not None and section is not None:
                cells = tree.cells_of(section, role, [laid_out.row for laid_out in rows])
            draw_rows(canvas, rows, x, y, cells)
            for laid_out in rows:
                y += laid_out.height
        canvas.is_artifact = was_artifact

    def _draw_lines(
        self, canvas: PageCanvas, entries: Sequence[_Entry], x: float, y: float
    ) -> None:
        upper: RowPlan | None = None
        ending: tuple[Border, ...] = ()
        without_lines: RowPlan | None = None  # between two rows of this plan there are none
        for laid_out, above, below, *_ in entries:
            plan = laid_out.plan
            if plan is not without_lines or plan is not upper or above or ending:
                self._draw_edge(canvas, upper, plan, ending + above, x, y)
                if plan.vertical_borders:
                    draw_vertical_borders(canvas, plan, x, y, y + laid_out.height)
                elif not plan.has_borders:
                    without_lines = plan
            y += laid_out.height
            upper, ending = plan, below
        if upper is not None:
            self._draw_edge(canvas, upper, None, ending, x, y)

    def _draw_edge(
        self,
        canvas: PageCanvas,
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
            draw_border(canvas.items, border, (x + left, y), (x + right, y), None)

    def _entries(self, canvas: PageCanvas) -> Iterator[_Entry]:
        yield from self._head_entries(canvas)
        for row in self.repeated_heads:
            yield _Entry(
                row, (), (), row.plan.template.style.box.background, True, None, Role.TABLE_BODY
            )
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
                row.plan.template.style.box.background or group.style.box.background,
                is_repeated,
                group,
                role,
            )

    def _laid_group(self, canvas: PageCanvas, group: RowGroup) -> tuple[LaidOutRow, ...]:
        measured = self.grid.group(self.context, group)
        if group.rows.is_static:
            return measured
        end = self.first + len(self.rows)
        rows = group.rows.evaluate(
            self.grid.carried.fragment_values(self.first, end, canvas.values)
        )
        laid_out = self.grid.lay_out_all(self.context, rows)
        need, room = total_height(laid_out), total_height(measured)
        if need > room + EPSILON:
            canvas.report(
                _describe_outgrown(self.context, self.grid.node, group, needed=need, available=room)
            )
        # Reserved space that is not needed stays, so that content below does not move.
        return tuple(
            row._replace(height=max(row.height, kept.height))
            for row, kept in zip(laid_out, measured, strict=False)
        )

    def _body_entries(self) -> Iterator[_Entry]:
        grid = self.grid
        bodies, starts, stripe = grid.node.bodies, grid.starts, grid.node.stripe
        if not self.rows:
            return
        end = self.first + len(self.rows)
        for number in range(grid.body_of(self.first), grid.body_of(end - 1) + 1):
            body = bodies[number]
            first, last = starts[number], starts[number + 1] - 1
            style = body.style.box
            rest = False, body, Role.TABLE_BODY
            for index in range(max(first, self.first), min(last + 1, end)):
                laid_out = self.rows[index - self.first]
                fill = laid_out.plan.template.style.box.background or style.background
                if fill is None and stripe:
                    fill = stripe[index % len(stripe)]
                above = (style.border.top,) if index == first else ()
                below = (style.border.bottom,) if index == last else ()
                yield _new(_Entry, (laid_out, above, below, fill, *rest))


def _row_key(entry: _Entry) -> tuple[object, ...]:
    """Return a key that is equal for rows that can be drawn together, plain ones of one template."""
    laid_out, _, _, _, is_repeated, section, role = entry
    alone = None if laid_out.is_plain else laid_out
    return alone, laid_out.plan, laid_out.row.template, section, is_repeated, role


def _fill_backgrounds(entries: Sequence[_Entry], x: float, y: float) -> Iterator[Bands]:
    """Yield the backgrounds of all rows, then those of cells: below all text (CSS 2.2, 17.5.1).

    Those of one colour follow each other and become one path, and the text of all rows one text
    object. No two of them overlap, so that their order is free.
    """
    rows: dict[Color, list[_Background]] = {}
    cells: dict[Color, list[_Background]] = {}
    for laid_out, _, _, fill, *_ in entries:
        plan, height = laid_out.plan, laid_out.height
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
