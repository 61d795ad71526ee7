"""Rows of blocks side by side: their widths, and how blocks of different height stand.

A row is as high as its highest block, or as its own `height` or `min-height` where that is more.
Margins of the blocks are kept, and pass through a row without border and padding as through a box:
the top margin all of them share stands above the row, what reaches below it meets what follows.

`align-items="normal"`, the default, sets blocks at the start, but text beside text on one baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workers.engine.layout.beside import RowPiece
from workers.engine.layout.context import EPSILON, AnyBlock, Context, Piece, Resume, Space
from workers.engine.layout.frames import Frame, FramedPiece, frame_of, lay_out_framed, outer_widths
from workers.engine.layout.positions import is_aside, make_aside
from workers.engine.layout.stacks import (
    in_flow,
    lets_margins_through,
    margin_below,
    shared_margin,
    top_margin,
)
from workers.engine.layout.tracks import Track, share_width
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Break,
    Container,
    Image,
    ListBlock,
    Paragraph,
    Row,
    Rule,
)
from workers.engine.units import Length, LengthKind

_ONE_SHARE: Final = Length(1.0, LengthKind.SHARE)
_DONE: Final = ("done",)  # resume of a block of a row that is finished while others go on
_SHARES_OF_SLACK: Final = {"center": 0.5, "end": 1.0}


def lay_out_row(context: Context, node: Row, space: Space, resume: Resume) -> Piece | None:
    """Lay out blocks side by side; each goes on by itself when the row is broken."""
    least = _own_height(frame_of(context, node.style.box, space))

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece = _Filler(context, node, inner).fill(at, least)
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_row(context: Context, node: Row) -> tuple[float, float]:
    """Give the widths of all blocks of a row together, box included."""
    narrowest = widest = node.gap * max(sum(not is_aside(child) for child in node.children) - 1, 0)
    for child in node.children:
        if is_aside(child):
            continue
        low, high = context.measure(child)
        narrowest, widest = narrowest + low, widest + high
    return outer_widths(node.style.box, narrowest, widest)


def _own_height(frame: Frame) -> float:
    """Return the least height of what stands in a box, 0 where its content decides."""
    stated = frame.min_height if frame.height is None else frame.height
    return max(stated - frame.insets.top - frame.insets.bottom, 0.0)


class _Filler:
    """One attempt at filling a space with the blocks of a row."""

    def __init__(self, context: Context, node: Row, space: Space) -> None:
        self.context = context
        self.node = node
        self.space = space
        self.children = in_flow(node)
        self.widths = _widths_of(node, self.children, space.width)
        self.tops = [0.0] * len(self.children)  # from the row's upper edge
        self.pieces: list[Piece | None] = []

    def fill(self, resume: Resume, least: float) -> RowPiece | None:
        """Lay out the blocks from where they go on, or from their beginning; None if one gives way."""
        if resume is None:
            self.tops = self._top_margins()
        starts = resume or (None,) * len(self.children)
        for index, start in enumerate(starts):
            piece = None if start is _DONE else self._lay_out(index, start)
            if piece is None and start is not _DONE:
                return None
            self.pieces.append(piece)
        if resume is None and not self._lower_to_baseline():
            return None
        is_finished = all(piece is None or piece.resume is None for piece in self.pieces)
        is_whole = resume is None and is_finished
        height = max(map(self._bottom, range(len(self.pieces))), default=0.0)
        if is_whole:
            height = max(height, least)
            self._align(height)
        row = RowPiece(self._placed(), height, None if is_finished else self._resumes())
        if is_finished:
            row.margin_below = self._margin_below(height)
        if resume is None:
            aside = (make_aside(self.context, c) for c in self.node.children if is_aside(c))
            row.placed += [(0.0, 0.0, piece) for piece in aside]
        self._check_width(row)
        return row

    def _lay_out(self, index: int, start: Resume) -> Piece | None:
        space, top = self.space, self.tops[index]
        foot = None if space.foot is None else space.foot - top
        given = Space(self.widths[index], space.height - top, space.is_top, foot, is_track=True)
        piece = self.context.lay_out(self.children[index], given, start)
        if piece is None or (piece.height > given.height + EPSILON and not space.is_top):
            return None
        return piece

    # --- where blocks stand ------------------------------------------------------------------------

    def _top_margins(self) -> list[float]:
        """Return how far below the row's edge each block begins: what does not stand above it."""
        width, node = self.space.width, self.node
        outside = shared_margin(node, width) if lets_margins_through(node.style.box) else 0.0
        return [top_margin(child, width) - outside for child in self.children]

    def _lower_to_baseline(self) -> bool:
        """Set text on the lowest of its first baselines; False if a lowered block gives way."""
        standing = [index for index, child in enumerate(self.children) if self._is_on_line(child)]
        lines = {
            index: self.tops[index] + baseline
            for index in standing
            if (piece := self.pieces[index]) and (baseline := piece.first_baseline) is not None
        }
        lowest = max(lines.values(), default=0.0)
        return all(line == lowest or self._lower(i, lowest - line) for i, line in lines.items())

    def _lower(self, index: int, drop: float) -> bool:
        piece, context = self.pieces[index], self.context
        assert piece is not None
        self.tops[index] += drop
        if piece.resume is None and self._bottom(index) <= self.space.height + EPSILON:
            return True
        # What does not stand lower is broken anew. Rows in it are not: each depth would double the work.
        again = None
        if not context.is_lowering:
            context.is_lowering = True
            again = self._lay_out(index, None)
            context.is_lowering = False
        if again is None:
            self.tops[index] -= drop
        self.pieces[index] = again or piece
        return again is not None or self.space.is_top or context.is_lowering

    def _is_on_line(self, child: Block) -> bool:
        align = self.node.align
        return align == "baseline" or (align == "normal" and _is_bare_text(child))

    def _align(self, height: float) -> None:
        """Move or stretch each block in the height of the row."""
        share = _SHARES_OF_SLACK.get(self.node.align, 0.0)
        for index, (child, piece) in enumerate(zip(self.children, self.pieces, strict=True)):
            assert piece is not None
            slack = max(height - self._bottom(index), 0.0)
            if not isinstance(child, Break) and child.style.box.margin.top.kind is LengthKind.AUTO:
                self.tops[index] += slack
            elif self.node.align == "stretch" and slack:
                self._stretch(index, child, height - self.tops[index])
            else:
                self.tops[index] += slack * share

    def _stretch(self, index: int, child: Block, height: float) -> None:
        """Make the box of a block higher, unless it has a height, or a shape, of its own."""
        piece = self.pieces[index]
        if not isinstance(piece, FramedPiece) or isinstance(child, Image | Barcode | Rule):
            return
        box = piece.frame.box
        if box.height.kind is not LengthKind.AUTO or box.rotate % 180:
            return
        if piece.frame.max_height is not None:
            height = max(min(height, piece.frame.max_height), piece.height)
        self.pieces[index] = replace(piece, height=height)

    def _bottom(self, index: int) -> float:
        piece = self.pieces[index]
        return 0.0 if piece is None else self.tops[index] + piece.height

    def _margin_below(self, height: float) -> float:
        if not lets_margins_through(self.node.style.box):
            return 0.0
        reached = [
            self._bottom(index) + margin_below(child, piece, self.space.width)
            for index, (child, piece) in enumerate(zip(self.children, self.pieces, strict=True))
            if piece is not None
        ]
        return max(reached, default=height) - height

    # --- the piece ---------------------------------------------------------------------------------

    def _placed(self) -> list[tuple[float, float, Piece]]:
        placed = []
        x = 0.0
        for width, top, piece in zip(self.widths, self.tops, self.pieces, strict=True):
            if piece is not None:
                is_rtl = self.node.style.paragraph.is_rtl
                placed.append((self.space.width - x - width if is_rtl else x, top, piece))
            x += width + self.node.gap
        return placed

    def _resumes(self) -> tuple[Resume, ...]:
        return tuple(
            _DONE if piece is None or piece.resume is None else piece.resume
            for piece in self.pieces
        )

    def _check_width(self, row: RowPiece) -> None:
        used = sum(self.widths) + self.node.gap * max(len(self.widths) - 1, 0)
        if used > self.space.width + EPSILON:
            row.misfit = self.context.too_wide(
                self.node.source,
                need=used,
                room=self.space.width,
                advice="Make the widths of its blocks, or the gap, smaller.",
            )


def _is_bare_text(block: AnyBlock) -> bool:
    """Tell whether a block begins with text that no box is seen around."""
    if isinstance(block, Break):
        return False
    box = block.style.box
    if box.background is not None or box.background_image is not None or box.rotate:
        return False
    if box.padding.top or box.border.top.width or box.margin.top.kind is LengthKind.AUTO:
        return False
    if isinstance(block, Container | Row):
        return bool(block.children) and _is_bare_text(block.children[0])
    return isinstance(block, Paragraph | ListBlock)


def _widths_of(node: Row, children: Sequence[Block], available: float) -> list[float]:
    tracks = [Track(_width_of(child)) for child in children]
    gaps = node.gap * max(len(children) - 1, 0)
    return share_width(tracks, available - gaps, base=available)


def _width_of(child: Block) -> Length:
    if isinstance(child, Break) or child.style.box.width.kind is LengthKind.AUTO:
        return _ONE_SHARE
    return child.style.box.width
