"""Grids: cells in columns of fixed widths, filled in order and continued on further pages.

A block without a stated height is stretched to its cell and must fit into it. A grid breaks between
its rows, and inside one without a stated height that is taller than an area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import IN_CELL, lay_out_box, outer_widths
from workers.engine.layout.blocks.columns import Track, distribute_width
from workers.engine.layout.blocks.stacks import StackFragment, StackResume, lay_out_stack
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    WholeFragment,
    describe_element,
    format_mm,
)
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Break,
    Chart,
    Container,
    FormField,
    Grid,
    Image,
    Rule,
)
from workers.engine.units import Length, LengthKind


class GridResume(NamedTuple):
    """A position in a grid: the cell, counted from the first of all, and those in the blocks of its
    row if that is split, None for a finished one.
    """

    cell: int
    blocks: tuple[StackResume | None, ...] = ()


_BEGINNING: Final = StackResume(0, None, False)


class _GridCell(NamedTuple):
    """A filled cell, in the coordinates of its grid."""

    place: Rectangle
    fragment: Fragment
    problem: LayoutProblem | None


_STRETCHED: Final[Kind[tuple[Block, float, float], Block]] = Kind()


@dataclass(slots=True)
class GridFragment(WholeFragment):
    """Rows of a grid."""

    cells: list[_GridCell]
    height: float
    resume: GridResume | None
    problem: LayoutProblem | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the first cell that has one."""
        for place, fragment, _ in self.cells:
            baseline = fragment.first_baseline
            if baseline is not None:
                return place.y + baseline
        return None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the cells; each is the containing block of the boxes in it."""
        if self.problem is not None:
            canvas.report(self.problem)
        outside = canvas.containing_block
        for place, fragment, problem in self.cells:
            left, top = x + place.x, y + place.y
            canvas.containing_block = Rectangle(left, top, place.width, place.height)
            if problem is not None:
                canvas.report(problem)
            fragment.draw(canvas, left, top)
        canvas.containing_block = outside


def lay_out_grid(
    context: LayoutContext, node: Grid, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the rows of a grid that fit into a region."""

    def content(inner: Region, at: Resume) -> Fragment | None:
        return _GridFiller(context.inside(node.source), node, inner, at or GridResume(0)).fill()

    return lay_out_box(context, node, region, resume, content)


def measure_grid(context: LayoutContext, node: Grid) -> tuple[float, float]:
    """Return the min-content and max-content widths of a grid, box included."""
    low, high = context.measure_widest(node.children)
    stated = sum(length.value for length in node.columns if length.kind is LengthKind.POINTS)
    stated += node.column_gap * max(len(node.columns) - 1, 0)
    open_ = sum(length.kind is not LengthKind.POINTS for length in node.columns)
    return outer_widths(node.style.box, stated + low * open_, stated + high * open_)


class _GridFiller:
    """One attempt to fill a region; skipped cells are counted."""

    def __init__(
        self, context: LayoutContext, node: Grid, region: Region, start: GridResume
    ) -> None:
        self.context = context
        self.node = node
        self.region = region
        self.first, self.begun = start
        self.rest: tuple[StackResume | None, ...] = ()  # of a row that is split
        self.children = [child for child in node.children if not isinstance(child, Break)]
        self.total = node.skip + len(self.children)
        gaps = node.column_gap * (len(node.columns) - 1)
        tracks = [Track(width) for width in node.columns]
        self.widths = distribute_width(tracks, region.width - gaps, base=region.width)
        self.cells: list[_GridCell] = []
        self.too_tall: LayoutProblem | None = None

    def fill(self) -> GridFragment | None:
        left = ceil((self.total - self.first) / max(len(self.widths), 1))
        if left <= 0 or not self.widths:
            return GridFragment([], 0.0, None)
        filled = (
            self._fill_even(left) if self.node.row_height is not None else self._fill_free(left)
        )
        if filled is None:
            return None
        rows, height = filled
        after = self.first + rows * len(self.widths)
        resume = GridResume(after, self.rest) if self.rest or after < self.total else None
        fragment = GridFragment(self.cells, height, resume)
        fragment.problem = self._check_width() or self.too_tall
        return fragment

    def _fill_even(self, left: int) -> tuple[int, float] | None:
        """Fill rows of the stated height, whose number is known in advance."""
        node = self.node
        assert node.row_height is not None
        step = node.row_height + node.row_gap
        fitting = left
        if self.region.height != inf:
            fitting = int((self.region.height + node.row_gap + EPSILON) / max(step, EPSILON))
        if fitting < 1:
            if not self.region.is_top:
                return None
            self.too_tall = self.context.too_tall(
                node.source, needed=node.row_height, available=self.region.height
            )
        rows = min(max(fitting, 1), left)
        columns = len(self.widths)
        for inside in range(rows * columns):
            child = self._child_at(inside)
            column, row = (
                divmod(inside, rows) if node.fills_columns else _swapped_divmod(inside, columns)
            )
            if child is not None:
                self._place(child, column, row * step, node.row_height)
        return rows, rows * step - node.row_gap

    def _fill_free(self, left: int) -> tuple[int, float] | None:
        """Fill rows that are as high as their highest block."""
        y = 0.0
        for row in range(left):
            room = self.region.height - y
            is_top = self.region.is_top and not row
            fragments = self._lay_out_row(row, inf, is_top=True)
            height = _height_of(fragments)
            is_too_tall = is_top or height > self.context.area.height + EPSILON
            if height > room + EPSILON and is_too_tall:
                parts = self._lay_out_row(row, room, is_top=is_top)
                self.rest = self._find_rest(row, fragments, parts)
                if any(parts) and any(self.rest) and _height_of(parts) <= room + EPSILON:
                    fragments, height = parts, _height_of(parts)
                else:
                    self.rest = ()
            if height > room + EPSILON:
                if row:
                    return row, y - self.node.row_gap
                if not self.region.is_top:
                    return None
                self.too_tall = self.context.too_tall(
                    self.node.source, needed=height, available=self.region.height
                )
            for column, fragment in enumerate(fragments):
                if fragment is not None:
                    place = Rectangle(self._left(column), y, self.widths[column], height)
                    self.cells.append(_GridCell(place, fragment, None))
            y += height + self.node.row_gap
            if self.rest:
                return row, y - self.node.row_gap
        return left, y - self.node.row_gap

    def _lay_out_row(self, row: int, room: float, *, is_top: bool) -> list[StackFragment | None]:
        """Return the blocks of a row, or what is left of them, as far as they fit."""
        found: list[StackFragment | None] = []
        for column, width in enumerate(self.widths):
            child = self._child_at(row * len(self.widths) + column)
            start = self._start_of(row, column)
            fragment = None
            if child is not None and start is not None:
                region = Region(width, room, is_top)
                resume = None if start is _BEGINNING else start
                fragment = lay_out_stack(self.context, (child,), region, resume)
            found.append(fragment)
        return found

    def _start_of(self, row: int, column: int) -> StackResume | None:
        """Return the position in a block from which it is laid out, None for a finished one."""
        return self.begun[column] if self.begun and not row else _BEGINNING

    def _find_rest(
        self,
        row: int,
        wholes: Sequence[StackFragment | None],
        parts: Sequence[StackFragment | None],
    ) -> tuple[StackResume | None, ...]:
        """Return where the blocks of a row resume after the parts of them that fit."""
        return tuple(
            [
                part.resume if part else self._start_of(row, column) if whole else None
                for column, (whole, part) in enumerate(zip(wholes, parts, strict=True))
            ]
        )

    def _child_at(self, inside: int) -> Block | None:
        """Return the block of a cell, counted from the first of this fragment."""
        number = self.first + inside - self.node.skip
        return self.children[number] if 0 <= number < len(self.children) else None

    def _place(self, child: Block, column: int, y: float, height: float) -> None:
        width = self.widths[column]
        fragment = self._lay_out(self._stretched(child, width, height), width, height)
        problem = None
        if fragment.height > height + EPSILON:
            problem = self._describe_too_tall(child, fragment.height, height)
        place = Rectangle(self._left(column), y, width, height)
        self.cells.append(_GridCell(place, fragment, problem))

    def _lay_out(self, child: Block, width: float, bottom: float | None = None) -> Fragment:
        fragment = lay_out_stack(self.context, (child,), Region(width, inf, True, bottom))
        assert fragment is not None
        return fragment

    def _stretched(self, child: Block, width: float, height: float) -> Block:
        """Return a block stretched to the height of its cell, unless it has a height or shape of its own."""
        if isinstance(child, Break | Image | Barcode | Chart | FormField | Rule):
            return child
        box = child.style.box
        is_positioned = isinstance(child, Container) and child.position is not None
        if box.height.kind is not LengthKind.AUTO or box.rotate % 180 or is_positioned:
            return child

        def stretch() -> Block:
            above = box.margin.top
            edges = 0.0 if above.kind is LengthKind.BETWEEN else above.resolve(width) or 0.0
            # The bottom margin of a paragraph applies between blocks only; a box may want its
            # border off.
            if isinstance(child, Container):
                edges += box.margin.bottom.resolve(width) or 0.0
            own = Length(max(height - edges, 0.0))
            stretched = replace(child, style=replace(child.style, box=replace(box, height=own)))
            memo.store(IN_CELL, stretched, True)
            return stretched

        memo = self.context.memo
        return memo.remember(_STRETCHED, (child, width, height), stretch)

    def _left(self, column: int) -> float:
        before = sum(self.widths[:column]) + column * self.node.column_gap
        if self.node.style.paragraph.is_rtl:
            return self.region.width - before - self.widths[column]
        return before

    def _check_width(self) -> LayoutProblem | None:
        used = sum(self.widths) + self.node.column_gap * max(len(self.widths) - 1, 0)
        if used <= self.region.width + EPSILON:
            return None
        return self.context.too_wide(
            self.node.source,
            needed=used,
            available=self.region.width,
            advice="Make its columns, their gap, or their number smaller.",
        )

    def _describe_too_tall(self, child: Block, need: float, room: float) -> LayoutProblem:
        source, context = child.source, self.context
        return LayoutProblem(
            code="content-overflows",
            message=f"Content does not fit: {describe_element(source, context.path)} needs {format_mm(need)}, "
            f"the cell allows {format_mm(room)}",
            advice="Make it lower, or grid-auto-rows higher.",
            chain=context.chain(source),
        )


def _height_of(fragments: Sequence[StackFragment | None]) -> float:
    return max((each.height for each in fragments if each is not None), default=0.0)


def _swapped_divmod(inside: int, columns: int) -> tuple[int, int]:
    row, column = divmod(inside, columns)
    return column, row
