"""Boxes and rows: blocks below each other in a box, and blocks side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workers.engine.layout.columns import lay_out_columns
from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
)
from workers.engine.layout.frames import lay_out_framed, outer_widths
from workers.engine.layout.positions import is_aside, make_aside
from workers.engine.layout.stacks import lay_out_stack, lets_margins_through
from workers.engine.layout.tracks import Track, share_width
from workers.engine.tree.nodes import Block, Break, Container, Row
from workers.engine.units import Length, LengthKind

_ONE_SHARE: Final = Length(1.0, LengthKind.SHARE)
_DONE: Final = ("done",)  # resume of a block of a row that is finished while others go on


@dataclass(slots=True)
class RowPiece:
    """Blocks side by side: each at its place, the tallest makes the height."""

    placed: list[tuple[float, float, Piece]]
    height: float
    resume: Resume
    misfit: Misfit | None = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first baseline of the first block that has one."""
        for _, y, piece in self.placed:
            baseline = piece.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the blocks."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        for dx, dy, piece in self.placed:
            piece.draw(sheet, x + dx, y + dy)


def lay_out_container(
    context: Context, node: Container, space: Space, resume: Resume
) -> Piece | None:
    """Lay out the blocks of a container below each other, or in columns."""
    columns, is_through = node.columns, lets_margins_through(node.style.box)

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece: Piece | None
        if columns is not None and columns.count > 1:
            piece = lay_out_columns(
                context, node.source, node.children, columns, inner, at, is_through=is_through
            )
        else:
            piece = lay_out_stack(context, node.children, inner, at, is_through=is_through)
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def lay_out_row(context: Context, node: Row, space: Space, resume: Resume) -> Piece | None:
    """Lay out blocks side by side; each goes on by itself when the row is broken."""

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece = _lay_out_blocks(context, node, inner, at)
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_container(context: Context, node: Container) -> tuple[float, float]:
    """Give the widths of the widest of a container's blocks, box included."""
    return outer_widths(node.style.box, *_widest(context, node.children))


def measure_row(context: Context, node: Row) -> tuple[float, float]:
    """Give the widths of all blocks of a row together, box included."""
    narrowest = widest = node.gap * max(sum(not is_aside(child) for child in node.children) - 1, 0)
    for child in node.children:
        if is_aside(child):
            continue
        low, high = context.measure(child)
        narrowest, widest = narrowest + low, widest + high
    return outer_widths(node.style.box, narrowest, widest)


def measure_break(_context: Context, _node: Break) -> tuple[float, float]:
    """Give no width: a break is no thing."""
    return 0.0, 0.0


def _widest(context: Context, children: Sequence[Block]) -> tuple[float, float]:
    measured = [context.measure(child) for child in children if not is_aside(child)]
    return (
        max((low for low, _ in measured), default=0.0),
        max((high for _, high in measured), default=0.0),
    )


def _lay_out_blocks(context: Context, node: Row, space: Space, resume: Resume) -> RowPiece | None:
    children = [c for c in node.children if not isinstance(c, Break) and not is_aside(c)]
    widths = _widths_of(node, children, space.width)
    resumes = resume or (None,) * len(children)
    pieces: list[Piece | None] = []
    for child, width, at in zip(children, widths, resumes, strict=True):
        if at is _DONE:
            pieces.append(None)
            continue
        given = Space(width, space.height, space.is_top, space.foot, is_track=True)
        piece = context.lay_out(child, given, at)
        if piece is None or (piece.height > space.height + EPSILON and not space.is_top):
            return None
        pieces.append(piece)
    row = _assemble(context, node, space, widths, pieces)
    if resume is None:
        aside = (make_aside(context, child) for child in node.children if is_aside(child))
        row.placed += [(0.0, 0.0, piece) for piece in aside]
    return row


def _assemble(
    context: Context,
    node: Row,
    space: Space,
    widths: Sequence[float],
    pieces: Sequence[Piece | None],
) -> RowPiece:
    height = max((piece.height for piece in pieces if piece is not None), default=0.0)
    placed = []
    is_rtl = node.style.paragraph.is_rtl
    x = 0.0
    for width, piece in zip(widths, pieces, strict=True):
        if piece is not None:
            left = space.width - x - width if is_rtl else x
            placed.append((left, _offset(node.align, height - piece.height), piece))
        x += width + node.gap
    is_finished = all(piece is None or piece.resume is None for piece in pieces)
    resumes = tuple(
        _DONE if piece is None or piece.resume is None else piece.resume for piece in pieces
    )
    row = RowPiece(placed, height, None if is_finished else resumes)
    used = sum(widths) + node.gap * max(len(widths) - 1, 0)
    if used > space.width + EPSILON:
        row.misfit = context.too_wide(
            node.source,
            need=used,
            room=space.width,
            advice="Make the widths of its blocks, or the gap, smaller.",
        )
    return row


def _offset(align: str, slack: float) -> float:
    return {"center": slack / 2, "end": slack}.get(align, 0.0)


def _widths_of(node: Row, children: Sequence[Block], available: float) -> list[float]:
    tracks = [Track(_width_of(child)) for child in children]
    gaps = node.gap * max(len(children) - 1, 0)
    return share_width(tracks, available - gaps, base=available)


def _width_of(child: Block) -> Length:
    if isinstance(child, Break) or child.style.box.width.kind is LengthKind.AUTO:
        return _ONE_SHARE
    return child.style.box.width
