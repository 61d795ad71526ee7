"""Grids: cells of one width for each column, filled in order and continued on further pages.

A block fills its cell: one without a height of its own is as high as the cell, and what is in it
must fit. Rows are never broken; a grid breaks between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import NamedTuple

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Rectangle,
    Resume,
    Sheet,
    Space,
    in_mm,
    name_in,
)
from workers.engine.layout.frames import IN_CELL, lay_out_framed, outer_widths
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.layout.tracks import Track, share_width
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Break,
    Container,
    Grid,
    Image,
    Rule,
)
from workers.engine.units import Length, LengthKind


class _Cell(NamedTuple):
    """A filled cell, in its grid's own coordinates."""

    place: Rectangle
    piece: Piece
    misfit: Misfit | None


@dataclass(slots=True)
class GridPiece:
    """Some rows of a grid; `resume` is the first cell that follows, counted from the first of all."""

    cells: list[_Cell]
    height: float
    resume: Resume
    misfit: Misfit | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first baseline of the first cell that has one."""
        for place, piece, _ in self.cells:
            baseline = piece.first_baseline
            if baseline is not None:
                return place.y + baseline
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the cells; boxes with a position inside count from their edges."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        outside = sheet.holder
        for place, piece, misfit in self.cells:
            left, top = x + place.x, y + place.y
            sheet.holder = Rectangle(left, top, place.width, place.height)
            if misfit is not None:
                sheet.report(misfit)
            piece.draw(sheet, left, top)
        sheet.holder = outside


def lay_out_grid(context: Context, node: Grid, space: Space, resume: Resume) -> Piece | None:
    """Lay out the rows of a grid that stand in a space."""

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece = _Filler(context, node, inner, at or 0).fill()
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_grid(context: Context, node: Grid) -> tuple[float, float]:
    """Give the width of a grid's columns; those that share are as wide as the widest block asks."""
    measured = [context.measure(child) for child in node.children]
    low = max((low for low, _ in measured), default=0.0)
    high = max((high for _, high in measured), default=0.0)
    stated = sum(length.value for length in node.columns if length.kind is LengthKind.POINTS)
    stated += node.column_gap * max(len(node.columns) - 1, 0)
    open_ = sum(length.kind is not LengthKind.POINTS for length in node.columns)
    return outer_widths(node.style.box, stated + low * open_, stated + high * open_)


class _Filler:
    """One attempt at filling a space with cells, from cell `first` on; skipped cells are counted."""

    def __init__(self, context: Context, node: Grid, space: Space, first: int) -> None:
        self.context = context
        self.node = node
        self.space = space
        self.first = first
        self.children = [child for child in node.children if not isinstance(child, Break)]
        self.total = node.skip + len(self.children)
        gaps = node.column_gap * (len(node.columns) - 1)
        tracks = [Track(width) for width in node.columns]
        self.widths = share_width(tracks, space.width - gaps, base=space.width)
        self.cells: list[_Cell] = []
        self.too_tall: Misfit | None = None

    def fill(self) -> GridPiece | None:
        left = ceil((self.total - self.first) / max(len(self.widths), 1))
        if left <= 0 or not self.widths:
            return GridPiece([], 0.0, None)
        filled = (
            self._fill_even(left) if self.node.row_height is not None else self._fill_free(left)
        )
        if filled is None:
            return None
        rows, height = filled
        after = self.first + rows * len(self.widths)
        piece = GridPiece(self.cells, height, after if after < self.total else None)
        piece.misfit = self._judge_width() or self.too_tall
        return piece

    def _fill_even(self, left: int) -> tuple[int, float] | None:
        """Fill rows of the stated height: how many stand here is known beforehand."""
        node = self.node
        assert node.row_height is not None
        step = node.row_height + node.row_gap
        fitting = left
        if self.space.height != inf:
            fitting = int((self.space.height + node.row_gap + EPSILON) / max(step, EPSILON))
        if fitting < 1:
            if not self.space.is_top:
                return None
            self.too_tall = self.context.too_tall(
                node.source, need=node.row_height, room=self.space.height
            )
        rows = min(max(fitting, 1), left)
        columns = len(self.widths)
        for inside in range(rows * columns):
            child = self._child_at(inside)
            column, row = divmod(inside, rows) if node.fills_columns else _turn(inside, columns)
            if child is not None:
                self._place(child, column, row * step, node.row_height)
        return rows, rows * step - node.row_gap

    def _fill_free(self, left: int) -> tuple[int, float] | None:
        """Fill rows that are as high as their highest block."""
        y = 0.0
        columns = len(self.widths)
        for row in range(left):
            children = [self._child_at(row * columns + column) for column in range(columns)]
            pieces = [
                None if child is None else self._lay_out(child, width)
                for child, width in zip(children, self.widths, strict=True)
            ]
            height = max((piece.height for piece in pieces if piece is not None), default=0.0)
            if y + height > self.space.height + EPSILON:
                if row:
                    return row, y - self.node.row_gap
                if not self.space.is_top:
                    return None
                self.too_tall = self.context.too_tall(
                    self.node.source, need=height, room=self.space.height
                )
            for column, piece in enumerate(pieces):
                if piece is not None:
                    place = Rectangle(self._left(column), y, self.widths[column], height)
                    self.cells.append(_Cell(place, piece, None))
            y += height + self.node.row_gap
        return left, y - self.node.row_gap

    def _child_at(self, inside: int) -> Block | None:
        """Give the block of a cell, counted from the first of this piece."""
        number = self.first + inside - self.node.skip
        return self.children[number] if 0 <= number < len(self.children) else None

    def _place(self, child: Block, column: int, y: float, height: float) -> None:
        width = self.widths[column]
        piece = self._lay_out(self._stretched(child, width, height), width, height)
        misfit = None
        if piece.height > height + EPSILON:
            misfit = self._judge_height(child, piece.height, height)
        place = Rectangle(self._left(column), y, width, height)
        self.cells.append(_Cell(place, piece, misfit))

    def _lay_out(self, child: Block, width: float, foot: float | None = None) -> Piece:
        piece = lay_out_stack(self.context, (child,), Space(width, inf, True, foot))
        assert piece is not None
        return piece

    def _stretched(self, child: Block, width: float, height: float) -> Block:
        """Give a block as high as its cell, unless it has a height, or a shape, of its own."""
        if isinstance(child, Break | Image | Barcode | Rule):
            return child
        box = child.style.box
        is_aside = isinstance(child, Container) and child.position is not None
        if box.height.kind is not LengthKind.AUTO or box.rotate % 180 or is_aside:
            return child
        key = ("stretched", id(child), width, height)
        known: tuple[Block, Block] | None = self.context.memory.get(key)
        if known is None:
            edges = box.margin.top.resolve(width) or 0.0
            # The margin below a paragraph stands between things only; a box may want its border off.
            if isinstance(child, Container):
                edges += box.margin.bottom.resolve(width) or 0.0
            own = Length(max(height - edges, 0.0))
            style = replace(child.style, box=replace(box, height=own))
            stretched = replace(child, style=style)
            known = self.context.memory[key] = (child, stretched)
            self.context.memory[IN_CELL, id(stretched)] = (stretched,)
        return known[1]

    def _left(self, column: int) -> float:
        before = sum(self.widths[:column]) + column * self.node.column_gap
        if self.node.style.paragraph.is_rtl:
            return self.space.width - before - self.widths[column]
        return before

    def _judge_width(self) -> Misfit | None:
        used = _sum_with_gaps(self.widths, self.node.column_gap)
        if used <= self.space.width + EPSILON:
            return None
        return self.context.too_wide(
            self.node.source,
            need=used,
            room=self.space.width,
            advice="Make its columns, their gap, or their number smaller.",
        )

    def _judge_height(self, child: Block, need: float, room: float) -> Misfit:
        source, context = child.source, self.context
        return Misfit(
            code="content-overflows",
            what=f"Content does not fit: {name_in(source, context.path)} needs {in_mm(need)}, "
            f"the cell gives {in_mm(room)}",
            advice="Make it lower, or grid-auto-rows higher.",
            chain=context.chain(source),
        )


def _turn(inside: int, columns: int) -> tuple[int, int]:
    row, column = divmod(inside, columns)
    return column, row


def _sum_with_gaps(widths: Sequence[float], gap: float) -> float:
    return sum(widths) + gap * max(len(widths) - 1, 0)
