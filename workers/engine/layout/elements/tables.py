"""Tables: rows streamed through pieces, heads and feet on each piece they belong to.

A table breaks between rows. How high the rows are is found as they are reached, once; a piece is
the longest run of rows that stands between its heads and its feet. Whether a piece is the last is
decided first: with the heads and feet of a last piece, do all the rows left fit?
A row is split inside its cells only when it is taller than an empty area.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
    in_mm,
    name_in,
)
from workers.engine.layout.elements.rows import (
    LaidRow,
    RowPlan,
    draw_row,
    draw_uprights,
    find_edges,
    lay_out_row,
    look_key,
    plan_row,
    split_row,
)
from workers.engine.layout.elements.widths import find_widths, measure_columns
from workers.engine.layout.frames import draw_border, lay_out_framed, outer_widths
from workers.engine.tree.nodes import (
    On,
    PageValues,
    PieceValues,
    RowGroup,
    RowTemplate,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.tree.styles import BreakTo
from workers.engine.units import Border, Color

# Page values are not known while widths and heights are found (language.md 1.8, stability rule).
_ANY_PAGE: Final = PageValues(number=99, count=999, index=99, total=999, name="default")
_FORCING: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


class TableResume(NamedTuple):
    """Where a table goes on: at which body row, and where in its cells when it was split."""

    row: int
    cells: tuple[Resume, ...] | None


class _Entry(NamedTuple):
    """A row in a piece, with the groups whose border begins or ends at its edges."""

    laid: LaidRow
    above: tuple[Border, ...]
    below: tuple[Border, ...]
    fill: Color | None
    is_repeated: bool


@dataclass(slots=True)
class _Grid:
    """What one table at one width knows: column edges, row plans, and the rows laid out so far."""

    node: Table
    edges: list[float]
    rows: list[TableRow]
    starts: list[int]  # of each body, in `rows`; and the end
    repeating: list[int]  # the sticky rows
    room: float  # what the table has for its columns
    plans: dict[Hashable, RowPlan] = field(default_factory=dict)
    templates: list[RowTemplate] = field(default_factory=list)  # kept: their ids are keys
    laid: list[LaidRow | None] = field(default_factory=list)
    groups: dict[int, tuple[LaidRow, ...]] = field(default_factory=dict)
    lines: dict[tuple[int, ...], tuple[tuple[float, float, Border], ...]] = field(
        default_factory=dict
    )

    def plan(self, context: Context, template: RowTemplate) -> RowPlan:
        """Give the plan of a template's rows."""
        known = self.plans.get(id(template))
        if known is None:
            key = look_key(template)
            known = self.plans.get(key) or plan_row(context, template, self.edges)
            self.plans[id(template)] = self.plans[key] = known
            self.templates.append(template)
        return known

    def row(self, context: Context, index: int) -> LaidRow:
        """Give a body row, laid out."""
        laid = self.laid[index]
        if laid is None:
            row = self.rows[index]
            laid = self.laid[index] = lay_out_row(context, self.plan(context, row.template), row)
        return laid

    def group(self, context: Context, group: RowGroup) -> tuple[LaidRow, ...]:
        """Give the rows of a head or foot, measured with stand-ins."""
        known = self.groups.get(id(group))
        if known is None:
            rows = group.rows.evaluate(_stand_ins(self.node, self.rows))
            known = self.groups[id(group)] = self.lay_out_all(context, rows)
        return known

    def lay_out_all(self, context: Context, rows: Sequence[TableRow]) -> tuple[LaidRow, ...]:
        """Lay out rows of a head or foot."""
        return tuple(lay_out_row(context, self.plan(context, row.template), row) for row in rows)

    def body_of(self, index: int) -> int:
        """Give the number of the body that a row is in."""
        return bisect_right(self.starts, index) - 1


@dataclass(slots=True)
class TablePiece:
    """Heads, some rows, feet."""

    grid: _Grid
    context: Context
    heads: Sequence[RowGroup]
    feet: Sequence[RowGroup]
    rows: Sequence[LaidRow]
    first: int
    values: Callable[[PageValues], PieceValues]
    height: float
    resume: Resume
    is_start: bool
    caption: Piece | None = None
    sticky: LaidRow | None = None
    misfit: Misfit | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """Give nothing: a table stands beside other things by its top."""
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the rows with their backgrounds, then the lines between them."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        if self.caption is not None:
            self.caption.draw(sheet, x, y)
            y += self.caption.height
        entries = list(self._entries(sheet))
        self._draw_rows(sheet, entries, x, y)
        self._draw_lines(sheet, entries, x, y)

    def _draw_rows(self, sheet: Sheet, entries: Sequence[_Entry], x: float, y: float) -> None:
        was_furniture = sheet.is_furniture
        for laid, _, _, fill, is_repeated in entries:
            sheet.is_furniture = was_furniture or is_repeated
            draw_row(sheet, laid, x, y, fill)
            y += laid.height
        sheet.is_furniture = was_furniture

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
        for group in self.heads:
            yield from self._group_entries(sheet, group, is_repeated=not self.is_start)
        if self.sticky is not None:
            yield _Entry(self.sticky, (), (), self.sticky.plan.template.style.box.background, True)
        yield from self._body_entries()
        for group in self.feet:
            yield from self._group_entries(sheet, group, is_repeated=self.resume is not None)

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
        rows = group.rows.evaluate(self.values(sheet.values))
        laid = self.grid.lay_out_all(self.context, rows)
        need, room = _height(laid), _height(measured)
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


def lay_out_table(context: Context, node: Table, space: Space, resume: Resume) -> Piece | None:
    """Lay out as many rows of a table as fit, with the heads and feet that belong there."""

    def content(inner: Space, at: TableResume | None) -> Piece | None:
        context.path.append(node.source)
        grid = _grid_of(context, node, inner.width)
        piece = _Filler(context, grid, inner, at).fill()
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_table(context: Context, node: Table) -> tuple[float, float]:
    """Give the narrowest and widest sensible width of a table, box included."""
    rows = [row for body in node.bodies for row in body.rows]
    widths = measure_columns(context, node.columns, [*rows, *_outer_rows(node, rows)])
    return outer_widths(node.style.box, *widths)


# --- filling ----------------------------------------------------------------------------------------


class _Filler:
    """One attempt at filling a space with rows."""

    def __init__(
        self, context: Context, grid: _Grid, space: Space, resume: TableResume | None
    ) -> None:
        self.context = context
        self.grid = grid
        self.node = grid.node
        self.is_start = resume is None
        self.first = resume.row if resume else 0
        self.cells = resume.cells if resume else None
        self.space = space
        self.is_top = space.is_top
        self.caption = self._lay_out_caption(space)
        self.height = space.height - (self.caption.height if self.caption else 0.0)
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
        end = min(end, count - 1)
        return self._piece(end, is_last=False) if end > self.first else self._split()

    def _rest_without_rows(self) -> TablePiece | None:
        """Place the heads and feet of a table without rows, or feet that found no room before."""
        piece = self._assemble([], None, is_last=True)
        return piece if self.is_top or self._fits(piece) else None

    def _fits(self, piece: TablePiece) -> bool:
        return piece.height <= self.space.height + EPSILON

    def _fitting(self, *, is_last: bool) -> tuple[int, str]:
        """Find the row before which the space is full or a break is forced, and that break's name."""
        room = self.height - self._fixed_height(is_last=is_last) + EPSILON
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
        if above.style.breaks.after is BreakTo.AVOID or above.repeats:
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
        if row.template.style.breaks.avoid_inside:
            return None
        rows = [grid.row(self.context, index) for index in range(self.first, end)]
        room = self.height - self._fixed_height(is_last=False) - sum(r.height for r in rows)
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
        if end < len(grid.rows) or not (self._fits(whole) or whole.height <= going_on.height):
            return going_on
        return whole

    def _split_first(self) -> LaidRow:
        """Lay out as much of the first row as stands here; once, for rows may hold tables again."""
        if self.part is None:
            row = self.grid.rows[self.first]
            plan = self.grid.plan(self.context, row.template)
            room = self.height - self._fixed_height(is_last=False)
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
        first, end = self.first, self.first + len(rows)
        piece = TablePiece(
            grid=grid,
            context=self.context,
            heads=self._matching(node.heads, is_last=is_last),
            feet=self._matching(node.feet, is_last=is_last),
            rows=rows,
            first=first,
            values=lambda page: _piece_values(node, grid.rows, first, end, page),
            height=height + (self.caption.height if self.caption else 0.0),
            resume=resume,
            is_start=self.is_start,
            caption=self.caption,
            sticky=self.sticky,
        )
        piece.misfit = self._too_wide() or self._too_tall(piece)
        return piece

    def _fixed_height(self, *, is_last: bool) -> float:
        groups = (
            *self._matching(self.node.heads, is_last=is_last),
            *self._matching(self.node.feet, is_last=is_last),
        )
        fixed = sum(_height(self.grid.group(self.context, group)) for group in groups)
        return fixed + (self.sticky.height if self.sticky else 0.0)

    def _matching(self, groups: Sequence[RowGroup], *, is_last: bool) -> list[RowGroup]:
        matches = {
            On.ALL: True,
            On.FIRST: self.is_start,
            On.REST: not self.is_start,
            On.LAST: is_last,
            On.NOT_LAST: not is_last,
        }
        return [group for group in groups if matches.get(group.on, False)]

    def _find_sticky(self) -> LaidRow | None:
        """Find the group head that is printed again because its body goes on."""
        grid = self.grid
        if self.is_start or self.first >= len(grid.rows):
            return None
        at = bisect_right(grid.repeating, self.first) - 1
        if at < 0 or grid.repeating[at] == self.first:
            return None
        index = grid.repeating[at]
        is_same_body = index >= grid.starts[grid.body_of(self.first)]
        return grid.row(self.context, index) if is_same_body else None

    def _lay_out_caption(self, space: Space) -> Piece | None:
        caption = self.node.caption
        if caption is None or not self.is_start:
            return None
        return self.context.lay_out(caption, Space(space.width, inf, True))

    def _too_tall(self, piece: TablePiece) -> Misfit | None:
        if not self.is_top or self._fits(piece):
            return None
        room = self.space.height
        return self.context.too_tall(self.node.source, need=piece.height, room=room)

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


def _grid_of(context: Context, node: Table, width: float) -> _Grid:
    key = ("grid", id(node), width)
    known: _Grid | None = context.memory.get(key)
    if known is not None and known.node is node:
        return known
    rows = [row for body in node.bodies for row in body.rows]
    widths = find_widths(context, node.columns, [*rows, *_outer_rows(node, rows)], width)
    edges = [0.0]
    for column in widths:
        edges.append(edges[-1] + column)
    repeating = [index for index, row in enumerate(rows) if row.template.repeats]
    grid = _Grid(node, edges, rows, _starts(node.bodies), repeating, width)
    grid.laid = [None] * len(rows)
    context.memory[key] = grid
    return grid


def _starts(bodies: Sequence[TableBody]) -> list[int]:
    starts = [0]
    for body in bodies:
        starts.append(starts[-1] + len(body.rows))
    return starts


def _outer_rows(node: Table, rows: Sequence[TableRow]) -> list[TableRow]:
    values = _stand_ins(node, rows)
    return [row for group in (*node.heads, *node.feet) for row in group.rows.evaluate(values)]


def _height(rows: Sequence[LaidRow]) -> float:
    return sum(row.height for row in rows)


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


# --- carried values -----------------------------------------------------------------------------------


def _piece_values(
    node: Table, rows: Sequence[TableRow], first: int, end: int, page: PageValues
) -> PieceValues:
    """Give the totals of the rows from `first` up to, not including, `end`."""
    starts = node.total_starts
    before = _totals_before(rows, first, starts)
    after = _totals_before(rows, end, starts)
    here = tuple(
        b - a if mode in ("sum", "count") else b
        for mode, a, b in zip(node.total_modes, before, after, strict=True)
    )
    return PieceValues(before, here, after, _totals_before(rows, len(rows), starts), page)


def _stand_ins(node: Table, rows: Sequence[TableRow]) -> PieceValues:
    starts = node.total_starts
    whole = _totals_before(rows, len(rows), starts)
    return PieceValues(starts, whole, whole, whole, _ANY_PAGE)


def _totals_before(
    rows: Sequence[TableRow], end: int, starts: tuple[Decimal, ...]
) -> tuple[Decimal, ...]:
    if not starts:
        return ()
    for index in range(end - 1, -1, -1):
        if rows[index].totals:
            return rows[index].totals
    return starts
